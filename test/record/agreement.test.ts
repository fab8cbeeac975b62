/** Kernel and oracle give the same verdict over random and mutated batches, wherever the batch lies in memory. */
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { Errors } from '../../src/common/errors.ts';
import { seededRandom } from '../../src/common/random.ts';
import type { BatchVerdict } from '../../src/record/batch-verdict.ts';
import {
  type OracleParts,
  type OracleVerdict,
  type ParsedRecord,
  parseHeader,
  parseRecords,
  validateRecordBatch,
} from '../../src/record/record-batch.ts';
import { CODECS, type ValidationOptions } from '../../src/record/validation.ts';
import { randomBatch, randomOptions } from '../support/random-batches.ts';
import { KAFKA_DEFAULTS, oracleParts, TestKernel } from '../support/test-kernel.ts';

let parts: OracleParts;
let test: TestKernel;
beforeAll(async () => {
  parts = await oracleParts();
  test = new TestKernel(4 * 1024 * 1024);
});

function comparable(verdict: BatchVerdict): Omit<OracleVerdict, 'sizeBytes'> {
  const { error, recordIndex, recordErrors, maxTimestamp, offsetOfMaxTimestampDelta, rebuilt } = verdict;
  const badRecords = recordErrors.map(({ batchIndex }) => batchIndex);
  return { error, recordIndex, badRecords, maxTimestamp, offsetOfMaxTimestampDelta, renumber: rebuilt !== undefined };
}

/** What is stored must satisfy the oracle by itself, with a true header. */
function expectSound(stored: Buffer, options: ValidationOptions, verdict: BatchVerdict): void {
  const header = parseHeader(stored);
  expect(parts.crc32c(stored.subarray(21))).toBe(header.crc);
  expect(header).toMatchObject({ baseOffset: 0n, partitionLeaderEpoch: 0, maxTimestamp: verdict.maxTimestamp });
  expect(verdict.crc).toBe(header.crc);
  const again = validateRecordBatch(stored, options, parts);
  expect(again).toMatchObject({ error: Errors.NONE, renumber: false, sizeBytes: stored.length });
}

/** The records of a whole batch, by the oracle. */
function recordsOf(batch: Buffer): ParsedRecord[] {
  const header = parseHeader(batch);
  const payload = batch.subarray(61, header.batchLength + 12);
  const codec = CODECS[header.attributes & 7]!;
  const plain = codec === 'none' ? payload : parts.decompress(codec, payload);
  if (typeof plain === 'string') throw new Error(plain);
  return parseRecords(Buffer.from(plain), header.recordsCount, header.baseTimestamp).records;
}

function compareOne(seed: number, codecs: readonly number[]): number {
  const random = seededRandom(seed);
  const batch = randomBatch(random, codecs);
  const options = randomOptions(random);
  const shift = Math.floor(random.next() * 16);
  const expected = validateRecordBatch(Buffer.from(batch), options, parts);
  const verdict = test.validate(batch, options, shift);
  const { sizeBytes, ...rest } = expected;
  if (verdict.error !== Errors.NONE) {
    expect(verdict.message).not.toBe('');
    expect(
      Buffer.compare(test.kernel.bytes.subarray(test.address + shift, test.address + shift + batch.length), batch),
    ).toBe(0);
    if (!test.outgrew(batch, options, verdict)) expect(comparable(verdict)).toEqual(rest);
    return verdict.error;
  }
  expect(comparable(verdict)).toEqual(rest);
  const stored = test.stored(verdict, shift);
  if (!verdict.rebuilt) expect(stored.length).toBe(sizeBytes);
  expectSound(stored, options, verdict);
  return verdict.error;
}

describe('agreement of kernel and oracle', () => {
  it.each([
    { name: 'uncompressed', codecs: [0], runs: 2500 },
    { name: 'compressed', codecs: [1, 2, 3, 4], runs: 500 },
  ])('over random $name batches', ({ codecs, runs }) => {
    const seen = new Map<number, number>();
    fc.assert(
      fc.property(fc.integer(), (seed) => {
        const error = compareOne(seed, codecs);
        seen.set(error, (seen.get(error) ?? 0) + 1);
      }),
      { numRuns: runs },
    );
    // The generator must reach both sides of every interesting verdict, or the agreement means little.
    for (const error of [Errors.NONE, Errors.INVALID_RECORD, Errors.CORRUPT_MESSAGE, Errors.INVALID_TIMESTAMP]) {
      expect([error, (seen.get(error) ?? 0) > 3]).toEqual([error, true]);
    }
  });

  it('recompresses to every codec without changing a record', () => {
    const types = ['uncompressed', 'gzip', 'snappy', 'lz4', 'zstd'] as const;
    let rebuilt = 0;
    fc.assert(
      fc.property(fc.integer(), fc.constantFrom(...types), (seed, compressionType) => {
        const random = seededRandom(seed);
        const batch = randomBatch(random, [0, 1, 2, 3, 4]);
        const verdict = test.validate(batch, { compressionType });
        if (verdict.error !== Errors.NONE) return;
        if (verdict.rebuilt) rebuilt++;
        const stored = test.stored(verdict);
        expect(types[stored.readUInt16BE(21) & 7]).toBe(compressionType);
        expectSound(stored, KAFKA_DEFAULTS, verdict);
        expect(recordsOf(stored)).toEqual(recordsOf(batch).map((record, i) => ({ ...record, offsetDelta: i })));
      }),
      { numRuns: 300 },
    );
    expect(rebuilt).toBeGreaterThan(20);
  });
});
