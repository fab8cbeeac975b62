/**
 * Puts an answer together: spends the request's byte budget over the partitions in their order, as whole batches, and pins
 * the slabs they lie in until the answer is released.
 */
import { assert } from '../common/assert.ts';
import { Errors } from '../common/errors.ts';
import type { RewrittenRun } from '../worker/rewritten-run.ts';
import type { Slab } from '../worker/slab-pool.ts';
import { type BatchSlice, sliceBatches } from './batch-walk.ts';
import type { FetchMemory } from './fetch-memory.ts';
import type { FetchPartitionData, FetchResult } from './fetch-request.ts';
import type { FetchSlot } from './fetch-slot.ts';

const NO_RECORDS: readonly Uint8Array[] = [];
const NO_ABORTED: FetchPartitionData['abortedTransactions'] = [];

export class FetchAnswer {
  readonly #memory: FetchMemory;
  readonly #partitions: FetchPartitionData[] = [];
  readonly #pinned: Slab[] = [];
  #budget: number;
  #bytes = 0;
  #isStarved = false;

  constructor(memory: FetchMemory, maxBytes: number) {
    this.#memory = memory;
    this.#budget = Math.max(0, maxBytes);
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** There was data, but pins of earlier answers left no room for any of it. */
  get isStarved(): boolean {
    return this.#isStarved && this.#bytes === 0;
  }

  /** Adds the next partition with what could be read of it, by offset; returns the offset after its records, or undefined when it got none. */
  add(slot: FetchSlot, runs: readonly RewrittenRun[]): bigint | undefined {
    const before = this.#bytes;
    const records: Uint8Array[] = [];
    let next = slot.partition.fetchOffset;
    for (const run of runs) {
      if (run.lastOffset < next) continue; // a local run may hold more than the coordinate it was found for
      const slice = this.#take(run, next, slot, this.#bytes - before);
      if (!slice) break;
      records.push(slice.bytes);
      next = slice.nextOffset;
      if (next <= run.lastOffset) break;
    }
    const isEmpty = records.length === 0;
    this.#partitions.push({
      topicIdPartition: slot.partition.topicIdPartition,
      error: slot.error !== Errors.NONE || !isEmpty || runs.length > 0 ? slot.error : slot.readError,
      highWatermark: slot.highWatermark,
      lastStableOffset: slot.lastStableOffset,
      logStartOffset: slot.logStartOffset,
      records: isEmpty ? NO_RECORDS : records,
      abortedTransactions: NO_ABORTED,
    });
    return isEmpty ? undefined : next;
  }

  finish(): FetchResult {
    let isReleased = false;
    return {
      partitions: this.#partitions,
      release: () => {
        assert(!isReleased, 'a fetch result is released once');
        isReleased = true;
        this.discard();
      },
    };
  }

  /** Unpins everything. */
  discard(): void {
    for (const slab of this.#pinned.splice(0)) this.#memory.unpin(slab);
  }

  /** Batches of one run within the limits, pinned. The first batch of the whole request may exceed them. */
  #take(run: RewrittenRun, offset: bigint, slot: FetchSlot, takenBytes: number): BatchSlice | undefined {
    if (this.#isStarved) return undefined;
    const isFirst = this.#bytes === 0;
    const limit = Math.min(this.#budget - this.#bytes, slot.partition.maxBytes - takenBytes);
    if (limit <= 0 && !isFirst) return undefined;
    const mayPin = this.#memory.mayPin(run.slab);
    const slice = sliceBatches(run, offset, mayPin ? limit : Math.min(limit, this.#memory.copyBytes), isFirst);
    const taken = slice && (mayPin ? this.#pin(slice, run.slab) : this.#copy(slice));
    if (taken) this.#bytes += taken.bytes.length;
    return taken;
  }

  #pin(slice: BatchSlice, slab: Slab): BatchSlice {
    if (this.#pinned.at(-1) !== slab) {
      this.#memory.pin(slab);
      this.#pinned.push(slab);
    }
    return slice;
  }

  /** Slow readers hold as much as they may: what is copied frees the shared slab, and nothing follows it. */
  #copy(slice: BatchSlice): BatchSlice | undefined {
    this.#isStarved = true;
    const slab = this.#memory.leasePinned(slice.bytes.length);
    if (!slab) return undefined;
    slab.bytes.set(slice.bytes);
    this.#pinned.push(slab);
    return { bytes: slab.bytes.subarray(0, slice.bytes.length), nextOffset: slice.nextOffset };
  }
}
