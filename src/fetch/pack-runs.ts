/**
 * Packs the small runs of one commit together before they enter the local view.
 *
 * Producers that send a record at a time leave batches of some hundred bytes, each in a slab of its own. Kept like that,
 * overheads would outweigh records, and a fetch of a few MiB would be tens of thousands of views and pins. So small runs
 * of a commit are copied into one slab, and those that continue each other become one run. Large ones stay where they
 * are. Main thread.
 */
import type { RewrittenRun } from '../worker/rewritten-run.ts';
import type { FetchMemory } from './fetch-memory.ts';

/** Below it, copying costs less than what keeping a run apart costs later. */
const SMALL_RUN_BYTES = 16 * 1024;

/** Takes the runs over and returns those to keep instead; without memory for a copy, the same ones. */
export function packSmallRuns(runs: readonly RewrittenRun[], memory: FetchMemory): readonly RewrittenRun[] {
  const small = runs.filter((run) => run.bytes.length < SMALL_RUN_BYTES);
  if (small.length < 2) return runs;
  const slab = memory.lease(small.reduce((sum, run) => sum + run.bytes.length, 0));
  if (!slab) return runs;
  const packed: RewrittenRun[] = [];
  let position = 0;
  for (const group of groupContinuing(small)) {
    const start = position;
    for (const run of group) {
      slab.bytes.set(run.bytes, position);
      position += run.bytes.length;
      run.slab.release();
    }
    if (packed.length > 0) slab.retain(); // the lease itself is the first run's reference
    const { topicIdPartition, baseOffset } = group[0]!;
    const { lastOffset } = group.at(-1)!;
    packed.push({ topicIdPartition, baseOffset, lastOffset, bytes: slab.bytes.subarray(start, position), slab });
  }
  return [...packed, ...runs.filter((run) => run.bytes.length >= SMALL_RUN_BYTES)];
}

/** Runs side by side that continue each other's offsets in one partition. */
function groupContinuing(runs: readonly RewrittenRun[]): RewrittenRun[][] {
  const groups: RewrittenRun[][] = [];
  for (const run of runs) {
    const before = groups.at(-1)?.at(-1);
    if (before && continues(before, run)) groups.at(-1)!.push(run);
    else groups.push([run]);
  }
  return groups;
}

function continues(before: RewrittenRun, { topicIdPartition, baseOffset }: RewrittenRun): boolean {
  return (
    before.lastOffset + 1n === baseOffset &&
    before.topicIdPartition.partition === topicIdPartition.partition &&
    before.topicIdPartition.topicId === topicIdPartition.topicId
  );
}
