/**
 * One classic consumer group (the join/sync protocol): a pure, synchronous state machine.
 *
 * Empty → PreparingRebalance (members are asked to rejoin) → CompletingRebalance (they have joined; the leader assigns)
 * → Stable. A deleted group has no object, so there is no Dead state here.
 *
 * The clock's reading is passed in, monotonic milliseconds, with the wall clock only for when the state was entered.
 * Answers go into `outbox`; `takeStored` tells what must be durable before they may be sent. A generation therefore
 * exists in the store before any member hears of it: after a crash no older generation can pass for the current one.
 */
import { assert } from '../../common/assert.ts';
import { type ErrorCode, Errors } from '../../common/errors.ts';
import type { StoredGroup } from '../../coordinator/group-store.ts';
import { CONSUMER_PROTOCOL_TYPE, readSubscription } from '../consumer-protocol.ts';
import { Deadlines } from '../deadlines.ts';
import type { GroupContext, GroupMachine, Instant } from '../group.ts';
import { Outbox, type Reply } from '../reply.ts';
import { type ClassicGroupSnapshot, type StoredClassicState, writeClassicSnapshot } from './classic-group-snapshot.ts';
import { type ClassicMember, ClassicMembers, metadataOf, offersSame } from './classic-members.ts';
import {
  type HeartbeatRequest,
  type JoinGroupRequest,
  type JoinGroupResult,
  joinRefused,
  type LeaveGroupMemberResult,
  type MemberIdentity,
  type SyncGroupRequest,
  type SyncGroupResult,
  syncRefused,
} from './classic-requests.ts';

export type ClassicGroupState = StoredClassicState | 'PreparingRebalance';

/** A new member's join is not waited for longer than this: its connection may be gone, and nothing else would tell. */
const NEW_MEMBER_JOIN_TIMEOUT_MS = 5 * 60 * 1000;
const JOIN = 'join';
const SYNC = 'sync';
const SESSION = 'session:';
const PENDING = 'pending:';

export class ClassicGroup implements GroupMachine {
  readonly type = 'classic' as const;
  readonly groupId: string;
  readonly members = new ClassicMembers();
  readonly deadlines = new Deadlines();
  readonly outbox = new Outbox();
  readonly #context: GroupContext;
  #state: ClassicGroupState = 'Empty';
  #generationId = 0;
  /** "" until a member brings one: the group then has nothing but offsets. */
  #protocolType = '';
  #protocolName: string | null = null;
  #stateSinceMs: number;
  #unstored: StoredGroup | undefined;
  /** Members that were given their id and have yet to join with it. */
  readonly #pending = new Set<string>();
  /** Members whose sync of this generation is still to come. */
  readonly #pendingSync = new Set<string>();
  /** Set during the first rebalance of an empty group: how much longer newcomers can prolong it. */
  #initialRebalance: { newcomer: boolean; remainingMs: number } | undefined;

  constructor(groupId: string, context: GroupContext) {
    this.groupId = groupId;
    this.#context = context;
    this.#stateSinceMs = context.nowMs();
  }

  /** The group as it was stored; sessions begin anew, since nobody could heartbeat meanwhile. */
  static restore(groupId: string, snapshot: ClassicGroupSnapshot, context: GroupContext, now: Instant): ClassicGroup {
    const group = new ClassicGroup(groupId, context);
    group.#generationId = snapshot.generationId;
    group.#state = snapshot.state;
    group.#protocolType = snapshot.protocolType;
    group.#protocolName = snapshot.protocolName;
    group.#stateSinceMs = snapshot.stateSinceMs;
    for (const member of snapshot.members) {
      group.members.add(member);
      group.#startSession(member, now);
    }
    if (snapshot.leaderId !== null) group.members.lead(snapshot.leaderId);
    if (snapshot.state === 'CompletingRebalance') group.#awaitSyncs(now);
    return group;
  }

  /** A group that was of the other protocol until now: stable in that generation, then, if asked, rebalanced. */
  static fromMembers(
    groupId: string,
    generationId: number,
    members: readonly ClassicMember[],
    rebalance: boolean,
    context: GroupContext,
    now: Instant,
  ): ClassicGroup {
    const inGroup = { protocolType: CONSUMER_PROTOCOL_TYPE, protocolName: null, leaderId: null, members };
    const snapshot = { ...inGroup, generationId, state: 'Stable', stateSinceMs: context.nowMs() } as const;
    const group = ClassicGroup.restore(groupId, snapshot, context, now);
    group.#protocolName = group.members.selectProtocol();
    group.keep();
    if (rebalance) group.#prepareRebalance(now);
    return group;
  }

