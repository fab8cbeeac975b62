/**
 * The judge of the soak, a process of its own with nothing but the journals and a consumer: reads the topic from the
 * beginning and prints one JSON verdict.
 *
 * Checks (names as in the project's invariants): I12 every acknowledged record is read, at its acknowledged offset, value
 * for value; I4 no value is there twice; I10 offsets are dense from 0; I6 what one producer wrote to a partition is in
 * its order; nothing is there that nobody sent.
 *
 * argv: broker topic journal…
 */
import { readFileSync } from 'node:fs';
import { Kafka, logLevel } from 'kafkajs';

interface JournalLine {
  readonly partition: number;
  readonly first: number;
  readonly count: number;
  readonly baseOffset?: string;
}

const [broker, topic, ...journals] = process.argv.slice(2) as [string, string, ...string[]];
const kafka = new Kafka({
  clientId: 'soak-verifier',
  brokers: [broker],
  logLevel: logLevel.NOTHING,
  retry: { retries: 20 },
});

/** Values by partition and offset, as a consumer sees them. */
async function readAll(): Promise<Map<number, Map<number, string>>> {
  const admin = kafka.admin();
  await admin.connect();
  const ends = new Map((await admin.fetchTopicOffsets(topic)).map(({ partition, high }) => [partition, Number(high)]));
  await admin.disconnect();
  const seen = new Map([...ends.keys()].map((partition) => [partition, new Map<number, string>()]));
  const missing = new Set([...ends].filter(([, high]) => high > 0).map(([partition]) => partition));
  if (missing.size === 0) return seen;

  const consumer = kafka.consumer({ groupId: `verify-${process.pid}`, maxWaitTimeInMs: 100 });
  await consumer.connect();
  await consumer.subscribe({ topic, fromBeginning: true });
  await new Promise<void>((resolve, reject) => {
    consumer.on('consumer.crash', ({ payload }) => reject(payload.error));
    consumer
      .run({
        eachBatch: async ({ batch }) => {
          for (const { offset, value } of batch.messages) seen.get(batch.partition)!.set(Number(offset), String(value));
          if (Number(batch.lastOffset()) + 1 >= ends.get(batch.partition)!) missing.delete(batch.partition);
          if (missing.size === 0) resolve();
        },
      })
      .catch(reject);
  });
  await consumer.disconnect();
  return seen;
}

const name = (value: string): string => value.slice(0, value.lastIndexOf(':'));
const seen = await readAll();
const problems: string[] = [];
const sent = new Set<string>();
let acknowledged = 0;
let indeterminate = 0;

journals.forEach((path, id) => {
  for (const text of readFileSync(path, 'utf8').split('\n').filter(Boolean)) {
    const line = JSON.parse(text) as JournalLine;
    for (let i = 0; i < line.count; i++) {
      const value = `${id}:${line.partition}:${line.first + i}`;
      sent.add(value);
      if (line.baseOffset === undefined) {
        indeterminate++;
        continue;
      }
      acknowledged++;
      const offset = Number(line.baseOffset) + i;
      const found = seen.get(line.partition)?.get(offset);
      if (found === undefined) problems.push(`lost: ${value} acknowledged at ${line.partition}@${offset}`);
      else if (name(found) !== value)
        problems.push(`wrong: ${line.partition}@${offset} holds ${name(found)}, acknowledged ${value}`);
    }
  }
});

let records = 0;
for (const [partition, values] of seen) {
  const once = new Set<string>();
  const last = new Map<string, number>();
  for (let offset = 0; offset < values.size; offset++) {
    const value = values.get(offset);
    if (value === undefined) {
      problems.push(`hole: ${partition}@${offset}`);
      continue;
    }
    records++;
    const [producer, , number] = value.split(':') as [string, string, string];
    if (once.has(name(value))) problems.push(`twice: ${name(value)} again at ${partition}@${offset}`);
    once.add(name(value));
    if (Number(number) < (last.get(producer) ?? -1))
      problems.push(`order: ${name(value)} after ${last.get(producer)} at ${partition}@${offset}`);
    last.set(producer, Number(number));
    // The last batch of a killed producer may be in the log without a line in its journal.
    if (!sent.has(name(value)) && !process.env.SOAK_PRODUCERS_KILLED)
      problems.push(`unknown: ${name(value)} at ${partition}@${offset}`);
  }
}
process.stdout.write(
  `${JSON.stringify({ acknowledged, indeterminate, records, problems: problems.length, first: problems.slice(0, 10) })}\n`,
);
