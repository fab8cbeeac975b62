/** Runs of batches: offsets assigned, walked, and searched by time, each against the plainest code that does the same. */
import crc32cOracle from 'crc-32/crc32c.js';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { Errors } from '../../src/common/errors.ts';
import { type Random, randomInt, seededRandom } from '../../src/common/random.ts';
import { compress } from '../../src/record/compression/compress.ts';
import * as layout from '../../src/record/kernel-layout.ts';
import { parseHeader } from '../../src/record/record-batch.ts';
import { assignOffsets, offsetForTimestamp } from '../../src/record/run-rewriter.ts';
import type { AssignedRun, AssignOffsetsOptions, CompressionCodec } from '../../src/record/validation.ts';
import { buildBatch, encodeRecords, sealCrc, type TestRecord } from '../support/record-batches.ts';
import { NOW_MS, TestKernel } from '../support/test-kernel.ts';

let test: TestKernel;
beforeAll(() => {
  test = new TestKernel(4 * 1024 * 1024);
});

const CODECS: readonly CompressionCodec[] = ['none', 'gzip', 'snappy', 'lz4', 'zstd'];

interface TimedBatch {
  readonly bytes: Buffer;
  readonly timestamps: readonly bigint[];
}

/** Unordered timestamps, so that the first record late enough is not simply the first of its batch. */
function timedBatch(random: Random): TimedBatch {
  const count = randomInt(random, 1, 30);
  const codec = CODECS[randomInt(random, 0, 4)]!;
  const records: TestRecord[] = Array.from({ length: count }, () => ({
    value: 'v'.repeat(randomInt(random, 0, 200)),
    timestampDelta: randomInt(random, 0, 1000),
  }));
  const plain = encodeRecords(records);
  const payload = codec === 'none' ? plain : compress(codec, plain);
  const bytes = buildBatch({ records, payload, attributes: CODECS.indexOf(codec), baseTimestamp: BigInt(NOW_MS) });
  return { bytes, timestamps: records.map(({ timestampDelta }) => BigInt(NOW_MS) + BigInt(timestampDelta!)) };
}

function assign(run: Uint8Array, options: AssignOffsetsOptions, shift = 0): { result: AssignedRun; bytes: Buffer } {
  const placed = test.place(run, shift);
  const result = assignOffsets(test.kernel, placed.byteOffset, placed.length, options);
  return { result, bytes: Buffer.from(placed) };
}

/** What assigning does to one batch, with a CRC made anew. */
function expectedBatch(batch: Buffer, baseOffset: bigint, options: AssignOffsetsOptions): Buffer {
  const copy = Buffer.from(batch);
  copy.writeBigInt64BE(baseOffset, 0);
  copy.writeInt32BE(options.leaderEpoch, 12);
  if (options.logAppendTimeMs < 0n) return copy;
  copy.writeUInt16BE((copy.readUInt16BE(21) & 0x7f) | 8, 21);
  copy.writeBigInt64BE(options.logAppendTimeMs, 35);
  return sealCrc(copy);
}

function randomRun(seed: number): { random: Random; batches: TimedBatch[]; options: AssignOffsetsOptions } {
  const random = seededRandom(seed);
  const batches = Array.from({ length: randomInt(random, 1, 6) }, () => timedBatch(random));
  const baseOffset = BigInt(randomInt(random, 0, 1e9));
  const count = batches.reduce((sum, { timestamps }) => sum + timestamps.length, 0);
  const options = {
    baseOffset,
    lastOffset: random.next() < 0.7 ? baseOffset + BigInt(count) - 1n : undefined,
    leaderEpoch: randomInt(random, 0, 9),
    logAppendTimeMs: random.next() < 0.5 ? -1n : BigInt(NOW_MS + 5),
  };
  return { random, batches, options };
}

describe('assigning offsets to a run', () => {
  it('rewrites every batch with a running offset, whatever its size and place, and again to the same', () => {
    fc.assert(
      fc.property(fc.integer(), (seed) => {
        const { random, batches, options } = randomRun(seed);
        let next = options.baseOffset;
        const expected = batches.map(({ bytes, timestamps }) => {
          const batch = expectedBatch(bytes, next, options);
          next += BigInt(timestamps.length);
          return batch;
        });
        const run = Buffer.concat(batches.map(({ bytes }) => bytes));
        const shift = randomInt(random, 0, 15);
        const once = assign(run, options, shift);
        const done = {
          error: Errors.NONE,
          message: '',
          goodBytes: run.length,
          batches: batches.length,
          nextOffset: next,
        };
        expect(once.result).toEqual(done);
        expect(once.bytes).toEqual(Buffer.concat(expected));
        const twice = assign(once.bytes, options, shift);
        expect(twice).toEqual({ result: done, bytes: once.bytes });
      }),
      { numRuns: 150 },
    );
  });

  it('rewrites the good prefix before a flipped bit, and not a byte after it', () => {
    fc.assert(
      fc.property(fc.integer(), (seed) => {
        const { random, batches, options } = randomRun(seed);
        const bad = randomInt(random, 0, batches.length - 1);
        const prefix = batches.slice(0, bad).map(({ bytes }) => bytes);
        const goodBytes = prefix.reduce((sum, { length }) => sum + length, 0);
        const run = Buffer.concat(batches.map(({ bytes }) => bytes));
        run[goodBytes + randomInt(random, 16, batches[bad]!.bytes.length - 1)]! ^= 1 << randomInt(random, 0, 7);
        const { result, bytes } = assign(run, options);
        expect(result).toMatchObject({ error: Errors.CORRUPT_MESSAGE, goodBytes, batches: bad });
        expect(result.message).toContain(`batch ${bad}, at byte ${goodBytes}`);
        expect(bytes.subarray(goodBytes)).toEqual(run.subarray(goodBytes));
        if (bad > 0) expect(bytes.readBigInt64BE(0)).toBe(options.baseOffset);
      }),
      { numRuns: 150 },
    );
  });

  it('ends the prefix where the run is cut, at every length', () => {
    const { batches } = randomRun(11);
    const run = Buffer.concat(batches.slice(0, 2).map(({ bytes }) => bytes));
    const first = batches[0]!.bytes.length;
    const options = { baseOffset: 5n, lastOffset: undefined, leaderEpoch: 0, logAppendTimeMs: -1n };
    for (let length = 0; length < run.length; length += 7) {
      const { result } = assign(run.subarray(0, length), options);
      const whole = length === 0 || length === first;
      expect([length, result.error]).toEqual([length, whole ? Errors.NONE : Errors.CORRUPT_MESSAGE]);
      expect(result.goodBytes).toBe(length >= first ? first : 0);
    }
  });

  it('writes nothing when the run does not end where its coordinate says', () => {
    const { batches } = randomRun(5);
    const run = Buffer.concat(batches.map(({ bytes }) => bytes));
    const { result, bytes } = assign(run, {
      baseOffset: 0n,
      lastOffset: 100_000n,
      leaderEpoch: 1,
      logAppendTimeMs: 1n,
    });
    expect(result).toMatchObject({ error: Errors.CORRUPT_MESSAGE, goodBytes: 0, batches: 0, nextOffset: 0n });
    expect(bytes).toEqual(run);
  });
});

