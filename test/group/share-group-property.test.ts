/** A share group under random members, topics, silences and restarts, through the coordinator and its store. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Errors } from '../../src/common/errors.ts';
import { settle } from '../support/manual-time.ts';
import { tellsSeed } from '../support/tells-seed.ts';
import { topicIdOf } from './support/consumer-driver.ts';
import { type Fixture, fixture } from './support/coordinator-fixture.ts';

const seed = Number(process.env.SHOAL_SEED ?? Date.now() % 2 ** 31);
console.log(`seed ${seed}`);

const TOPICS = ['orders', 'returns', 'bills'];
const MEMBERS = 5;

/** What a member's client knows. */
class Client {
  epoch = 0;
  readonly assigned = new Map<string, readonly number[]>();
  subscription: readonly string[] = ['orders'];
  isIn = false;
  readonly #id: string;
  readonly #made: Fixture;
  #tellsSubscription = true;

  constructor(made: Fixture, id: string) {
    this.#made = made;
    this.#id = id;
  }

  subscribe(topics: readonly string[]): void {
    this.subscription = topics;
    this.#tellsSubscription = true;
  }

  /** Reports, and takes what it is told; one that is unknown or fenced joins anew. */
  async beat(): Promise<void> {
    const subscribedTopicNames = this.epoch === 0 || this.#tellsSubscription ? this.subscription : null;
    const answer = await this.#send(this.epoch, subscribedTopicNames);
    if (answer.error === Errors.UNKNOWN_MEMBER_ID || answer.error === Errors.GROUP_ID_NOT_FOUND) {
      expect(this.epoch, 'a member that joins is never unknown').toBeGreaterThan(0);
      this.epoch = 0;
      return this.beat();
    }
    expect(answer.error).toBe(Errors.NONE);
    expect(answer.memberEpoch, 'epochs never go back').toBeGreaterThanOrEqual(this.epoch);
    this.epoch = answer.memberEpoch;
    this.isIn = true;
    this.#tellsSubscription = false;
    if (!answer.assignment) return;
    this.assigned.clear();
    for (const { topicId, partitions } of answer.assignment) this.assigned.set(topicId, partitions);
    await this.#checkStates();
  }

  async leave(): Promise<void> {
    if (!this.isIn) return;
    await this.#send(-1, null);
    this.forget();
  }

  forget(): void {
    this.epoch = 0;
    this.isIn = false;
    this.assigned.clear();
  }

  #send(memberEpoch: number, subscribedTopicNames: readonly string[] | null) {
    const identity = { groupId: 'g', memberId: this.#id, rackId: null, clientId: 'c', clientHost: 'h' };
    return this.#made.groups.shareGroupHeartbeat({ ...identity, memberEpoch, subscribedTopicNames });
  }

  /** What a member is told of has a state already. */
  async #checkStates(): Promise<void> {
    const { store } = this.#made;
    const existing = new Set((await store.listTopics()).map(({ topicId }) => topicId));
    const kept = new Set((await store.listSharePartitions('g')).map((one) => `${one.topicId}-${one.partition}`));
    for (const [topicId, partitions] of this.assigned) {
      if (!existing.has(topicId)) continue;
      for (const partition of partitions) expect(kept).toContain(`${topicId}-${partition}`);
    }
  }
}

class World {
  readonly made: Fixture;
  readonly clients: readonly Client[];

  constructor(made: Fixture) {
    this.made = made;
    this.clients = Array.from({ length: MEMBERS }, (_, index) => new Client(made, `m${index}`));
  }

  /** Makes a topic, makes it larger, or deletes it: whatever is next for one of its kind. */
  async changeTopic(name: string): Promise<void> {
    const { store } = this.made;
    const topic = (await store.listTopics()).find((one) => one.name === name);
    if (!topic) {
      const topicId = topicIdOf(`${name}${(await store.loadGroups())[0]?.epoch ?? 0}`);
      await store.createTopics([{ topicId, name, partitions: 1, configs: {} }]);
    } else if (topic.partitions < 3) {
      await store.createPartitions([{ topicId: topic.topicId, partitions: topic.partitions + 1 }]);
    } else await store.deleteTopics([topic.topicId]);
  }

  /** Everything that was answered is stored, so a process that ends in order leaves what one leaves that is killed. */
  async restart(): Promise<void> {
    await this.made.groups.close();
    await this.made.restart();
  }

  async expire(): Promise<void> {
    this.made.time.advance(60_001);
    await settle();
  }

  /** Everybody who is in reports until nobody hears of anything new; then the assignment is complete and even. */
  async checkAtRest(): Promise<void> {
    const members = this.clients.filter(({ isIn }) => isIn);
    for (let round = 0; round < 3; round += 1) for (const client of members) await client.beat();
    const group = this.made.groups.admin.describeShare('g');
    if (members.length === 0) return;
    expect(group).toMatchObject({ state: 'Stable', groupEpoch: group!.assignmentEpoch });
    const topics = await this.made.store.listTopics();
    const held = members.flatMap(({ assigned }) =>
      [...assigned].flatMap(([topicId, partitions]) => partitions.map((partition) => `${topicId}-${partition}`)),
    );
    const wanted = topics
      .filter(({ name }) => members.some(({ subscription }) => subscription.includes(name)))
      .flatMap(({ topicId, partitions }) => Array.from({ length: partitions }, (_, index) => `${topicId}-${index}`));
    expect(new Set(held)).toEqual(new Set(wanted));
    for (const { subscription, assigned } of members) {
      const hasTopics = topics.some(({ name }) => subscription.includes(name));
      expect([...assigned.values()].flat().length > 0).toBe(hasTopics);
    }
  }
}

const member = fc.nat(MEMBERS - 1);
const step = fc.oneof(
  { weight: 6, arbitrary: member.map((at) => (world: World) => world.clients[at]!.beat()) },
  { weight: 2, arbitrary: member.map((at) => (world: World) => world.clients[at]!.leave()) },
  {
    weight: 2,
    arbitrary: fc.tuple(member, fc.subarray(TOPICS, { minLength: 1 })).map(
      ([at, topics]) =>
        async (world: World) =>
          world.clients[at]!.subscribe(topics),
    ),
  },
  { weight: 2, arbitrary: fc.constantFrom(...TOPICS).map((name) => (world: World) => world.changeTopic(name)) },
  { weight: 1, arbitrary: fc.constant((world: World) => world.restart()) },
  { weight: 1, arbitrary: fc.constant((world: World) => world.expire()) },
);

describe('a share group under random members', () => {
  it('never goes back, assigns only what has a state, and always comes to rest with everything assigned', async () => {
    const property = fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const world = new World(await fixture());
      for (const one of steps) await one(world);
      await world.checkAtRest();
      await world.made.groups.close();
    });
    await fc.assert(property, { ...tellsSeed(), seed, numRuns: 80 });
  });
});
