/** The soak's topics, and what is done to them while clients use them. Keeps the times that the judge goes by. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Admin, Kafka, logLevel } from 'kafkajs';
import { apis } from '../../src/protocol/apis.ts';
import { parseEndpoint } from '../../src/server/listener.ts';
import { WireClient } from '../server/wire-client.ts';
import type { Generation } from './judge.ts';
import type { ProgramTopic } from './programs/arguments.ts';
import { Turns } from './turns.ts';

/** Keeps everything. */
export const KEPT: ProgramTopic = { name: 'soak-kept', partitions: 4 };
/** Loses its oldest records to retention and to DeleteRecords. */
export const TRIMMED: ProgramTopic = { name: 'soak-trimmed', partitions: 2 };
/** Is deleted and created again. */
export const AGAIN: ProgramTopic = { name: 'soak-again', partitions: 2 };
export const TOPICS = [KEPT, TRIMMED, AGAIN] as const;

const CONFIGS: Readonly<Record<string, readonly { readonly name: string; readonly value: string }[]>> = {
  [TRIMMED.name]: [{ name: 'retention.bytes', value: '30000' }],
};
const GIVE_UP_MS = 120_000;

export class Topics {
  readonly #address: string;
  readonly #kafka: Kafka;
  readonly #generations: { -readonly [K in keyof Generation]: Generation[K] }[] = [];
  deletions = 0;
  recordDeletions = 0;
  readonly #turns = new Turns();

  constructor(address: string) {
    this.#address = address;
    const retry = { retries: 10, initialRetryTime: 100, maxRetryTime: 500 };
    this.#kafka = new Kafka({ clientId: 'soak', brokers: [address], logLevel: logLevel.NOTHING, retry });
  }

  get generations(): readonly Generation[] {
    return this.#generations;
  }

  async create(topics: readonly ProgramTopic[] = TOPICS): Promise<void> {
    for (const { name, partitions } of topics) {
      const configEntries = [...(CONFIGS[name] ?? [])];
      const askedMs = Date.now();
      await this.#admin(async (admin) => {
        if ((await admin.listTopics()).includes(name)) return;
        await admin.createTopics({ topics: [{ topic: name, numPartitions: partitions, configEntries }] });
      });
      const topicId = await this.#topicId(name);
      this.#generations.push({ topicId, topic: name, askedMs, createdMs: Date.now() });
    }
  }

  /** While it is being written and read. */
  recreate(): Promise<void> {
    return this.#turns.take(async () => {
      const generation = this.#generations.findLast(({ topic }) => topic === AGAIN.name)!;
      generation.deletedMs = Date.now();
      await this.#admin(async (admin) => {
        if ((await admin.listTopics()).includes(AGAIN.name)) await admin.deleteTopics({ topics: [AGAIN.name] });
      });
      this.deletions++;
      await this.create([AGAIN]);
    });
  }

  /**
   * Commits the beginning of the topics that stay for a group without members. Where nothing is committed, librdkafka looks
   * for the beginning; when the answer is late and the partition was revoked meanwhile, it (2.16.0) drops that as outdated,
   * looks once more and goes to the beginning: of a partition that it has lost, or has again with a committed offset. Where
   * something is committed it never looks, so that every rewind of these topics is one that the host told it to make.
   */
  commitBeginning(groupId: string): Promise<void> {
    const topics = [KEPT, TRIMMED].map(({ name, partitions }) => ({
      name,
      partitions: Array.from({ length: partitions }, (_, partitionIndex) => {
        return { partitionIndex, committedOffset: 0n, committedMetadata: '' };
      }),
    }));
    return this.#again(async () => {
      using client = await this.#connect();
      const answer = await client.call(apis.offsetCommit, 8, { groupId, topics });
      const codes = answer.topics.flatMap(({ partitions }) => partitions.map(({ errorCode }) => errorCode));
      if (codes.some((code) => code !== 0)) throw new Error(`OffsetCommit of ${groupId} answered ${codes}`);
    });
  }

  /** Half of what each partition of the trimmed topic holds, once there is something to be halved. */
  deleteRecords(): Promise<void> {
    return this.#admin(async (admin) => {
      const offsets = await admin.fetchTopicOffsets(TRIMMED.name);
      if (offsets.some(({ low, high }) => Number(high) < Number(low) + 2)) throw new Error('too few records yet');
      const partitions = offsets.map(({ partition, low, high }) => {
        return { partition, offset: String(Math.floor((Number(low) + Number(high)) / 2)) };
      });
      await admin.deleteTopicRecords({ topic: TRIMMED.name, partitions });
      this.recordDeletions++;
    });
  }

  async #topicId(topic: string): Promise<string> {
    return this.#again(async () => {
      using client = await this.#connect();
      const topics = [{ name: topic }];
      const answer = await client.call(apis.metadata, 12, { topics, allowAutoTopicCreation: false });
      if (answer.topics[0]!.errorCode !== 0)
        throw new Error(`Metadata of ${topic} answered ${answer.topics[0]!.errorCode}`);
      return answer.topics[0]!.topicId;
    });
  }

  #connect(): Promise<WireClient> {
    return WireClient.connect(parseEndpoint(this.#address));
  }

  #admin(work: (admin: Admin) => Promise<void>): Promise<void> {
    return this.#again(async () => {
      const admin = this.#kafka.admin();
      try {
        await admin.connect();
        await work(admin);
      } finally {
        await admin.disconnect().catch(() => {});
      }
    });
  }

  /** Until it works: the host may be away meanwhile. Work must look before it does a thing twice. */
  async #again<T>(work: () => Promise<T>): Promise<T> {
    const endMs = performance.now() + GIVE_UP_MS;
    for (;;) {
      try {
        return await work();
      } catch (error) {
        if (performance.now() > endMs) throw error;
        await sleep(300);
      }
    }
  }
}
