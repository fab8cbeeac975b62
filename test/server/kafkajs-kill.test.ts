/**
 * kafkajs against the real command, killed in the middle: 20,000 records over 4 partitions from two idempotent producers,
 * one uncompressed and one gzip, with null values, headers and timestamps. Every acknowledged record must be read at its
 * acknowledged offset, value for value; nothing may be there twice; offsets must be dense.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CompressionTypes, Kafka, type KafkaMessage, logLevel, type Message, type Producer } from 'kafkajs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { HostProcess } from './host-process.ts';

const TOPIC = 'first-light';
const PARTITIONS = 4;
const SENDS = 20;
const RECORDS_PER_SEND = 250;
const RECORDS = SENDS * RECORDS_PER_SEND * PARTITIONS;
const KILL_AFTER_SENDS = 9;

let folder: string;
let host: HostProcess;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'shoal-kafkajs-'));
  host = await HostProcess.start({ data: join(folder, 'data') });
});
afterAll(async () => {
  await host.stop('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

const client = () =>
  new Kafka({
    clientId: 'kill-test',
    brokers: [host.address],
    logLevel: logLevel.NOTHING,
    retry: { retries: 30, initialRetryTime: 100, maxRetryTime: 500 },
  });

/** Every record is another: its value, unless null, is its name; the headers name it in any case. */
function record(send: number, partition: number, index: number): Message {
  const name = `${send}-${partition}-${index}`;
  const key = index % 5 === 0 ? null : `key-${index % 17}`;
  const value = index % 7 === 0 ? null : index % 11 === 0 ? '' : `value-${name}-${'x'.repeat(index % 200)}`;
  return {
    key,
    value,
    partition,
    headers: { name, empty: '' },
    timestamp: String(1_700_000_000_000 + send * 1000 + index),
  };
}

interface Acknowledged {
  readonly partition: number;
  readonly offset: number;
  readonly message: Message;
}

async function send(producer: Producer, number: number, compression: CompressionTypes): Promise<Acknowledged[]> {
  const messages = Array.from({ length: PARTITIONS * RECORDS_PER_SEND }, (_, i) =>
    record(number, i % PARTITIONS, Math.floor(i / PARTITIONS)),
  );
  const acknowledgements = await producer.send({ topic: TOPIC, acks: -1, compression, messages });
  return acknowledgements.flatMap(({ partition, errorCode, baseOffset }) => {
    expect(errorCode).toBe(0);
    const ofPartition = messages.filter((message) => message.partition === partition);
    return ofPartition.map((message, index) => ({ partition, offset: Number(baseOffset) + index, message }));
  });
}

/** Sends every second batch, beginning with `first`; tells after each how many are acknowledged. */
async function produce(
  first: number,
  compression: CompressionTypes,
  onAcknowledged: () => void,
): Promise<Acknowledged[]> {
  const producer = client().producer({ idempotent: true, maxInFlightRequests: 1 });
  await producer.connect();
  const acknowledged: Acknowledged[] = [];
  for (let number = first; number < SENDS; number += 2) {
    acknowledged.push(...(await send(producer, number, compression)));
    onAcknowledged();
  }
  await producer.disconnect();
  return acknowledged;
}

async function killAndRestart(): Promise<void> {
  expect(await host.stop('SIGKILL')).toBe('SIGKILL');
  host = await HostProcess.start({ data: join(folder, 'data'), listen: host.address });
}

async function consumeAll(): Promise<Map<string, KafkaMessage>> {
  const consumer = client().consumer({ groupId: 'readers' });
  const seen = new Map<string, KafkaMessage>();
  await consumer.connect();
  await consumer.subscribe({ topic: TOPIC, fromBeginning: true });
  await new Promise<void>((resolve, reject) => {
    const eachMessage = async ({ partition, message }: { partition: number; message: KafkaMessage }) => {
      const place = `${partition}@${message.offset}`;
      if (seen.has(place)) reject(new Error(`${place} was delivered twice`));
      seen.set(place, message);
      if (seen.size === RECORDS) resolve();
    };
    consumer.run({ eachMessage }).catch(reject);
  });
  await consumer.disconnect();
  return seen;
}

const text = (value: Buffer | string | null | undefined): string | null => value?.toString() ?? null;

it('loses, doubles and displaces nothing when the host is killed in the middle', async () => {
  const admin = client().admin();
  await admin.connect();
  // The records' timestamps are old; retention must not take them away.
  const configEntries = [{ name: 'retention.ms', value: '-1' }];
  await admin.createTopics({ topics: [{ topic: TOPIC, numPartitions: PARTITIONS, configEntries }] });

  let sends = 0;
  let killed: Promise<void> | undefined;
  const onAcknowledged = () => {
    sends++;
    if (sends === KILL_AFTER_SENDS) killed = killAndRestart();
  };
  const acknowledged = (
    await Promise.all([
      produce(0, CompressionTypes.None, onAcknowledged),
      produce(1, CompressionTypes.GZIP, onAcknowledged),
    ])
  ).flat();
  await killed;
  expect(killed).toBeDefined();
  expect(acknowledged).toHaveLength(RECORDS);

  const offsets = await admin.fetchTopicOffsets(TOPIC);
  expect(offsets.map(({ low, high }) => [low, high])).toEqual(
    Array.from({ length: PARTITIONS }, () => ['0', String(RECORDS / PARTITIONS)]),
  );
  await admin.disconnect();

  const read = await consumeAll();
  for (const { partition, offset, message } of acknowledged) {
    const found = read.get(`${partition}@${offset}`);
    expect(found, `partition ${partition} offset ${offset}`).toBeDefined();
    expect({
      key: text(found!.key),
      value: text(found!.value),
      name: text(found!.headers!.name as Buffer),
      empty: text(found!.headers!.empty as Buffer),
      timestamp: found!.timestamp,
    }).toEqual({
      key: message.key,
      value: message.value,
      name: message.headers!.name,
      empty: '',
      timestamp: message.timestamp,
    });
  }
});
