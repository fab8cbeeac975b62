/**
 * One partition's batch on its way from the door to its answer: its bytes, its verdict, its result.
 *
 * Owns one reference to the slab that holds the bytes (after recompression: the slab that validation made). The segment
 * it was placed in gives that back, or hands it on after the commit. Main thread.
 */
import { assert } from '../common/assert.ts';
import type { ErrorCode } from '../common/errors.ts';
import { type PartitionKey, partitionKey, type TopicIdPartition } from '../common/topic-id-partition.ts';
import type { CommitBatchResult, TimestampType } from '../coordinator/diskless-coordinator.ts';
import type { ValidatedBatch } from '../record/validation.ts';
import type { Slab } from '../worker/slab-pool.ts';
import type { AppendResult } from './append-request.ts';

/** An answer that says why a partition's batch is not in the log. */
export function failedAppend(
  topicIdPartition: TopicIdPartition,
  error: ErrorCode,
  message: string,
  recordErrors: AppendResult['recordErrors'] = [],
): AppendResult {
  return {
    topicIdPartition,
    error,
    message,
    recordErrors,
    baseOffset: -1n,
    logAppendTimeMs: -1n,
    logStartOffset: -1n,
  };
}

export class PendingBatch {
  readonly topicIdPartition: TopicIdPartition;
  readonly key: PartitionKey;
  /** Counts places in the order in which requests were read; the order of a partition's batches follows it. */
  readonly place: number;
  /** Settles, never rejects, when the verdict is in and no worker reads the bytes any more. */
  validation: Promise<void> = Promise.resolve();

  readonly #onResult: (result: AppendResult) => void;
  #slab: Slab | undefined;
  #verdict: ValidatedBatch | undefined;
  #bytes: Uint8Array | undefined;
  #timestampType: TimestampType = 0;
  #result: AppendResult | undefined;

  constructor(options: {
    topicIdPartition: TopicIdPartition;
    place: number;
    slab: Slab;
    onResult: (result: AppendResult) => void;
  }) {
    this.topicIdPartition = options.topicIdPartition;
    this.key = partitionKey(options.topicIdPartition);
    this.place = options.place;
    this.#slab = options.slab;
    this.#onResult = options.onResult;
  }

  /** The validated batch: a view of the slab. */
  get bytes(): Uint8Array {
    assert(this.#bytes, 'only a validated batch has bytes');
    return this.#bytes;
  }

  /** Where the bytes lie; undefined once they were given back or handed on. */
  get slab(): Slab | undefined {
    return this.#slab;
  }

  /** The verdict of a batch that passed; asserts that it did. */
  get verdict(): ValidatedBatch {
    assert(this.#verdict, 'only a validated batch has a verdict');
    return this.#verdict;
  }

  get result(): AppendResult | undefined {
    return this.#result;
  }

  /** Validated and not answered: goes into its segment and its commit. */
  get live(): boolean {
    return this.#verdict !== undefined && this.#result === undefined;
  }

  /** The topic's timestamp type when the batch was checked; its bit in the batch is set only after the commit. */
  get timestampType(): TimestampType {
    return this.#timestampType;
  }

  /** Takes the verdict; `rebuilt` is the slab of a batch that had to be recompressed or repaired. */
  accept(verdict: ValidatedBatch, timestampType: TimestampType, rebuilt: Slab | undefined): void {
    this.#verdict = verdict;
    this.#bytes = verdict.bytes;
    this.#timestampType = timestampType;
    if (!rebuilt) return;
    this.release();
    this.#slab = rebuilt;
  }

  /** Moves the bytes into a slab that it shares with its neighbours in the segment. */
  moveInto(shared: Slab, at: number): void {
    const { bytes } = this;
    shared.bytes.set(bytes, at);
    this.release();
    shared.retain();
    this.#slab = shared;
    this.#bytes = shared.bytes.subarray(at, at + bytes.length);
  }

  /** Answers its caller; the first answer stands. */
  settle(result: AppendResult): void {
    if (this.#result) return;
    this.#result = result;
    this.#onResult(result);
  }

  fail(error: ErrorCode, message: string): void {
    this.settle(failedAppend(this.topicIdPartition, error, message));
  }

  settleCommitted(committed: CommitBatchResult, message: string): void {
    const { error, baseOffset, logAppendTimeMs, logStartOffset } = committed;
    const { topicIdPartition } = this;
    this.settle({ topicIdPartition, error, message, recordErrors: [], baseOffset, logAppendTimeMs, logStartOffset });
  }

  /** Gives the slab's reference to the caller. */
  takeSlab(): Slab {
    assert(this.#slab, 'a slab is taken once');
    const slab = this.#slab;
    this.#slab = undefined;
    return slab;
  }

  /** Gives the bytes back, unless they were taken. Nobody may read them any more: no worker, no PUT. */
  release(): void {
    this.#slab?.release();
    this.#slab = undefined;
  }
}
