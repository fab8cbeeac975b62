/** `shoal dump FILE`: every record batch of a file with its header and what the record kernel says about it. */
import type { RecordBatchReport } from '../kernel.ts';
import { CODECS } from '../record/validation.ts';
import { type Command, UsageError } from './command.ts';
import { describeFlags, parseCommandLine } from './flags.ts';
import { print } from './output.ts';
import { inputName, openFileOrPipe } from './piped-file.ts';
import { type BatchRange, findBatchRange, readBatches } from './record-file.ts';

const flags = {
  json: { help: 'Print one JSON object a batch, one a line; 64-bit fields are numbers with all their digits.' },
} as const;

const help = `Usage: shoal dump FILE [flags]

Prints each record batch in a file of bytes: its header by Kafka's names, whether
its CRC is right, and the verdict that a producer who sent it would get, with the
index of the bad record. FILE may be a segment of Shoal's, a log segment of
Kafka's, or any bytes; a pipe, or - for standard input, is read to its end first.
Where they end inside a header, its other fields are null in JSON. Ends with 1 when
something is wrong with them, else with 0.

Flags:
${describeFlags(flags)}
`;

export const command: Command = {
  help,
  run: async (args) => {
    const { words, values } = parseCommandLine(flags, args, process.env);
    const { json } = values;
    const [path, ...more] = words;
    if (path === undefined) throw new UsageError('a file is needed: shoal dump FILE');
    if (more.length > 0) throw new UsageError(`one file at a time; unexpected argument ${more[0]}`);
    return dump(path, json ? jsonLine : textBlock, json);
  },
};

async function dump(path: string, format: (report: RecordBatchReport) => string, json: boolean): Promise<number> {
  const file = await openFileOrPipe(path);
  try {
    const { size } = await file.stat();
    const range = await findBatchRange(file, size);
    const counts = { batches: 0, wrong: 0 };
    for await (const text of blocks(readBatches(file, range), format, counts)) if (!(await print(text))) break;
    const { batches, wrong } = counts;
    if (batches === 0) process.stderr.write(`shoal: ${inputName(path)} holds no record batch: it has ${size} bytes\n`);
    else if (!json) await print(`${summary(batches, wrong)}${CONTAINER[range.kind]}\n`);
    else if (range.kind === 'torn segment')
      process.stderr.write(`shoal: ${inputName(path)} is${CONTAINER[range.kind].slice(4)}\n`);
    return wrong === 0 && batches > 0 && range.kind !== 'torn segment' ? 0 : 1;
  } finally {
    await file.close();
  }
}

const CONTAINER: Readonly<Record<BatchRange['kind'], string>> = {
  batches: '',
  segment: ', in a shared log segment',
  'torn segment': ', in a shared log segment whose footer is missing or damaged',
};

const BLOCK_CHARACTERS = 64 * 1024;

/** The reports as text, many in one piece: into a pipe, a write for each small batch would be a third of the time. */
async function* blocks(
  reports: AsyncIterable<RecordBatchReport>,
  format: (report: RecordBatchReport) => string,
  counts: { batches: number; wrong: number },
): AsyncGenerator<string> {
  let block = '';
  try {
    for await (const report of reports) {
      counts.batches++;
      if (report.errorCode !== 0) counts.wrong++;
      block += format(report);
      if (block.length < BLOCK_CHARACTERS) continue;
      yield block;
      block = '';
    }
  } catch (error) {
    // What was found before comes first.
    if (block !== '') yield block;
    throw error;
  }
  if (block !== '') yield block;
}

const summary = (batches: number, wrong: number): string =>
  `${batches} ${batches === 1 ? 'batch' : 'batches'}, ${wrong === 0 ? 'none' : wrong} with an error`;

/** JSON.stringify knows no bigint, and a double would lose digits of an offset. */
function jsonLine({ sizeBytes, position, ...report }: RecordBatchReport): string {
  const fields = Object.entries({ position, size: sizeBytes, ...report });
  const texts = fields.map(([name, value]) => {
    if (!isThere(name, sizeBytes)) return `"${name}":null`;
    return `"${name}":${typeof value === 'string' ? JSON.stringify(value) : value}`;
  });
  return `{${texts.join(',')}}\n`;
}

/** Where each field of a batch's header ends. */
const FIELD_ENDS: Readonly<Record<string, number>> = {
  baseOffset: 8,
  batchLength: 12,
  partitionLeaderEpoch: 16,
  magic: 17,
  crc: 21,
  attributes: 23,
  lastOffsetDelta: 27,
  baseTimestamp: 35,
  maxTimestamp: 43,
  producerId: 51,
  producerEpoch: 53,
  baseSequence: 57,
  recordsCount: 61,
};

const isThere = (field: string, sizeBytes: number): boolean => (FIELD_ENDS[field] ?? 0) <= sizeBytes;

const ATTRIBUTE_BITS = [
  [16, 'transactional'],
  [32, 'control'],
  [64, 'delete horizon'],
] as const;

function textBlock(report: RecordBatchReport): string {
  const field = (name: keyof RecordBatchReport, text = String(report[name])): string =>
    `${name} ${isThere(name, report.sizeBytes) ? text : 'cut off'}`;
  const crc = `${report.crc.toString(16).padStart(8, '0')} ${report.crcValid ? 'valid' : 'NOT VALID'}`;
  return [
    `position ${report.position}: ${report.sizeBytes} bytes, ${verdict(report)}`,
    `  ${field('baseOffset')}, ${field('lastOffsetDelta')}, ${field('recordsCount')}`,
    `  ${field('batchLength')}, ${field('partitionLeaderEpoch')}, ${field('magic')}`,
    `  ${field('crc', crc)}`,
    `  ${field('attributes', `${report.attributes} (${attributes(report.attributes)})`)}`,
    `  ${field('baseTimestamp', timestamp(report.baseTimestamp))}, ${field('maxTimestamp', timestamp(report.maxTimestamp))}`,
    `  ${field('producerId')}, ${field('producerEpoch')}, ${field('baseSequence')}`,
    '',
  ].join('\n');
}

/** The message begins with the bad record's index. */
function verdict({ errorCode, errorName, message }: RecordBatchReport): string {
  return errorCode === 0 ? 'good' : `${errorName} (${errorCode}): ${message}`;
}

function attributes(bits: number): string {
  const codec = CODECS[bits & 7] ?? `unknown codec ${bits & 7}`;
  const set = ATTRIBUTE_BITS.filter(([bit]) => (bits & bit) !== 0).map(([, name]) => name);
  return [codec, (bits & 8) === 0 ? 'CreateTime' : 'LogAppendTime', ...set].join(', ');
}

/** Milliseconds, and the date where it is one. */
function timestamp(value: bigint): string {
  const date = new Date(Number(value));
  return value < 0n || Number.isNaN(date.getTime()) ? String(value) : `${value} (${date.toISOString()})`;
}
