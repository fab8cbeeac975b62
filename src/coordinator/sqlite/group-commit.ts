/**
 * Runs the operations that wait, together in one transaction: one fsync for all of them. Nothing is answered before COMMIT;
 * if COMMIT fails, nothing was done, every writer hears it, and what was cached is dropped.
 *
 * A bad operation fails alone. That takes a savepoint around each, which copies every page that the operation touches: up
 * to a quarter of the time. So all run without first, and only when one has thrown, the transaction is rolled back and
 * they run again, under savepoints. The second run meets the same database and the same clock as the first.
 */
import { messageOf } from '../../common/message-of.ts';
import {
  ChangeCollector,
  type CoordinatorStore,
  READ_OPERATIONS,
  type StoreChanges,
  type StoreOperation,
} from '../coordinator-store.ts';
import { CoordinatorError } from '../diskless-coordinator.ts';
import { encodeResults } from './blobs.ts';
import { type SqlDatabase, sqliteResultCode } from './driver.ts';
import type { TransactionOutcome, WorkerCall, WorkerOutcome } from './messages.ts';
import { type PackedCommit, unpackCommit } from './packed-commit.ts';

/** What group commit needs of the store besides its operations. */
export interface TransactionalStore extends CoordinatorStore {
  takeChanges(): ChangeCollector;
  numberChanges(changes: ChangeCollector): StoreChanges;
  forget(): void;
}

const SQLITE_FULL = 13;

/** What an error of the store means to the caller. */
function toCoordinatorError(error: unknown): CoordinatorError {
  if (error instanceof CoordinatorError) return error;
  const message = messageOf(error);
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

/**
 * Ends a transaction: one of its operations threw. Without savepoints, what it had written is still there; with them, SQLite
 * has rolled everything back by itself.
 */
class OperationThrew extends Error {
  constructor(cause: unknown) {
    super('an operation threw', { cause });
  }
}

const isRead = ({ operation }: WorkerCall): boolean => READ_OPERATIONS.has(operation);

export class GroupCommit {
  readonly #database: SqlDatabase;
  readonly #store: TransactionalStore;
  readonly #setClock: (nowMs: number) => void;
  /** What the operations of the open transaction changed. */
  #changes = new ChangeCollector();

  constructor(database: SqlDatabase, store: TransactionalStore, setClock: (nowMs: number) => void) {
    this.#database = database;
    this.#store = store;
    this.#setClock = setClock;
  }

  /** What became of the calls, in one transaction or several. Never throws for what the database does. */
  run(calls: readonly WorkerCall[]): TransactionOutcome[] {
    const writes = calls.filter((call) => !isRead(call)).length;
    if (writes === 0) return [{ outcomes: calls.map((call) => this.#attempt(call)), changes: undefined }];
    try {
      return [this.#transaction(calls, (call) => this.#unguarded(call))];
    } catch (error) {
      this.#rollback();
      if (writes === 1) return [this.#allFailed(calls, error instanceof OperationThrew ? error.cause : error)];
      if (!(error instanceof OperationThrew)) return this.#failedTogether(calls, error);
    }
    try {
      return [this.#transaction(calls, (call) => this.#underSavepoint(call))];
    } catch (error) {
      this.#rollback();
      return this.#failedTogether(calls, error);
    }
  }

  /**
   * A full disk fails all that shares a transaction, and each gets one of its own then: what makes room must not fail with
   * what needs some.
   */
  #failedTogether(calls: readonly WorkerCall[], error: unknown): TransactionOutcome[] {
    const alone = error instanceof OperationThrew || sqliteResultCode(error) === SQLITE_FULL;
    return alone ? calls.flatMap((call) => this.run([call])) : [this.#allFailed(calls, error)];
  }

  #transaction(calls: readonly WorkerCall[], perform: (call: WorkerCall) => WorkerOutcome): TransactionOutcome {
    this.#do('BEGIN IMMEDIATE');
    const outcomes = calls.map((call) => (isRead(call) ? this.#attempt(call) : perform(call)));
    const changes = this.#changes.kinds === 0 ? undefined : this.#store.numberChanges(this.#changes);
    this.#do('COMMIT');
    if (changes) this.#changes = new ChangeCollector();
    return { outcomes, changes };
  }

  /** Prepared once: parsing a savepoint anew costs more than a small commit inside it. */
  #do(statement: string): void {
    this.#database.sql(statement).run();
  }

  #perform({ id, nowMs, operation, args }: WorkerCall): WorkerOutcome {
    this.#setClock(nowMs);
    const result = operation === 'commitFile' ? this.#commitFile(args[0] as PackedCommit) : this.#run(operation, args);
    this.#changes.add(this.#store.takeChanges());
    return { id, result };
  }

  #run(operation: StoreOperation, args: readonly unknown[]): unknown {
    return (this.#store[operation] as (...args: readonly unknown[]) => unknown).apply(this.#store, args as unknown[]);
  }

  #commitFile(packed: PackedCommit): Uint8Array {
    return encodeResults(this.#store.commitFile(unpackCommit(packed)).batches);
  }

  /** For reads: they leave nothing behind. */
  #attempt(call: WorkerCall): WorkerOutcome {
    try {
      return this.#perform(call);
    } catch (error) {
      return failed(call, error);
    }
  }

  #unguarded(call: WorkerCall): WorkerOutcome {
    try {
      return this.#perform(call);
    } catch (error) {
      throw new OperationThrew(error);
    }
  }

  #underSavepoint(call: WorkerCall): WorkerOutcome {
    this.#do('SAVEPOINT call');
    try {
      const outcome = this.#perform(call);
      this.#do('RELEASE call');
      return outcome;
    } catch (error) {
      this.#undo(error);
      return failed(call, error);
    }
  }

  /** Back to the savepoint. @throws OperationThrew when SQLite has ended the whole transaction by itself */
  #undo(error: unknown): void {
    try {
      this.#do('ROLLBACK TO call');
      this.#do('RELEASE call');
    } catch {
      throw new OperationThrew(error);
    }
    this.#store.forget();
  }

  #rollback(): void {
    try {
      this.#database.exec('ROLLBACK');
    } catch {
      // SQLite had rolled back already.
    }
    this.#changes = new ChangeCollector();
    this.#store.forget();
  }

  /** Reads are answered all the same. */
  #allFailed(calls: readonly WorkerCall[], error: unknown): TransactionOutcome {
    return {
      outcomes: calls.map((call) => (isRead(call) ? this.#attempt(call) : failed(call, error))),
      changes: undefined,
    };
  }
}