describe('searching a run by time', () => {
  it('finds the first record late enough, compressed or not, and none below an offset', () => {
    fc.assert(
      fc.property(fc.integer(), (seed) => {
        const { random, batches, options } = randomRun(seed);
        const run = Buffer.concat(batches.map(({ bytes }) => bytes));
        const { bytes } = assign(run, { ...options, logAppendTimeMs: -1n });
        const timestamp = BigInt(NOW_MS + randomInt(random, -5, 1005));
        const all = batches.flatMap(({ timestamps }) => timestamps);
        const from = options.baseOffset + BigInt(randomInt(random, 0, all.length));
        const offsets = all.map((at, i) => ({ offset: options.baseOffset + BigInt(i), timestamp: at }));
        const expected = offsets.find((record) => record.timestamp >= timestamp && record.offset >= from);
        const placed = test.place(bytes);
        expect(offsetForTimestamp(test.kernel, placed.byteOffset, placed.length, timestamp, from)).toEqual(expected);
      }),
      { numRuns: 300 },
    );
  });

  it('takes the append time for every record of a LogAppendTime batch', () => {
    const batch = timedBatch(seededRandom(3)).bytes;
    const { bytes } = assign(batch, { baseOffset: 40n, lastOffset: undefined, leaderEpoch: 0, logAppendTimeMs: 900n });
    const placed = test.place(bytes);
    const find = (timestamp: bigint, from = 0n) =>
      offsetForTimestamp(test.kernel, placed.byteOffset, placed.length, timestamp, from);
    expect(find(900n)).toEqual({ offset: 40n, timestamp: 900n });
    expect(find(1n, 41n)).toEqual({ offset: 41n, timestamp: 900n });
    expect(find(901n)).toBeUndefined();
  });

  it('says so when a stored batch cannot be decompressed any more', () => {
    const batch = buildBatch({ records: [{}], attributes: 1, payload: Buffer.alloc(30, 9), maxTimestamp: 50n });
    const placed = test.place(batch);
    expect(() => offsetForTimestamp(test.kernel, placed.byteOffset, placed.length, 10n, 0n)).toThrow(/decompressed/);
  });
});

describe('walking a range', () => {
  it('describes every batch as the plain parser does, and ends at what is none', () => {
    fc.assert(
      fc.property(fc.integer(), (seed) => {
        const { random, batches } = randomRun(seed);
        const cut = randomInt(random, 0, 40);
        const range = Buffer.concat([...batches.map(({ bytes }) => bytes), batches[0]!.bytes.subarray(0, cut)]);
        const placed = test.place(range, randomInt(random, 0, 15));
        const { kernel } = test;
        const found = kernel.walk(placed.byteOffset, placed.length);
        expect(found).toBe(batches.length + (cut > 0 ? 1 : 0));
        let position = 0;
        batches.forEach(({ bytes }, i) => {
          const at = kernel.descriptorAddress(i);
          const int = (field: number): number => kernel.view.getInt32(at + field, true);
          const header = parseHeader(bytes);
          expect({
            status: int(layout.DESCRIPTOR_STATUS),
            position: int(layout.DESCRIPTOR_POSITION),
            size: int(layout.DESCRIPTOR_SIZE),
            crc: int(layout.DESCRIPTOR_CRC) >>> 0,
            count: int(layout.DESCRIPTOR_RECORD_COUNT),
            maxTimestamp: kernel.view.getBigInt64(at + layout.DESCRIPTOR_MAX_TIMESTAMP, true),
          }).toEqual({
            status: layout.OK,
            position,
            size: bytes.length,
            crc: crc32cOracle.buf(bytes.subarray(21)) >>> 0,
            count: header.recordsCount,
            maxTimestamp: header.maxTimestamp,
          });
          position += bytes.length;
        });
        expect(kernel.resultInt(layout.RESULT_GOOD_BYTES)).toBe(position);
      }),
      { numRuns: 100 },
    );
  });
});
