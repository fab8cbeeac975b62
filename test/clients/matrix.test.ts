/**
 * Every client writes, every client reads what each wrote: 100,000 records a client, acks=all, idempotent, over all five
 * compressions and four partitions a topic, with a kill −9 and a SIGTERM of the broker in the middle of writing and again in
 * the middle of reading. The programs compare every record (programs/arguments.ts); the stored codec is read from segments.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Kafka, logLevel } from 'kafkajs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { metadata } from '../../src/protocol/messages/metadata.ts';
import { parseEndpoint } from '../../src/server/listener.ts';
import { WireClient } from '../server/wire-client.ts';
import { readme, section } from '../support/readme-tables.ts';
import { BrokerBehindProxy } from './broker-behind-proxy.ts';
import { type ClientProgram, goProgram, javaProgram, nodeProgram, pythonProgram } from './install.ts';
import { apiVersionsTable, clientsTable, type MatrixRow, parseApiVersions, showInReadme } from './matrix-report.ts';
import { type StoredBatch, storedBatches } from './stored-codecs.ts';
import { type TrafficFlags, TrafficProgram, type TrafficReport } from './traffic-program.ts';

const CODECS = ['none', 'gzip', 'snappy', 'lz4', 'zstd'];
const PARTITIONS = 4;
const RECORDS = Number(process.env.SHOAL_MATRIX_RECORDS ?? 100_000);
const RECORDS_PER_PARTITION = RECORDS / CODECS.length / PARTITIONS;
/** What the broker gets when all clients have come to a mark. */
const RESTARTS = ['SIGKILL', 'SIGTERM'] as const;
const MARKS = '0.25,0.6';
/** How long producers go on after a mark before the broker is restarted. */
const FULL_SPEED_MS = 150;
const TIMEOUT_MS = 240_000;
/** Clients send a batch as it is when its codec would make it larger. */
const TOO_SMALL_TO_COMPRESS_BYTES = 600;

interface Client {
  readonly name: string;
  readonly program: ClientProgram;
  readonly protocol: 'classic' | 'consumer';
  /** What its records are like, told by the topic's name (programs/content.ts). @default given */
  readonly content?: 'nonull' | 'clock';
}

const allClients: readonly Client[] = [
  { name: 'kafkajs', program: nodeProgram('programs/kafkajs.ts'), protocol: 'classic', content: 'nonull' },
  { name: 'confluent-kafka', program: pythonProgram('programs/traffic.py'), protocol: 'consumer' },
  { name: 'kcat', program: nodeProgram('programs/kcat.ts'), protocol: 'classic', content: 'clock' },
  { name: 'java-4.1', program: javaProgram('4.1.2', 'Traffic'), protocol: 'classic' },
  { name: 'java-4.4', program: javaProgram('4.4.0', 'Traffic'), protocol: 'consumer' },
  { name: 'franz-go', program: goProgram, protocol: 'classic' },
];

/** Those named in SHOAL_MATRIX_CLIENTS, where it is set: for looking into one of them. */
const chosen = process.env.SHOAL_MATRIX_CLIENTS?.split(',');
const clients = allClients.filter(({ name }) => chosen?.includes(name) ?? true);

const topicName = ({ name, content }: Client, codec: string): string => `${content ?? 'given'}.${name}.${codec}`;
const allTopics = (): string[] => clients.flatMap((client) => CODECS.map((codec) => topicName(client, codec)));
const topicsOf = (client: Client): string[] => CODECS.map((codec) => `${topicName(client, codec)}:${codec}`);

let broker: BrokerBehindProxy;
const base = Date.now() - 60_000;
const produced = new Map<string, TrafficReport>();
const consumed = new Map<string, TrafficReport>();
/** By topic: the records that are stored with its codec. */
const stored = new Map<string, number>();

const say = (text: string): boolean => process.stderr.write(`${text}\n`);

type Seconds = () => string;

/**
 * Restarts the broker whenever all programs have come to a mark: producers at full speed, consumers before they go on, since
 * they leave their group after the last mark, and a commit that finds no broker is nothing to read on from.
 */
async function restartAtMarks(
  mode: 'produce' | 'consume',
  programs: readonly TrafficProgram[],
  seconds: Seconds,
): Promise<void> {
  for (const [index, signal] of RESTARTS.entries()) {
    const atMark = async (program: TrafficProgram): Promise<void> => {
      await program.stopped(index + 2, TIMEOUT_MS);
      say(`${mode}: ${program.name} is at mark ${index + 1} after ${seconds()}`);
    };
    const goOn = (): void => {
      for (const program of programs) program.goOn();
    };
    await Promise.all(programs.map(atMark));
    if (mode === 'produce') {
      goOn();
      await sleep(FULL_SPEED_MS);
    }
    const { produce, fetch } = await broker.restart(signal);
    const unanswered = `with ${produce} Produce and ${fetch} Fetch requests unanswered`;
    say(`${mode}: the broker got ${signal} ${unanswered}, and is back after ${seconds()}`);
    if (mode === 'consume') goOn();
  }
}

