/** What the stress of share consumers does to its broker besides consuming: sets up, fills, looks at, kills and restarts. */
import { setTimeout as pause } from 'node:timers/promises';
import { Errors } from '../../../src/common/errors.ts';
import { createTopics } from '../../../src/protocol/messages/create-topics.ts';
import { describeShareGroupOffsets } from '../../../src/protocol/messages/describe-share-group-offsets.ts';
import { fetch } from '../../../src/protocol/messages/fetch.ts';
import { produce } from '../../../src/protocol/messages/produce.ts';
import { parseHeader, parseRecords } from '../../../src/record/record-batch.ts';
import { ConfigResourceType } from '../../../src/server/configs/config-target.ts';
import { parseEndpoint } from '../../../src/server/listener.ts';
import { HostProcess } from '../../server/host-process.ts';
import { setConfigs } from '../../server/set-configs.ts';
import { WireClient } from '../../server/wire-client.ts';
import { batchesOf } from '../../support/read-records.ts';
import { plainBatch } from '../../support/record-batches.ts';
import type { DeadLetterSeen } from './judge.ts';

/** Records that no consumer can process: one in `oneIn`. */
export function isPoison(partition: number, offset: number, oneIn: number): boolean {
  return (offset + partition * 131) % oneIn === 0;
}

export const TOPIC = 'work';
export const GROUP = 'workers';
const DEAD_LETTERS = 'dlq.work';
/** Kafka's bounds for groups: as often as is allowed, and as short a lock. */
export const DELIVERY_LIMIT = 10;
const LOCK_MS = 15_000;
const BATCH_RECORDS = 600;

export class Cluster {
  readonly #data: string;
  #host: HostProcess;
  /** Of the topic that is worked on, and of its dead letters. */
  topicId = '';
  #deadLettersId = '';
  readonly partitions: number;

  private constructor(data: string, host: HostProcess, partitions: number) {
    this.#data = data;
    this.#host = host;
    this.partitions = partitions;
  }

  static async start(data: string, partitions: number): Promise<Cluster> {
    const cluster = new Cluster(data, await HostProcess.start({ data }), partitions);
    await cluster.#setUp();
    return cluster;
  }

  get address(): string {
    return this.#host.address;
  }

  get output(): string {
    return this.#host.output;
  }

  async killAndRestart(): Promise<void> {
    await this.#host.stop('SIGKILL');
    this.#host = await HostProcess.start({ data: this.#data, listen: this.address });
  }

  async stop(): Promise<void> {
    await this.#host.stop('SIGTERM');
  }

