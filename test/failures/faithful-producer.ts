/**
 * An idempotent producer that never gives up and keeps a ledger: each record is sent again, by its sequence and to whichever
 * host there is, until it is acknowledged. What the ledger holds must be read where it says, once, with nothing in between.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'vitest';
import { Errors } from '../../src/common/errors.ts';
import { createTopics } from '../../src/protocol/messages/create-topics.ts';
import { fetch } from '../../src/protocol/messages/fetch.ts';
import { initProducerId } from '../../src/protocol/messages/init-producer-id.ts';
import { produce } from '../../src/protocol/messages/produce.ts';
import { parseEndpoint } from '../../src/server/listener.ts';
import { WireClient } from '../server/wire-client.ts';
import { readRecords } from '../support/read-records.ts';
import { buildBatch } from '../support/record-batches.ts';
import { within } from '../support/within.ts';

export const TOPIC = 'ledger';
export const PARTITIONS = 3;

/** Any broker serves any partition: a producer changes hosts in the middle of its sequences. */
const RECORDS_PER_HOST = 7;

/** What a producer sends again after. */
const RETRIABLE: readonly number[] = [
  Errors.REQUEST_TIMED_OUT,
  Errors.KAFKA_STORAGE_ERROR,
  Errors.NOT_LEADER_OR_FOLLOWER,
  Errors.UNKNOWN_TOPIC_OR_PARTITION,
  Errors.COORDINATOR_NOT_AVAILABLE,
];

interface Acknowledged {
  readonly partition: number;
  readonly offset: bigint;
  readonly value: string;
}

export class FaithfulProducer {
  readonly acknowledged: Acknowledged[] = [];
  /** Answers other than an acknowledgement, and connections that ended: what the failures of a test came to. */
  refused = 0;
  readonly #name: string;
  /** Where the hosts are now; the next one is tried when one fails. */
  readonly #addresses: () => readonly string[];
  readonly #answerMs: number;
  #turn: number;
  #client: WireClient | undefined;
  #producerId: bigint | undefined;
  #stopped = false;

  constructor(number: number, addresses: () => readonly string[], answerMs = 5_000) {
    this.#name = `producer-${number}`;
    this.#turn = number;
    this.#addresses = addresses;
    this.#answerMs = answerMs;
  }

  /** Sends until `stop`, one record after the other, to each partition in turn. */
  async run(): Promise<void> {
    for (let number = 0; !this.#stopped; number += 1) {
      if (number % RECORDS_PER_HOST === 0) this.#turnToNextHost();
      const [partition, sequence] = [number % PARTITIONS, Math.floor(number / PARTITIONS)];
      const value = `${this.#name} ${number}`;
      const offset = await this.#untilAnswered((client) => this.#send(client, partition, sequence, value));
      this.acknowledged.push({ partition, offset, value });
    }
    this.#client?.socket.destroy();
  }

  /** `run` ends when what is under way is acknowledged. */
  stop(): void {
    this.#stopped = true;
  }

  async #untilAnswered<T>(ask: (client: WireClient) => Promise<T | undefined>): Promise<T> {
    for (;;) {
      try {
        this.#client ??= await this.#connect();
        const answer = await this.#within(ask(this.#client));
        if (answer !== undefined) return answer;
      } catch (error) {
        if (error instanceof WrongAnswer) throw error;
        this.#turnToNextHost();
      }
      this.refused += 1;
      await pause(20);
    }
  }

  #turnToNextHost(): void {
    this.#client?.socket.destroy();
    this.#client = undefined;
    this.#turn += 1;
  }

  /** A host that is stopped neither answers nor ends its connections. */
  #within<T>(answer: Promise<T>): Promise<T> {
    return within(this.#answerMs, answer, () => new Error('no answer'));
  }

  async #connect(): Promise<WireClient> {
    const addresses = this.#addresses();
    const client = await WireClient.connect(parseEndpoint(addresses[this.#turn % addresses.length]!));
    this.#producerId ??= (
      await this.#within(client.call(initProducerId, 4, { transactionalId: null, transactionTimeoutMs: 1 }))
    ).producerId;
    return client;
  }

  /** The offset; undefined when it must be sent again. */
  async #send(client: WireClient, index: number, baseSequence: number, value: string): Promise<bigint | undefined> {
    const batch = buildBatch({
      records: [{ value }],
      producerId: this.#producerId!,
      producerEpoch: 0,
      baseSequence,
    });
    const answer = await client.call(produce, 9, {
      acks: -1,
      timeoutMs: this.#answerMs,
      topicData: [{ name: TOPIC, partitionData: [{ index, records: [batch] }] }],
    });
    const { errorCode, baseOffset } = answer.responses[0]!.partitionResponses[0]!;
    if (errorCode === Errors.NONE) return baseOffset;
    if (!RETRIABLE.includes(errorCode)) throw new WrongAnswer(`${value} was refused with error ${errorCode}`);
    return undefined;
  }
}

class WrongAnswer extends Error {}

/** Creates the ledger's topic at a host. */
export async function createTopic(address: string): Promise<void> {
  using client = await WireClient.connect(parseEndpoint(address));
  // The records' timestamps are old; retention must not take them away.
  const configs = [{ name: 'retention.ms', value: '-1' }];
  const topics = [{ name: TOPIC, numPartitions: PARTITIONS, replicationFactor: 1, assignments: [], configs }];
  const answer = await client.call(createTopics, 5, { topics, timeoutMs: 30_000 });
  expect(answer.topics[0]!.errorCode).toBe(Errors.NONE);
}

async function readPartition(
  client: WireClient,
  partition: number,
): Promise<{ offset: bigint; value: string | null }[]> {
  const records: { offset: bigint; value: string | null }[] = [];
  for (;;) {
    const partitions = [{ partition, fetchOffset: BigInt(records.length), partitionMaxBytes: 1 << 20 }];
    const body = { maxWaitMs: 0, minBytes: 0, topics: [{ topic: TOPIC, partitions }] };
    const [data] = (await client.call(fetch, 11, body)).responses[0]!.partitions;
    expect(data!.errorCode).toBe(Errors.NONE);
    const read = readRecords([data!.records ?? new Uint8Array(0)]).filter(({ offset }) => offset >= records.length);
    if (read.length === 0) {
      expect(data!.highWatermark).toBe(BigInt(records.length));
      return records;
    }
    records.push(...read.map(({ offset, value }) => ({ offset, value })));
  }
}

/** Everything that was acknowledged is where it was said to be, and nothing else is there: no gap, no double. */
export async function verifyLedger(address: string, producers: readonly FaithfulProducer[]): Promise<void> {
  using client = await WireClient.connect(parseEndpoint(address));
  const acknowledged = producers.flatMap((producer) => producer.acknowledged);
  for (let partition = 0; partition < PARTITIONS; partition += 1) {
    const expected = acknowledged
      .filter((one) => one.partition === partition)
      .map(({ offset, value }) => ({ offset, value }))
      .sort((a, b) => (a.offset < b.offset ? -1 : 1));
    expect(expected.length).toBeGreaterThan(0);
    expect(await readPartition(client, partition)).toEqual(expected);
  }
}
