/**
 * The broker host against Apache Kafka: produce and consume by the clients that people have, both brokers on this machine
 * in the same run, with the same topics, records, batches, compression and acks=all, taking turns round by round.
 *
 * MiB are of record values, before compression. `/cost` is the server process's own CPU time, user and system, for a GiB
 * of them. Kafka acknowledges what is in its page cache, Shoal what is fsynced and committed. What is not to be had (a JDK
 * and Kafka's jars, kcat) is named, and figures are absolute then. `--smoke` uses only what needs no JVM.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DisposalStack } from '../src/common/lifecycle.ts';
import { type BenchContext, quantile } from './harness.ts';
import {
  type BenchClient,
  type Codec,
  javaClient,
  librdkafkaClient,
  PARTITIONS,
  RECORD_BYTES,
  RECORDS_A_REQUEST,
  wireClient,
} from './host/clients.ts';
import { kafkaJars } from './host/kafka-jars.ts';
import { type MeasuredServer, startKafka, startShoal } from './host/servers.ts';

const GiB = 1024 ** 3;
const ROUNDS = 7;
/** No round begins after this; a round takes half a minute on two quiet cores. */
const LAST_ROUND_MS = 280_000;

const LEADER_TRIES = 200;
const LEADER_PAUSE_MS = 50;

interface Sample {
  readonly seconds: number;
  readonly cpuSeconds: number;
}

/** One direction of one client with one codec, and what each server made of it, round by round. */
interface Contest {
  readonly name: string;
  readonly samples: ReadonlyMap<MeasuredServer, Sample[]>;
}

/** What is written once and read once: the two contests share its topic. */
interface Pair {
  readonly client: BenchClient;
  readonly codec: Codec;
  readonly produce: Contest;
  readonly consume: Contest;
}

/** Shoal first, then Kafka where it could be had. */
type Servers = readonly MeasuredServer[];

export default async function host(bench: BenchContext): Promise<void> {
  const records = RECORDS_A_REQUEST * (bench.smoke ? 8 : 170);
  const folder = mkdtempSync(join(tmpdir(), 'shoal-bench-clients-'));
  const opened = new DisposalStack();
  opened.use(folder, async (path) => rmSync(path, { recursive: true }));
  try {
    const servers = [opened.use(await startShoal(), (server) => server.stop())];
    const clients = [wireClient];
    await orNote(bench, 'librdkafka', async () => clients.push(await librdkafkaClient(folder, records)));
    if (!bench.smoke) {
      await orNote(bench, 'Apache Kafka', async () => {
        const jars = await kafkaJars();
        clients.push(javaClient(jars, folder));
        servers.push(opened.use(await startKafka(jars), (server) => server.stop()));
      });
    }
    const pairs = pairsOf(clients, servers);
    await runRounds(bench, servers, pairs, records);
    for (const { produce, consume } of pairs) for (const contest of [produce, consume]) report(bench, contest, records);
    reportOnce(bench, servers, {
      name: 'memory/peak',
      unit: 'MiB',
      measure: (server) => server.peakMemoryBytes() / 2 ** 20,
    });
    reportOnce(bench, servers, { name: 'start/ready', unit: 'ms', measure: (server) => server.readyMs });
  } finally {
    await opened.dispose();
  }
}

/** A part that this machine does not have leaves its rows out, and says so. */
async function orNote(bench: BenchContext, what: string, open: () => Promise<unknown>): Promise<void> {
  try {
    await open();
  } catch (error) {
    bench.note(`${what} is left out: ${(error as Error).message}`);
  }
}

function pairsOf(clients: readonly BenchClient[], servers: Servers): Pair[] {
  const contest = (name: string): Contest => ({ name, samples: new Map(servers.map((server) => [server, []])) });
  return clients.flatMap((client) =>
    client.codecs.map((codec) => ({
      client,
      codec,
      produce: contest(`produce/${client.name}/${codec}`),
      consume: contest(`consume/${client.name}/${codec}`),
    })),
  );
}

async function runRounds(
  bench: BenchContext,
  servers: Servers,
  pairs: readonly Pair[],
  records: number,
): Promise<void> {
  const wanted = bench.rounds ?? (bench.smoke ? 1 : ROUNDS);
  const startMs = performance.now();
  const round = async (name: string, order: Servers): Promise<void> => {
    for (const pair of pairs) for (const server of order) await turn(pair, server, records, `${pair.codec}-${name}`);
  };
  if (!bench.smoke) {
    await round('warm-up', servers);
    // A JVM's first seconds say little of the hours that follow.
    for (const { produce, consume } of pairs) for (const { samples } of [produce, consume]) discard(samples);
  }
  for (let done = 0; done < wanted; done++) {
    if (done > 0 && performance.now() - startMs > LAST_ROUND_MS) {
      bench.note(`${done} of ${wanted} rounds fitted into the time`);
      return;
    }
    await round(String(done), done % 2 === 0 ? servers : [...servers].reverse());
  }
}

