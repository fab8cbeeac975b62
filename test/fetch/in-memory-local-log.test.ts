/** The local view against a naive model, and its accounting against what the slab pool counts. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { partitionKey } from '../../src/common/topic-id-partition.ts';
import { FetchMemory } from '../../src/fetch/fetch-memory.ts';
import { InMemoryLocalLog } from '../../src/fetch/in-memory-local-log.ts';
import { openRecordPool } from '../../src/worker/piscina-record-pool.ts';
import type { RewrittenRun } from '../../src/worker/rewritten-run.ts';
import { tellsSeed } from '../support/tells-seed.ts';
import { untilCovered } from '../support/until-covered.ts';

const topicId = 'AAAAAAAAAAAAAAAAAAAAAQ';

type Action =
  | {
      readonly kind: 'append';
      readonly partition: number;
      readonly base: number;
      readonly count: number;
      readonly origin: 'tail' | 'scan';
      readonly shares: boolean;
    }
  | { readonly kind: 'log-start'; readonly partition: number; readonly offset: number }
  | { readonly kind: 'pin'; readonly which: number };

const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('append' as const),
      partition: fc.nat(2),
      base: fc.nat(60),
      count: fc.integer({ min: 1, max: 8 }),
      origin: fc.constantFrom('tail' as const, 'scan' as const),
      shares: fc.boolean(),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('log-start' as const), partition: fc.nat(2), offset: fc.nat(60) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('pin' as const), which: fc.nat(40) }) },
);

describe('InMemoryLocalLog', () => {
  it('holds what a naive model holds at most, never overlapping, never beyond its bytes, and leaks nothing', async () => {
    const maxBytes = 12_000;
    let evictions = 0;
    const property = fc.asyncProperty(fc.array(action, { minLength: 10, maxLength: 80 }), async (actions) => {
      const pool = await pools();
      const memory = new FetchMemory(pool.slabs);
      const log = new InMemoryLocalLog(memory, maxBytes);
      const leasedBefore = memory.leasedBytes;
      const offered: RewrittenRun[] = [];
      const pinned: RewrittenRun[] = [];
      const logStart = [0, 0, 0];
      for (const step of actions) {
        if (step.kind === 'append') {
          const before = offered.at(-1);
          const isHeld =
            before &&
            log.covering(partitionKey(before.topicIdPartition), before.baseOffset, before.lastOffset)[0] === before;
          const slab = step.shares && isHeld ? before.slab : memory.lease(1000 + step.count)!;
          if (step.shares && isHeld) slab.retain();
          const run: RewrittenRun = {
            topicIdPartition: { topicId, partition: step.partition },
            baseOffset: BigInt(step.base),
            lastOffset: BigInt(step.base + step.count - 1),
            bytes: slab.bytes.subarray(0, 10),
            slab,
          };
          offered.push(run);
          log.append(run, step.origin);
        } else if (step.kind === 'log-start') {
          logStart[step.partition] = Math.max(logStart[step.partition]!, step.offset);
          log.noteLogStart(partitionKey({ topicId, partition: step.partition }), BigInt(step.offset));
        } else {
          const run = offered[step.which];
          const isHeld =
            run && log.covering(partitionKey(run.topicIdPartition), run.baseOffset, run.lastOffset)[0] === run;
          if (isHeld) {
            memory.pin(run.slab);
            pinned.push(run);
          }
        }
        expect(log.sizeBytes).toBeLessThanOrEqual(maxBytes);
      }
      const slabs = new Set<unknown>();
      let heldRuns = 0;
      for (let partition = 0; partition < 3; partition++) {
        const key = partitionKey({ topicId, partition });
        let last = -1n;
        for (let offset = 0n; offset < 70n; offset++) {
          const [run] = log.read(key, offset, 1);
          if (!run) continue;
          expect(offered).toContain(run);
          expect(run.baseOffset <= offset && offset <= run.lastOffset).toBe(true);
          expect(run.lastOffset >= BigInt(logStart[partition]!)).toBe(true);
          if (run.baseOffset === offset) {
            expect(offset > last).toBe(true);
            heldRuns++;
          }
          last = run.lastOffset;
          slabs.add(run.slab);
        }
        const all = log.read(key, 0n, Number.MAX_SAFE_INTEGER);
        for (const [i, run] of all.entries()) if (i > 0) expect(run.baseOffset).toBe(all[i - 1]!.lastOffset + 1n);
      }
      if (heldRuns < offered.length) evictions++;
      const slabBytes = [...slabs].reduce<number>((sum, slab) => sum + (slab as RewrittenRun['slab']).bytes.length, 0);
      expect(log.sizeBytes).toBe(slabBytes + slabs.size * 512 + heldRuns * 320);
      log.close();
      expect(log.sizeBytes).toBe(0);
      for (const run of pinned) memory.unpin(run.slab);
      expect([memory.leasedBytes, memory.pinnedBytes]).toEqual([leasedBefore, 0]);
      expect(pool.slabs.leasedBytes('append')).toBe(0);
    });
    await untilCovered(
      () => evictions > 0,
      () => fc.assert(property, { ...tellsSeed(), numRuns: 150 }),
    );
    expect(evictions).toBeGreaterThan(0);
    await (await pools()).close();
  });
});

let opened: ReturnType<typeof openRecordPool> | undefined;

/** One pool for all runs of the property: each must leave it as it found it. */
function pools(): ReturnType<typeof openRecordPool> {
  opened ??= openRecordPool({ workerThreads: 0, appendCapacityBytes: 1024, fetchCapacityBytes: 256 * 1024 });
  return opened;
}
