/**
 * One share group (KIP-932): a pure, synchronous state machine.
 *
 * Three epochs move one after the other, as in a consumer group: the group's, raised by whatever calls for another
 * assignment; the target's, for which the assignor has spoken; and each member's, which follows with its next heartbeat.
 * Partitions are shared, so nothing has to be given up before somebody else may have it, and no commit is ever fenced by
 * an epoch: what a member may acknowledge is decided by the share partition's leader alone.
 *
 * The group also knows which share partitions have a state. Those that a subscription brings in are named by
 * `findUninitialized`, and get one before the answer that assigns them is sent.
 */
import { type ErrorCode, Errors } from '../../common/errors.ts';
import type { TopicIdPartition } from '../../common/topic-id-partition.ts';
import type { Uuid } from '../../common/uuid.ts';
import type { StoredGroup } from '../../coordinator/group-store.ts';
import { heartbeatRefused } from '../consumer/consumer-requests.ts';
import { NO_PARTITIONS, type PartitionSet, sameSet, toTopics } from '../consumer/partition-set.ts';
import { Deadlines } from '../deadlines.ts';
import type { GroupContext, GroupMachine, Instant } from '../group.ts';
import { epochFenced, type Found, groupFull, type Refusal } from '../heartbeat-refusals.ts';
import { Outbox, type Reply } from '../reply.ts';
import { subscriptionHash } from '../subscription-hash.ts';
import type { TopicIndex } from '../topic-index.ts';
import { type ShareGroupSnapshot, writeShareSnapshot } from './share-group-snapshot.ts';
import { newShareMember, reconciledTo, type ShareMember, withHeartbeat } from './share-member.ts';
import type { ShareHeartbeatRequest, ShareHeartbeatResult } from './share-requests.ts';
import { SIMPLE_ASSIGNOR, simpleAssignor } from './simple-assignor.ts';

export type ShareGroupState = 'Empty' | 'Stable';

/** A share partition that is to get a state; −1 as start offset: by `share.auto.offset.reset`. */
export interface ShareStart {
  readonly topicIdPartition: TopicIdPartition;
  readonly startOffset: number;
}

export class ShareGroup implements GroupMachine {
  readonly type = 'share' as const;
  readonly protocolType = 'share';
  readonly assignorName = SIMPLE_ASSIGNOR;
  readonly groupId: string;
  readonly deadlines = new Deadlines();
  readonly outbox = new Outbox();
  readonly #context: GroupContext;
  readonly #members = new Map<string, ShareMember>();
  readonly #initialized = new Map<Uuid, number>();
  /** Up to this group epoch everything has a state: whatever brings something new in raises the epoch. */
  #initializedEpoch = -1;
  #topics: TopicIndex;
  #groupEpoch = 0;
  #targetEpoch = 0;
  #target: ReadonlyMap<string, PartitionSet> = new Map();
  #metadataHash: string;
  #stateSinceMs: number;
  #changed = false;

  constructor(groupId: string, topics: TopicIndex, context: GroupContext) {
    this.groupId = groupId;
    this.#topics = topics;
    this.#context = context;
    this.#metadataHash = this.#hash();
    this.#stateSinceMs = context.nowMs();
  }

  /** The group as it was stored; sessions begin anew. */
  static restore(
    groupId: string,
    snapshot: ShareGroupSnapshot,
    topics: TopicIndex,
    context: GroupContext,
    now: Instant,
  ): ShareGroup {
    const group = new ShareGroup(groupId, topics, context);
    group.#groupEpoch = snapshot.groupEpoch;
    group.#targetEpoch = snapshot.targetEpoch;
    group.#target = snapshot.target;
    group.#stateSinceMs = snapshot.stateSinceMs;
    group.#metadataHash = snapshot.metadataHash;
    for (const [topicId, partitions] of snapshot.initialized) group.#initialized.set(topicId, partitions);
    for (const member of snapshot.members) {
      group.#members.set(member.memberId, member);
      group.#startSession(member.memberId, now);
    }
    group.#compareTopics();
    return group;
  }

  get epoch(): number {
    return this.#groupEpoch;
  }

  get targetEpoch(): number {
    return this.#targetEpoch;
  }

  get stateSinceMs(): number {
    return this.#stateSinceMs;
  }

  get isEmpty(): boolean {
    return this.#members.size === 0;
  }

  get hasNoMembers(): boolean {
    return this.isEmpty;
  }

  get state(): ShareGroupState {
    return this.isEmpty ? 'Empty' : 'Stable';
  }

