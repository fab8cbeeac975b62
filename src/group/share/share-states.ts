/**
 * What the group coordinator asks of whoever keeps the state of share partitions: the engine's `shareOffsets` here. Calls
 * are durable when they resolve, and reject with CoordinatorError or ApiError when the store does not answer.
 */
import type { ErrorCode } from '../../common/errors.ts';
import type { TopicIdPartition } from '../../common/topic-id-partition.ts';
import type { Uuid } from '../../common/uuid.ts';
import type { ShareStart } from './share-group.ts';

export interface ShareOffset {
  readonly topicIdPartition: TopicIdPartition;
  readonly error: ErrorCode;
  /** −1: nothing was fetched yet, or there is no state. */
  readonly startOffset: bigint;
  readonly leaderEpoch: number;
  /** Log end − start offset − what is complete behind it (KIP-1226); −1: not known. */
  readonly lag: bigint;
}

export interface ShareGroupStates {
  /** Makes states where there are none; others stay as they are. Errors in the order of `starts`. */
  initialize(groupId: string, stateEpoch: number, starts: readonly ShareStart[]): Promise<readonly ErrorCode[]>;
  /** Makes states anew, with nothing in flight; whoever still holds records of them can acknowledge none. */
  reset(groupId: string, stateEpoch: number, starts: readonly ShareStart[]): Promise<readonly ErrorCode[]>;
  /** Deletes states: of some topics, or all of the group. Resolves with the topics that had any. */
  delete(groupId: string, topicIds?: readonly Uuid[]): Promise<ReadonlySet<Uuid>>;
  /** Of some partitions, in their order, or all that the group has a state for. */
  describe(groupId: string, partitions?: readonly TopicIdPartition[]): Promise<readonly ShareOffset[]>;
}
