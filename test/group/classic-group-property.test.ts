/**
 * Random histories of one classic group: members of both kinds join, sync, heartbeat, commit, leave, fall silent; time
 * passes; the process restarts. The leader assigns partitions as a client does.
 *
 * Holds at every step: no partition is assigned to two members of one generation; generations never go back, over
 * restarts too; only commits of the current generation are taken. At the end, with everybody answering again, the group
 * becomes stable within a bound (progress).
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Errors } from '../../src/common/errors.ts';
import type { JoinGroupResult, SyncGroupResult } from '../../src/group/classic/classic-requests.ts';
import { bytes, ClassicDriver, type Pending, text } from './support/classic-driver.ts';

const PARTITIONS = 8;
const SESSION_MS = 10_000;

/** A client with Kafka's logic: joins, assigns if it leads, syncs, heartbeats, rejoins when told to. */
class Client {
  readonly #driver: ClassicDriver;
  readonly groupInstanceId: string | null;
  #memberId = '';
  #join: Pending<JoinGroupResult> | undefined;
  #sync: Pending<SyncGroupResult> | undefined;
  joined: JoinGroupResult | undefined;
  assignment: readonly number[] = [];

  constructor(driver: ClassicDriver, groupInstanceId: string | null) {
    this.#driver = driver;
    this.groupInstanceId = groupInstanceId;
  }

  get stable(): boolean {
    return this.joined !== undefined && this.#join === undefined && this.#sync === undefined;
  }

  /** One round of whatever it has to do next. */
  step(): void {
    if (this.#join) this.#onJoin(this.#join);
    else if (this.#sync) this.#onSync(this.#sync);
    else if (!this.joined) this.#startJoin();
    else this.#heartbeat();
  }

  #startJoin(): void {
    this.assignment = [];
    const { groupInstanceId } = this;
    const requireKnownMemberId = groupInstanceId === null;
    const timeouts = { sessionTimeoutMs: SESSION_MS, rebalanceTimeoutMs: 20_000 };
    this.#join = this.#driver.join({ memberId: this.#memberId, groupInstanceId, requireKnownMemberId, ...timeouts });
  }

  #onJoin(pending: Pending<JoinGroupResult>): void {
    if (!pending.answered) return;
    this.#join = undefined;
    const joined = pending.value;
    if (joined.error === Errors.MEMBER_ID_REQUIRED) this.#memberId = joined.memberId;
    else if (joined.error !== Errors.NONE) this.#onError(joined.error);
    else this.#startSync(joined);
  }

