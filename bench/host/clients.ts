/**
 * The clients of the host bench. Each writes a number of records of RECORD_BYTES into a topic with acks=all, or reads them
 * all, and says how many seconds that took; a program that failed, or read another number of records, is an error.
 */
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { apis } from '../../src/protocol/apis.ts';
import { encodeRequest } from '../../src/protocol/frames.ts';
import { parseEndpoint } from '../../src/server/listener.ts';
import { FloodClient } from '../../test/server/flood-client.ts';
import { plainBatch } from '../../test/support/record-batches.ts';
import { jsonLines } from '../support/record-batches.ts';
import type { KafkaJars } from './kafka-jars.ts';

export const RECORD_BYTES = 1024;
export const PARTITIONS = 6;
/** The same for every producer. */
export const BATCH_BYTES = 64 * 1024;
const LINGER_MS = 5;
const TIMEOUT_MS = 120_000;

export type Codec = 'none' | 'zstd';

export interface Work {
  readonly address: string;
  readonly topic: string;
  /** A multiple of RECORDS_A_REQUEST. */
  readonly records: number;
  readonly codec: Codec;
}

export interface BenchClient {
  readonly name: string;
  readonly codecs: readonly Codec[];
  /** Resolves with the seconds it took. */
  produce(work: Work): Promise<number>;
  consume(work: Work): Promise<number>;
}

function producerProperties(codec: Codec): string[] {
  return ['acks=all', `compression.type=${codec}`, `batch.size=${BATCH_BYTES}`, `linger.ms=${LINGER_MS}`];
}

/** JSON text in lines of RECORD_BYTES - 1 characters, which compress as log records do. */
function lines(count: number): string {
  const text = jsonLines(count * RECORD_BYTES)
    .toString('latin1')
    .replaceAll('\n', ' ');
  return Array.from({ length: count }, (_, i) => `${text.slice(i * RECORD_BYTES, (i + 1) * RECORD_BYTES - 1)}\n`).join(
    '',
  );
}

/** What a program says on standard output. @throws Error with what it says on standard error unless it ends well */
async function output(command: string, args: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(command, args, { timeout: TIMEOUT_MS });
  return stdout;
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startMs = performance.now();
  await work();
  return (performance.now() - startMs) / 1000;
}

function checkCount(client: string, count: number, records: number): void {
  if (count !== records) throw new Error(`${client} counts ${count} records of ${records}`);
}

/** kafka-producer-perf-test and kafka-consumer-perf-test, by their own clocks, which begin when the JVM is up. */
export function javaClient(jars: KafkaJars, folder: string): BenchClient {
  const payloads = join(folder, 'payloads.txt');
  writeFileSync(payloads, lines(1024));
  const tool = (name: string, args: readonly string[]): Promise<string> =>
    output('java', [...jars.command(`org.apache.kafka.tools.${name}`, '512m'), ...args]);
  const work = ({ address, topic, records }: Work): string[] => {
    return ['--bootstrap-server', address, '--topic', topic, '--num-records', String(records)];
  };
  return {
    name: 'kafka-perf-test',
    codecs: ['none', 'zstd'],
    async produce(given) {
      const properties = ['--command-property', ...producerProperties(given.codec)];
      const args = [...work(given), '--throughput', '-1', '--payload-file', payloads, ...properties];
      const said = await tool('ProducerPerformance', args);
      const [, sent, perSecond] = /(\d+) records sent, ([\d.]+) records\/sec[^\n]*\s*$/.exec(said) ?? [];
      checkCount('kafka-producer-perf-test', Number(sent), given.records);
      return given.records / Number(perSecond);
    },
    async consume(given) {
      const said = await tool('ConsumerPerformance', [...work(given), '--hide-header']);
      // start, end, MiB, MiB/s, records, records/s, milliseconds of the rebalance, of fetching, …
      const fields = said.trim().split('\n').at(-1)!.split(', ');
      checkCount('kafka-consumer-perf-test', Number(fields[4]), given.records);
      return Number(fields[7]) / 1000;
    },
  };
}