  get state(): ClassicGroupState {
    return this.#state;
  }

  get generationId(): number {
    return this.#generationId;
  }

  get protocolType(): string {
    return this.#protocolType;
  }

  /** The protocol of this generation; null while there is none. */
  get protocolName(): string | null {
    return this.#protocolName;
  }

  get stateSinceMs(): number {
    return this.#stateSinceMs;
  }

  /** Nobody is in it or about to be. */
  get isEmpty(): boolean {
    return this.#state === 'Empty' && this.#pending.size === 0;
  }

  get hasNoMembers(): boolean {
    return this.#state === 'Empty';
  }

  get epoch(): number {
    return this.#generationId;
  }

  takeStored(): StoredGroup | undefined {
    const unstored = this.#unstored;
    this.#unstored = undefined;
    return unstored;
  }

  /** Has the group stored as it is now, whatever becomes of it before that is done: what is told of it is this. */
  keep(): void {
    const state = writeClassicSnapshot(this.#snapshot());
    this.#unstored = { groupId: this.groupId, type: this.type, epoch: this.epoch, state };
  }

  #snapshot(): ClassicGroupSnapshot {
    assert(this.#state !== 'PreparingRebalance', 'what is stored is a generation, not the way to it');
    return {
      generationId: this.#generationId,
      state: this.#state,
      protocolType: this.#protocolType,
      protocolName: this.#protocolName,
      leaderId: this.members.leaderId,
      stateSinceMs: this.#stateSinceMs,
      members: [...this.members],
    };
  }

  // --- Join -----------------------------------------------------------------------------------------------------------

  join(request: JoinGroupRequest, reply: Reply<JoinGroupResult>, now: Instant): void {
    const error = this.#checkJoin(request);
    if (error !== Errors.NONE) this.outbox.add(reply, joinRefused(request.memberId, error));
    else if (request.memberId === '') this.#joinNew(request, reply, now);
    else if (this.#pending.has(request.memberId)) this.#joinPending(request, reply, now);
    else this.#joinExisting(request, reply, now);
  }

  #checkJoin(request: JoinGroupRequest): ErrorCode {
    if (!this.#hasRoomFor(request.memberId)) {
      this.#forgetPending(request.memberId);
      return Errors.GROUP_MAX_SIZE_REACHED;
    }
    if (request.memberId !== '' && !this.#pending.has(request.memberId)) {
      const error = this.members.check(request.memberId, request.groupInstanceId);
      if (error !== Errors.NONE) return error;
    }
    const supported = request.protocolType !== '' && request.protocols.length > 0;
    if (!supported || !this.#sharesProtocol(request)) return Errors.INCONSISTENT_GROUP_PROTOCOL;
    return Errors.NONE;
  }

  #sharesProtocol({ protocolType, protocols }: JoinGroupRequest): boolean {
    if (this.members.size === 0) return true;
    return protocolType === this.#protocolType && this.members.shareProtocol(protocols);
  }

  /** Members that have not rejoined yet may be gone, so during a rebalance only those that have take a place. */
  #hasRoomFor(memberId: string): boolean {
    const { groupMaxSize } = this.#context.settings;
    if (this.#state === 'Empty') return true;
    const member = this.members.get(memberId);
    if (this.#state !== 'PreparingRebalance') return member !== undefined || this.members.size < groupMaxSize;
    return member?.awaitingJoin !== undefined || this.members.countAwaitingJoin() < groupMaxSize;
  }

  #joinNew(request: JoinGroupRequest, reply: Reply<JoinGroupResult>, now: Instant): void {
    const { groupInstanceId, clientId } = request;
    const memberId = this.#context.newMemberId(groupInstanceId ?? clientId);
    if (groupInstanceId !== null) {
      this.#joinStatic(memberId, groupInstanceId, request, reply, now);
    } else if (request.requireKnownMemberId) {
      // The client must come back with this id: a join that is repeated after a timeout then finds its own member.
      this.#pending.add(memberId);
      this.deadlines.set(PENDING + memberId, now + request.sessionTimeoutMs);
      this.outbox.add(reply, joinRefused(memberId, Errors.MEMBER_ID_REQUIRED));
    } else {
      this.#addMember(memberId, request, reply, now);
    }
  }

  #joinPending(request: JoinGroupRequest, reply: Reply<JoinGroupResult>, now: Instant): void {
    this.#forgetPending(request.memberId);
    this.#addMember(request.memberId, request, reply, now);
  }

