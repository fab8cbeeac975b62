/** Committed offsets: who may commit and delete them, and the way to the store. Runs in the groups' queues. */
import { type ErrorCode, Errors } from '../common/errors.ts';
import { partitionKey, type TopicIdPartition } from '../common/topic-id-partition.ts';
import type { CommittedOffset, GroupStore } from '../coordinator/group-store.ts';
import { ClassicGroup } from './classic/classic-group.ts';
import type { MemberIdentity } from './classic/classic-requests.ts';
import type { Group } from './group-loader.ts';
import type { GroupRegistry } from './group-registry.ts';
import type { GroupSettings } from './group-settings.ts';
import { type GroupSlot, storeErrorCode } from './group-slot.ts';

export interface CommitOffsetsRequest extends MemberIdentity {
  readonly groupId: string;
  /** −1 from clients that use the group for its offsets only. */
  readonly generationIdOrMemberEpoch: number;
  /** What a generation of a group that does not exist gets: ILLEGAL_GENERATION, or GROUP_ID_NOT_FOUND from v9 on. */
  readonly unknownGroupError: ErrorCode;
  /** A negative offset takes the committed one away, as clients do to make a group start anew. */
  readonly offsets: readonly Omit<CommittedOffset, 'commitTimeMs'>[];
}

export interface FetchOffsetsRequest {
  readonly groupId: string;
  /** Who asks, from v9 on; only groups of the consumer protocol look at it. */
  readonly memberId: string | null;
  readonly memberEpoch: number;
  /** undefined: all that the group has. */
  readonly partitions: readonly TopicIdPartition[] | undefined;
}

export interface FetchOffsetsResult {
  readonly error: ErrorCode;
  /** A partition without a committed offset is absent. */
  readonly offsets: readonly CommittedOffset[];
}

export interface DeleteOffsetsResult {
  /** Of the group. */
  readonly error: ErrorCode;
  /** Of each partition, in request order; empty when the group has one. */
  readonly partitionErrors: readonly ErrorCode[];
}

export class GroupOffsets {
  readonly #registry: GroupRegistry;
  readonly #store: GroupStore;
  readonly #settings: GroupSettings;

  constructor(registry: GroupRegistry, store: GroupStore, settings: GroupSettings) {
    this.#registry = registry;
    this.#store = store;
    this.#settings = settings;
  }

  /** Commits; durable when it resolves. Error codes in the order of the request's offsets. */
  commit(request: CommitOffsetsRequest): Promise<readonly ErrorCode[]> {
    const all = (error: ErrorCode): ErrorCode[] => request.offsets.map(() => error);
    return this.#registry.perform(request.groupId, all, async (slot, reply) => {
      const error = await this.#admit(slot, request);
      reply.send(error === Errors.NONE ? await this.#write(slot, request) : all(error));
    });
  }

  async #admit(slot: GroupSlot, request: CommitOffsetsRequest): Promise<ErrorCode> {
    const { groupId, generationIdOrMemberEpoch } = request;
    if (!slot.group) {
      if (generationIdOrMemberEpoch >= 0) return request.unknownGroupError;
      const group = new ClassicGroup(groupId, this.#registry.context);
      group.keep();
      slot.replace(group, false);
    }
    const error = slot.group!.checkCommit(request, generationIdOrMemberEpoch, this.#registry.now());
    // The row first: offsets without a group would be found by nobody.
    return error === Errors.NONE ? slot.store() : error;
  }

  async #write(slot: GroupSlot, { groupId, offsets }: CommitOffsetsRequest): Promise<ErrorCode[]> {
    const commitTimeMs = this.#registry.context.nowMs();
    const errors = offsets.map(({ metadata }) => this.#checkMetadata(metadata));
    const accepted = offsets.filter((_, index) => errors[index] === Errors.NONE);
    const removed = accepted.filter(({ offset }) => offset < 0n).map(({ topicIdPartition }) => topicIdPartition);
    const written = accepted.filter(({ offset }) => offset >= 0n).map((offset) => ({ ...offset, commitTimeMs }));
    if (removed.length > 0) await this.#store.deleteOffsets(groupId, removed);
    if (written.length === 0) return errors;
    const results = await this.#store.commitOffsets(groupId, written, { epoch: slot.group!.epoch });
    if (results.some(({ error }) => error === Errors.ILLEGAL_GENERATION)) {
      // The store knows another epoch than this process: another one has taken the group over.
      slot.giveUp(Errors.NOT_COORDINATOR);
      return offsets.map(() => Errors.NOT_COORDINATOR);
    }
    const byKey = new Map(
      written.map(({ topicIdPartition }, at) => [partitionKey(topicIdPartition), results[at]!.error]),
    );
    return errors.map((error, index) => {
      if (error !== Errors.NONE) return error;
      return byKey.get(partitionKey(offsets[index]!.topicIdPartition)) ?? Errors.NONE;
    });
  }

  #checkMetadata(metadata: string): ErrorCode {
    const tooLarge = Buffer.byteLength(metadata) > this.#settings.offsetMetadataMaxBytes;
    return tooLarge ? Errors.OFFSET_METADATA_TOO_LARGE : Errors.NONE;
  }

  /** Reads what is durable; needs no place in the queue. */
  async fetch(request: FetchOffsetsRequest): Promise<FetchOffsetsResult> {
    const error = this.#checkFetch(request);
    if (error !== Errors.NONE) return { error, offsets: [] };
    try {
      return { error, offsets: await this.#store.fetchOffsets(request.groupId, request.partitions) };
    } catch (cause) {
      return { error: storeErrorCode(cause), offsets: [] };
    }
  }

  #checkFetch({ groupId, memberId, memberEpoch }: FetchOffsetsRequest): ErrorCode {
    const group = this.#registry.find(groupId);
    return group ? group.checkFetch(memberId, memberEpoch) : Errors.NONE;
  }

  /** Forgets committed offsets of topics that no member is subscribed to. `topicOf` names a partition's topic. */
  delete(
    groupId: string,
    partitions: readonly { readonly topic: string; readonly topicIdPartition: TopicIdPartition }[],
  ): Promise<DeleteOffsetsResult> {
    const refuse = (error: ErrorCode): DeleteOffsetsResult => ({ error, partitionErrors: [] });
    return this.#registry.perform(groupId, refuse, async (slot, reply) => {
      const error = slot.group ? slot.group.checkDeleteOffsets() : Errors.GROUP_ID_NOT_FOUND;
      if (error !== Errors.NONE) reply.send(refuse(error));
      else reply.send({ error, partitionErrors: await this.#delete(slot.group!, partitions) });
    });
  }

  async #delete(
    group: Group,
    partitions: readonly { readonly topic: string; readonly topicIdPartition: TopicIdPartition }[],
  ): Promise<ErrorCode[]> {
    const subscribed = (topic: string): boolean => group.isSubscribedTo(topic);
    const free = partitions.filter(({ topic }) => !subscribed(topic)).map(({ topicIdPartition }) => topicIdPartition);
    if (free.length > 0) await this.#store.deleteOffsets(group.groupId, free);
    return partitions.map(({ topic }) => (subscribed(topic) ? Errors.GROUP_SUBSCRIBED_TO_TOPIC : Errors.NONE));
  }
}
