/**
 * The coordinator's part that keeps the state of share partitions (KIP-932's share coordinator): what the share-partition
 * leader must find again. src/share decides what is written; fencing by state epoch and leader epoch is decided here,
 * inside the same transaction as the write. Durable when a call resolves.
 */
import type { ErrorCode } from '../common/errors.ts';
import type { TopicIdPartition } from '../common/topic-id-partition.ts';

export interface SharePartitionKey {
  readonly groupId: string;
  readonly topicIdPartition: TopicIdPartition;
}

/** Record states as they are persisted: 0 available, 2 acknowledged, 3 archiving, 4 archived. */
export interface ShareStateBatch {
  readonly firstOffset: bigint;
  readonly lastOffset: bigint;
  readonly deliveryState: number;
  readonly deliveryCount: number;
}

export interface SharePartitionState {
  readonly stateEpoch: number;
  readonly leaderEpoch: number;
  /** −1: not known yet. */
  readonly startOffset: bigint;
  /** −1: not known yet (KIP-1226). */
  readonly deliveryCompleteCount: number;
  /** By rising offset, not overlapping; already combined. */
  readonly stateBatches: readonly ShareStateBatch[];
}

/** One guarded replacement. */
export interface ShareStateWrite {
  readonly key: SharePartitionKey;
  /** The epochs the writer saw; undefined: there was no state. */
  readonly expected: { readonly stateEpoch: number; readonly leaderEpoch: number } | undefined;
  /** What is stored from now on; undefined: nothing. */
  readonly state: SharePartitionState | undefined;
}

export interface ShareStateStore {
  /** The stored state of share partitions, in request order; undefined where there is none. */
  readShareStates(keys: readonly SharePartitionKey[]): Promise<(SharePartitionState | undefined)[]>;

  /**
   * Replaces states, each by itself, guarded by what the writer saw: with `expected` undefined the key must not exist,
   * else its stored epochs must equal `expected`'s. NONE, FENCED_STATE_EPOCH (state epoch differs), FENCED_LEADER_EPOCH
   * (leader epoch differs). `state` undefined deletes; any other is refused with UNKNOWN_TOPIC_OR_PARTITION where the
   * partition is gone, since nobody would delete it any more.
   */
  writeShareStates(writes: readonly ShareStateWrite[]): Promise<{ readonly error: ErrorCode }[]>;

  /** The keys that a group has state for. */
  listSharePartitions(groupId: string): Promise<readonly TopicIdPartition[]>;
}
