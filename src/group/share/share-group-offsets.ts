/**
 * Where share groups stand in their partitions: what administrators see and set, and what a group's first subscription to
 * a topic makes. Runs in the groups' queues; the states themselves are kept by whoever leads the share partitions.
 */
import { ApiError, type ErrorCode, Errors, errorName } from '../../common/errors.ts';
import type { TopicIdPartition } from '../../common/topic-id-partition.ts';
import type { Uuid } from '../../common/uuid.ts';
import type { GroupRegistry } from '../group-registry.ts';
import { storeErrorCode } from '../group-slot.ts';
import type { ShareGroup, ShareStart } from './share-group.ts';
import type { ShareGroupStates, ShareOffset } from './share-states.ts';

export interface DescribeShareOffsetsResult {
  /** Of the group. */
  readonly error: ErrorCode;
  readonly offsets: readonly ShareOffset[];
}

export interface ChangeShareOffsetsResult {
  /** Of the group. */
  readonly error: ErrorCode;
  /** Of each part of the request, in its order; empty when the group has an error. */
  readonly errors: readonly ErrorCode[];
}

export class ShareGroupOffsets {
  readonly #registry: GroupRegistry;
  readonly #states: ShareGroupStates;

  constructor(registry: GroupRegistry, states: ShareGroupStates) {
    this.#registry = registry;
    this.#states = states;
  }

  /**
   * Gives what the group's members are subscribed to a state where it has none. Crash points: states without a group that
   * knows of them are found by the next attempt and left as they are. @throws CoordinatorError, ApiError
   */
  async initialize(group: ShareGroup): Promise<void> {
    const starts = group.findUninitialized();
    const errors = starts.length === 0 ? [] : await this.#states.initialize(group.groupId, group.epoch, starts);
    const failed = errors.find((error) => error !== Errors.NONE);
    if (failed !== undefined) {
      throw new ApiError(errorName(failed), `share partitions of group "${group.groupId}" got no state`);
    }
    group.noteInitialized(starts);
  }

  /** Of some partitions, in their order, or all that the group has a state for. GROUP_ID_NOT_FOUND. */
  async describe(groupId: string, partitions?: readonly TopicIdPartition[]): Promise<DescribeShareOffsetsResult> {
    if (this.#registry.find(groupId)?.type !== 'share') return { error: Errors.GROUP_ID_NOT_FOUND, offsets: [] };
    try {
      return { error: Errors.NONE, offsets: await this.#states.describe(groupId, partitions) };
    } catch (cause) {
      return { error: storeErrorCode(cause), offsets: [] };
    }
  }

  /** Moves start offsets of a group without members. GROUP_ID_NOT_FOUND, NON_EMPTY_GROUP. */
  alter(groupId: string, starts: readonly ShareStart[]): Promise<ChangeShareOffsetsResult> {
    return this.#change(groupId, (group) => this.#states.reset(groupId, group.raiseStateEpoch(), starts));
  }

  /**
   * Deletes a group's states of whole topics; whoever subscribes to them next starts where the group's configs say. A
   * topic that the group has nothing of gets UNKNOWN_TOPIC_OR_PARTITION.
   */
  deleteTopics(groupId: string, topicIds: readonly Uuid[]): Promise<ChangeShareOffsetsResult> {
    return this.#change(groupId, async (group) => {
      const deleted = await this.#states.delete(groupId, topicIds);
      group.forgetTopics(topicIds);
      return topicIds.map((topicId) => (deleted.has(topicId) ? Errors.NONE : Errors.UNKNOWN_TOPIC_OR_PARTITION));
    });
  }

  #change(
    groupId: string,
    change: (group: ShareGroup) => Promise<readonly ErrorCode[]>,
  ): Promise<ChangeShareOffsetsResult> {
    const refuse = (error: ErrorCode): ChangeShareOffsetsResult => ({ error, errors: [] });
    return this.#registry.perform(groupId, refuse, async ({ group }, reply) => {
      if (group?.type !== 'share') return reply.send(refuse(Errors.GROUP_ID_NOT_FOUND));
      if (!group.isEmpty) return reply.send(refuse(Errors.NON_EMPTY_GROUP));
      group.outbox.add(reply, { error: Errors.NONE, errors: await change(group) });
    });
  }
}
