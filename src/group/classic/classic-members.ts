/**
 * The members of one classic group: who they are, who leads, which protocols all of them support. Data with its own
 * invariants and no notion of time; the rebalance lives in classic-group.ts.
 */
import { assert } from '../../common/assert.ts';
import { type ErrorCode, Errors } from '../../common/errors.ts';
import type { Reply } from '../reply.ts';
import type { ClassicProtocol, JoinGroupMember, JoinGroupResult, SyncGroupResult } from './classic-requests.ts';

export interface ClassicMember {
  readonly memberId: string;
  readonly groupInstanceId: string | null;
  clientId: string;
  clientHost: string;
  sessionTimeoutMs: number;
  rebalanceTimeoutMs: number;
  protocols: readonly ClassicProtocol[];
  /** What the leader assigned to it in this generation; empty while there is nothing. */
  assignment: Uint8Array;
  /** Until its first join is answered: it cannot heartbeat yet, so that join itself is timed. */
  isNew: boolean;
  awaitingJoin: Reply<JoinGroupResult> | undefined;
  awaitingSync: Reply<SyncGroupResult> | undefined;
}

export class ClassicMembers {
  readonly #byId = new Map<string, ClassicMember>();
  /** group.instance.id → member id. */
  readonly #staticIds = new Map<string, string>();
  #leaderId: string | null = null;

  get size(): number {
    return this.#byId.size;
  }

  get leaderId(): string | null {
    return this.#leaderId;
  }

  [Symbol.iterator](): IterableIterator<ClassicMember> {
    return this.#byId.values();
  }

  get(memberId: string): ClassicMember | undefined {
    return this.#byId.get(memberId);
  }

  has(memberId: string): boolean {
    return this.#byId.has(memberId);
  }

  staticMemberId(groupInstanceId: string): string | undefined {
    return this.#staticIds.get(groupInstanceId);
  }

  add(member: ClassicMember): void {
    assert(!this.#byId.has(member.memberId), 'a member is added once');
    this.#byId.set(member.memberId, member);
    if (member.groupInstanceId !== null) this.#staticIds.set(member.groupInstanceId, member.memberId);
    this.#leaderId ??= member.memberId;
  }

  /** A leader that goes is succeeded by the member that has been there longest. */
  remove(member: ClassicMember): void {
    this.#byId.delete(member.memberId);
    if (member.groupInstanceId !== null) this.#staticIds.delete(member.groupInstanceId);
    if (this.#leaderId !== member.memberId) return;
    const [successor] = this.#byId.keys();
    this.#leaderId = successor ?? null;
  }

  /** Gives a static member's place, leadership included, to the same instance under a new member id. */
  replaceStatic(old: ClassicMember, memberId: string): ClassicMember {
    const replacement: ClassicMember = { ...old, memberId, awaitingJoin: undefined, awaitingSync: undefined };
    const led = this.#leaderId === old.memberId;
    this.remove(old);
    this.add(replacement);
    if (led) this.#leaderId = memberId;
    return replacement;
  }

  lead(memberId: string): void {
    assert(this.#byId.has(memberId), 'the leader is a member');
    this.#leaderId = memberId;
  }

  /** Keeps the leader if it has rejoined, else elects one that has. False when nobody has. */
  electJoinedLeader(): boolean {
    if (this.#leaderId !== null && this.#byId.get(this.#leaderId)?.awaitingJoin) return true;
    for (const member of this) {
      if (!member.awaitingJoin) continue;
      this.#leaderId = member.memberId;
      return true;
    }
    return false;
  }

  /** NONE, UNKNOWN_MEMBER_ID, or FENCED_INSTANCE_ID when another member has taken that instance over. */
  check(memberId: string, groupInstanceId: string | null): ErrorCode {
    if (groupInstanceId !== null) {
      const current = this.#staticIds.get(groupInstanceId);
      if (current === undefined) return Errors.UNKNOWN_MEMBER_ID;
      if (current !== memberId) return Errors.FENCED_INSTANCE_ID;
    }
    return this.#byId.has(memberId) ? Errors.NONE : Errors.UNKNOWN_MEMBER_ID;
  }

  /** The longest that any member asked to be waited for in a rebalance. */
  rebalanceTimeoutMs(): number {
    let timeoutMs = 0;
    for (const member of this) timeoutMs = Math.max(timeoutMs, member.rebalanceTimeoutMs);
    return timeoutMs;
  }

  allAwaitJoin(): boolean {
    for (const member of this) if (!member.awaitingJoin) return false;
    return true;
  }

  countAwaitingJoin(): number {
    let count = 0;
    for (const member of this) if (member.awaitingJoin) count += 1;
    return count;
  }

  /** Whether one of `protocols` is among those that every member supports. */
  shareProtocol(protocols: readonly ClassicProtocol[]): boolean {
    if (this.#byId.size === 0) return true;
    const common = commonProtocols([...this]);
    return protocols.some(({ name }) => common.has(name));
  }

  /** What a leader is told of everybody. */
  describeFor(protocolName: string): JoinGroupMember[] {
    return [...this].map((member) => ({
      memberId: member.memberId,
      groupInstanceId: member.groupInstanceId,
      metadata: metadataOf(member, protocolName),
    }));
  }
}

/** A member's subscription under one protocol; empty when it does not offer it. */
export function metadataOf(member: ClassicMember, protocolName: string): Uint8Array {
  return member.protocols.find(({ name }) => name === protocolName)?.metadata ?? new Uint8Array(0);
}

/** Whether a member offers exactly these protocols, in this order, with the same metadata. */
export function offersSame(member: ClassicMember, protocols: readonly ClassicProtocol[]): boolean {
  if (member.protocols.length !== protocols.length) return false;
  return member.protocols.every(({ name, metadata }, index) => {
    const other = protocols[index]!;
    return name === other.name && Buffer.compare(metadata, other.metadata) === 0;
  });
}

/**
 * The protocol with the most votes, every member voting for the first of its own that all support; of equals, the one that
 * was voted for first. At least one member must be there, and all must share a protocol.
 */
export function selectProtocol(members: readonly ClassicMember[]): string {
  const common = commonProtocols(members);
  const votes = new Map<string, number>();
  for (const member of members) {
    const vote = member.protocols.find(({ name }) => common.has(name));
    assert(vote, 'members share a protocol');
    votes.set(vote.name, (votes.get(vote.name) ?? 0) + 1);
  }
  const [winner] = [...votes].reduce((best, next) => (next[1] > best[1] ? next : best));
  return winner;
}

function commonProtocols(members: readonly ClassicMember[]): Set<string> {
  const counts = new Map<string, number>();
  for (const member of members) {
    for (const name of new Set(member.protocols.map((protocol) => protocol.name))) {
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
  }
  return new Set([...counts].filter(([, count]) => count === members.length).map(([name]) => name));
}
