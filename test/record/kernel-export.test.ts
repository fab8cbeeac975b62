/** The synchronous package export over plain arrays and over the kernel's own bytes. */
import crc32cOracle from 'crc-32/crc32c.js';
import { describe, expect, it } from 'vitest';
import {
  assignOffsets,
  crc32c,
  crc32cCombine,
  kernelBytes,
  setLogAppendTime,
  validateRecordBatches,
} from '../../src/kernel.ts';
import { plainBatch, sealCrc } from '../support/record-batches.ts';

const crcOf = (bytes: Uint8Array): number => crc32cOracle.buf(bytes) >>> 0;

describe('shoal/kernel', () => {
  it('hashes any bytes, wherever they lie', () => {
    const plain = Buffer.from(Array.from({ length: 70_000 }, (_, i) => (i * 31) & 0xff));
    const own = kernelBytes(plain.length);
    own.set(plain);
    for (const size of [0, 1, 100, 600, 16_384, 16_385, 40_000, 70_000]) {
      expect(crc32c(plain.subarray(0, size))).toBe(crcOf(plain.subarray(0, size)));
      expect(crc32c(own.subarray(0, size))).toBe(crcOf(plain.subarray(0, size)));
    }
    for (const bytes of [own, own.subarray(7), own.slice(7), Object.assign(Buffer.alloc(50), own.subarray(0, 50))]) {
      expect(crc32c(bytes)).toBe(crcOf(bytes));
    }
    const [first, second] = [plain.subarray(0, 33_333), plain.subarray(33_333)];
    expect(crc32c(second, crc32c(first))).toBe(crcOf(plain));
    expect(crc32cCombine(crc32c(first), crc32c(second), second.length)).toBe(crcOf(plain));
  });

  it('reports every batch of a range with its header and verdict, and modifies nothing', () => {
    const good = plainBatch(3, 20, {
      baseOffset: 500n,
      leaderEpoch: 4,
      attributes: 8,
      producerId: 7n,
      baseSequence: 2,
      producerEpoch: 1,
    });
    const falseMax = plainBatch(2, 10, { maxTimestamp: 5n });
    const badCrc = plainBatch(2, 10);
    badCrc[70]! ^= 1;
    const badRecord = plainBatch(4, 10, { recordCount: 5 });
    const range = Buffer.concat([good, falseMax, badCrc, badRecord, good.subarray(0, 40)]);
    const before = Buffer.from(range);
    const reports = validateRecordBatches(range);
    expect(range).toEqual(before);
    expect(reports.map(({ errorName, crcValid }) => [errorName, crcValid])).toEqual([
      ['NONE', true],
      ['NONE', true],
      ['CORRUPT_MESSAGE', false],
      ['INVALID_RECORD', true],
      ['INVALID_RECORD', false],
    ]);
    expect(reports[0]).toMatchObject({
      position: 0,
      sizeBytes: good.length,
      baseOffset: 500n,
      partitionLeaderEpoch: 4,
      attributes: 8,
      producerId: 7n,
      recordsCount: 3,
      crc: crcOf(good.subarray(21)),
    });
    expect(reports[4]).toMatchObject({
      position: range.length - 40,
      sizeBytes: 40,
      lastOffsetDelta: 2,
      recordsCount: -1,
    });
    expect(validateRecordBatches(new Uint8Array(0))).toEqual([]);
  });

  it('assigns offsets in place, also where the bytes are not its own, and stops at the first bad batch', () => {
    const [a, b, c] = [plainBatch(3, 20), plainBatch(1, 5), plainBatch(2, 7)];
    c[80]! ^= 1;
    const plain = Buffer.concat([a, b, c]);
    const own = kernelBytes(plain.length);
    own.set(plain);
    for (const run of [plain, own]) {
      const options = { baseOffset: 10n, lastOffset: undefined, leaderEpoch: 2, logAppendTimeMs: 1_800_000_000_000n };
      const assigned = assignOffsets(run, options);
      expect(assigned).toMatchObject({ error: 2, goodBytes: a.length + b.length, batches: 2, nextOffset: 14n });
      const expected = [a, b].map((batch, i) => {
        const copy = Buffer.from(batch);
        copy.writeBigInt64BE(i === 0 ? 10n : 13n, 0);
        copy.writeInt32BE(2, 12);
        copy.writeUInt16BE(8, 21);
        copy.writeBigInt64BE(1_800_000_000_000n, 35);
        return sealCrc(copy);
      });
      expect(Buffer.from(run)).toEqual(Buffer.concat([...expected, c]));
    }
  });

  it('patches the CRC for LogAppendTime as a whole new CRC would be', () => {
    for (const count of [1, 40, 3000]) {
      const batch = plainBatch(count, 30, { attributes: 0xff80 });
      const crc = setLogAppendTime(batch, 1_234_567_890_123);
      expect(crc).toBe(crcOf(batch.subarray(21)));
      expect([batch.readUInt32BE(17), batch.readUInt16BE(21), batch.readBigInt64BE(35)]).toEqual([
        crc,
        8,
        1_234_567_890_123n,
      ]);
    }
  });

  it('says what does not fit', () => {
    expect(() => kernelBytes(2 ** 31)).toThrow(/do not fit into the kernel's memory/);
    expect(() => kernelBytes(-5)).toThrow(/do not fit/);
    expect(() => setLogAppendTime(new Uint8Array(10), 0)).toThrow(/no record batch/);
    expect(() => crc32cCombine(1, 2, -1)).toThrow(/number of bytes/);
  });
});
