/** What the append path hands to the local view after a commit, and the fetch path makes of a GET. */
import type { TopicIdPartition } from '../common/topic-id-partition.ts';
import type { Slab } from './slab-pool.ts';

/**
 * A run of whole batches of one partition, verified and rewritten (offsets, leader epoch, append time injected): what a
 * consumer may see. Immutable; shared by everyone who reads it. The receiver of a run owns one reference to `slab`.
 */
export interface RewrittenRun {
  readonly topicIdPartition: TopicIdPartition;
  readonly baseOffset: bigint;
  /** The last offset of the run. */
  readonly lastOffset: bigint;
  /** A view of `slab.bytes`. */
  readonly bytes: Uint8Array;
  readonly slab: Slab;
}
