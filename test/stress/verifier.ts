/**
 * The judge of a stress run, a process of its own: keeps the journal of what producers were told, and, once the run's
 * engines are closed, opens an engine of its own over the same storage and database and reads everything back.
 *
 * Messages in: `Outcome`s, in batches; then `Judge`. Message out: one `Verdict`.
 */
import { type DisklessEngine, Errors, errorName, openEngine, type TopicIdPartition } from '../../src/index.ts';
import { openSqliteCoordinator } from '../../src/sqlite.ts';
import { readBatches, type SeenRecord } from './content.ts';
import type { Outcome } from './load.ts';
import { reopenTarget, type TargetLocation } from './target.ts';

export interface Judge {
  readonly judge: true;
  readonly location: TargetLocation;
  readonly database: string;
  readonly topicId: string;
  readonly partitions: number;
  readonly valueBytes: number;
}

export interface Verdict {
  readonly acknowledgedRecords: number;
  readonly readRecords: number;
  /** Acknowledged, but not there or not at their offset. */
  readonly lost: number;
  /** There, though refused, unknown, or there twice. */
  readonly uninvited: number;
  /** Values that do not belong to their key. */
  readonly wrong: number;
  readonly gaps: number;
  readonly inDoubtFound: number;
  readonly remarks: readonly string[];
}

type Key = `${number}/${number}`;

interface Expected extends Outcome {
  /** Records of it that were read, by index. */
  readonly seen: Set<number>;
}

const journal = new Map<Key, Expected>();
const tally = { acknowledgedRecords: 0, readRecords: 0, lost: 0, uninvited: 0, wrong: 0, gaps: 0, inDoubtFound: 0 };
const remarks: string[] = [];

function note(text: string): void {
  if (remarks.length < 20) remarks.push(text);
}

function keep(outcome: Outcome): void {
  journal.set(`${outcome.producer}/${outcome.sequence}`, { ...outcome, seen: new Set() });
  if (outcome.outcome === 'acknowledged') tally.acknowledgedRecords += outcome.records;
}

function check(record: SeenRecord, partition: number, expectedOffset: bigint): void {
  tally.readRecords++;
  const place = `partition ${partition} offset ${record.offset}`;
  if (record.offset !== expectedOffset) {
    tally.gaps++;
    note(`${place}: offset ${expectedOffset} was expected`);
  }
  if (!record.right) {
    tally.wrong++;
    note(`${place}: the value is not that of ${record.producer}/${record.sequence}/${record.index}`);
  }
  const expected = journal.get(`${record.producer}/${record.sequence}`);
  if (
    !expected ||
    expected.outcome === 'refused' ||
    expected.partition !== partition ||
    expected.seen.has(record.index)
  ) {
    tally.uninvited++;
    note(
      `${place}: ${record.producer}/${record.sequence}/${record.index} has no place here (${expected?.outcome ?? 'unknown'})`,
    );
    return;
  }
  if (expected.outcome === 'in-doubt') tally.inDoubtFound++;
  else if (BigInt(expected.baseOffset) + BigInt(record.index) !== record.offset) return;
  expected.seen.add(record.index);
}

async function readPartition(engine: DisklessEngine, at: TopicIdPartition, valueBytes: number): Promise<void> {
  const [end] = await engine.listOffsets([{ topicIdPartition: at, timestamp: -1n }]);
  let next = 0n;
  for (let failures = 0; next < end!.offset; ) {
    const params = { minBytes: 1, maxWaitMs: 1000, maxBytes: 16 << 20, isolation: 'read_uncommitted' as const };
    const { partitions, release } = await engine.fetch(params, [
      { topicIdPartition: at, fetchOffset: next, maxBytes: 16 << 20 },
    ]);
    const [data] = partitions;
    const before = next;
    for (const record of readBatches(data!.records, valueBytes)) {
      if (record.offset < before) continue;
      check(record, at.partition, next);
      next = record.offset + 1n;
    }
    release();
    if (data!.error !== Errors.NONE && ++failures > 50) {
      note(`partition ${at.partition} cannot be read from offset ${next}: ${errorName(data!.error)}`);
      return;
    }
  }
}

async function judge({ location, database, topicId, partitions, valueBytes }: Judge): Promise<Verdict> {
  const target = await reopenTarget(location);
  const coordinator = await openSqliteCoordinator({ path: database });
  const engine = await openEngine({ objectStorage: target.storage, coordinator }, { nodeId: 9 });
  for (let partition = 0; partition < partitions; partition++) {
    await readPartition(engine, { topicId, partition }, valueBytes);
  }
  await engine.close();
  await coordinator.close();
  await target.storage.close();
  for (const expected of journal.values()) {
    if (expected.outcome !== 'acknowledged' || expected.seen.size === expected.records) continue;
    tally.lost += expected.records - expected.seen.size;
    note(
      `${expected.producer}/${expected.sequence}: ${expected.seen.size} of ${expected.records} records at partition ${expected.partition} offset ${expected.baseOffset}`,
    );
  }
  return { ...tally, remarks };
}

process.on('message', (message: Judge | readonly Outcome[]) => {
  if ('judge' in message) {
    judge(message).then(
      (verdict) => process.send!(verdict, () => process.exit(0)),
      (error) => {
        process.stderr.write(`the verifier failed: ${error instanceof Error ? error.stack : error}\n`);
        process.exit(1);
      },
    );
  } else for (const outcome of message) keep(outcome);
});
