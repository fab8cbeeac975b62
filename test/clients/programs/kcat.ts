/** The traffic program of kcat (arguments.ts): one kcat for every block it writes, one consumer before and one after the marks. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { type TrafficArguments, totalRecords, trafficArguments } from './arguments.ts';
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
import { Pace } from './pace.ts';
import { type ReadRecord, Verifier } from './verifier.ts';

const KEY_DELIMITER = '|';
const WRITERS = 4;
const STEP_RECORDS = 100;
const CHECK_RECORDS = 500;

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
    const lines: Buffer[] = [];
    const stepEnd = Math.min(sequence + STEP_RECORDS, last);
    for (let each = sequence; each < stepEnd; each++) {
      const { key, value } = contentOf(topic, partition, each, traffic.baseTimestamp);
      lines.push(key ?? Buffer.alloc(0), Buffer.from(KEY_DELIMITER), value ?? Buffer.alloc(0), Buffer.from('\n'));
    }
    if (!child.stdin.write(Buffer.concat(lines))) await Promise.race([once(child.stdin, 'drain'), end]);
    await step(stepEnd - sequence);
  }
  child.stdin.end();
  await end;
}

async function produce(traffic: TrafficArguments, pace: Pace): Promise<string> {
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
  return JSON.stringify({ version, records: sent });
}

const FORMAT = '%t %p %o %T %K %S %h\\n%k%s\\n';

interface ReadLine {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  readonly record: ReadRecord;
}

function headersOfText(text: string): Headers {
  if (text === '') return [];
  return text.split(',').map((header) => {
    const [key, value] = header.split(/=(.*)/s, 2) as [string, string];
    return [key, value === 'NULL' ? null : Buffer.from(value)] as const;
  });
}

/** Cuts kcat's output, in FORMAT, into records. */
async function* readLines(output: Readable): AsyncGenerator<ReadLine> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of output) {
    let bytes: Buffer = rest.length === 0 ? (chunk as Buffer) : Buffer.concat([rest, chunk as Buffer]);
    for (;;) {
      const lineEnd = bytes.indexOf(10);
      if (lineEnd < 0) break;
      const [topic, partition, offset, timestamp, keySize, valueSize, headers] = bytes
        .toString('utf8', 0, lineEnd)
        .split(' ');
      const key = Number(keySize);
      const value = Number(valueSize);
      const valueStart = lineEnd + 1 + Math.max(key, 0);
      const end = valueStart + Math.max(value, 0) + 1;
      if (bytes.length < end) break;
      yield {
        topic: topic!,
        partition: Number(partition),
        offset: Number(offset),
        record: {
          key: key < 0 ? null : bytes.subarray(lineEnd + 1, valueStart),
          value: value < 0 ? null : bytes.subarray(valueStart, end - 1),
          headers: headersOfText(headers ?? ''),
          timestamp: Number(timestamp),
        },
      };
      bytes = bytes.subarray(end);
    }
    rest = bytes;
  }
}

async function consume(traffic: TrafficArguments, verifier: Verifier, pace: Pace, isFirst: boolean): Promise<void> {
  const child = spawn('kcat', [
    ...common(traffic),
    ...['-X', 'auto.offset.reset=earliest', '-X', 'auto.commit.interval.ms=200', '-X', 'queued.min.messages=1000'],
    // It prints its last records only when it ends, so that it must know their number.
    ...[
      '-c',
      String(verifier.total - verifier.records),
      '-f',
      FORMAT,
      '-G',
      traffic.group,
      ...traffic.topics.map(({ name }) => name),
    ],
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
    // It stops reading, prints and commits what it has, and leaves.
    if (isStopping) child.kill('SIGTERM');
  }
  await end;
}

async function main(): Promise<void> {
  const traffic = trafficArguments(process.argv.slice(2));
  const pace = new Pace(traffic.marks, totalRecords(traffic));
  if (traffic.mode === 'produce') process.stdout.write(`${await produce(traffic, pace)}\n`);
  else {
    const verifier = new Verifier(traffic);
    for (let isFirst = true; verifier.records < verifier.total; isFirst = false)
      await consume(traffic, verifier, pace, isFirst);
    process.stdout.write(`${verifier.report(version)}\n`);
  }
  pace.close();
}

await main();
