/**
 * Runs the operations that wait, together in one transaction: one fsync for all of them, each under its own savepoint so
 * that a bad one fails alone. Nothing is answered before COMMIT; if COMMIT fails, nothing was done, every writer hears
 * it, and what was cached is dropped.
 */
import {
  type CoordinatorStore,
  READ_OPERATIONS,
  type StoreChanges,
  type StoreOperation,
} from '../coordinator-store.ts';
import { CoordinatorError } from '../diskless-coordinator.ts';
import { encodeResults } from './blobs.ts';
import { type SqlDatabase, sqliteResultCode } from './driver.ts';
import type { WorkerCall, WorkerOutcome } from './messages.ts';
import { type PackedCommit, unpackCommit } from './packed-commit.ts';

/** What group commit needs of the store besides its operations. */
export interface TransactionalStore extends CoordinatorStore {
  takeChanges(): StoreChanges | undefined;
  saveChangeNumber(): void;
  forget(): void;
}

const SQLITE_FULL = 13;

/** What an error of the store means to the caller. */
function toCoordinatorError(error: unknown): CoordinatorError {
  if (error instanceof CoordinatorError) return error;
  const message = error instanceof Error ? error.message : String(error);
  if (sqliteResultCode(error) === SQLITE_FULL) {
    return new CoordinatorError('no-space', `the coordinator's disk is full (${message}); make room`);
  }
  // An I/O error may strike after the commit record was written: a later recovery could still find it.
  return new CoordinatorError('unavailable', `the coordinator's database failed: ${message}`);
}

function failed(call: WorkerCall, error: unknown): WorkerOutcome {
  const { kind, message } = toCoordinatorError(error);
  return { id: call.id, error: { kind, message } };
}

export class GroupCommit {
  readonly #database: SqlDatabase;
  readonly #store: TransactionalStore;
  readonly #setClock: (nowMs: number) => void;

  constructor(database: SqlDatabase, store: TransactionalStore, setClock: (nowMs: number) => void) {
    this.#database = database;
    this.#store = store;
    this.#setClock = setClock;
  }

  /** The outcomes of the calls, in order. Never throws for what the database does. */
  run(calls: readonly WorkerCall[]): WorkerOutcome[] {
    const writes = calls.filter(({ operation }) => !READ_OPERATIONS.has(operation)).length;
    if (writes === 0) return calls.map((call) => this.#attempt(call));
    try {
      this.#do('BEGIN IMMEDIATE');
      const outcomes = calls.map((call) => (writes > 1 ? this.#underSavepoint(call) : this.#only(call)));
      if (outcomes.some((outcome) => 'changes' in outcome && outcome.changes)) this.#store.saveChangeNumber();
      this.#do('COMMIT');
      return outcomes;
    } catch (error) {
      this.#rollback();
      return calls.map((call) => (READ_OPERATIONS.has(call.operation) ? this.#attempt(call) : failed(call, error)));
    }
  }

  /** Prepared once: parsing a savepoint anew costs more than a small commit inside it. */
  #do(statement: string): void {
    this.#database.sql(statement).run();
  }

  #perform({ id, nowMs, operation, args }: WorkerCall): WorkerOutcome {
    this.#setClock(nowMs);
    const result = operation === 'commitFile' ? this.#commitFile(args[0] as PackedCommit) : this.#run(operation, args);
    return { id, result, changes: this.#store.takeChanges() };
  }

  #run(operation: StoreOperation, args: readonly unknown[]): unknown {
    return (this.#store[operation] as (...args: readonly unknown[]) => unknown).apply(this.#store, args as unknown[]);
  }

  #commitFile(packed: PackedCommit): Uint8Array {
    return encodeResults(this.#store.commitFile(unpackCommit(packed)).batches);
  }

  /** For calls outside any transaction. */
  #attempt(call: WorkerCall): WorkerOutcome {
    try {
      return this.#perform(call);
    } catch (error) {
      return failed(call, error);
    }
  }

  /** The transaction's only writer: what it throws after its first write fails the transaction. */
  #only(call: WorkerCall): WorkerOutcome {
    try {
      return this.#perform(call);
    } catch (error) {
      if (READ_OPERATIONS.has(call.operation)) return failed(call, error);
      throw error;
    }
  }

  #underSavepoint(call: WorkerCall): WorkerOutcome {
    if (READ_OPERATIONS.has(call.operation)) return this.#attempt(call);
    this.#do('SAVEPOINT call');
    try {
      const outcome = this.#perform(call);
      this.#do('RELEASE call');
      return outcome;
    } catch (error) {
      // When SQLite has ended the whole transaction by itself, this throws, and the transaction has failed for all.
      this.#do('ROLLBACK TO call');
      this.#do('RELEASE call');
      this.#store.forget();
      return failed(call, error);
    }
  }

  #rollback(): void {
    try {
      this.#database.exec('ROLLBACK');
    } catch {
      // SQLite had rolled back already.
    }
    this.#store.forget();
  }
}
