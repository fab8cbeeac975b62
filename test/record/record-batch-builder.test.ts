/** Batches of our own making, against the test side's encoder and the kernel's verdict. */
import crc32c from 'crc-32/crc32c.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Errors } from '../../src/common/errors.ts';
import { type NewRecord, RecordBatchBuilder } from '../../src/record/record-batch-builder.ts';
import { buildBatch } from '../support/record-batches.ts';
import { NOW_MS, TestKernel } from '../support/test-kernel.ts';

const bytes = fc.uint8Array({ maxLength: 300 });
const record: fc.Arbitrary<NewRecord> = fc.record({
  key: fc.option(bytes),
  value: fc.option(bytes),
  headers: fc.array(fc.tuple(fc.string({ maxLength: 100 }), bytes), { maxLength: 3 }),
});
const crc = (content: Uint8Array): number => crc32c.buf(content) >>> 0;

describe('a record batch builder', () => {
  it('makes the bytes that the format asks for, which the kernel accepts', () => {
    const kernel = new TestKernel(1024 * 1024, 1024 * 1024);
    fc.assert(
      fc.property(fc.array(record, { minLength: 1, maxLength: 150 }), (records) => {
        const builder = new RecordBatchBuilder(NOW_MS);
        for (const one of records) expect(builder.tryAdd(one, 2 ** 30)).toBe(true);
        const built = builder.build(crc);
        expect(Buffer.from(built)).toEqual(buildBatch({ records, baseTimestamp: BigInt(NOW_MS) }));
        expect(kernel.validate(built).error).toBe(Errors.NONE);
      }),
      { numRuns: 50 },
    );
  });

  it('stays within its limit, to the byte', () => {
    const one: NewRecord = { key: null, value: Buffer.alloc(100), headers: [['name', Buffer.from('x')]] };
    const builder = new RecordBatchBuilder(NOW_MS);
    builder.tryAdd(one, 1000);
    builder.tryAdd(one, 1000);
    const size = builder.build(crc).length;
    const exact = new RecordBatchBuilder(NOW_MS);
    expect([exact.tryAdd(one, size), exact.tryAdd(one, size - 1), exact.tryAdd(one, size)]).toEqual([
      true,
      false,
      true,
    ]);
    expect(exact.build(crc).length).toBe(size);
  });
});
