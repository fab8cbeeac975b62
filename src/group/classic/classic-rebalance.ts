/**
 * The rebalance of a classic group: from one generation to the next, and how each is assigned. What members ask for lives
 * in classic-group.ts, which adds to this class.
 *
 * Empty → PreparingRebalance (members are asked to rejoin) → CompletingRebalance (they have joined; the leader assigns)
 * → Stable. A deleted group has no object, so there is no Dead state here.
 *
 * Answers go into `outbox`; `takeStored` tells what must be durable before they may be sent. A generation therefore
 * exists in the store before any member hears of it: after a crash no older generation can pass for the current one.
 */
import { assert } from '../../common/assert.ts';
import { type ErrorCode, Errors } from '../../common/errors.ts';
import type { StoredGroup } from '../../coordinator/group-store.ts';
import { Deadlines } from '../deadlines.ts';
import type { GroupContext, GroupMachine, Instant } from '../group.ts';
import { Outbox, type Reply } from '../reply.ts';
import { type ClassicGroupSnapshot, type StoredClassicState, writeClassicSnapshot } from './classic-group-snapshot.ts';
import { type ClassicMember, ClassicMembers, metadataOf, selectProtocol } from './classic-members.ts';
import {
  type JoinGroupResult,
  joinRefused,
  type SyncGroupRequest,
  type SyncGroupResult,
  syncRefused,
} from './classic-requests.ts';

export type ClassicGroupState = StoredClassicState | 'PreparingRebalance';

/** What is timed: the two phases of a rebalance, each member's session, each id that was given out and not used yet. */
const JOIN = 'join';
const SYNC = 'sync';
export const SESSION = 'session:';
export const PENDING = 'pending:';

export abstract class ClassicRebalance implements GroupMachine {
  readonly type = 'classic' as const;
  readonly groupId: string;
  readonly members = new ClassicMembers();
  readonly deadlines = new Deadlines();
  readonly outbox = new Outbox();
  protected readonly context: GroupContext;
  /** Members that were given their id and have yet to join with it. */
  protected readonly pending = new Set<string>();
  #state: ClassicGroupState = 'Empty';
  #generationId = 0;
  /** "" until a member brings one: the group then has nothing but offsets. */
  #protocolType = '';
  #protocolName: string | null = null;
  #stateSinceMs: number;
  #unstored: StoredGroup | undefined;
  /** Members whose sync of this generation is still to come. */
  readonly #pendingSync = new Set<string>();
  /** Set during the first rebalance of an empty group: how much longer newcomers can prolong it. */
  #initialRebalance: { newcomer: boolean; remainingMs: number } | undefined;

  constructor(groupId: string, context: GroupContext) {
    this.groupId = groupId;
    this.context = context;
    this.#stateSinceMs = context.nowMs();
  }