  get members(): Iterable<ShareMember> {
    return this.#members.values();
  }

  get topics(): TopicIndex {
    return this.#topics;
  }

  takeStored(): StoredGroup | undefined {
    if (!this.#changed) return undefined;
    this.#changed = false;
    const snapshot: ShareGroupSnapshot = {
      groupEpoch: this.#groupEpoch,
      targetEpoch: this.#targetEpoch,
      metadataHash: this.#metadataHash,
      stateSinceMs: this.#stateSinceMs,
      members: [...this.#members.values()],
      target: this.#target,
      initialized: this.#initialized,
    };
    return { groupId: this.groupId, type: this.type, epoch: this.epoch, state: writeShareSnapshot(snapshot) };
  }

  /** Nothing is ever parked here. */
  failParked(_error: ErrorCode): void {}

  // --- Heartbeat ------------------------------------------------------------------------------------------------------

  shareHeartbeat(request: ShareHeartbeatRequest, reply: Reply<ShareHeartbeatResult>, now: Instant): void {
    this.outbox.add(reply, request.memberEpoch < 0 ? this.#leave(request) : this.#heartbeat(request, now));
  }

  #heartbeat(request: ShareHeartbeatRequest, now: Instant): ShareHeartbeatResult {
    const found = this.#findMember(request);
    if ('error' in found) return heartbeatRefused(found.error, found.message);
    const before = found.member;
    const after = this.#update(before, withHeartbeat(before, request));
    this.#startSession(after.memberId, now);
    // A member in another epoch than it was told of has missed an answer, and what that assigned.
    const behind = request.memberEpoch !== after.memberEpoch;
    const tell = behind || request.subscribedTopicNames !== null || !sameSet(before.assigned, after.assigned);
    return {
      error: Errors.NONE,
      message: null,
      memberId: after.memberId,
      memberEpoch: after.memberEpoch,
      heartbeatIntervalMs: this.#context.shareGroupConfig(this.groupId).heartbeatIntervalMs,
      assignment: tell ? toTopics(after.assigned) : null,
    };
  }

  #findMember({ memberId, memberEpoch }: ShareHeartbeatRequest): Found<ShareMember> {
    const member = this.#members.get(memberId);
    const limit = this.#context.settings.groupShareMaxSize;
    if (!member && this.#members.size >= limit) return groupFull(limit);
    if (memberEpoch === 0) return { member: member ?? newShareMember(memberId) };
    if (!member) return unknownMember(memberId);
    if (memberEpoch === member.memberEpoch || memberEpoch === member.previousMemberEpoch) return { member };
    return epochFenced(memberEpoch, member.memberEpoch);
  }

  #update(before: ShareMember, reported: ShareMember): ShareMember {
    const isNew = !this.#members.has(reported.memberId);
    if (this.isEmpty) this.#stateSinceMs = this.#context.nowMs();
    this.#members.set(reported.memberId, reported);
    if (isNew || reported.subscribedTopicNames !== before.subscribedTopicNames) this.#raiseEpoch();
    if (this.#groupEpoch > this.#targetEpoch) this.#assign();
    const target = this.#target.get(reported.memberId) ?? NO_PARTITIONS;
    const after = reconciledTo(reported, this.#targetEpoch, target);
    this.#members.set(after.memberId, after);
    if (after !== before) this.#changed = true;
    return after;
  }

  #raiseEpoch(): void {
    this.#groupEpoch += 1;
    this.#metadataHash = this.#hash();
    this.#changed = true;
  }

  #assign(): void {
    this.#target = simpleAssignor({
      members: [...this.#members.values()].map((member) => ({
        memberId: member.memberId,
        instanceId: null,
        subscribedTopicIds: this.#subscribedTopicIds(member),
        current: this.#target.get(member.memberId) ?? NO_PARTITIONS,
      })),
      partitionsOf: (topicId) => this.#partitionsOf(topicId),
    });
    this.#targetEpoch = this.#groupEpoch;
    this.#changed = true;
  }

  // --- Topics ---------------------------------------------------------------------------------------------------------

  /** Topics as they are now. When that changes what members are subscribed to, another assignment is due. */
  useTopics(topics: TopicIndex): void {
    if (topics === this.#topics) return;
    this.#topics = topics;
    this.#compareTopics();
  }

  /** States of deleted topics went with them. */
  #compareTopics(): void {
    for (const topicId of [...this.#initialized.keys()]) {
      if (this.#topics.byId(topicId)) continue;
      this.#initialized.delete(topicId);
      this.#changed = true;
    }
    if (this.#hash() !== this.#metadataHash) this.#raiseEpoch();
  }

  #hash(): string {
    return subscriptionHash(this.#allSubscribed(), this.#topics);
  }

  #allSubscribed(): Set<Uuid> {
    const ids = new Set<Uuid>();
    for (const member of this.#members.values()) for (const id of this.#subscribedTopicIds(member)) ids.add(id);
    return ids;
  }

  #subscribedTopicIds({ subscribedTopicNames }: ShareMember): ReadonlySet<Uuid> {
    return new Set(subscribedTopicNames.flatMap((name) => this.#topics.byName(name)?.topicId ?? []));
  }

  #partitionsOf(topicId: Uuid): number {
    return this.#topics.byId(topicId)?.partitions ?? 0;
  }

  // --- Share partitions -----------------------------------------------------------------------------------------------

  /**
   * What members are subscribed to and has no state yet. A topic that is new to the group starts where the group's
   * configs say; a partition that was added to a known one starts at its first record, so that none is missed.
   */
  findUninitialized(): readonly ShareStart[] {
    if (this.#initializedEpoch === this.#groupEpoch) return [];
    const starts: ShareStart[] = [];
    for (const topicId of this.#allSubscribed()) {
      const known = this.#initialized.get(topicId) ?? 0;
      const startOffset = known === 0 ? -1 : 0;
      for (let partition = known; partition < this.#partitionsOf(topicId); partition += 1) {
        starts.push({ topicIdPartition: { topicId, partition }, startOffset });
      }
    }
    return starts;
  }

  /** All that `findUninitialized` named have a state now. */
  noteInitialized(starts: readonly ShareStart[]): void {
    this.#initializedEpoch = this.#groupEpoch;
    for (const { topicIdPartition } of starts) {
      this.#initialized.set(topicIdPartition.topicId, this.#partitionsOf(topicIdPartition.topicId));
      this.#changed = true;
    }
  }

  /** States of these topics were deleted: whoever subscribes next starts where the group's configs say. */
  forgetTopics(topicIds: readonly Uuid[]): void {
    this.#initializedEpoch = -1;
    for (const topicId of topicIds) if (this.#initialized.delete(topicId)) this.#changed = true;
  }

  /** The epoch for states that are about to replace others, newer than that of any before. */
  raiseStateEpoch(): number {
    this.#raiseEpoch();
    return this.#groupEpoch;
  }

  // --- Leaving --------------------------------------------------------------------------------------------------------

  #leave({ memberId, memberEpoch }: ShareHeartbeatRequest): ShareHeartbeatResult {
    if (!this.#members.has(memberId)) {
      const { error, message } = unknownMember(memberId);
      return heartbeatRefused(error, message);
    }
    this.#remove([memberId]);
    return { ...heartbeatRefused(Errors.NONE, null), memberId, memberEpoch };
  }

  #remove(memberIds: readonly string[]): void {
    const target = new Map(this.#target);
    for (const memberId of memberIds) {
      this.#members.delete(memberId);
      this.deadlines.delete(memberId);
      target.delete(memberId);
    }
    this.#target = target;
    if (this.isEmpty) this.#stateSinceMs = this.#context.nowMs();
    this.#raiseEpoch();
  }

  #startSession(memberId: string, now: Instant): void {
    this.deadlines.set(memberId, now + this.#context.shareGroupConfig(this.groupId).sessionTimeoutMs);
  }

  /** Removes the members whose sessions have ended. */
  advance(now: Instant): void {
    const due = this.deadlines.takeDue(now).filter((memberId) => this.#members.has(memberId));
    if (due.length > 0) this.#remove(due);
  }

  // --- Offsets: a share group commits none ----------------------------------------------------------------------------

  checkCommit(): ErrorCode {
    return Errors.GROUP_ID_NOT_FOUND;
  }

  checkFetch(): ErrorCode {
    return Errors.GROUP_ID_NOT_FOUND;
  }

  checkDeleteOffsets(): ErrorCode {
    return Errors.GROUP_ID_NOT_FOUND;
  }

  isSubscribedTo(topic: string): boolean {
    return [...this.#members.values()].some(({ subscribedTopicNames }) => subscribedTopicNames.includes(topic));
  }
}

function unknownMember(memberId: string): Refusal {
  return { error: Errors.UNKNOWN_MEMBER_ID, message: `Member ${memberId} is not in the group.` };
}