  #forgetPending(memberId: string): void {
    this.#pending.delete(memberId);
    this.deadlines.delete(PENDING + memberId);
  }

  #addMember(memberId: string, request: JoinGroupRequest, reply: Reply<JoinGroupResult>, now: Instant): void {
    const { groupInstanceId, clientId, clientHost, sessionTimeoutMs, rebalanceTimeoutMs, protocols } = request;
    if (this.members.size === 0) this.#protocolType = request.protocolType;
    const timeouts = { sessionTimeoutMs, rebalanceTimeoutMs };
    const nothingYet = { assignment: new Uint8Array(0), isNew: true, awaitingJoin: reply, awaitingSync: undefined };
    this.members.add({ memberId, groupInstanceId, clientId, clientHost, ...timeouts, protocols, ...nothingYet });
    if (this.#initialRebalance) this.#initialRebalance.newcomer = true;
    this.deadlines.set(SESSION + memberId, now + NEW_MEMBER_JOIN_TIMEOUT_MS);
    this.#rebalanceOrCompleteJoin(now);
  }

  #joinExisting(request: JoinGroupRequest, reply: Reply<JoinGroupResult>, now: Instant): void {
    const member = this.members.get(request.memberId);
    assert(member, 'the member was checked');
    const same = offersSame(member, request.protocols);
    // A member that asks again with nothing new has missed its answer. In Stable the leader asks for a rebalance so.
    const repeats =
      this.#state === 'CompletingRebalance' ? same : this.#state === 'Stable' && same && !this.#leads(member);
    if (repeats) {
      this.outbox.add(reply, this.#joined(member));
      return;
    }
    this.#updateMember(member, request, reply);
    this.#rebalanceOrCompleteJoin(now);
  }

  /** A static member comes without a member id: whoever held its instance id before is fenced by the new id. */
  #joinStatic(
    memberId: string,
    groupInstanceId: string,
    request: JoinGroupRequest,
    reply: Reply<JoinGroupResult>,
    now: Instant,
  ): void {
    const oldId = this.members.staticMemberId(groupInstanceId);
    const old = oldId === undefined ? undefined : this.members.get(oldId);
    if (!old) {
      this.#addMember(memberId, request, reply, now);
      return;
    }
    const oldLeaderId = this.members.leaderId;
    this.#answerAll(old, Errors.FENCED_INSTANCE_ID);
    this.deadlines.delete(SESSION + old.memberId);
    this.#pendingSync.delete(old.memberId);
    const member = this.members.replaceStatic(old, memberId);
    this.#updateMember(member, request, reply);
    this.#startSession(member, now);
    if (this.#state === 'Stable' && this.members.selectProtocol() === this.#protocolName) {
      this.#answerReturned(member, request.supportSkippingAssignment, oldLeaderId);
    } else {
      // In CompletingRebalance the leader may already be assigning to the old id, so the generation is of no use.
      this.#rebalanceOrCompleteJoin(now);
    }
  }

  /** The group stays as it is; only the new member id has to be kept. */
  #answerReturned(member: ClassicMember, skipAssignment: boolean, oldLeaderId: string | null): void {
    const { awaitingJoin } = member;
    assert(awaitingJoin, 'a member that joins awaits its answer');
    member.awaitingJoin = undefined;
    member.isNew = false;
    this.keep();
    const joined = this.#joined(member);
    if (skipAssignment) this.outbox.add(awaitingJoin, { ...joined, skipAssignment: this.#leads(member) });
    // Older clients would assign if they were told that they lead, so they hear of the id that led before.
    else this.outbox.add(awaitingJoin, { ...joined, leader: oldLeaderId ?? '', members: [] });
  }

  #updateMember(member: ClassicMember, request: JoinGroupRequest, reply: Reply<JoinGroupResult>): void {
    // The client gave that request up; whoever still reads its connection is told to ask again.
    if (member.awaitingJoin) {
      this.outbox.add(member.awaitingJoin, joinRefused(member.memberId, Errors.REBALANCE_IN_PROGRESS));
    }
    member.awaitingJoin = reply;
    member.protocols = request.protocols;
    member.clientId = request.clientId;
    member.clientHost = request.clientHost;
    member.sessionTimeoutMs = request.sessionTimeoutMs;
    member.rebalanceTimeoutMs = request.rebalanceTimeoutMs;
  }

  // --- Rebalance ------------------------------------------------------------------------------------------------------

  #rebalanceOrCompleteJoin(now: Instant): void {
    if (this.#state === 'PreparingRebalance') this.#completeJoinIfAllJoined(now);
    else this.#prepareRebalance(now);
  }

  #prepareRebalance(now: Instant): void {
    const initial = this.#state === 'Empty';
    this.#dropAssignments();
    this.#enter('PreparingRebalance');
    const rebalanceTimeoutMs = this.members.rebalanceTimeoutMs();
    if (!initial) {
      this.deadlines.set(JOIN, now + rebalanceTimeoutMs);
      this.#completeJoinIfAllJoined(now);
      return;
    }
    const delayMs = Math.min(this.#context.settings.groupInitialRebalanceDelayMs, rebalanceTimeoutMs);
    this.#initialRebalance = { newcomer: false, remainingMs: rebalanceTimeoutMs - delayMs };
    this.deadlines.set(JOIN, now + delayMs);
    if (delayMs === 0) this.#joinTimeout(now);
  }

  /** Whoever still waits for this generation's assignment is told to join the next one. */
  #dropAssignments(): void {
    this.deadlines.delete(SYNC);
    this.#pendingSync.clear();
    for (const member of this.members) this.#answerSync(member, syncRefused(Errors.REBALANCE_IN_PROGRESS));
  }

  #completeJoinIfAllJoined(now: Instant): void {
    const waitsForNewcomers = this.#initialRebalance !== undefined || this.#pending.size > 0;
    if (!waitsForNewcomers && this.members.allAwaitJoin()) this.#completeJoin(now);
  }

  #joinTimeout(now: Instant): void {
    const initial = this.#initialRebalance;
    if (initial?.newcomer && initial.remainingMs > 0) {
      const delayMs = Math.min(this.#context.settings.groupInitialRebalanceDelayMs, initial.remainingMs);
      this.#initialRebalance = { newcomer: false, remainingMs: initial.remainingMs - delayMs };
      this.deadlines.set(JOIN, now + delayMs);
      return;
    }
    this.#completeJoin(now);
  }

  #completeJoin(now: Instant): void {
    // Static members may be away for as long as their session lasts.
    for (const member of [...this.members]) {
      if (!member.awaitingJoin && member.groupInstanceId === null) this.#remove(member);
    }
    if (this.members.size > 0 && !this.members.electJoinedLeader()) {
      this.deadlines.set(JOIN, now + this.members.rebalanceTimeoutMs());
      return;
    }
    this.deadlines.delete(JOIN);
    this.#initialRebalance = undefined;
    this.#nextGeneration();
    if (this.#state === 'CompletingRebalance') this.#answerJoins(now);
  }

  #nextGeneration(): void {
    this.#generationId += 1;
    this.#protocolName = this.members.size === 0 ? null : this.members.selectProtocol();
    for (const member of this.members) member.assignment = new Uint8Array(0);
    this.#enter(this.members.size === 0 ? 'Empty' : 'CompletingRebalance');
    this.keep();
  }

  #answerJoins(now: Instant): void {
    for (const member of this.members) {
      member.isNew = false;
      this.#startSession(member, now);
      if (!member.awaitingJoin) continue;
      this.outbox.add(member.awaitingJoin, this.#joined(member));
      member.awaitingJoin = undefined;
    }
    this.#awaitSyncs(now);
  }

  #awaitSyncs(now: Instant): void {
    for (const member of this.members) this.#pendingSync.add(member.memberId);
    this.deadlines.set(SYNC, now + this.members.rebalanceTimeoutMs());
  }

  /** The current generation, as this member is told of it. */
  #joined(member: ClassicMember): JoinGroupResult {
    const protocolName = this.#protocolName;
    return {
      error: Errors.NONE,
      generationId: this.#generationId,
      protocolType: this.#protocolType,
      protocolName,
      leader: this.members.leaderId ?? '',
      skipAssignment: false,
      memberId: member.memberId,
      members: this.#leads(member) && protocolName !== null ? this.members.describeFor(protocolName) : [],
    };
  }

  // --- Sync -----------------------------------------------------------------------------------------------------------

  sync(request: SyncGroupRequest, reply: Reply<SyncGroupResult>, now: Instant): void {
    const error = this.#checkSync(request);
    const member = this.members.get(request.memberId);
    if (error !== Errors.NONE || !member) {
      this.outbox.add(reply, syncRefused(error));
      return;
    }
    this.#pendingSync.delete(member.memberId);
    if (this.#state === 'Stable') {
      this.#startSession(member, now);
      this.outbox.add(reply, this.#synced(member));
      return;
    }
    this.#answerSync(member, syncRefused(Errors.REBALANCE_IN_PROGRESS));
    member.awaitingSync = reply;
    if (this.#leads(member)) this.#assign(request, now);
  }

  #checkSync(request: SyncGroupRequest): ErrorCode {
    const error = this.members.check(request.memberId, request.groupInstanceId);
    if (error !== Errors.NONE) return error;
    if (request.generationId !== this.#generationId) return Errors.ILLEGAL_GENERATION;
    const typeDiffers = request.protocolType !== null && request.protocolType !== this.#protocolType;
    const nameDiffers = request.protocolName !== null && request.protocolName !== this.#protocolName;
    if (typeDiffers || nameDiffers) return Errors.INCONSISTENT_GROUP_PROTOCOL;
    return this.#state === 'PreparingRebalance' ? Errors.REBALANCE_IN_PROGRESS : Errors.NONE;
  }

  /** The leader has assigned: who it left out gets nothing, whom it invented is ignored. */
  #assign({ assignments }: SyncGroupRequest, now: Instant): void {
    for (const { memberId, assignment } of assignments) {
      const member = this.members.get(memberId);
      if (member) member.assignment = assignment;
    }
    this.#enter('Stable');
    this.keep();
    if (this.#pendingSync.size === 0) this.deadlines.delete(SYNC);
    for (const member of this.members) {
      if (!member.awaitingSync) continue;
      this.#answerSync(member, this.#synced(member));
      this.#startSession(member, now);
    }
  }

  #synced(member: ClassicMember): SyncGroupResult {
    const { assignment } = member;
    if (this.#pendingSync.size === 0) this.deadlines.delete(SYNC);
    return { error: Errors.NONE, protocolType: this.#protocolType, protocolName: this.#protocolName, assignment };
  }

  #answerSync(member: ClassicMember, result: SyncGroupResult): void {
    if (member.awaitingSync) this.outbox.add(member.awaitingSync, result);
    member.awaitingSync = undefined;
  }

  // --- Heartbeat, leave, commit ---------------------------------------------------------------------------------------

  heartbeat(request: Omit<HeartbeatRequest, 'groupId'>, now: Instant): ErrorCode {
    const error = this.#checkGeneration(request, request.generationId);
    if (error !== Errors.NONE) return error;
    this.#startSession(this.members.get(request.memberId)!, now);
    return this.#state === 'PreparingRebalance' ? Errors.REBALANCE_IN_PROGRESS : Errors.NONE;
  }

  #checkGeneration({ memberId, groupInstanceId }: MemberIdentity, generationId: number): ErrorCode {
    const error = this.members.check(memberId, groupInstanceId);
    if (error !== Errors.NONE) return error;
    return generationId === this.#generationId ? Errors.NONE : Errors.ILLEGAL_GENERATION;
  }

  /**
   * Whether offsets may be committed. Generation −1 comes from clients that use the group for its offsets only; they may
   * as long as the group has no members.
   */
  checkCommit(identity: MemberIdentity, generationId: number, now: Instant): ErrorCode {
    const { memberId, groupInstanceId } = identity;
    if (generationId < 0 && this.#state === 'Empty') return Errors.NONE;
    if (generationId < 0 && memberId === '' && groupInstanceId === null) return Errors.UNKNOWN_MEMBER_ID;
    const error = this.#checkGeneration(identity, generationId);
    if (error !== Errors.NONE) return error;
    if (this.#state === 'CompletingRebalance') return Errors.REBALANCE_IN_PROGRESS;
    this.#startSession(this.members.get(memberId)!, now);
    return Errors.NONE;
  }

  /** Anybody may read the offsets of a classic group. */
  checkFetch(_memberId: string | null, _memberEpoch: number): ErrorCode {
    return Errors.NONE;
  }

  /** Whether offsets may be deleted at all; only the consumer protocol tells what is still subscribed to. */
  checkDeleteOffsets(): ErrorCode {
    const opaque = this.#state !== 'Empty' && this.#protocolType !== CONSUMER_PROTOCOL_TYPE;
    return opaque ? Errors.NON_EMPTY_GROUP : Errors.NONE;
  }

  /** A subscription that cannot be read counts as one to everything. */
  isSubscribedTo(topic: string): boolean {
    if (this.#state === 'Empty') return false;
    return [...this.members].some((member) => {
      const offered = member.protocols.find(({ name }) => name === this.#protocolName) ?? member.protocols[0];
      return readSubscription(offered?.metadata ?? new Uint8Array(0))?.topics.includes(topic) ?? true;
    });
  }

  /** Results in the order given. One rebalance for all that leave together. */
  leave(leaving: readonly MemberIdentity[], now: Instant): LeaveGroupMemberResult[] {
    const membersBefore = this.members.size;
    const results = leaving.map((identity) => ({ ...identity, error: this.#leaveOne(identity) }));
    this.#afterRemoval(this.members.size < membersBefore, now);
    return results;
  }

  #leaveOne({ memberId, groupInstanceId }: MemberIdentity): ErrorCode {
    if (groupInstanceId === null && this.#pending.has(memberId)) {
      this.#forgetPending(memberId);
      return Errors.NONE;
    }
    // An administrator removes a static member by its instance id alone.
    const byInstance = groupInstanceId !== null && memberId === '';
    const id = byInstance ? (this.members.staticMemberId(groupInstanceId) ?? '') : memberId;
    const error = this.members.check(id, groupInstanceId);
    if (error === Errors.NONE) this.#remove(this.members.get(id)!);
    return error;
  }

  #remove(member: ClassicMember): void {
    this.members.remove(member);
    this.#pendingSync.delete(member.memberId);
    this.deadlines.delete(SESSION + member.memberId);
    this.#answerAll(member, Errors.UNKNOWN_MEMBER_ID);
  }

  #answerAll(member: ClassicMember, error: ErrorCode): void {
    if (member.awaitingJoin) this.outbox.add(member.awaitingJoin, joinRefused(member.memberId, error));
    member.awaitingJoin = undefined;
    this.#answerSync(member, syncRefused(error));
  }

  #afterRemoval(removed: boolean, now: Instant): void {
    if (this.#state === 'PreparingRebalance') this.#completeJoinIfAllJoined(now);
    else if (removed) this.#prepareRebalance(now);
  }

  // --- Time -----------------------------------------------------------------------------------------------------------

  /** Does what was due at `now` or before. The join phase ends last, so that nothing happens to its generation here. */
  advance(now: Instant): void {
    const due = this.deadlines.takeDue(now);
    let removed = false;
    for (const name of due) {
      if (name === SYNC) removed = this.#expireSyncs() || removed;
      else if (name.startsWith(PENDING)) this.#pending.delete(name.slice(PENDING.length));
      else if (name !== JOIN) removed = this.#expireSession(name.slice(SESSION.length)) || removed;
    }
    this.#afterRemoval(removed, now);
    if (due.includes(JOIN) && this.#state === 'PreparingRebalance') this.#joinTimeout(now);
  }

  /** Who has not synced in time is removed. */
  #expireSyncs(): boolean {
    const late = [...this.#pendingSync].flatMap((memberId) => this.members.get(memberId) ?? []);
    for (const member of late) this.#remove(member);
    return late.length > 0;
  }

  #expireSession(memberId: string): boolean {
    const member = this.members.get(memberId);
    // A member whose request is parked here is alive; its session begins anew when that is answered.
    if (!member || (!member.isNew && (member.awaitingJoin || member.awaitingSync))) return false;
    this.#remove(member);
    return true;
  }

  #startSession(member: ClassicMember, now: Instant): void {
    this.deadlines.set(SESSION + member.memberId, now + member.sessionTimeoutMs);
  }

  failParked(error: ErrorCode): void {
    for (const member of this.members) this.#answerAll(member, error);
  }

  // --- Description ----------------------------------------------------------------------------------------------------

  /** A member's subscription under the current protocol. */
  metadataOf(member: ClassicMember): Uint8Array {
    return metadataOf(member, this.#protocolName ?? '');
  }

  #leads(member: ClassicMember): boolean {
    return member.memberId === this.members.leaderId;
  }

  #enter(state: ClassicGroupState): void {
    this.#state = state;
    this.#stateSinceMs = this.#context.nowMs();
  }
}
