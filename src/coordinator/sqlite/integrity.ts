/**
 * The check of a database file for `shoal doctor`, SQLite's own and ours; not while a coordinator has it open. It runs in
 * a worker of its own: a connection is surely gone, with its locks, only when its thread has ended.
 */
import { Worker } from 'node:worker_threads';
import { SQLITE_CONTRADICTIONS } from '../contradictions.ts';
import { CoordinatorError } from '../diskless-coordinator.ts';
import { SqlDatabase } from './driver.ts';
import type { IntegrityCheck, WorkerMessage } from './messages.ts';
import { asRefusal } from './open-database.ts';
import { producerFaults } from './producer-check.ts';
import { MIGRATIONS } from './schema.ts';

const MAX_FAULTS = 100;

/**
 * What is wrong, in SQLite's words, or, where it finds the file sound, in ours; empty when nothing is. Runs in the worker.
 * @throws DatabaseRefused
 */
export function integrityFaults(path: string): string[] {
  try {
    const database = new SqlDatabase(path);
    const rows = database.sql('PRAGMA integrity_check(100)').all();
    const found = rows.map((row) => String(row.integrity_check));
    return found.length === 1 && found[0] === 'ok' ? contradictions(database) : found;
  } catch (error) {
    throw asRefusal(path, error);
  }
}

/** None in a database of another version, whose tables are other ones; to open it tells of that. */
function contradictions(database: SqlDatabase): string[] {
  if (database.sql('PRAGMA user_version').get()!.user_version !== BigInt(MIGRATIONS.length)) return [];
  const faults = SQLITE_CONTRADICTIONS.flatMap((query) =>
    database
      .sql(query)
      .all()
      .map((row) => String(row.fault)),
  );
  return [...faults, ...producerFaults(database, MAX_FAULTS)].slice(0, MAX_FAULTS);
}

/** @throws CoordinatorError `unavailable` when the file cannot be looked into */
export async function checkSqliteIntegrity(path: string): Promise<readonly string[]> {
  const workerData: IntegrityCheck = { integrityOf: path };
  const worker = new Worker(new URL(import.meta.resolve('#sqlite-worker')), { workerData });
  const answer = new Promise<WorkerMessage>((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
  });
  const exited = new Promise((resolve) => worker.once('exit', resolve));
  const message = await answer;
  await exited;
  if (message.kind === 'integrity') return message.faults;
  throw new CoordinatorError('unavailable', message.kind === 'refused' ? message.message : 'the check did not answer');
}