  #startSync(joined: JoinGroupResult): void {
    this.joined = joined;
    this.#memberId = joined.memberId;
    const assignments = joined.skipAssignment
      ? []
      : joined.members.map(({ memberId }, index) => {
          const own = Array.from({ length: PARTITIONS }, (_, at) => at).filter(
            (at) => at % joined.members.length === index,
          );
          return { memberId, assignment: bytes(own.join(',')) };
        });
    this.#sync = this.#driver.sync(joined, { groupInstanceId: this.groupInstanceId, assignments });
  }

  #onSync(pending: Pending<SyncGroupResult>): void {
    if (!pending.answered) return;
    this.#sync = undefined;
    if (pending.value.error !== Errors.NONE) this.#onError(pending.value.error);
    else this.assignment = text(pending.value.assignment).split(',').filter(Boolean).map(Number);
  }

  #heartbeat(): void {
    const error = this.#driver.heartbeat(this.joined!, this.groupInstanceId);
    if (error !== Errors.NONE) this.#onError(error);
  }

  #onError(error: number): void {
    this.joined = undefined;
    this.assignment = [];
    const lost: readonly number[] = [Errors.UNKNOWN_MEMBER_ID, Errors.FENCED_INSTANCE_ID];
    if (lost.includes(error)) this.#memberId = '';
  }

  /** Its process is replaced by a new one that knows nothing. */
  crash(): void {
    this.#join = undefined;
    this.#sync = undefined;
    this.joined = undefined;
    this.#memberId = '';
    this.assignment = [];
  }

  /** Requests that were parked in a broker that died are sent again. */
  reconnect(): void {
    if (this.#join || this.#sync) this.joined = undefined;
    this.#join = undefined;
    this.#sync = undefined;
  }

  leave(): void {
    this.#driver.leave({ memberId: this.#memberId, groupInstanceId: this.groupInstanceId });
    this.crash();
  }

  commit(): void {
    if (!this.joined) return;
    const { memberId, generationId } = this.joined;
    const error = this.#driver.commit(memberId, generationId, this.groupInstanceId);
    if (error === Errors.NONE) expect(generationId).toBe(this.#driver.group.generationId);
  }
}

type Action = readonly [kind: 'step' | 'crash' | 'leave' | 'commit' | 'advance' | 'restart', argument: number];

const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 20, arbitrary: fc.tuple(fc.constant('step' as const), fc.nat(4)) },
  { weight: 2, arbitrary: fc.tuple(fc.constant('crash' as const), fc.nat(4)) },
  { weight: 1, arbitrary: fc.tuple(fc.constant('leave' as const), fc.nat(4)) },
  { weight: 3, arbitrary: fc.tuple(fc.constant('commit' as const), fc.nat(4)) },
  { weight: 6, arbitrary: fc.tuple(fc.constant('advance' as const), fc.integer({ min: 1, max: 8_000 })) },
  { weight: 1, arbitrary: fc.tuple(fc.constant('restart' as const), fc.constant(0)) },
);

function apply(driver: ClassicDriver, clients: readonly Client[], [kind, argument]: Action): void {
  const client = clients[argument]!;
  if (kind === 'advance') driver.advance(argument);
  else if (kind === 'restart') {
    driver.restart();
    for (const each of clients) each.reconnect();
  } else client[kind]();
}

/** Assignments of the same generation never overlap; a member of an older one has not been told yet. */
function checkAssignments(clients: readonly Client[]): void {
  const owners = new Map<string, Client>();
  for (const client of clients) {
    if (!client.stable) continue;
    for (const partition of client.assignment) {
      const key = `${client.joined!.generationId}/${partition}`;
      expect(owners.has(key), `partition/generation ${key} has two owners`).toBe(false);
      owners.set(key, client);
    }
  }
}

function becomeStable(driver: ClassicDriver, clients: readonly Client[]): void {
  for (let round = 0; round < 100; round += 1) {
    for (const client of clients) client.step();
    driver.advance(1_000);
    const generation = driver.group.generationId;
    const all = clients.every((client) => client.stable && client.joined!.generationId === generation);
    // Ghosts of members that crashed hold partitions until their sessions end.
    if (all && driver.group.state === 'Stable' && driver.group.members.size === clients.length) return;
  }
  throw new Error(`not stable after 100 rounds: ${driver.group.state}`);
}

describe('a classic group under random members', () => {
  it('never assigns a partition twice, never goes back, always comes to rest', () => {
    const seed = Number(process.env.SHOAL_SEED ?? Date.now() % 2 ** 31);
    console.log(`seed ${seed}`);
    fc.assert(
      fc.property(fc.array(action, { minLength: 20, maxLength: 200 }), fc.constantFrom(0, 3_000), (actions, delay) => {
        const driver = new ClassicDriver({ groupInitialRebalanceDelayMs: delay });
        const clients = [null, null, null, 's1', 's2'].map((instance) => new Client(driver, instance));
        let generation = 0;
        for (const each of actions) {
          apply(driver, clients, each);
          checkAssignments(clients);
          expect(driver.group.generationId).toBeGreaterThanOrEqual(generation);
          generation = driver.group.generationId;
        }
        becomeStable(driver, clients);
        const assigned = clients.flatMap((client) => client.assignment).sort((a, b) => a - b);
        expect(assigned).toEqual(Array.from({ length: PARTITIONS }, (_, at) => at));
      }),
      { seed, numRuns: 150 },
    );
  });
});
