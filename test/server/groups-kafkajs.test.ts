/** Groups as kafkajs uses them: shared partitions, members that come and go, a broker that goes down in the middle. */
import { type Admin, type Consumer, Kafka, logLevel, type Producer } from 'kafkajs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { GroupBroker } from './group-broker.ts';

const PARTITIONS = 4;

let broker: GroupBroker;
let kafka: Kafka;
let admin: Admin;
let producer: Producer;

beforeAll(async () => {
  broker = await GroupBroker.open();
  kafka = new Kafka({
    clientId: 'test',
    brokers: [broker.address],
    logLevel: logLevel.NOTHING,
    retry: { initialRetryTime: 50, maxRetryTime: 300, retries: 100 },
  });
  admin = kafka.admin();
  producer = kafka.producer({ allowAutoTopicCreation: false });
  await Promise.all([admin.connect(), producer.connect()]);
});

afterAll(async () => {
  await Promise.all([admin.disconnect(), producer.disconnect()]);
  await broker.close();
});

/** What a group's members have read, by `partition/offset`, and who owns what. */
class Readers {
  readonly #groupId: string;
  readonly #topic: string;
  readonly values = new Map<string, string>();
  readonly reads: string[] = [];
  readonly owned = new Map<string, readonly number[]>();
  readonly #consumers = new Map<string, Consumer>();

  constructor(groupId: string, topic: string) {
    this.#groupId = groupId;
    this.#topic = topic;
  }

  async start(name: string): Promise<void> {
    const consumer = kafka.consumer({
      groupId: this.#groupId,
      sessionTimeout: 6_000,
      rebalanceTimeout: 6_000,
      heartbeatInterval: 100,
      maxWaitTimeInMs: 100,
    });
    consumer.on(consumer.events.GROUP_JOIN, ({ payload }) => {
      this.owned.set(name, payload.memberAssignment[this.#topic] ?? []);
    });
    await consumer.connect();
    await consumer.subscribe({ topic: this.#topic, fromBeginning: true });
    await consumer.run({
      autoCommitThreshold: 1,
      eachMessage: async ({ partition, message }) => {
        const key = `${partition}/${message.offset}`;
        this.reads.push(key);
        this.values.set(key, message.value!.toString());
      },
    });
    this.#consumers.set(name, consumer);
  }

  async stop(name: string): Promise<void> {
    await this.#consumers.get(name)!.disconnect();
    this.#consumers.delete(name);
    this.owned.delete(name);
  }

  async stopAll(): Promise<void> {
    await Promise.all([...this.#consumers.keys()].map((name) => this.stop(name)));
  }

  /** The partitions that all members own, sorted. */
  get allOwned(): number[] {
    return [...this.owned.values()].flat().sort();
  }
}

async function until(condition: () => boolean | Promise<boolean>, what: string): Promise<void> {
  for (let tries = 0; tries < 450; tries += 1) {
    if (await condition()) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`never: ${what}`);
}

async function send(topic: string, first: number, count: number): Promise<void> {
  const messages = Array.from({ length: count }, (_, index) => ({
    value: `value-${first + index}`,
    partition: (first + index) % PARTITIONS,
  }));
  await producer.send({ topic, messages });
}

async function createTopic(topic: string): Promise<void> {
  await admin.createTopics({ topics: [{ topic, numPartitions: PARTITIONS }] });
}

describe('kafkajs', () => {
  it('shares partitions, hands them over, and goes on from committed offsets over a restart', {
    timeout: 180_000,
  }, async () => {
    const topic = 'shared';
    await createTopic(topic);
    const readers = new Readers('sharing', topic);
    await Promise.all([readers.start('a'), readers.start('b')]);
    const bothOwn = (): boolean =>
      ['a', 'b'].every((name) => readers.owned.get(name)?.length === 2) && readers.allOwned.join() === '0,1,2,3';
    await until(bothOwn, 'two members own two partitions each');
    await send(topic, 0, 40);
    await until(() => readers.values.size === 40, '40 records are read');

    await readers.stop('b');
    await until(() => readers.allOwned.join() === '0,1,2,3', 'the one that is left owns everything');
    await send(topic, 40, 40);
    await until(() => readers.values.size === 80, '80 records are read');

    await broker.restart();
    await send(topic, 80, 40);
    await until(() => readers.values.size === 120, '120 records are read');
    await readers.start('c');
    await until(
      () => readers.owned.get('c')?.length === 2 && readers.allOwned.join() === '0,1,2,3',
      'a newcomer shares',
    );
    await send(topic, 120, 40);
    await until(() => readers.values.size === 160, '160 records are read');
    await readers.stopAll();

    expect([...readers.values.values()].sort()).toEqual(Array.from({ length: 160 }, (_, at) => `value-${at}`).sort());
    const committed = async (): Promise<string> => {
      const [fetched] = await admin.fetchOffsets({ groupId: 'sharing', topics: [topic] });
      return fetched!.partitions.map(({ offset }) => offset).join();
    };
    await until(async () => (await committed()) === '40,40,40,40', 'everything is committed');

    const fresh = new Readers('sharing', topic);
    await fresh.start('d');
    await send(topic, 160, 4);
    await until(() => fresh.values.size === 4, 'a new member reads on from the committed offsets');
    await fresh.stopAll();
    expect([...fresh.values.keys()].sort()).toEqual(['0/40', '1/40', '2/40', '3/40']);
  });

  it('describes, lists, resets and deletes groups and their offsets', { timeout: 180_000 }, async () => {
    const topic = 'administered';
    await createTopic(topic);
    await send(topic, 0, 8);
    const readers = new Readers('administered', topic);
    await readers.start('a');
    await until(() => readers.values.size === 8, '8 records are read');
    const described = await admin.describeGroups(['administered']);
    expect(described.groups[0]).toMatchObject({ errorCode: 0, state: 'Stable', protocolType: 'consumer' });
    expect(described.groups[0]!.members).toHaveLength(1);
    const { groups } = await admin.listGroups();
    expect(groups).toContainEqual({ groupId: 'administered', protocolType: 'consumer' });
    await readers.stopAll();

    await admin.resetOffsets({ groupId: 'administered', topic, earliest: true });
    const reread = new Readers('administered', topic);
    await reread.start('b');
    await until(() => reread.values.size === 8, 'everything is read again');
    await reread.stopAll();
    await admin.deleteGroups(['administered']);
    const left = await admin.listGroups();
    expect(left.groups.map(({ groupId }) => groupId)).not.toContain('administered');
  });
});