/** librdkafka in C, through kcat; its start, some 20 ms, is in the time. `records` is what every work will have. */
export async function librdkafkaClient(folder: string, records: number): Promise<BenchClient> {
  await output('kcat', ['-V']).catch(() => {
    throw new Error('there is no kcat');
  });
  const file = join(folder, 'records.txt');
  writeFileSync(
    file,
    lines(1024)
      .repeat(Math.ceil(records / 1024))
      .slice(0, records * RECORD_BYTES),
  );
  const queue = [`queue.buffering.max.messages=${records}`, 'queue.buffering.max.kbytes=1048576'];
  return {
    name: 'librdkafka',
    codecs: ['none', 'zstd'],
    produce({ address, topic, codec }) {
      const properties = [...producerProperties(codec), ...queue].flatMap((property) => ['-X', property]);
      return timed(() => output('kcat', ['-q', '-P', '-b', address, '-t', topic, '-l', file, ...properties]));
    },
    consume({ address, topic }) {
      const args = ['-q', '-C', '-b', address, '-t', topic, '-o', 'beginning', '-c', String(records), '-f', '.'];
      // One character a record.
      return timed(async () => checkCount('kcat', (await output('kcat', args)).length, records));
    },
  };
}

const BATCH_RECORDS = BATCH_BYTES / RECORD_BYTES;
/** One batch for each partition. */
export const RECORDS_A_REQUEST = BATCH_RECORDS * PARTITIONS;
/** As many connections with one request in flight as a Kafka client has requests in flight on its one. */
const LANES = 5;

/** Frames made beforehand and answers only counted: what a server can do when its client costs next to nothing. */
export const wireClient: BenchClient = {
  name: 'wire',
  codecs: ['none'],
  produce(work) {
    const frame = produceFrame(work.topic, wireBatch());
    return inLanes(work, () => frame);
  },
  consume(work) {
    const { length } = wireBatch();
    const header = 1024;
    return inLanes(
      work,
      (request) => fetchFrame(work.topic, request * BATCH_RECORDS, length),
      length * PARTITIONS + header,
    );
  },
};

const wireBatch = (): Uint8Array => plainBatch(BATCH_RECORDS, RECORD_BYTES, { baseTimestamp: BigInt(Date.now()) });

/** Sends the requests of a work, each lane its next when its last is answered. @returns seconds */
async function inLanes(work: Work, frame: (request: number) => Uint8Array, mostAnswerBytes?: number): Promise<number> {
  const connect = () => FloodClient.connect(parseEndpoint(work.address));
  const clients = await Promise.all(Array.from({ length: LANES }, connect));
  let next = 0;
  const lane = async (client: FloodClient): Promise<void> => {
    for (let request = next++; request * RECORDS_A_REQUEST < work.records; request = next++) {
      const bytes = await client.send([frame(request)], 1);
      if (mostAnswerBytes === undefined) continue;
      const least = RECORDS_A_REQUEST * RECORD_BYTES;
      if (bytes < least || bytes > mostAnswerBytes) throw new Error(`a fetch of ${least} bytes got ${bytes}`);
    }
  };
  try {
    return await timed(() => Promise.all(clients.map(lane)));
  } finally {
    for (const client of clients) await client[Symbol.asyncDispose]();
  }
}

function produceFrame(topic: string, batch: Uint8Array): Uint8Array {
  const partitionData = Array.from({ length: PARTITIONS }, (_, index) => ({ index, records: [batch] }));
  const body = { acks: -1, timeoutMs: 30_000, topicData: [{ name: topic, partitionData }] };
  return Buffer.concat(encodeRequest(apis.produce, { version: 9, correlationId: 1, clientId: 'bench' }, body));
}

/** For exactly one batch of each partition. */
function fetchFrame(topic: string, offset: number, batchBytes: number): Uint8Array {
  const partitions = Array.from({ length: PARTITIONS }, (_, partition) => {
    return { partition, fetchOffset: BigInt(offset), partitionMaxBytes: batchBytes };
  });
  const body = { maxWaitMs: 1000, minBytes: 1, maxBytes: 64 * 1024 * 1024, topics: [{ topic, partitions }] };
  return Buffer.concat(encodeRequest(apis.fetch, { version: 11, correlationId: 1, clientId: 'bench' }, body));
}
