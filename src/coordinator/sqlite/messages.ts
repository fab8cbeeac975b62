/** What the main thread and the SQLite worker say to each other. */
import type { Uuid } from '../../common/uuid.ts';
import type { CoordinatorSettings, StoreChanges, StoreOperation } from '../coordinator-store.ts';
import type { CoordinatorErrorKind } from '../diskless-coordinator.ts';
import type { TopicDescription } from '../topic-store.ts';

/** `workerData`. */
export interface SqliteWorkerOptions extends CoordinatorSettings {
  readonly path: string;
  readonly clusterIdIfNew: Uuid;
  readonly cacheBytes: number;
  readonly maxSizeBytes?: number | undefined;
  readonly mayMigrate: boolean;
}

/** The first message: the database is open, or why not. */
export type WorkerOpened =
  | {
      readonly kind: 'opened';
      readonly clusterId: Uuid;
      readonly changeNumber: number;
      readonly topics: readonly TopicDescription[];
    }
  | { readonly kind: 'refused'; readonly message: string };

/**
 * One operation; `nowMs` is the coordinator's clock when it was asked for. `commitFile` takes a `PackedCommit` and gives
 * its encoded results.
 */
export interface WorkerCall {
  readonly id: number;
  readonly nowMs: number;
  readonly operation: StoreOperation;
  readonly args: readonly unknown[];
}

/** Answers what it still had, closes the database and ends. */
export interface WorkerClose {
  readonly operation: 'close';
}

/** They come in arrays. */
export type WorkerRequest = WorkerCall | WorkerClose;

export type WorkerOutcome =
  | { readonly id: number; readonly result: unknown }
  | { readonly id: number; readonly error: { readonly kind: CoordinatorErrorKind; readonly message: string } };

/** What became of calls that ran together. */
export interface TransactionOutcome {
  /** One for each call, in their order. */
  readonly outcomes: readonly WorkerOutcome[];
  /** What all of them changed; undefined when that is nothing. */
  readonly changes: StoreChanges | undefined;
}

/** Posted after the transaction's COMMIT. */
export interface WorkerOutcomes extends TransactionOutcome {
  readonly kind: 'outcomes';
}

/** The database is closed; the worker ends. */
export interface WorkerClosed {
  readonly kind: 'closed';
}

/** `workerData` of a worker that only checks a database file, and its one message. */
export interface IntegrityCheck {
  readonly integrityOf: string;
}
export interface IntegrityFound {
  readonly kind: 'integrity';
  readonly faults: readonly string[];
}

export type WorkerMessage = WorkerOpened | WorkerOutcomes | WorkerClosed | IntegrityFound;
