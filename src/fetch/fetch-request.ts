/** What a broker asks `fetch` for, and what it gets back. */
import type { ErrorCode } from '../common/errors.ts';
import type { TopicIdPartition } from '../common/topic-id-partition.ts';

export interface FetchPartition {
  readonly topicIdPartition: TopicIdPartition;
  readonly fetchOffset: bigint;
  /** This partition's own limit in bytes. */
  readonly maxBytes: number;
}

export interface FetchParams {
  /** Wait until this many bytes are there, or `maxWaitMs` passed. 0 or 1 answers at once with what there is. */
  readonly minBytes: number;
  readonly maxWaitMs: number;
  /** One budget for the whole request, spent in the order of the partitions; the first batch may exceed it. */
  readonly maxBytes: number;
  readonly isolation: 'read_uncommitted' | 'read_committed';
}

/** Result i belongs to partition i. */
export interface FetchPartitionData {
  readonly topicIdPartition: TopicIdPartition;
  readonly error: ErrorCode;
  /** −1 with an error that hides them. */
  readonly highWatermark: bigint;
  readonly lastStableOffset: bigint;
  readonly logStartOffset: bigint;
  /**
   * Whole batches by rising offset, the first one holding the fetch offset: views over shared slabs, not to be modified,
   * valid until the fetch's `release()`.
   */
  readonly records: readonly Uint8Array[];
  readonly abortedTransactions: readonly { readonly producerId: bigint; readonly firstOffset: bigint }[];
}

/** A finished fetch. `release()` gives the bytes back; call it once they are written or copied, exactly once. */
export interface FetchResult {
  readonly partitions: readonly FetchPartitionData[];
  release(): void;
}
