/** Single records out of runs of batches, compressed or not, against the list that the run was made of. */
import { describe, expect, it } from 'vitest';
import { randomInt, seededRandom } from '../../src/common/random.ts';
import { compress } from '../../src/record/compression/compress.ts';
import { type ReadRecordsOptions, readRecords } from '../../src/record/record-reader.ts';
import type { CompressionCodec } from '../../src/record/validation.ts';
import { buildBatch, encodeRecords, type TestRecord } from '../support/record-batches.ts';
import { TestKernel } from '../support/test-kernel.ts';

const CODECS: readonly CompressionCodec[] = ['none', 'gzip', 'snappy', 'lz4', 'zstd'];
const test = new TestKernel(4 * 1024 * 1024, 4 * 1024 * 1024);
const AMPLE = { maxBytes: 2 ** 30, maxRecordBytes: 2 ** 30 };

/** A run from offset 100 on, and what is in it by offset; between batches there may be holes. */
function randomRun(seed: number): { run: Buffer; contents: Map<bigint, TestRecord> } {
  const random = seededRandom(seed);
  const contents = new Map<bigint, TestRecord>();
  const batches: Buffer[] = [];
  let baseOffset = 100n;
  for (let left = randomInt(random, 1, 5); left > 0; left--) {
    const records: TestRecord[] = Array.from({ length: randomInt(random, 1, 40) }, (_, index) => ({
      key: random.next() < 0.3 ? null : `k${index}`,
      value: random.next() < 0.2 ? null : random.bytes(randomInt(random, 0, 300)),
      timestampDelta: randomInt(random, -100, 5_000_000),
      headers: random.next() < 0.3 ? [['h', 'x'.repeat(randomInt(random, 0, 200))]] : [],
    }));
    const codec = CODECS[randomInt(random, 0, 4)]!;
    const plain = encodeRecords(records);
    const payload = codec === 'none' ? plain : compress(codec, plain);
    batches.push(buildBatch({ records, payload, attributes: CODECS.indexOf(codec), baseOffset }));
    for (const [index, record] of records.entries()) contents.set(baseOffset + BigInt(index), record);
    baseOffset += BigInt(records.length + randomInt(random, 0, 3));
  }
  return { run: Buffer.concat(batches), contents };
}

function read(run: Uint8Array, options: ReadRecordsOptions) {
  const placed = test.place(run);
  return readRecords(test.kernel, placed.byteOffset, placed.length, options);
}

const asText = (bytes: Uint8Array | string | null | undefined): string | null =>
  bytes === null || bytes === undefined ? null : Buffer.from(bytes).toString('latin1');

describe('records read by offset', () => {
  it.each([1, 2, 3, 4, 5, 6, 7, 8])('are those of the run (seed %i)', (seed) => {
    const { run, contents } = randomRun(seed);
    const random = seededRandom(seed + 1000);
    const last = Number([...contents.keys()].at(-1)!);
    const offsets = Array.from({ length: last - 95 }, (_, i) => BigInt(98 + i)).filter(() => random.next() < 0.4);
    const { records, offsetsRead } = read(run, { offsets, ...AMPLE });
    expect(offsetsRead).toBe(offsets.length);
    expect(records.map(({ offset }) => offset)).toEqual(offsets.filter((offset) => contents.has(offset)));
    for (const { offset, key, value } of records) {
      const expected = contents.get(offset)!;
      expect([asText(key), asText(value)]).toEqual([asText(expected.key), asText(expected.value)]);
    }
  });

  it('stop where there is no room, and leave out what is too large by itself', () => {
    const sizes = [10, 500, 20, 30, 40];
    const run = buildBatch({ records: sizes.map((size) => ({ value: 'v'.repeat(size) })) });
    const offsets = [0n, 1n, 2n, 3n, 4n];
    const found = (options: Omit<ReadRecordsOptions, 'offsets'>) => {
      const { records, offsetsRead } = read(run, { offsets, ...options });
      return { offsets: records.map(({ offset }) => Number(offset)), offsetsRead };
    };
    expect(found({ maxBytes: 60, maxRecordBytes: 60 })).toEqual({ offsets: [0, 2, 3], offsetsRead: 4 });
    expect(found({ maxBytes: 60, maxRecordBytes: 500 })).toEqual({ offsets: [0], offsetsRead: 1 });
    expect(found({ maxBytes: 5, maxRecordBytes: 500 })).toEqual({ offsets: [], offsetsRead: 0 });
    expect(found(AMPLE)).toEqual({ offsets: [0, 1, 2, 3, 4], offsetsRead: 5 });
  });

  it('of a batch that is broken are an error', () => {
    const run = buildBatch({ records: [], recordCount: 1, payload: Buffer.from('no gzip'), attributes: 1 });
    expect(() => read(run, { offsets: [0n], ...AMPLE })).toThrow('cannot be decompressed');
  });
});
