/** What is left, against what was answered. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { Examiner } from '../../../src/cli/examination.ts';
import { Errors } from '../../../src/common/errors.ts';
import { type Random, randomInt } from '../../../src/common/random.ts';
import { checkPostgresDatabase } from '../../../src/coordinator/postgres/check-database.ts';
import { LocalDirectoryObjectStorage } from '../../../src/index.ts';
import { openPostgresCoordinator } from '../../../src/postgres.ts';
import type { Answers } from './broker-process.ts';
import type { Ledger } from './ledger.ts';
import type { Stage } from './stage.ts';

/** What is there now, read from its start, against what was answered. */
export async function verify(stage: Stage, random: Random, ledger: Ledger, end: bigint): Promise<void> {
  const start = await startOf(stage, random, ledger);
  if (start < ledger.deletedBelow) stage.fault(`${ledger.name}: log start ${start} is below what was deleted`);
  const records = await readAll(stage, random, ledger, start, end);
  // Retention has gone on meanwhile.
  if (!records) return verify(stage, random, ledger, end);
  const values = new Set<string>();
  for (const { offset, value } of records) {
    ledger.see(offset, value);
    if (values.has(value)) stage.fault(`${ledger.name}: ${value} is there twice`);
    if (ledger.refused.has(value)) stage.fault(`${ledger.name}: ${value} was refused and is there`);
    values.add(value);
  }
  for (const [offset, value] of ledger.acknowledged) {
    if (offset >= start && ledger.seen.get(offset) !== value)
      stage.fault(`${ledger.name}: ${value} at ${offset} is lost`);
    if (ledger.seen.has(offset) && ledger.seen.get(offset) !== value)
      stage.fault(`${ledger.name}: ${offset} is another`);
  }
  await verifyTimes(stage, random, ledger, records);
}

async function startOf(stage: Stage, random: Random, { of }: Ledger): Promise<bigint> {
  return (await stage.ask(random, 'listOffsets', [{ of, timestamp: -2n }]))[0]!.offset;
}

/** Undefined when the log starts elsewhere now. */
async function readAll(stage: Stage, random: Random, { of, name }: Ledger, start: bigint, end: bigint) {
  const records: Answers['fetch']['records'] = [];
  for (let next = start; next < end; ) {
    const answer = await stage.ask(random, 'fetch', { of, offset: next, maxWaitMs: 0 });
    if (answer.error === Errors.OFFSET_OUT_OF_RANGE && answer.logStartOffset > next) return undefined;
    if (answer.error !== Errors.NONE) {
      stage.fault(`${name}: ${next} cannot be read: ${answer.error}`);
      break;
    }
    for (const record of answer.records.filter(({ offset }) => offset >= next)) {
      if (record.offset !== next) stage.fault(`${name}: ${next} is followed by ${record.offset}`);
      records.push(record);
      next = record.offset + 1n;
    }
  }
  return records;
}

async function verifyTimes(
  stage: Stage,
  random: Random,
  ledger: Ledger,
  records: Answers['fetch']['records'],
): Promise<void> {
  const { of, name } = ledger;
  const greatest = records.map(({ timestamp }) => timestamp).sort((a, b) => (a < b ? 1 : -1))[0] ?? -1n;
  if (greatest < 0n) return;
  const asked = [-3n, greatest, ...Array.from({ length: 5 }, () => greatest - BigInt(randomInt(random, 0, 60_000)))];
  const answers = await stage.ask(
    random,
    'listOffsets',
    asked.map((timestamp) => ({ of, timestamp })),
  );
  if ((await startOf(stage, random, ledger)) !== records[0]!.offset) return;
  for (const [i, timestamp] of asked.entries()) {
    const least = timestamp === -3n ? greatest : timestamp;
    const expected = records.find((record) => record.timestamp >= least);
    const { offset } = answers[i]!;
    if (offset !== (expected?.offset ?? -1n))
      stage.fault(`${name}: time ${timestamp} is at ${expected?.offset}, not ${offset}`);
  }
}

/** Every object is referred to, and every coordinate has its object, once the grace has passed. */
export async function verifyObjects(stage: Stage, folder: string): Promise<void> {
  const coordinator = await openPostgresCoordinator({ connectionString: stage.server.url });
  const storage = await LocalDirectoryObjectStorage.open(folder);
  try {
    const unneeded = async () => {
      const keys = readdirSync(join(folder, 'segments')).map((name) => `segments/${name}`);
      const files = await coordinator.describeFiles(keys);
      return keys.filter((_, i) => files[i]?.state !== 'uploaded');
    };
    await expect.poll(unneeded, { timeout: 150_000, interval: 500 }).toEqual([]);
    const { problems } = await new Examiner(coordinator, storage).run();
    for (const problem of [...problems, ...(await checkPostgresDatabase(stage.server.url))]) stage.fault(problem);
  } finally {
    await storage.close();
    await coordinator.close();
  }
}
