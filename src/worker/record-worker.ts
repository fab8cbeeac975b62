/**
 * The entry of a record worker (piscina): a kernel over the shared memory with a region of its own, and a loop over the
 * tasks of a hand-over. No I/O, no timers: piscina blocks this thread's event loop between hand-overs.
 */
import { threadId, workerData } from 'node:worker_threads';
import { RecordKernel } from '../record/record-kernel.ts';
import type { RecordWorkerData } from './messages.ts';
import { type PackedResults, type PackedTasks, runPacked } from './packed-hand-over.ts';
import { runTask } from './record-tasks.ts';
import { RegionClaims } from './region-claims.ts';

const { module, memory } = workerData as RecordWorkerData;
const claims = new RegionClaims(memory);
const region = claims.claim(threadId);
const kernel = new RecordKernel(module, memory, region);

/** Runs a hand-over. The watchdog sees each task by itself: a hand-over of many slow ones is not a stuck one. */
export function runTasks(tasks: PackedTasks): PackedResults {
  return runPacked(tasks, (task) => {
    claims.toggleBusy(region);
    try {
      return runTask(kernel, task);
    } finally {
      claims.toggleBusy(region);
    }
  });
}