  /** Goes on from what was stored. */
  protected resume(snapshot: ClassicGroupSnapshot, now: Instant): void {
    this.#generationId = snapshot.generationId;
    this.#state = snapshot.state;
    this.#protocolType = snapshot.protocolType;
    this.#protocolName = snapshot.protocolName;
    this.#stateSinceMs = snapshot.stateSinceMs;
    for (const member of snapshot.members) {
      this.members.add(member);
      this.startSession(member, now);
    }
    if (snapshot.leaderId !== null) this.members.lead(snapshot.leaderId);
    if (snapshot.state === 'CompletingRebalance') this.#awaitSyncs(now);
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

  protected useProtocolType(protocolType: string): void {
    this.#protocolType = protocolType;
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
    return this.#state === 'Empty' && this.pending.size === 0;
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

  // --- Joining -------------------------------------------------------------------------------------------------------

  /** A member has joined (`newcomer`: for the first time), or wants another generation. */
  protected rebalanceOrCompleteJoin(now: Instant, newcomer = false): void {
    if (newcomer && this.#initialRebalance) this.#initialRebalance.newcomer = true;
    if (this.#state === 'PreparingRebalance') this.#completeJoinIfAllJoined(now);
    else this.prepareRebalance(now);
  }

  protected prepareRebalance(now: Instant): void {
    const initial = this.#state === 'Empty';
    this.#dropAssignments();
    this.#enter('PreparingRebalance');
    const rebalanceTimeoutMs = this.members.rebalanceTimeoutMs();
    if (!initial) {
      this.deadlines.set(JOIN, now + rebalanceTimeoutMs);
      this.#completeJoinIfAllJoined(now);
      return;
    }
    const delayMs = Math.min(this.context.settings.groupInitialRebalanceDelayMs, rebalanceTimeoutMs);
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
    const waitsForNewcomers = this.#initialRebalance !== undefined || this.pending.size > 0;
    if (!waitsForNewcomers && this.members.allAwaitJoin()) this.#completeJoin(now);
  }

  #joinTimeout(now: Instant): void {
    const initial = this.#initialRebalance;
    if (initial?.newcomer && initial.remainingMs > 0) {
      const delayMs = Math.min(this.context.settings.groupInitialRebalanceDelayMs, initial.remainingMs);
      this.#initialRebalance = { newcomer: false, remainingMs: initial.remainingMs - delayMs };
      this.deadlines.set(JOIN, now + delayMs);
      return;
    }
    this.#completeJoin(now);
  }

  #completeJoin(now: Instant): void {
    // Static members may be away for as long as their session lasts.
    for (const member of [...this.members]) {
      if (!member.awaitingJoin && member.groupInstanceId === null) this.remove(member);
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
    this.#protocolName = this.members.size === 0 ? null : selectProtocol([...this.members]);
    for (const member of this.members) member.assignment = new Uint8Array(0);
    this.#enter(this.members.size === 0 ? 'Empty' : 'CompletingRebalance');
    this.keep();
  }

  #answerJoins(now: Instant): void {
    for (const member of this.members) {
      member.isNew = false;
      this.startSession(member, now);
      if (!member.awaitingJoin) continue;
      this.outbox.add(member.awaitingJoin, this.joined(member));
      member.awaitingJoin = undefined;
    }
    this.#awaitSyncs(now);
  }

  #awaitSyncs(now: Instant): void {
    for (const member of this.members) this.#pendingSync.add(member.memberId);
    this.deadlines.set(SYNC, now + this.members.rebalanceTimeoutMs());
  }

  /** The current generation, as this member is told of it. */
  protected joined(member: ClassicMember): JoinGroupResult {
    const protocolName = this.#protocolName;
    return {
      error: Errors.NONE,
      generationId: this.#generationId,
      protocolType: this.#protocolType,
      protocolName,
      leader: this.members.leaderId ?? '',
      skipAssignment: false,
      memberId: member.memberId,
      members: this.leads(member) && protocolName !== null ? this.members.describeFor(protocolName) : [],
    };
  }

  // --- Syncing -------------------------------------------------------------------------------------------------------

  sync(request: SyncGroupRequest, reply: Reply<SyncGroupResult>, now: Instant): void {
    const error = this.#checkSync(request);
    const member = this.members.get(request.memberId);
    if (error !== Errors.NONE || !member) {
      this.outbox.add(reply, syncRefused(error));
      return;
    }
    this.#pendingSync.delete(member.memberId);
    if (this.#state === 'Stable') {
      this.startSession(member, now);
      this.outbox.add(reply, this.#synced(member));
      return;
    }
    this.#answerSync(member, syncRefused(Errors.REBALANCE_IN_PROGRESS));
    member.awaitingSync = reply;
    if (this.leads(member)) this.#assign(request, now);
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
      this.startSession(member, now);
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

  // --- Members that go -----------------------------------------------------------------------------------------------

  protected remove(member: ClassicMember): void {
    this.members.remove(member);
    this.forget(member, Errors.UNKNOWN_MEMBER_ID);
  }

  /** What was timed and parked for a member that goes, or goes by another id from now on. */
  protected forget(member: ClassicMember, error: ErrorCode): void {
    this.#pendingSync.delete(member.memberId);
    this.deadlines.delete(SESSION + member.memberId);
    this.#answerAll(member, error);
  }

  #answerAll(member: ClassicMember, error: ErrorCode): void {
    if (member.awaitingJoin) this.outbox.add(member.awaitingJoin, joinRefused(member.memberId, error));
    member.awaitingJoin = undefined;
    this.#answerSync(member, syncRefused(error));
  }

  protected afterRemoval(removed: boolean, now: Instant): void {
    if (this.#state === 'PreparingRebalance') this.#completeJoinIfAllJoined(now);
    else if (removed) this.prepareRebalance(now);
  }

  failParked(error: ErrorCode): void {
    for (const member of this.members) this.#answerAll(member, error);
  }

  // --- Time ----------------------------------------------------------------------------------------------------------

  /** Does what was due at `now` or before. The join phase ends last, so that nothing happens to its generation here. */
  advance(now: Instant): void {
    const due = this.deadlines.takeDue(now);
    let removed = false;
    for (const name of due) {
      if (name === SYNC) removed = this.#expireSyncs() || removed;
      else if (name.startsWith(PENDING)) this.pending.delete(name.slice(PENDING.length));
      else if (name !== JOIN) removed = this.#expireSession(name.slice(SESSION.length)) || removed;
    }
    this.afterRemoval(removed, now);
    if (due.includes(JOIN) && this.#state === 'PreparingRebalance') this.#joinTimeout(now);
  }

  /** Who has not synced in time is removed. */
  #expireSyncs(): boolean {
    const late = [...this.#pendingSync].flatMap((memberId) => this.members.get(memberId) ?? []);
    for (const member of late) this.remove(member);
    return late.length > 0;
  }

  #expireSession(memberId: string): boolean {
    const member = this.members.get(memberId);
    // A member whose request is parked here is alive; its session begins anew when that is answered.
    if (!member || (!member.isNew && (member.awaitingJoin || member.awaitingSync))) return false;
    this.remove(member);
    return true;
  }

  protected startSession(member: ClassicMember, now: Instant): void {
    this.deadlines.set(SESSION + member.memberId, now + member.sessionTimeoutMs);
  }

  /** A member's subscription under the current protocol. */
  metadataOf(member: ClassicMember): Uint8Array {
    return metadataOf(member, this.#protocolName ?? '');
  }

  protected leads(member: ClassicMember): boolean {
    return member.memberId === this.members.leaderId;
  }

  #enter(state: ClassicGroupState): void {
    this.#state = state;
    this.#stateSinceMs = this.context.nowMs();
  }
}
