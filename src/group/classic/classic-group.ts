/**
 * One classic consumer group (the join/sync protocol): a pure, synchronous state machine. This file has what members ask
 * for; classic-rebalance.ts has what becomes of it.
 *
 * The clock's reading is passed in, monotonic milliseconds, with the wall clock only for when the state was entered.
 */
import { assert } from '../../common/assert.ts';
import { type ErrorCode, Errors } from '../../common/errors.ts';
import { CONSUMER_PROTOCOL_TYPE, readSubscription } from '../consumer-protocol.ts';
import type { GroupContext, Instant } from '../group.ts';
import type { Reply } from '../reply.ts';
import type { ClassicGroupSnapshot } from './classic-group-snapshot.ts';
import { type ClassicMember, offersSame, selectProtocol } from './classic-members.ts';
import { ClassicRebalance, PENDING, SESSION } from './classic-rebalance.ts';
import {
  type HeartbeatRequest,
  type JoinGroupRequest,
  type JoinGroupResult,
  joinRefused,
  type LeaveGroupMemberResult,
  type MemberIdentity,
} from './classic-requests.ts';

/** A new member's join is not waited for longer than this: its connection may be gone, and nothing else would tell. */
const NEW_MEMBER_JOIN_TIMEOUT_MS = 5 * 60 * 1000;

export class ClassicGroup extends ClassicRebalance {
  /** The group as it was stored; sessions begin anew, since nobody could heartbeat meanwhile. */
  static restore(groupId: string, snapshot: ClassicGroupSnapshot, context: GroupContext, now: Instant): ClassicGroup {
    const group = new ClassicGroup(groupId, context);
    group.resume(snapshot, now);
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
    const inGroup = { protocolType: CONSUMER_PROTOCOL_TYPE, leaderId: null, members };
    const protocolName = selectProtocol(members);
    const snapshot = {
      ...inGroup,
      protocolName,
      generationId,
      state: 'Stable',
      stateSinceMs: context.nowMs(),
    } as const;
    const group = ClassicGroup.restore(groupId, snapshot, context, now);
    group.keep();
    if (rebalance) group.prepareRebalance(now);
    return group;
  }

  // --- Joining -------------------------------------------------------------------------------------------------------

  join(request: JoinGroupRequest, reply: Reply<JoinGroupResult>, now: Instant): void {
    const error = this.#checkJoin(request);
    if (error !== Errors.NONE) this.outbox.add(reply, joinRefused(request.memberId, error));
    else if (request.memberId === '') this.#joinNew(request, reply, now);
    else if (this.pending.has(request.memberId)) this.#joinPending(request, reply, now);
    else this.#joinExisting(request, reply, now);
  }

  #checkJoin(request: JoinGroupRequest): ErrorCode {
    if (!this.#hasRoomFor(request.memberId)) {
      this.#forgetPending(request.memberId);
      return Errors.GROUP_MAX_SIZE_REACHED;
    }
    if (request.memberId !== '' && !this.pending.has(request.memberId)) {
      const error = this.members.check(request.memberId, request.groupInstanceId);
      if (error !== Errors.NONE) return error;
    }
    const supported = request.protocolType !== '' && request.protocols.length > 0;
    if (!supported || !this.#sharesProtocol(request)) return Errors.INCONSISTENT_GROUP_PROTOCOL;
    return Errors.NONE;
  }

