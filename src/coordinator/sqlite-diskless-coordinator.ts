/**
 * The embedded Diskless Coordinator: SQLite in a thread of its own, with group commit. This file is its main-thread side:
 * it starts the worker, forwards operations, and tells listeners what became durable. Whoever opens it closes it.
 */
import { Worker } from 'node:worker_threads';
import { type Deferred, deferred } from '../common/lifecycle.ts';
import { type Random, systemRandom } from '../common/random.ts';
import { systemTime, type Time } from '../common/time.ts';
import { randomUuid, type Uuid } from '../common/uuid.ts';
import type {
  CoordinatorSettings,
  CoordinatorStore,
  DatabaseSettings,
  StoreChanges,
  StoreOperation,
} from './coordinator-store.ts';
import { type CommitFileRequest, CoordinatorError, type DisklessCoordinator } from './diskless-coordinator.ts';
import { decodeResults } from './sqlite/blobs.ts';
import type { SqliteWorkerOptions, WorkerMessage, WorkerOpened, WorkerRequest } from './sqlite/messages.ts';
import { packCommit } from './sqlite/packed-commit.ts';
import { StoreCoordinator, type StoreResult, type StoreTransport } from './store-coordinator.ts';

export interface SqliteCoordinatorOptions extends DatabaseSettings {
  /** The database file; created with mode 0600 where there is none. One process at a time. */
  readonly path: string;
  readonly time?: Time;
  readonly random?: Random;
  /** The cluster's id if the database is new. @default a random one */
  readonly clusterId?: Uuid;
  /** SQLite's page cache. Lookups stay flat with the depth of the log while its upper levels fit. @default 64 MiB */
  readonly cacheBytes?: number;
  /** The largest size of the database file; beyond it writes fail with `no-space`. @default the disk's */
  readonly maxSizeBytes?: number;
}

const DEFAULT_CACHE_BYTES = 64 << 20;
/** The thousands of small objects of a large commit die before it ends, if there is room for them until then. */
const YOUNG_GENERATION_MB = 64;

/** The main-thread end of the worker. */
class WorkerTransport implements StoreTransport {
  readonly #worker: Worker;
  readonly #time: Time;
  readonly #pending = new Map<number, Deferred<unknown>>();
  readonly #opened = deferred<WorkerOpened>();
  readonly #exited = deferred<void>();
  #nextId = 0;
  readonly #failed = new AbortController();
  #unsent: WorkerRequest[] = [];
  #failure: CoordinatorError | undefined;
  #closing = false;
  onChanges: (changes: StoreChanges) => void = () => {};

  constructor(workerData: SqliteWorkerOptions, time: Time) {
    this.#time = time;
    this.#worker = new Worker(new URL(import.meta.resolve('#sqlite-worker')), {
      workerData,
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
    });
    this.#worker.on('message', (message: WorkerMessage) => this.#onMessage(message));
    this.#worker.on('error', (error) => this.#fail(`the coordinator's thread failed: ${error.message}`));
    this.#worker.on('exit', () => {
      this.#fail("the coordinator's thread has ended");
      this.#exited.resolve();
    });
  }

  get failed(): AbortSignal {
    return this.#failed.signal;
  }

  opened(): Promise<WorkerOpened> {
    return this.#opened.promise;
  }

  async call<O extends StoreOperation>(operation: O, args: Parameters<CoordinatorStore[O]>): Promise<StoreResult<O>> {
    if (operation !== 'commitFile') return (await this.#ask(operation, args)) as StoreResult<O>;
    const packed = packCommit(args[0] as CommitFileRequest);
    const results = (await this.#ask(operation, [packed])) as Uint8Array;
    return { batches: decodeResults(results) } as StoreResult<O>;
  }

  #ask(operation: StoreOperation, args: readonly unknown[]): Promise<unknown> {
    if (this.#failure) return Promise.reject(this.#failure);
    const id = this.#nextId++;
    const answer = deferred<unknown>();
    this.#pending.set(id, answer);
    this.#post({ id, nowMs: this.#time.nowMs(), operation, args });
    return answer.promise;
  }

  async close(): Promise<void> {
    this.#closing = true;
    this.#post({ operation: 'close' });
    await this.#exited.promise;
  }

  /** What is asked in one turn crosses in one message: each has a price, of both threads. */
  #post(request: WorkerRequest): void {
    this.#unsent.push(request);
    if (this.#unsent.length > 1) return;
    queueMicrotask(() => {
      this.#worker.postMessage(this.#unsent);
      this.#unsent = [];
    });
  }

  #onMessage(message: WorkerMessage): void {
    if (message.kind === 'closed' || message.kind === 'integrity') return;
    if (message.kind !== 'outcomes') {
      this.#opened.resolve(message);
      return;
    }
    if (message.changes) this.onChanges(message.changes);
    for (const outcome of message.outcomes) {
      const answer = this.#pending.get(outcome.id)!;
      this.#pending.delete(outcome.id);
      if ('error' in outcome) answer.reject(new CoordinatorError(outcome.error.kind, outcome.error.message));
      else answer.resolve(outcome.result);
    }
  }

  /** Whether what was under way became durable is not known. */
  #fail(reason: string): void {
    this.#failure ??= new CoordinatorError('unavailable', reason);
    this.#opened.resolve({ kind: 'refused', message: reason });
    for (const answer of this.#pending.values()) answer.reject(this.#failure);
    this.#pending.clear();
    if (!this.#closing) this.#failed.abort(this.#failure);
  }
}

/**
 * Opens the coordinator, creating or migrating the database.
 * @throws CoordinatorError `unavailable`, with one line that says what to do: unreadable, newer, damaged, in use, no room
 */
export async function openSqliteCoordinator(options: SqliteCoordinatorOptions): Promise<DisklessCoordinator> {
  const { path, time = systemTime, random = systemRandom, clusterId, cacheBytes, maxSizeBytes } = options;
  const transport = new WorkerTransport(
    {
      path,
      maxSizeBytes,
      mayMigrate: options.mayMigrate ?? true,
      clusterIdIfNew: clusterId ?? randomUuid(random),
      cacheBytes: cacheBytes ?? DEFAULT_CACHE_BYTES,
      ...settingsOf(options),
    },
    time,
  );
  const opened = await transport.opened();
  if (opened.kind === 'refused') throw new CoordinatorError('unavailable', opened.message);
  const coordinator = new StoreCoordinator({
    description: `sqlite ${path}`,
    clusterId: opened.clusterId,
    topics: opened.topics,
    changeNumber: opened.changeNumber,
    transport,
  });
  transport.onChanges = (changes) => coordinator.applyChanges(changes);
  return coordinator;
}

/** The settings that can be cloned to the worker, without those left out. */
function settingsOf({ maxCoordinateBytes, producerIdExpirationMs }: CoordinatorSettings): CoordinatorSettings {
  return {
    ...(maxCoordinateBytes === undefined ? {} : { maxCoordinateBytes }),
    ...(producerIdExpirationMs === undefined ? {} : { producerIdExpirationMs }),
  };
}