function discard(samples: Contest['samples']): void {
  for (const all of samples.values()) all.length = 0;
}

/** Writes a topic of its own, makes sure that everything is in it, reads it, deletes it. */
async function turn(pair: Pair, server: MeasuredServer, records: number, name: string): Promise<void> {
  const topic = `${pair.client.name}-${name}`;
  const work = { address: server.address, topic, records, codec: pair.codec };
  // Old timestamps must not make retention part of what is measured.
  const configEntries = [{ name: 'retention.ms', value: '-1' }];
  await server.admin.createTopics({
    waitForLeaders: true,
    topics: [{ topic, numPartitions: PARTITIONS, configEntries }],
  });
  await untilLed(server, topic);
  pair.produce.samples.get(server)!.push(await sample(server, () => pair.client.produce(work)));
  const ends = await server.admin.fetchTopicOffsets(topic);
  const stored = ends.reduce((sum, { high }) => sum + Number(high), 0);
  if (stored !== records) throw new Error(`${server.name} has ${stored} of ${records} records of ${pair.client.name}`);
  pair.consume.samples.get(server)!.push(await sample(server, () => pair.client.consume(work)));
  await server.admin.deleteTopics({ topics: [topic] });
}

/** Kafka names a topic's leaders a moment before they lead, and bare frames are not sent again. */
async function untilLed(server: MeasuredServer, topic: string): Promise<void> {
  for (let left = LEADER_TRIES; ; left--) {
    try {
      await server.admin.fetchTopicOffsets(topic);
      return;
    } catch (error) {
      if (left === 0) throw error;
      await sleep(LEADER_PAUSE_MS);
    }
  }
}

async function sample(server: MeasuredServer, work: () => Promise<number>): Promise<Sample> {
  const before = server.cpuSeconds();
  const seconds = await work();
  return { seconds, cpuSeconds: server.cpuSeconds() - before };
}

type Measure = (sample: Sample) => number;

/** Records and MiB a second, and CPU seconds a GiB: Shoal's against each other server's, and the others' own. */
function report(bench: BenchContext, { name, samples }: Contest, records: number): void {
  const [[, own], ...others] = [...samples] as [[MeasuredServer, Sample[]], ...[MeasuredServer, Sample[]][]];
  const bytes = records * RECORD_BYTES;
  const perSecond: Measure = ({ seconds }) => seconds;
  const cost: Measure = ({ cpuSeconds }) => cpuSeconds;
  const figures = [
    { name, unit: 'MiB/s', measure: perSecond, figure: (seconds: number) => bytes / 2 ** 20 / seconds },
    { name: `${name}/records`, unit: 'records/s', measure: perSecond, figure: (seconds: number) => records / seconds },
    { name: `${name}/cost`, unit: 'CPU-s/GiB', measure: cost, figure: (seconds: number) => (seconds * GiB) / bytes },
  ];
  for (const { measure, figure, ...row } of figures) {
    const value = (all: readonly Sample[]): number => figure(quantile(all.map(measure), 0.5));
    const absolute = { baseline: null, ratio: null, rounds: own.length, p25: null, p75: null };
    if (others.length === 0) bench.row({ ...row, ...absolute, value: value(own) });
    for (const [{ name: baseline }, theirs] of others) {
      // CPU time comes in hundredths of a second; what took none is not infinitely better.
      const ratios = own.map((sample, round) => measure(theirs[round]!) / Math.max(measure(sample), 0.01));
      const spread = { ratio: quantile(ratios, 0.5), p25: quantile(ratios, 0.25), p75: quantile(ratios, 0.75) };
      bench.row({ ...row, value: value(own), baseline, rounds: own.length, ...spread });
      bench.row({ ...row, ...absolute, name: `${row.name} of ${baseline}`, value: value(theirs) });
    }
  }
}

/** Figures that there is one of for each server. */
function reportOnce(
  bench: BenchContext,
  [own, ...others]: Servers,
  { name, unit, measure }: { name: string; unit: string; measure: (server: MeasuredServer) => number },
): void {
  const row = { name, unit, rounds: 1, p25: null, p75: null };
  const value = measure(own!);
  if (others.length === 0) bench.row({ ...row, value, baseline: null, ratio: null });
  for (const other of others) bench.row({ ...row, value, baseline: other.name, ratio: measure(other) / value });
}
