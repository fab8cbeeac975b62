/** The traffic program of kcat (arguments.ts): one kcat for every block it writes, one consumer before and one after the marks. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TrafficArguments } from './arguments.ts';
import {
  BLOCK_RECORDS,
  blockOf,
  type ContentTopic,
  contentOf,
  contentTopic,
  type Headers,
  hasNulls,
  headersOf,
} from './content.ts';
import type { Pace } from './pace.ts';
import { runTraffic } from './run-traffic.ts';
import type { ReadRecord, Verifier } from './verifier.ts';

const KEY_DELIMITER = '|';
const WRITERS = 4;
const STEP_RECORDS = 100;
const CHECK_RECORDS = 500;
/** Several of its commit intervals, and the longest time until it connects again. */
const COMMIT_MS = 2000;

const version = /Version ([0-9.]+)/.exec(execFileSync('kcat', ['-V'], { encoding: 'utf8' }))![1]!;

/** Ends well, or throws what it said. */
async function ended(child: ChildProcess): Promise<void> {
  const said: string[] = [];
  child.stderr!.on('data', (chunk: Buffer) => said.push(chunk.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`kcat ended with ${code}:\n${said.join('')}`);
}

const common = ({ address, client }: TrafficArguments): string[] => [
  ...['-b', address, '-X', `client.id=${client}`, '-E', '-q'],
  ...['-X', 'reconnect.backoff.max.ms=500'],
];

const headerFlags = (headers: Headers): string[] =>
  headers.flatMap(([key, value]) => ['-H', value === null ? key : `${key}=${value}`]);

interface Run {
  readonly topic: ContentTopic;
  readonly codec: string;
  readonly partition: number;
}

const NOTHING = Buffer.alloc(0);

/** What kcat reads: a line a record. */
function linesOf({ baseTimestamp }: TrafficArguments, { topic, partition }: Run, first: number, end: number): Buffer {
  const parts: Buffer[] = [];
  for (let sequence = first; sequence < end; sequence++) {
    const { key, value } = contentOf(topic, partition, sequence, baseTimestamp);
    parts.push(key ?? NOTHING, Buffer.from(KEY_DELIMITER), value ?? NOTHING, Buffer.from('\n'));
  }
  return Buffer.concat(parts);
}

/** Writes one block; between steps the pace holds it. */
async function writeBlock(
  traffic: TrafficArguments,
  run: Run,
  block: number,
  step: (records: number) => Promise<void>,
) {
  const { topic, codec, partition } = run;
  const child = spawn('kcat', [
    ...common(traffic),
    ...['-P', '-t', topic.name, '-p', String(partition), '-z', codec, '-K', KEY_DELIMITER],
    ...['-X', 'enable.idempotence=true', '-X', 'acks=all', '-X', 'linger.ms=20'],
    ...(hasNulls(block) ? ['-Z'] : []),
    ...headerFlags(headersOf(topic.name, block)),
  ]);
  const end = ended(child);
  const last = Math.min((block + 1) * BLOCK_RECORDS, traffic.recordsPerPartition);
  for (let sequence = block * BLOCK_RECORDS; sequence < last; sequence += STEP_RECORDS) {
    const stepEnd = Math.min(sequence + STEP_RECORDS, last);
    const lines = linesOf(traffic, run, sequence, stepEnd);
    if (!child.stdin.write(lines)) await Promise.race([once(child.stdin, 'drain'), end]);
    await step(stepEnd - sequence);
  }
  child.stdin.end();
  await end;
}

async function produce(traffic: TrafficArguments, pace: Pace): Promise<number> {
  await pace.ready();
  const runs: Run[] = traffic.topics.flatMap(({ name, codec }) =>
    Array.from({ length: traffic.partitions }, (_, partition) => ({ topic: contentTopic(name), codec, partition })),
  );
  let sent = 0;
  let turn: Promise<void> = Promise.resolve();
  const step = (records: number): Promise<void> => {
    sent += records;
    const done = sent;
    turn = turn.then(() => pace.step(done));
    return turn;
  };
  const blocks = blockOf(traffic.recordsPerPartition - 1) + 1;
  const write = async (): Promise<void> => {
    for (let run = runs.shift(); run; run = runs.shift())
      for (let block = 0; block < blocks; block++) await writeBlock(traffic, run, block, step);
  };
  await Promise.all(Array.from({ length: WRITERS }, write));
  return sent;
}

const FORMAT = '%t %p %o %T %K %S %h\\n%k%s\\n';

interface ReadLine {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  readonly record: ReadRecord;
  readonly sizeBytes: number;
}

function headersOfText(text: string): Headers {
  if (text === '') return [];
  return text.split(',').map((header) => {
    const [key, value] = header.split(/=(.*)/s, 2) as [string, string];
    return [key, value === 'NULL' ? null : Buffer.from(value)] as const;
  });
}

/** The record that the bytes begin with, in FORMAT; undefined while some of it has not come. */
function parseLine(bytes: Buffer): ReadLine | undefined {
  const lineEnd = bytes.indexOf(10);
  if (lineEnd < 0) return undefined;
  const [topic, partition, offset, timestamp, keySize, valueSize, headers] = bytes
    .toString('utf8', 0, lineEnd)
    .split(' ');
  const isNull = (size: string | undefined): boolean => Number(size) < 0;
  const valueStart = lineEnd + 1 + Math.max(Number(keySize), 0);
  const valueEnd = valueStart + Math.max(Number(valueSize), 0);
  if (bytes.length <= valueEnd) return undefined;
  const record = {
    key: isNull(keySize) ? null : bytes.subarray(lineEnd + 1, valueStart),
    value: isNull(valueSize) ? null : bytes.subarray(valueStart, valueEnd),
    headers: headersOfText(headers ?? ''),
    timestamp: Number(timestamp),
  };
  return { topic: topic!, partition: Number(partition), offset: Number(offset), record, sizeBytes: valueEnd + 1 };
}

async function* readLines(output: Readable): AsyncGenerator<ReadLine> {
  let bytes: Buffer = NOTHING;
  for await (const chunk of output) {
    bytes = Buffer.concat([bytes, chunk as Buffer]);
    for (let line = parseLine(bytes); line; line = parseLine(bytes)) {
      yield line;
      bytes = bytes.subarray(line.sizeBytes);
    }
  }
}

/** Lets it commit what it has printed, now that the broker is back; then it prints and commits the rest, and leaves. */
async function leave(child: ChildProcess): Promise<void> {
  await sleep(COMMIT_MS);
  child.kill('SIGTERM');
}

async function consume(traffic: TrafficArguments, verifier: Verifier, pace: Pace, isFirst: boolean): Promise<void> {
  const child = spawn('kcat', [
    ...common(traffic),
    ...['-X', 'auto.offset.reset=earliest', '-X', 'auto.commit.interval.ms=200', '-X', 'queued.min.messages=1000'],
    // It prints its last records only when it ends, so that it must know their number.
    ...['-c', `${verifier.total - verifier.records}`, '-f', FORMAT],
    ...['-G', traffic.group, ...traffic.topics.map(({ name }) => name)],
  ]);
  const end = ended(child);
  if (isFirst) await pace.ready();
  const startedPast = pace.isPastMarks;
  let isStopping = false;
  for await (const { topic, partition, offset, record } of readLines(child.stdout)) {
    verifier.check(topic, partition, offset, record);
    if (isStopping) continue;
    if (verifier.records % CHECK_RECORDS === 0) await pace.step(verifier.records);
    isStopping = pace.isPastMarks !== startedPast;
    if (isStopping) await leave(child);
  }
  await end;
}

await runTraffic({ version, produce, consume });
