/**
 * One producing client of the soak, a process of its own: idempotent, acks=all, values that name producer, partition and
 * number. Writes what was acknowledged into its journal *after* the acknowledgement arrived, one JSON line a batch, and
 * what ended in an error as indeterminate: such a batch may or may not be in the log, but never twice.
 *
 * argv: broker topic partitions id journal
 */
import { openSync, writeSync } from 'node:fs';
import { Kafka, logLevel, type Producer } from 'kafkajs';
import { randomInt, seededRandom } from '../../src/common/random.ts';

const [broker, topic, partitions, id, journalPath] = process.argv.slice(2) as [string, string, string, string, string];
const journal = openSync(journalPath, 'a');
const random = seededRandom(Number(process.env.SOAK_SEED ?? 1) + Number(id));
const kafka = new Kafka({
  clientId: `soak-${id}`,
  brokers: [broker],
  logLevel: logLevel.NOTHING,
  requestTimeout: 15_000,
  retry: { retries: 60, initialRetryTime: 50, maxRetryTime: 500 },
});

let stopping = false;
process.once('SIGTERM', () => {
  stopping = true;
});

async function connect(): Promise<Producer> {
  const producer = kafka.producer({ idempotent: true, maxInFlightRequests: 1, allowAutoTopicCreation: false });
  await producer.connect();
  return producer;
}

let producer = await connect();
const next = new Map<number, number>();
while (!stopping) {
  const partition = randomInt(random, 0, Number(partitions) - 1);
  const first = next.get(partition) ?? 0;
  const count = randomInt(random, 1, 40);
  next.set(partition, first + count);
  const padding = 'x'.repeat(randomInt(random, 0, 400));
  const messages = Array.from({ length: count }, (_, i) => ({
    partition,
    value: `${id}:${partition}:${first + i}:${padding}`,
  }));
  try {
    const [result] = await producer.send({ topic, acks: -1, messages });
    writeSync(journal, `${JSON.stringify({ partition, first, count, baseOffset: result!.baseOffset })}\n`);
  } catch (error) {
    writeSync(journal, `${JSON.stringify({ partition, first, count, error: String(error) })}\n`);
    // A fresh producer id: whatever happened to that batch, its sequence numbers must not be used for another one.
    await producer.disconnect().catch(() => {});
    producer = await connect();
  }
}
await producer.disconnect().catch(() => {});
