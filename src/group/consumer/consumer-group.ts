/**
 * One consumer group (KIP-848): a pure, synchronous state machine.
 *
 * Three epochs move one after the other: the group's, raised by whatever calls for another assignment; the target's, for
 * which the assignor has spoken; and each member's, which follows as it gives up and takes over partitions (reconcile.ts).
 * Members of the classic protocol may take part while a group changes protocols (classic-protocol.ts).
 *
 * As with the classic group, the clock is passed in, answers go into `outbox`, and `takeStored` tells what must be durable
 * before they may be sent.
 */
import { type ErrorCode, Errors } from '../../common/errors.ts';
import type { StoredGroup } from '../../coordinator/group-store.ts';
import { Deadlines } from '../deadlines.ts';
import type { GroupContext, GroupMachine, Instant } from '../group.ts';
import { type Found, groupFull } from '../heartbeat-refusals.ts';
import { Outbox, type Reply } from '../reply.ts';
import type { TopicIndex } from '../topic-index.ts';
import { assignors, DEFAULT_ASSIGNOR, preferredAssignor } from './assignors/index.ts';
import { type ConsumerGroupSnapshot, writeConsumerSnapshot } from './consumer-group-snapshot.ts';
import { type ConsumerMember, isReconciledTo, newMember, STATIC_MEMBER_LEFT_EPOCH } from './consumer-member.ts';
import { ConsumerMembers } from './consumer-members.ts';
import { type ConsumerHeartbeatRequest, type ConsumerHeartbeatResult, heartbeatRefused } from './consumer-requests.ts';
import { checkEpoch, restarted, subscribes, withRequest } from './heartbeat-report.ts';
import { fromTopics, NO_PARTITIONS, type PartitionSet, sameSet, toTopics } from './partition-set.ts';
import { reconcile } from './reconcile.ts';

export type ConsumerGroupState = 'Empty' | 'Assigning' | 'Reconciling' | 'Stable';

/** What is timed for a member; each ends in its removal. The last two are for members of the classic protocol. */
const SESSION = 'session:';
const REVOCATION = 'revocation:';
export const CLASSIC_JOIN = 'join:';
export const CLASSIC_SYNC = 'sync:';

export class ConsumerGroup implements GroupMachine {
  readonly type = 'consumer' as const;
  readonly protocolType = 'consumer';
  readonly groupId: string;
  readonly members: ConsumerMembers;
  readonly deadlines = new Deadlines();
  readonly outbox = new Outbox();
  readonly context: GroupContext;
  #groupEpoch: number;
  #targetEpoch = 0;
  #target: ReadonlyMap<string, PartitionSet> = new Map();
  #assignorName = DEFAULT_ASSIGNOR;
  /** undefined: to be computed before it is compared with. */
  #metadataHash: string | undefined;
  #stateSinceMs: number;
  #changed = false;
  /** Members were removed since the last assignment: their partitions have nobody. */
  #abandoned = false;

  /** `epoch`: what a group of that name has reached before; epochs never go back. */
  constructor(groupId: string, epoch: number, topics: TopicIndex, context: GroupContext) {
    this.groupId = groupId;
    this.members = new ConsumerMembers(topics);
    this.context = context;
    this.#groupEpoch = epoch;
    this.#targetEpoch = epoch;
    this.#stateSinceMs = context.nowMs();
  }

  /** The group as it was stored (or made out of another); sessions begin anew. */
  static restore(
    groupId: string,
    snapshot: ConsumerGroupSnapshot,
    topics: TopicIndex,
    context: GroupContext,
    now: Instant,
  ): ConsumerGroup {
    const group = new ConsumerGroup(groupId, snapshot.groupEpoch, topics, context);
    group.#targetEpoch = snapshot.targetEpoch;
    group.#target = snapshot.target;
    group.#assignorName = snapshot.assignorName;
    group.#stateSinceMs = snapshot.stateSinceMs;
    for (const member of snapshot.members) {
      group.members.put(member);
      group.startSession(member, now);
      group.#timeRevocation(member, now);
    }
    group.#metadataHash = snapshot.metadataHash === '' ? undefined : snapshot.metadataHash;
    group.#compareTopics();
    return group;
  }

  get epoch(): number {
    return this.#groupEpoch;
  }

  get targetEpoch(): number {
    return this.#targetEpoch;
  }

  get assignorName(): string {
    return this.#assignorName;
  }