/** Lets every client's program run to its end, through the restarts. */
async function runAll(
  mode: 'produce' | 'consume',
  flagsOf: (client: Client) => TrafficFlags,
  reports: Map<string, TrafficReport>,
) {
  const start = performance.now();
  const seconds: Seconds = () => `${((performance.now() - start) / 1000).toFixed(1)} s`;
  const content = { base, partitions: PARTITIONS, records: RECORDS_PER_PARTITION, marks: MARKS };
  const programs = clients.map((client) => {
    const flags = { mode, address: broker.address, client: client.name, ...content, ...flagsOf(client) };
    return new TrafficProgram(client.name, client.program, flags);
  });
  const report = async (program: TrafficProgram): Promise<void> => {
    const found = await program.report(TIMEOUT_MS);
    reports.set(program.name, found);
    say(`${mode}: ${program.name} ${found.version} is done with ${found.records} records after ${seconds()}`);
  };
  try {
    await Promise.all(programs.map((program) => program.stopped(1, TIMEOUT_MS)));
    say(`${mode}: all are ready after ${seconds()}`);
    for (const program of programs) program.goOn();
    await restartAtMarks(mode, programs, seconds);
    await Promise.all(programs.map(report));
  } catch (error) {
    say(`the broker's log ends:\n${broker.output.slice(-4000)}`);
    throw error;
  } finally {
    await Promise.all(programs.map((program) => program.kill()));
  }
}

beforeAll(async () => {
  broker = await BrokerBehindProxy.start();
  const admin = new Kafka({ clientId: 'setup', brokers: [broker.address], logLevel: logLevel.NOTHING }).admin();
  await admin.connect();
  await admin.createTopics({ topics: allTopics().map((topic) => ({ topic, numPartitions: PARTITIONS })) });
  await admin.disconnect();
});

afterAll(() => broker.close());

/** Topic ids → names. */
async function topicNames(): Promise<Map<string, string>> {
  using client = await WireClient.connect(parseEndpoint(broker.address));
  const { topics } = await client.call(metadata, 13, { topics: null });
  return new Map(topics.map(({ topicId, name }) => [topicId, name!]));
}

describe.sequential('the matrix of clients', () => {
  it('writes with every client', { timeout: TIMEOUT_MS * 4 }, async () => {
    await runAll('produce', (client) => ({ topics: topicsOf(client).join() }), produced);
    expect([...produced].map(([name, { records }]) => [name, records]).sort()).toEqual(
      clients.map(({ name }) => [name, RECORDS]).sort(),
    );
  });

  it('stores every batch with the codec that its producer gave it', { timeout: 60_000 }, async () => {
    const names = await topicNames();
    const wrong: StoredBatch[] = [];
    for (const batch of await storedBatches(broker.data)) {
      const topic = names.get(batch.topicId)!;
      if (batch.codec === topic.split('.').at(-1)) stored.set(topic, (stored.get(topic) ?? 0) + batch.records);
      else if (batch.codec !== 'none' || batch.sizeBytes >= TOO_SMALL_TO_COMPRESS_BYTES) wrong.push(batch);
    }
    expect(wrong).toEqual([]);
    const few = allTopics().filter((topic) => (stored.get(topic) ?? 0) < (RECORDS / CODECS.length) * 0.98);
    expect(few).toEqual([]);
  });

  it('reads with every client what each has written', { timeout: TIMEOUT_MS * 4 }, async () => {
    const topics = clients.flatMap(topicsOf).join();
    await runAll('consume', ({ name, protocol }) => ({ topics, protocol, group: `all-by-${name}` }), consumed);
    const [first] = consumed.values();
    for (const { name } of clients) {
      const { topics: read, records } = consumed.get(name)!;
      expect(records, name).toBe(RECORDS * clients.length);
      expect(Object.keys(read!).sort(), name).toEqual(allTopics().sort());
      // kcat's records have its own clock's time: all who read them saw the same.
      expect(read, name).toEqual(first!.topics);
    }
  });

  const isWhole = chosen === undefined && RECORDS === 100_000;
  it.runIf(isWhole)('is what the README shows (SHOAL_README=write npm run test:clients)', () => {
    const before = section(readme(), 'clients');
    const names = clients.map(({ name }) => name);
    const apiVersions = apiVersionsTable(broker.proxy.sent, parseApiVersions(before), names);
    const tables = `${clientsTable(clients.map(matrixRow), CODECS)}\n\n${apiVersions}`;
    expect(showInReadme('clients', tables)).toBe(tables);
  });
});

function matrixRow(client: Client): MatrixRow {
  const topics = CODECS.map((codec) => topicName(client, codec));
  const hasReadAll = ({ name }: Client): boolean =>
    topics.every((topic) => consumed.get(name)?.topics?.[topic]?.records === RECORDS / CODECS.length);
  return {
    client: client.name,
    version: produced.get(client.name)?.version ?? '',
    protocol: client.protocol,
    produced: produced.get(client.name)?.records ?? 0,
    codecs: CODECS.filter((codec) => stored.has(topicName(client, codec))),
    readBy: clients.filter(hasReadAll).map(({ name }) => name),
  };
}