  #sharesProtocol({ protocolType, protocols }: JoinGroupRequest): boolean {
    if (this.members.size === 0) return true;
    return protocolType === this.protocolType && this.members.shareProtocol(protocols);
  }

  /** Members that have not rejoined yet may be gone, so during a rebalance only those that have take a place. */
  #hasRoomFor(memberId: string): boolean {
    const { groupMaxSize } = this.context.settings;
    if (this.state === 'Empty') return true;
    const member = this.members.get(memberId);
    if (this.state !== 'PreparingRebalance') return member !== undefined || this.members.size < groupMaxSize;
    return member?.awaitingJoin !== undefined || this.members.countAwaitingJoin() < groupMaxSize;
  }

  #joinNew(request: JoinGroupRequest, reply: Reply<JoinGroupResult>, now: Instant): void {
    const { groupInstanceId, clientId } = request;
    const memberId = this.context.newMemberId(groupInstanceId ?? clientId);
    if (groupInstanceId !== null) {
      this.#joinStatic(memberId, groupInstanceId, request, reply, now);
    } else if (request.requireKnownMemberId) {
      // The client must come back with this id: a join that is repeated after a timeout then finds its own member.
      this.pending.add(memberId);
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
    this.pending.delete(memberId);
    this.deadlines.delete(PENDING + memberId);
  }

  #addMember(memberId: string, request: JoinGroupRequest, reply: Reply<JoinGroupResult>, now: Instant): void {
    const { groupInstanceId, clientId, clientHost, sessionTimeoutMs, rebalanceTimeoutMs, protocols } = request;
    if (this.members.size === 0) this.useProtocolType(request.protocolType);
    const timeouts = { sessionTimeoutMs, rebalanceTimeoutMs };
    const nothingYet = { assignment: new Uint8Array(0), isNew: true, awaitingJoin: reply, awaitingSync: undefined };
    this.members.add({ memberId, groupInstanceId, clientId, clientHost, ...timeouts, protocols, ...nothingYet });
    this.deadlines.set(SESSION + memberId, now + NEW_MEMBER_JOIN_TIMEOUT_MS);
    this.rebalanceOrCompleteJoin(now, true);
  }

  #joinExisting(request: JoinGroupRequest, reply: Reply<JoinGroupResult>, now: Instant): void {
    const member = this.members.get(request.memberId);
    assert(member, 'the member was checked');
    const same = offersSame(member, request.protocols);
    // A member that asks again with nothing new has missed its answer. In Stable the leader asks for a rebalance so.
    const repeats =
      this.state === 'CompletingRebalance' ? same : this.state === 'Stable' && same && !this.leads(member);
    if (repeats) {
      this.outbox.add(reply, this.joined(member));
      return;
    }
    this.#updateMember(member, request, reply);
    this.rebalanceOrCompleteJoin(now);
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
    this.forget(old, Errors.FENCED_INSTANCE_ID);
    const member = this.members.replaceStatic(old, memberId);
    this.#updateMember(member, request, reply);
    this.startSession(member, now);
    if (this.state === 'Stable' && selectProtocol([...this.members]) === this.protocolName) {
      this.#answerReturned(member, request.supportSkippingAssignment, oldLeaderId);
    } else {
      // In CompletingRebalance the leader may already be assigning to the old id, so the generation is of no use.
      this.rebalanceOrCompleteJoin(now);
    }
  }

  /** The group stays as it is; only the new member id has to be kept. */
  #answerReturned(member: ClassicMember, skipAssignment: boolean, oldLeaderId: string | null): void {
    const { awaitingJoin } = member;
    assert(awaitingJoin, 'a member that joins awaits its answer');
    member.awaitingJoin = undefined;
    member.isNew = false;
    this.keep();
    const joined = this.joined(member);
    if (skipAssignment) this.outbox.add(awaitingJoin, { ...joined, skipAssignment: this.leads(member) });
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

  // --- Heartbeats, leaving -------------------------------------------------------------------------------------------

  heartbeat(request: Omit<HeartbeatRequest, 'groupId'>, now: Instant): ErrorCode {
    const error = this.#checkGeneration(request, request.generationId);
    if (error !== Errors.NONE) return error;
    this.startSession(this.members.get(request.memberId)!, now);
    return this.state === 'PreparingRebalance' ? Errors.REBALANCE_IN_PROGRESS : Errors.NONE;
  }

  #checkGeneration({ memberId, groupInstanceId }: MemberIdentity, generationId: number): ErrorCode {
    const error = this.members.check(memberId, groupInstanceId);
    if (error !== Errors.NONE) return error;
    return generationId === this.generationId ? Errors.NONE : Errors.ILLEGAL_GENERATION;
  }

  /** Results in the order given. One rebalance for all that leave together. */
  leave(leaving: readonly MemberIdentity[], now: Instant): LeaveGroupMemberResult[] {
    const membersBefore = this.members.size;
    const results = leaving.map((identity) => ({ ...identity, error: this.#leaveOne(identity) }));
    this.afterRemoval(this.members.size < membersBefore, now);
    return results;
  }

  #leaveOne({ memberId, groupInstanceId }: MemberIdentity): ErrorCode {
    if (groupInstanceId === null && this.pending.has(memberId)) {
      this.#forgetPending(memberId);
      return Errors.NONE;
    }
    // An administrator removes a static member by its instance id alone.
    const byInstance = groupInstanceId !== null && memberId === '';
    const id = byInstance ? (this.members.staticMemberId(groupInstanceId) ?? '') : memberId;
    const error = this.members.check(id, groupInstanceId);
    if (error === Errors.NONE) this.remove(this.members.get(id)!);
    return error;
  }

  // --- Offsets -------------------------------------------------------------------------------------------------------

  /**
   * Whether offsets may be committed. Generation −1 comes from clients that use the group for its offsets only; they may
   * as long as the group has no members.
   */
  checkCommit(identity: MemberIdentity, generationId: number, now: Instant): ErrorCode {
    const { memberId, groupInstanceId } = identity;
    if (generationId < 0 && this.state === 'Empty') return Errors.NONE;
    if (generationId < 0 && memberId === '' && groupInstanceId === null) return Errors.UNKNOWN_MEMBER_ID;
    const error = this.#checkGeneration(identity, generationId);
    if (error !== Errors.NONE) return error;
    if (this.state === 'CompletingRebalance') return Errors.REBALANCE_IN_PROGRESS;
    this.startSession(this.members.get(memberId)!, now);
    return Errors.NONE;
  }

  /** Anybody may read the offsets of a classic group. */
  checkFetch(_memberId: string | null, _memberEpoch: number): ErrorCode {
    return Errors.NONE;
  }

  /** Whether offsets may be deleted at all; only the consumer protocol tells what is still subscribed to. */
  checkDeleteOffsets(): ErrorCode {
    const opaque = this.state !== 'Empty' && this.protocolType !== CONSUMER_PROTOCOL_TYPE;
    return opaque ? Errors.NON_EMPTY_GROUP : Errors.NONE;
  }

  /** A subscription that cannot be read counts as one to everything. */
  isSubscribedTo(topic: string): boolean {
    if (this.state === 'Empty') return false;
    return [...this.members].some((member) => {
      const offered = member.protocols.find(({ name }) => name === this.protocolName) ?? member.protocols[0];
      return readSubscription(offered?.metadata ?? new Uint8Array(0))?.topics.includes(topic) ?? true;
    });
  }
}
