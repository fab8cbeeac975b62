/**
 * The coordinator's part that keeps groups: what a group coordinator must find again after a restart, and the offsets
 * that groups committed. The state machines live in src/group; this is their disk. Durable when a call resolves.
 */
import type { ErrorCode } from '../common/errors.ts';
import type { TopicIdPartition } from '../common/topic-id-partition.ts';

export type GroupType = 'classic' | 'consumer' | 'share';

export interface StoredGroup {
  readonly groupId: string;
  readonly type: GroupType;
  /** Generation of a classic group, epoch of the others. Never goes back for the life of the group. */
  readonly epoch: number;
  /** The state machine's own state, as JSON that it wrote; opaque here. */
  readonly state: string;
}

export interface CommittedOffset {
  readonly topicIdPartition: TopicIdPartition;
  /** ≥ 0. */
  readonly offset: bigint;
  /** −1 when the client gave none. */
  readonly leaderEpoch: number;
  /** "" when the client gave none. */
  readonly metadata: string;
  readonly commitTimeMs: number;
}

export interface GroupStore {
  loadGroups(): Promise<readonly StoredGroup[]>;

  /**
   * Creates or replaces a group. NONE, or FENCED_MEMBER_EPOCH when the stored epoch is newer than this one's (another
   * process moved the group on): nothing is written then.
   */
  storeGroup(group: StoredGroup): Promise<{ readonly error: ErrorCode }>;

  /** Forgets groups with their offsets. */
  deleteGroups(groupIds: readonly string[]): Promise<void>;

  /**
   * Writes offsets of one group in one transaction. A partition whose topic does not exist gets
   * UNKNOWN_TOPIC_OR_PARTITION; results in request order. With `epoch`, everything is refused with ILLEGAL_GENERATION
   * when the stored group's epoch differs.
   */
  commitOffsets(
    groupId: string,
    offsets: readonly CommittedOffset[],
    fence?: { readonly epoch: number },
  ): Promise<{ readonly error: ErrorCode }[]>;

  /** The committed offsets of a group: of some partitions (those without one are absent), or all. */
  fetchOffsets(groupId: string, partitions?: readonly TopicIdPartition[]): Promise<readonly CommittedOffset[]>;

  deleteOffsets(groupId: string, partitions: readonly TopicIdPartition[]): Promise<void>;
}
