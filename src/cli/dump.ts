/** `shoal dump FILE`: every record batch of a file with its header and what the record kernel says about it. */
import { type FileHandle, open } from 'node:fs/promises';
import type { RecordBatchReport } from '../kernel.ts';
import { CliError, type Command, UsageError } from './command.ts';
import { describeFlags, parseCommandLine } from './flags.ts';
import { findBatchRange, readBatches } from './record-file.ts';

const flags = {
  json: { help: 'Print one JSON object a batch, one a line; 64-bit fields are numbers with all their digits.' },
} as const;

const help = `Usage: shoal dump FILE [flags]

Prints each record batch in a file of bytes: its header by Kafka's names, whether
its CRC is right, and the verdict that a producer who sent it would get, with the
index of the bad record. FILE may be a segment of Shoal's, a log segment of
Kafka's, or any bytes. Ends with 1 when something is wrong with them, else with 0.

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
  const file = await openFile(path);
  try {
    const { size } = await file.stat();
    const range = await findBatchRange(file, size);
    let batches = 0;
    let wrong = 0;
    for await (const report of readBatches(file, range)) {
      batches++;
      if (report.errorCode !== 0) wrong++;
      if (!(await print(format(report)))) return 0;
    }
    if (batches === 0) process.stderr.write(`shoal: ${path} holds no record batch: it has ${size} bytes\n`);
    else if (!json) await print(`${summary(batches, wrong)}${range.isSegment ? ', in a shared log segment' : ''}\n`);
    return wrong === 0 && batches > 0 ? 0 : 1;
  } finally {
    await file.close();
  }
}

async function openFile(path: string): Promise<FileHandle> {
  try {
    const file = await open(path, 'r');
    if ((await file.stat()).isFile()) return file;
    await file.close();
  } catch (error) {
    throw new CliError(`cannot read ${path}: ${(error as NodeJS.ErrnoException).code ?? (error as Error).message}`);
  }
  throw new CliError(`cannot read ${path}: it is not a regular file`);
}

/** False once nobody reads any more (`shoal dump … | head`). */
function print(text: string): Promise<boolean> {
  return new Promise((resolve) => {
    const onError = (): void => resolve(false);
    process.stdout.once('error', onError);
    process.stdout.write(text, (error) => {
      if (error) return;
      process.stdout.off('error', onError);
      resolve(true);
    });
  });
}

const summary = (batches: number, wrong: number): string =>
  `${batches} ${batches === 1 ? 'batch' : 'batches'}, ${wrong === 0 ? 'none' : wrong} with an error`;

/** JSON.stringify knows no bigint, and a double would lose digits of an offset. */
function jsonLine({ sizeBytes, position, ...report }: RecordBatchReport): string {
  const fields = Object.entries({ position, size: sizeBytes, ...report });
  const texts = fields.map(([name, value]) => `"${name}":${typeof value === 'string' ? JSON.stringify(value) : value}`);
  return `{${texts.join(',')}}\n`;
}

const CODECS = ['none', 'gzip', 'snappy', 'lz4', 'zstd'];
const ATTRIBUTE_BITS = [
  [16, 'transactional'],
  [32, 'control'],
  [64, 'delete horizon'],
] as const;

function textBlock(report: RecordBatchReport): string {
  const { baseOffset, lastOffsetDelta, recordsCount, partitionLeaderEpoch, magic } = report;
  const { baseTimestamp, maxTimestamp, producerId, producerEpoch, baseSequence } = report;
  return [
    `position ${report.position}: ${report.sizeBytes} bytes, ${verdict(report)}`,
    `  baseOffset ${baseOffset}, lastOffsetDelta ${lastOffsetDelta}, recordsCount ${recordsCount}`,
    `  batchLength ${report.batchLength}, partitionLeaderEpoch ${partitionLeaderEpoch}, magic ${magic}`,
    `  crc ${report.crc.toString(16).padStart(8, '0')} ${report.crcValid ? 'valid' : 'NOT VALID'}`,
    `  attributes ${report.attributes} (${attributes(report.attributes)})`,
    `  baseTimestamp ${timestamp(baseTimestamp)}, maxTimestamp ${timestamp(maxTimestamp)}`,
    `  producerId ${producerId}, producerEpoch ${producerEpoch}, baseSequence ${baseSequence}`,
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