  #connect(): Promise<WireClient> {
    return WireClient.connect(parseEndpoint(this.address));
  }

  async #setUp(): Promise<void> {
    using client = await this.#connect();
    const wanted = (name: string, configs: Record<string, string>) => ({
      name,
      numPartitions: this.partitions,
      replicationFactor: 1,
      assignments: [],
      configs: Object.entries({ 'retention.ms': '-1', ...configs }).map(([key, value]) => ({ name: key, value })),
    });
    const { topics } = await client.call(createTopics, 7, {
      topics: [wanted(TOPIC, {}), wanted(DEAD_LETTERS, { 'errors.deadletterqueue.group.enable': 'true' })],
      timeoutMs: 10_000,
      validateOnly: false,
    });
    for (const { name, errorCode, topicId } of topics) {
      if (errorCode !== Errors.NONE) throw new Error(`topic ${name} was not created: ${errorCode}`);
      if (name === TOPIC) this.topicId = topicId;
      else this.#deadLettersId = topicId;
    }
    const altered = await setConfigs(client, ConfigResourceType.group, GROUP, {
      'share.auto.offset.reset': 'earliest',
      'share.delivery.count.limit': String(DELIVERY_LIMIT),
      'share.record.lock.duration.ms': String(LOCK_MS),
      'errors.deadletterqueue.topic.name': DEAD_LETTERS,
      'errors.deadletterqueue.copy.record.enable': 'true',
    });
    if (altered.errorCode !== Errors.NONE) throw new Error(`group configs were refused: ${altered.errorMessage}`);
  }

  /** Appends at least `records`, through whatever happens to the broker. */
  async fill(records: number): Promise<void> {
    const batch = plainBatch(BATCH_RECORDS, 40);
    for (let left = records; left > 0; ) {
      try {
        using client = await this.#connect();
        for (; left > 0; left -= BATCH_RECORDS * this.partitions) {
          const { responses } = await client.call(produce, 9, {
            acks: -1,
            timeoutMs: 30_000,
            topicData: [{ name: TOPIC, partitionData: this.#each((index) => ({ index, records: [batch] })) }],
          });
          const errors = responses.flatMap((topic) => topic.partitionResponses.map(({ errorCode }) => errorCode));
          if (errors.some((error) => error !== Errors.NONE)) throw new Error(`Produce: ${errors}`);
        }
      } catch {
        await pause(100);
      }
    }
  }

  #each<T>(make: (partition: number) => T): T[] {
    return Array.from({ length: this.partitions }, (_, partition) => make(partition));
  }

  /** Where the topic ends, by partition. */
  async ends(): Promise<number[]> {
    using client = await this.#connect();
    const ends: number[] = [];
    for (let partition = 0; partition < this.partitions; partition++) {
      ends.push((await this.#read(client, this.topicId, partition, 0n)).highWatermark);
    }
    return ends;
  }

  /** How far the group is behind, by partition; −1 where it has not begun. */
  async lags(): Promise<number[]> {
    using client = await this.#connect();
    const topics = [{ topicName: TOPIC, partitions: this.#each((partition) => partition) }];
    const { groups } = await client.call(describeShareGroupOffsets, 1, { groups: [{ groupId: GROUP, topics }] });
    return groups[0]!.topics.flatMap((topic) => topic.partitions.map(({ lag }) => Number(lag)));
  }

  /** Everything in the dead-letter queue. */
  async deadLetters(): Promise<DeadLetterSeen[]> {
    using client = await this.#connect();
    const seen: DeadLetterSeen[] = [];
    for (let partition = 0; partition < this.partitions; partition++) {
      for (let offset = 0n; ; ) {
        const { records, nextOffset } = await this.#read(client, this.#deadLettersId, partition, offset);
        seen.push(...deadLettersIn(records));
        if (nextOffset === offset) break;
        offset = nextOffset;
      }
    }
    return seen;
  }

  async #read(client: WireClient, topicId: string, partition: number, fetchOffset: bigint) {
    const partitions = [{ partition, fetchOffset, partitionMaxBytes: 2 ** 20 }];
    const answer = await client.call(fetch, 13, {
      maxWaitMs: 0,
      minBytes: 0,
      maxBytes: 2 ** 20,
      sessionId: 0,
      topics: [{ topicId, partitions }],
      forgottenTopicsData: [],
    });
    const data = answer.responses[0]!.partitions[0]!;
    if (data.errorCode !== Errors.NONE) throw new Error(`Fetch: ${data.errorCode}`);
    const records = data.records ?? new Uint8Array(0);
    let nextOffset = fetchOffset;
    for (const batch of batchesOf(records)) {
      const { baseOffset, lastOffsetDelta } = parseHeader(batch);
      nextOffset = baseOffset + BigInt(lastOffsetDelta) + 1n;
    }
    return { records, nextOffset, highWatermark: Number(data.highWatermark) };
  }
}

function deadLettersIn(records: Uint8Array): DeadLetterSeen[] {
  return [...batchesOf(records)].flatMap((batch) => {
    const parsed = parseRecords(batch.subarray(61), parseHeader(batch).recordsCount, 0n);
    return parsed.records.map(({ headers }) => {
      const value = (name: string): number => {
        const header = headers.find(({ key }) => Buffer.from(key).toString() === `__dlq.errors.${name}`);
        return Number(Buffer.from(header!.value!).toString());
      };
      return { partition: value('partition'), offset: value('offset'), deliveryCount: value('delivery.count') };
    });
  });
}