  get stateSinceMs(): number {
    return this.#stateSinceMs;
  }

  get isEmpty(): boolean {
    return this.members.size === 0;
  }

  get hasNoMembers(): boolean {
    return this.members.size === 0;
  }

  get state(): ConsumerGroupState {
    if (this.members.size === 0) return 'Empty';
    if (this.#groupEpoch > this.#targetEpoch) return 'Assigning';
    for (const member of this.members) if (!isReconciledTo(member, this.#targetEpoch)) return 'Reconciling';
    return 'Stable';
  }

  targetOf(memberId: string): PartitionSet {
    return this.#target.get(memberId) ?? NO_PARTITIONS;
  }

  takeStored(): StoredGroup | undefined {
    if (!this.#changed) return undefined;
    this.#changed = false;
    return {
      groupId: this.groupId,
      type: this.type,
      epoch: this.epoch,
      state: writeConsumerSnapshot(this.#snapshot()),
    };
  }

  #snapshot(): ConsumerGroupSnapshot {
    return {
      groupEpoch: this.#groupEpoch,
      targetEpoch: this.#targetEpoch,
      assignorName: this.#assignorName,
      metadataHash: this.#metadataHash ?? '',
      stateSinceMs: this.#stateSinceMs,
      members: [...this.members],
      target: this.#target,
    };
  }

  /** Nothing is ever parked here. */
  failParked(_error: ErrorCode): void {}

  // --- Heartbeat ------------------------------------------------------------------------------------------------------

  consumerHeartbeat(request: ConsumerHeartbeatRequest, reply: Reply<ConsumerHeartbeatResult>, now: Instant): void {
    this.outbox.add(reply, request.memberEpoch < 0 ? this.#leave(request, now) : this.#heartbeat(request, now));
  }

  #heartbeat(request: ConsumerHeartbeatRequest, now: Instant): ConsumerHeartbeatResult {
    const found = this.#findMember(request);
    if ('error' in found) return heartbeatRefused(found.error, found.message);
    const before = found.member;
    const owned = request.topicPartitions && fromTopics(request.topicPartitions);
    const after = this.update(before, withRequest(before, request), owned, now);
    const full = request.rebalanceTimeoutMs !== -1 && owned !== null && subscribes(request);
    const tell = request.memberEpoch === 0 || full || !sameSet(before.assigned, after.assigned);
    return {
      error: Errors.NONE,
      message: null,
      memberId: after.memberId,
      memberEpoch: after.memberEpoch,
      heartbeatIntervalMs: this.context.groupConfig(this.groupId).heartbeatIntervalMs,
      assignment: tell ? toTopics(after.assigned) : null,
    };
  }

  #findMember(request: ConsumerHeartbeatRequest): Found<ConsumerMember> {
    const { memberId, memberEpoch, instanceId } = request;
    if (this.isFullFor(memberId)) return groupFull(this.context.settings.groupConsumerMaxSize);
    if (memberEpoch === 0) return this.#joining(memberId === '' ? this.context.newMemberId('') : memberId, instanceId);
    const found = this.existing(memberId, instanceId);
    return 'error' in found ? found : checkEpoch(found.member, request);
  }

  isFullFor(memberId: string): boolean {
    return this.members.size >= this.context.settings.groupConsumerMaxSize && !this.members.get(memberId);
  }

  #joining(memberId: string, instanceId: string | null): Found<ConsumerMember> {
    if (instanceId === null) {
      const again = this.members.get(memberId);
      // It says that it has given everything up, so that others may have it at once.
      return { member: again ? restarted(again) : newMember(memberId) };
    }
    const holder = this.members.static(instanceId);
    if (!holder) return { member: newMember(memberId) };
    const released = holder.memberEpoch === STATIC_MEMBER_LEFT_EPOCH || holder.classic !== null;
    if (!released && holder.memberId !== memberId) {
      const message = `Instance id ${instanceId} is in use by member ${holder.memberId}.`;
      return { error: Errors.UNRELEASED_INSTANCE_ID, message };
    }
    return { member: this.replaceStatic(holder, memberId) };
  }

  /** The same instance under a new member id: it has its predecessor's partitions and target, and starts a new epoch. */
  replaceStatic(holder: ConsumerMember, memberId: string): ConsumerMember {
    const rejoining = { ...holder, memberEpoch: 0, previousMemberEpoch: -1, state: 'Stable' } as const;
    const member: ConsumerMember = { ...rejoining, memberId, pendingRevocation: NO_PARTITIONS };
    if (memberId === holder.memberId) return member;
    const target = this.targetOf(holder.memberId);
    this.#drop(holder);
    this.#target = new Map(this.#target).set(memberId, target);
    this.members.put(member);
    this.#changed = true;
    return member;
  }

  /** A member that must be there already; a static one under the id that its instance goes by. */
  existing(memberId: string, instanceId: string | null): Found<ConsumerMember> {
    const member = instanceId === null ? this.members.get(memberId) : this.members.static(instanceId);
    if (!member) {
      const message = `${instanceId === null ? `Member ${memberId}` : `Instance id ${instanceId}`} is not in the group.`;
      return { error: Errors.UNKNOWN_MEMBER_ID, message };
    }
    if (member.memberId === memberId) return { member };
    const message = `Instance id ${instanceId} belongs to member ${member.memberId} now.`;
    return { error: Errors.FENCED_INSTANCE_ID, message };
  }

  /**
   * Takes a member's report in: raises the group epoch if it calls for that, assigns if the target is behind, and takes
   * the member one step towards its target.
   */
  update(before: ConsumerMember, reported: ConsumerMember, owned: PartitionSet | null, now: Instant): ConsumerMember {
    const subscriptionChanged =
      before.subscribedTopicRegex !== reported.subscribedTopicRegex ||
      !sameSet(new Set(before.subscribedTopicNames), new Set(reported.subscribedTopicNames));
    if (this.members.size === 0) this.#stateSinceMs = this.context.nowMs();
    this.members.put(reported);
    this.#raiseEpoch(subscriptionChanged || this.#groupEpoch === 0);
    if (this.#groupEpoch > this.#targetEpoch) this.#assign();
    const after = reconcile(reported, {
      targetEpoch: this.#targetEpoch,
      target: this.targetOf(reported.memberId),
      subscribedTopicIds: this.members.subscribedTopicIds(reported),
      subscriptionChanged,
      owned,
      isFree: (key) => (this.members.ownerOf(key) ?? reported.memberId) === reported.memberId,
    });
    this.members.put(after);
    if (after !== before) {
      this.#changed = true;
      this.#timeRevocation(after, now);
    }
    this.startSession(after, now);
    return after;
  }

  #raiseEpoch(must: boolean): void {
    const known = this.#metadataHash;
    if (must || known === undefined) this.#metadataHash = this.members.metadataHash();
    if (!must) return;
    this.#groupEpoch += 1;
    this.#changed = true;
  }

  /** Topics as they are now. When that changes what members are subscribed to, another assignment is due. */
  useTopics(topics: TopicIndex): void {
    if (this.members.useTopics(topics)) this.#compareTopics();
  }

  #compareTopics(): void {
    const hash = this.members.metadataHash();
    if (this.members.size > 0 && this.#metadataHash !== undefined && hash !== this.#metadataHash) {
      this.#groupEpoch += 1;
      this.#changed = true;
    }
    this.#metadataHash = hash;
  }

  #assign(): void {
    const members = [...this.members];
    this.#assignorName = preferredAssignor(members);
    const target = assignors.get(this.#assignorName)!({
      members: members.map((member) => ({
        memberId: member.memberId,
        instanceId: member.instanceId,
        subscribedTopicIds: this.members.subscribedTopicIds(member),
        current: this.targetOf(member.memberId),
      })),
      partitionsOf: (topicId) => this.members.partitionsOf(topicId),
    });
    const unlessSame = (before: PartitionSet, after: PartitionSet): PartitionSet =>
      sameSet(before, after) ? before : after;
    this.#target = new Map([...target].map(([memberId, set]) => [memberId, unlessSame(this.targetOf(memberId), set)]));
    this.#targetEpoch = this.#groupEpoch;
    this.#abandoned = false;
    this.#changed = true;
  }

  // --- Leaving --------------------------------------------------------------------------------------------------------

  #leave(request: ConsumerHeartbeatRequest, now: Instant): ConsumerHeartbeatResult {
    const { memberId, memberEpoch, instanceId } = request;
    const found = this.existing(memberId, instanceId);
    if ('error' in found) return heartbeatRefused(found.error, found.message);
    if (memberEpoch === STATIC_MEMBER_LEFT_EPOCH) this.#leaveForAWhile(found.member, now);
    else this.remove([found.member]);
    return { ...heartbeatRefused(Errors.NONE, null), memberId, memberEpoch };
  }

  /** A static member keeps its partitions until it comes back or its session ends. */
  #leaveForAWhile(member: ConsumerMember, now: Instant): void {
    const left = { ...member, memberEpoch: STATIC_MEMBER_LEFT_EPOCH, pendingRevocation: NO_PARTITIONS };
    this.members.put(left);
    this.deadlines.delete(REVOCATION + member.memberId);
    this.startSession(left, now);
    this.#changed = true;
  }

  /**
   * Removes members for good; what they had is free at once, and assigned anew with the next heartbeat. A group that is
   * to become a classic one keeps its epoch: it is the generation in which the others hear that they must rejoin.
   */
  remove(members: readonly ConsumerMember[]): void {
    if (members.length === 0) return;
    for (const member of members) this.#drop(member);
    this.#metadataHash = undefined;
    this.#changed = true;
    this.#abandoned = true;
    if (this.members.size === 0) this.#stateSinceMs = this.context.nowMs();
    if (!this.isToDowngrade) this.#groupEpoch += 1;
  }

  /** All that are left use the classic protocol, and the group may change back to it. */
  get isToDowngrade(): boolean {
    const { groupConsumerMigrationPolicy: policy, groupMaxSize } = this.context.settings;
    if (policy !== 'downgrade' && policy !== 'bidirectional') return false;
    if (this.members.size === 0 || this.members.size > groupMaxSize) return false;
    for (const { classic } of this.members) if (classic === null) return false;
    return true;
  }

  /** Whether the members' partitions are not what they should be. */
  get needsRebalance(): boolean {
    return this.#abandoned || this.state !== 'Stable';
  }

  #drop(member: ConsumerMember): void {
    this.members.remove(member);
    const target = new Map(this.#target);
    target.delete(member.memberId);
    this.#target = target;
    for (const kind of [SESSION, REVOCATION, CLASSIC_JOIN, CLASSIC_SYNC]) this.deadlines.delete(kind + member.memberId);
  }

  // --- Time -----------------------------------------------------------------------------------------------------------

  startSession(member: ConsumerMember, now: Instant): void {
    const timeoutMs = member.classic?.sessionTimeoutMs ?? this.context.groupConfig(this.groupId).sessionTimeoutMs;
    this.deadlines.set(SESSION + member.memberId, now + timeoutMs);
  }

  /** A member has its rebalance timeout to give up what it must; classic members are timed by their joins instead. */
  #timeRevocation(member: ConsumerMember, now: Instant): void {
    const name = REVOCATION + member.memberId;
    if (member.state !== 'UnrevokedPartitions' || member.classic) this.deadlines.delete(name);
    else this.deadlines.set(name, now + member.rebalanceTimeoutMs);
  }

  /** Removes the members whose time has run out. */
  advance(now: Instant): void {
    const due = this.deadlines.takeDue(now).map((name) => name.slice(name.indexOf(':') + 1));
    this.remove([...new Set(due)].flatMap((memberId) => this.members.get(memberId) ?? []));
  }

  // --- Offsets --------------------------------------------------------------------------------------------------------

  checkCommit({ memberId }: { readonly memberId: string }, memberEpoch: number, _now: Instant): ErrorCode {
    if (memberEpoch < 0 && this.members.size === 0) return Errors.NONE;
    return this.#checkEpoch(memberId, memberEpoch);
  }

  checkFetch(memberId: string | null, memberEpoch: number): ErrorCode {
    return memberId === null && memberEpoch < 0 ? Errors.NONE : this.#checkEpoch(memberId ?? '', memberEpoch);
  }

  #checkEpoch(memberId: string, memberEpoch: number): ErrorCode {
    const member = this.members.get(memberId);
    if (!member) return Errors.UNKNOWN_MEMBER_ID;
    if (memberEpoch === member.memberEpoch) return Errors.NONE;
    return member.classic ? Errors.ILLEGAL_GENERATION : Errors.STALE_MEMBER_EPOCH;
  }

  checkDeleteOffsets(): ErrorCode {
    return Errors.NONE;
  }

  isSubscribedTo(topic: string): boolean {
    const topicId = this.members.topics.byName(topic)?.topicId;
    if (topicId === undefined) return false;
    return [...this.members].some((member) => this.members.subscribedTopicIds(member).has(topicId));
  }
}
