/**
 * Puts the small batches of a partition side by side in memory. One copy of a few kilobytes is far cheaper than what each
 * of them would cost by itself from then on: a chunk of the PUT, a task for the record kernel, a run and a slab of the
 * local view. Main thread.
 */
import { comparePartitions } from '../common/topic-id-partition.ts';
import type { SlabPool } from '../worker/slab-pool.ts';
import type { PendingBatch } from './pending-batch.ts';

/** A batch above this is left where it is. */
const SMALL_BATCH_BYTES = 32 * 1024;
/** The most that one shared slab holds: it is freed only when nobody needs any of it. */
const PACKED_BYTES_MAX = 256 * 1024;

/** Packs runs of neighbours; `batches` are in the order of the segment. Without memory for it they stay as they are. */
export function packSmallBatches(batches: readonly PendingBatch[], slabs: SlabPool): void {
  for (let first = 0; first < batches.length; ) {
    const { next, sizeBytes } = packable(batches, first);
    if (next - first > 1) pack(batches, first, next, sizeBytes, slabs);
    first = next;
  }
}

/** The small batches of one partition that begin at `first`; at least that one, whatever its size. */
function packable(batches: readonly PendingBatch[], first: number): { next: number; sizeBytes: number } {
  const { topicIdPartition } = batches[first]!;
  let sizeBytes = 0;
  let next = first;
  for (; next < batches.length; next++) {
    const batch = batches[next]!;
    const { length } = batch.bytes;
    if (length > SMALL_BATCH_BYTES || sizeBytes + length > PACKED_BYTES_MAX) break;
    if (comparePartitions(batch.topicIdPartition, topicIdPartition) !== 0) break;
    sizeBytes += length;
  }
  return { next: Math.max(next, first + 1), sizeBytes };
}

function pack(batches: readonly PendingBatch[], first: number, next: number, sizeBytes: number, slabs: SlabPool): void {
  const shared = slabs.lease(sizeBytes, 'append');
  if (!shared) return;
  let at = 0;
  for (let index = first; index < next; index++) {
    const batch = batches[index]!;
    const { length } = batch.bytes;
    batch.moveInto(shared, at);
    at += length;
  }
  // Each batch holds a reference of its own now.
  shared.release();
}
