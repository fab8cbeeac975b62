/**
 * Drives a ClassicGroup as the coordinator does, without a store: after each operation it takes what would be stored,
 * delivers the outbox, and remembers both. The clock stands still until a test moves it.
 */
import { seededRandom } from '../../../src/common/random.ts';
import { randomUuid } from '../../../src/common/uuid.ts';
import type { StoredGroup } from '../../../src/coordinator/group-store.ts';
import { ClassicGroup } from '../../../src/group/classic/classic-group.ts';
import { readClassicSnapshot } from '../../../src/group/classic/classic-group-snapshot.ts';
import type {
  JoinGroupRequest,
  JoinGroupResult,
  LeaveGroupMemberResult,
  MemberIdentity,
  SyncGroupRequest,
  SyncGroupResult,
} from '../../../src/group/classic/classic-requests.ts';
import type { GroupContext } from '../../../src/group/group.ts';
import { type GroupSettings, groupSettings } from '../../../src/group/group-settings.ts';
import type { Reply } from '../../../src/group/reply.ts';

/** An answer that may not have come yet. */
export class Pending<T> implements Reply<T> {
  answers: T[] = [];
  readonly #onAnswer: ((answer: T) => void) | undefined;

  constructor(onAnswer?: (answer: T) => void) {
    this.#onAnswer = onAnswer;
  }

  get answered(): boolean {
    return this.answers.length > 0;
  }

  /** @throws Error unless it was answered exactly once */
  get value(): T {
    if (this.answers.length !== 1) throw new Error(`answered ${this.answers.length} times`);
    return this.answers[0]!;
  }

  send(answer: T): void {
    this.answers.push(answer);
    this.#onAnswer?.(answer);
  }

  fail(error: number): void {
    throw new Error(`failed with ${error}`);
  }
}

export const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
export const text = (value: Uint8Array): string => new TextDecoder().decode(value);

export class ClassicDriver {
  group: ClassicGroup;
  now = 0;
  /** What was stored, in order. */
  readonly stored: StoredGroup[] = [];
  readonly #context: GroupContext;

  constructor(settings: Partial<GroupSettings> = {}, seed = 1) {
    const random = seededRandom(seed);
    this.#context = {
      settings: groupSettings(settings),
      newMemberId: (prefix) => `${prefix}-${randomUuid(random)}`,
      groupConfig: () => ({ sessionTimeoutMs: 45_000, heartbeatIntervalMs: 5_000 }),
      shareGroupConfig: () => ({ sessionTimeoutMs: 45_000, heartbeatIntervalMs: 5_000 }),
      nowMs: () => 1_800_000_000_000 + this.now,
    };
    this.group = new ClassicGroup('g', this.#context);
  }

  #settle(): void {
    const stored = this.group.takeStored();
    if (stored) this.stored.push(stored);
    this.group.outbox.deliver();
  }

  join(fields: Partial<JoinGroupRequest> = {}): Pending<JoinGroupResult> {
    // Whatever a member is told must be stored already: else a crash would give the same generation out twice.
    const pending = new Pending<JoinGroupResult>(({ error, generationId }) => {
      if (error === 0 && this.stored.at(-1)?.epoch !== generationId) throw new Error('told before it was stored');
    });
    this.group.join(joinRequest(fields), pending, this.now);
    this.#settle();
    return pending;
  }

  sync(joined: JoinGroupResult, fields: Partial<SyncGroupRequest> = {}): Pending<SyncGroupResult> {
    const pending = new Pending<SyncGroupResult>();
    const identity = { groupId: 'g', generationId: joined.generationId, memberId: joined.memberId };
    const protocol = { groupInstanceId: null, protocolType: null, protocolName: null, assignments: [] };
    this.group.sync({ ...identity, ...protocol, ...fields }, pending, this.now);
    this.#settle();
    return pending;
  }

  /** The leader assigns each member its own id. */
  syncAsLeader(joined: JoinGroupResult, fields: Partial<SyncGroupRequest> = {}): Pending<SyncGroupResult> {
    const assignments = joined.members.map(({ memberId }) => ({ memberId, assignment: bytes(memberId) }));
    return this.sync(joined, { assignments, ...fields });
  }

  heartbeat(joined: JoinGroupResult, groupInstanceId: string | null = null): number {
    const { memberId, generationId } = joined;
    const error = this.group.heartbeat({ memberId, generationId, groupInstanceId }, this.now);
    this.#settle();
    return error;
  }

  leave(...members: readonly (string | MemberIdentity)[]): LeaveGroupMemberResult[] {
    const identities = members.map((member) =>
      typeof member === 'string' ? { memberId: member, groupInstanceId: null } : member,
    );
    const results = this.group.leave(identities, this.now);
    this.#settle();
    return results;
  }

  commit(memberId: string, generationId: number, groupInstanceId: string | null = null): number {
    const error = this.group.checkCommit({ memberId, groupInstanceId }, generationId, this.now);
    this.#settle();
    return error;
  }

  /** Moves the clock, doing what falls due on the way at its own time. */
  advance(ms: number): void {
    const until = this.now + ms;
    for (;;) {
      const next = this.group.deadlines.earliestMs;
      if (next === undefined || next > until) break;
      this.now = Math.max(this.now, next);
      this.group.advance(this.now);
      this.#settle();
    }
    this.now = until;
  }

  /** The process dies and comes back with what was stored last. */
  restart(): void {
    const last = this.stored.at(-1);
    this.group = last
      ? ClassicGroup.restore('g', readClassicSnapshot(last.state), this.#context, this.now)
      : new ClassicGroup('g', this.#context);
  }

  /** Two or more members in a stable group, the first one leading. */
  stable(count: number, fields: (index: number) => Partial<JoinGroupRequest> = () => ({})): JoinGroupResult[] {
    let joined: JoinGroupResult[] = [];
    for (let index = 0; index < count; index += 1) {
      const newcomer = this.join(fields(index));
      const rejoining = joined.map((member, at) => this.join({ ...fields(at), memberId: member.memberId }));
      joined = [...rejoining, newcomer].map((pending) => pending.value);
      const followers = joined.slice(1).map((member, at) => this.sync(member, instanceOf(fields(at + 1))));
      this.syncAsLeader(joined[0]!, instanceOf(fields(0)));
      for (const follower of followers) if (follower.value.error !== 0) throw new Error('a follower was not assigned');
    }
    return joined;
  }
}

function instanceOf({ groupInstanceId = null }: Partial<JoinGroupRequest>): Partial<SyncGroupRequest> {
  return { groupInstanceId };
}

export function joinRequest(fields: Partial<JoinGroupRequest> = {}): JoinGroupRequest {
  return {
    groupId: 'g',
    memberId: '',
    groupInstanceId: null,
    clientId: 'client',
    clientHost: '127.0.0.1',
    protocolType: 'consumer',
    protocols: [{ name: 'range', metadata: bytes('m') }],
    sessionTimeoutMs: 10_000,
    rebalanceTimeoutMs: 60_000,
    requireKnownMemberId: false,
    supportSkippingAssignment: true,
    ...fields,
  };
}
