/** Slicing runs by batches against a naive reading of the same bytes. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sliceBatches } from '../../src/fetch/batch-walk.ts';
import type { RewrittenRun } from '../../src/worker/rewritten-run.ts';
import { plainBatch } from '../support/record-batches.ts';
import { offsetsOf } from './fetch-fixture.ts';

/** A rewritten run of batches with these record counts, from `base` on. */
function runOf(base: bigint, counts: readonly number[]): RewrittenRun {
  let offset = base;
  const batches = counts.map((count) => {
    const batch = plainBatch(count, 5, { baseOffset: offset });
    offset += BigInt(count);
    return batch;
  });
  const slab = { bytes: new Uint8Array(0), retain() {}, release() {}, transfer: () => true };
  const topicIdPartition = { topicId: 'AAAAAAAAAAAAAAAAAAAAAQ', partition: 0 };
  return { topicIdPartition, baseOffset: base, lastOffset: offset - 1n, bytes: Buffer.concat(batches), slab };
}

describe('sliceBatches', () => {
  it('takes whole batches from the one that holds the offset, as many as fit', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: 0n, max: 2n ** 62n }),
        fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 8 }),
        fc.nat(40),
        fc.nat(700),
        fc.boolean(),
        (base, counts, ahead, maxBytes, atLeastOne) => {
          const run = runOf(base, counts);
          const total = counts.reduce((sum, count) => sum + count, 0);
          const fetchOffset = base + BigInt(ahead % total);
          const slice = sliceBatches(run, fetchOffset, maxBytes, atLeastOne);
          const wanted = offsetsOf([run.bytes]).filter(([, last]) => last >= fetchOffset);
          const sizes = wanted.map(([first, last]) => plainBatch(Number(last - first) + 1, 5).length);
          let fitting = 0;
          for (let bytes = sizes[0]!; fitting < sizes.length && bytes <= maxBytes; bytes += sizes[fitting] ?? 0)
            fitting++;
          const expected = wanted.slice(0, Math.max(fitting, atLeastOne ? 1 : 0));
          expect(slice ? offsetsOf([slice.bytes]) : []).toEqual(expected);
          if (slice) expect(slice.nextOffset).toBe(expected.at(-1)![1] + 1n);
        },
      ),
      { numRuns: 500 },
    );
  });
});
