/** Groups, their committed offsets and the state of share partitions, in the in-memory coordinator. */
import { type ErrorCode, Errors } from '../../common/errors.ts';
import {
  comparePartitions,
  type PartitionKey,
  partitionKey,
  type TopicIdPartition,
} from '../../common/topic-id-partition.ts';
import type { Uuid } from '../../common/uuid.ts';
import type { CommittedOffset, StoredGroup } from '../group-store.ts';
import { shareWriteError } from '../share-state-fencing.ts';
import type { SharePartitionKey, SharePartitionState, ShareStateWrite } from '../share-state-store.ts';

type Errored = { readonly error: ErrorCode };
const NONE: Errored = { error: Errors.NONE };

/** Values by group and partition. */
class ByGroupAndPartition<V extends { readonly topicIdPartition: TopicIdPartition }> {
  readonly #groups = new Map<string, Map<PartitionKey, V>>();

  get(groupId: string, of: TopicIdPartition): V | undefined {
    return this.#groups.get(groupId)?.get(partitionKey(of));
  }
  set(groupId: string, value: V): void {
    const group = this.#groups.get(groupId) ?? new Map<PartitionKey, V>();
    this.#groups.set(groupId, group.set(partitionKey(value.topicIdPartition), value));
  }
  delete(groupId: string, of: TopicIdPartition): void {
    this.#groups.get(groupId)?.delete(partitionKey(of));
  }
  deleteGroup(groupId: string): void {
    this.#groups.delete(groupId);
  }
  deleteTopic(topicId: Uuid): void {
    for (const group of this.#groups.values()) {
      for (const [key, { topicIdPartition }] of group) if (topicIdPartition.topicId === topicId) group.delete(key);
    }
  }
  all(groupId: string): V[] {
    const values = [...(this.#groups.get(groupId)?.values() ?? [])];
    return values.sort((a, b) => comparePartitions(a.topicIdPartition, b.topicIdPartition));
  }
}

export class InMemoryGroups {
  readonly #groups = new Map<string, StoredGroup>();
  readonly #offsets = new ByGroupAndPartition<CommittedOffset>();
  readonly #shares = new ByGroupAndPartition<{ topicIdPartition: TopicIdPartition; state: SharePartitionState }>();

  loadGroups(): StoredGroup[] {
    return [...this.#groups.values()].sort((a, b) => (a.groupId < b.groupId ? -1 : 1));
  }

  storeGroup(group: StoredGroup): Errored {
    const stored = this.#groups.get(group.groupId);
    if (stored && stored.epoch > group.epoch) return { error: Errors.FENCED_MEMBER_EPOCH };
    this.#groups.set(group.groupId, { ...group });
    return NONE;
  }

  deleteGroups(groupIds: readonly string[]): void {
    for (const groupId of groupIds) {
      this.#groups.delete(groupId);
      this.#offsets.deleteGroup(groupId);
    }
  }

  commitOffsets(
    groupId: string,
    offsets: readonly CommittedOffset[],
    fence: { readonly epoch: number } | undefined,
    exists: (of: TopicIdPartition) => boolean,
  ): Errored[] {
    if (fence && this.#groups.get(groupId)?.epoch !== fence.epoch) {
      return offsets.map(() => ({ error: Errors.ILLEGAL_GENERATION }));
    }
    return offsets.map((offset) => {
      if (!exists(offset.topicIdPartition)) return { error: Errors.UNKNOWN_TOPIC_OR_PARTITION };
      this.#offsets.set(groupId, { ...offset });
      return NONE;
    });
  }

  fetchOffsets(groupId: string, partitions?: readonly TopicIdPartition[]): CommittedOffset[] {
    if (!partitions) return this.#offsets.all(groupId);
    return partitions.map((of) => this.#offsets.get(groupId, of)).filter((offset) => offset !== undefined);
  }

  deleteOffsets(groupId: string, partitions: readonly TopicIdPartition[]): void {
    for (const of of partitions) this.#offsets.delete(groupId, of);
  }

  readShareStates(keys: readonly SharePartitionKey[]): (SharePartitionState | undefined)[] {
    return keys.map(({ groupId, topicIdPartition }) => this.#shares.get(groupId, topicIdPartition)?.state);
  }

  writeShareStates(writes: readonly ShareStateWrite[], exists: (of: TopicIdPartition) => boolean): Errored[] {
    return writes.map(({ key: { groupId, topicIdPartition }, expected, state }) => {
      if (state && !exists(topicIdPartition)) return { error: Errors.UNKNOWN_TOPIC_OR_PARTITION };
      const error = shareWriteError(this.#shares.get(groupId, topicIdPartition)?.state, expected);
      if (error !== Errors.NONE) return { error };
      if (state) this.#shares.set(groupId, { topicIdPartition, state: structuredClone(state) });
      else this.#shares.delete(groupId, topicIdPartition);
      return NONE;
    });
  }

  listSharePartitions(groupId: string): TopicIdPartition[] {
    return this.#shares.all(groupId).map(({ topicIdPartition }) => topicIdPartition);
  }

  deleteTopic(topicId: Uuid): void {
    this.#offsets.deleteTopic(topicId);
    this.#shares.deleteTopic(topicId);
  }
}
