/**
 * Random histories of one consumer group (KIP-848): members of both kinds join, report, change subscriptions, lose
 * answers, leave, crash; topics come, grow and go; time passes; the process restarts from what was stored.
 *
 * Holds at every step: no partition is owned by two members (neither by the group's book nor by what clients hold, as
 * long as their sessions last); epochs never go back, over restarts too. At the end, with everybody answering again, all
 * members reach the target within a bound, and it covers every subscribed partition.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fromTopics } from '../../src/group/consumer/partition-set.ts';
import { ConsumerClient, ConsumerDriver, topicIdOf } from './support/consumer-driver.ts';

const TOPICS = ['alpha', 'beta', 'gamma'];
const names = (...subscribedTopicNames: string[]) => ({ subscribedTopicNames, subscribedTopicRegex: '' });
const SUBSCRIPTIONS = [
  names('alpha', 'beta'),
  names('beta', 'gamma'),
  names('alpha'),
  { subscribedTopicNames: [], subscribedTopicRegex: '(al|ga).*' },
];

type Action =
  | readonly ['step' | 'lost' | 'crash' | 'leave', number]
  | readonly ['subscribe', number, number]
  | readonly ['topic', number, number]
  | readonly ['advance', number]
  | readonly ['restart'];

const member = fc.nat(5);
const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 24, arbitrary: fc.tuple(fc.constant('step' as const), member) },
  { weight: 4, arbitrary: fc.tuple(fc.constant('lost' as const), member) },
  { weight: 2, arbitrary: fc.tuple(fc.constant('crash' as const), member) },
  { weight: 2, arbitrary: fc.tuple(fc.constant('leave' as const), member) },
  { weight: 2, arbitrary: fc.tuple(fc.constant('subscribe' as const), member, fc.nat(3)) },
  { weight: 2, arbitrary: fc.tuple(fc.constant('topic' as const), fc.nat(2), fc.nat(6)) },
  { weight: 6, arbitrary: fc.tuple(fc.constant('advance' as const), fc.integer({ min: 1, max: 20_000 })) },
  { weight: 1, arbitrary: fc.tuple(fc.constant('restart' as const)) },
);

function apply(driver: ConsumerDriver, clients: readonly ConsumerClient[], each: Action): void {
  const [kind] = each;
  if (kind === 'advance') driver.advance(each[1]);
  else if (kind === 'restart') driver.restart();
  else if (kind === 'topic') driver.setTopic(TOPICS[each[1]]!, each[2]);
  else if (kind === 'subscribe') clients[each[1]]!.subscribe(SUBSCRIPTIONS[each[2]]!);
  else if (kind === 'lost') clients[each[1]]!.step(true);
  else clients[each[1]]![kind]();
}

function checkOwners(driver: ConsumerDriver): void {
  const owners = new Map<string, string>();
  for (const { memberId, assigned, pendingRevocation } of driver.group.members) {
    for (const key of [...assigned, ...pendingRevocation]) {
      if (owners.has(key)) throw new Error(`${key} has two owners`);
      if (driver.group.members.ownerOf(key) !== memberId) throw new Error(`${key} is booked to another`);
      owners.set(key, memberId);
    }
  }
}

/** What clients that are still members hold: they may be behind, but never hold what another was given. */
function checkClients(driver: ConsumerDriver, clients: readonly ConsumerClient[]): void {
  const holders = new Map<string, ConsumerClient>();
  for (const client of clients) {
    const known = [...driver.group.members].some(({ memberId }) => memberId === client.memberId);
    if (!known || client.epoch === 0) continue;
    for (const key of client.owned) {
      if (holders.has(key)) throw new Error(`${key} is held twice`);
      holders.set(key, client);
    }
  }
}

function converge(driver: ConsumerDriver, clients: readonly ConsumerClient[]): void {
  for (let round = 0; round < 60; round += 1) {
    for (const client of clients) client.step();
    driver.advance(3_000);
    const alive = driver.group.members.size === clients.length;
    if (alive && driver.group.state === 'Stable' && clients.every((client) => client.settled)) return;
  }
  throw new Error(`not stable after 60 rounds: ${driver.group.state}`);
}

function checkCovered(driver: ConsumerDriver, clients: readonly ConsumerClient[]): void {
  const owned = clients.flatMap((client) => [...client.owned]).sort();
  const subscribed = new Set(
    [...driver.group.members].flatMap((one) => [...driver.group.members.subscribedTopicIds(one)]),
  );
  const wanted = TOPICS.map((name) => driver.topics.byName(name)).flatMap((topic) =>
    topic && subscribed.has(topic.topicId)
      ? [{ topicId: topic.topicId, partitions: Array.from({ length: topic.partitions }, (_, at) => at) }]
      : [],
  );
  expect(owned).toEqual([...fromTopics(wanted)].sort());
}

describe('a consumer group under random members', () => {
  it('never has two owners of a partition, never goes back, always reaches its target', () => {
    const seed = Number(process.env.SHOAL_SEED ?? Date.now() % 2 ** 31);
    console.log(`seed ${seed}`);
    fc.assert(
      fc.property(
        fc.array(action, { minLength: 20, maxLength: 200 }),
        fc.constantFrom('uniform', 'range'),
        (actions, assignor) => {
          const driver = new ConsumerDriver({ alpha: 5, beta: 3 });
          const clients = [null, null, null, null, 's1', 's2'].map((instance, index) => {
            const subscription = { ...SUBSCRIPTIONS[index % SUBSCRIPTIONS.length]!, serverAssignor: assignor };
            return new ConsumerClient(driver, `member-${index}`, subscription, instance);
          });
          let epoch = 0;
          for (const each of actions) {
            apply(driver, clients, each);
            checkOwners(driver);
            checkClients(driver, clients);
            expect(driver.group.epoch).toBeGreaterThanOrEqual(epoch);
            epoch = driver.group.epoch;
          }
          converge(driver, clients);
          checkCovered(driver, clients);
        },
      ),
      { seed, numRuns: 100 },
    );
  });

  it('sees the topic ids that the driver gives', () => {
    const driver = new ConsumerDriver({ alpha: 5 });
    expect(driver.topics.byName('alpha')!.topicId).toBe(topicIdOf('alpha'));
  });
});
