/**
 * From batch coordinate to rewritten run: local view, else somebody else's read of the same coordinate, else a ranged GET,
 * verified and rewritten once, shared only then.
 *
 * One `PendingRun` per coordinate owns its raw bytes; everyone who wants it waits on that. A run whose CRC is wrong is read
 * once more (the bytes may have been damaged on the way) before the verdict stands; its good prefix is handed over but
 * never enters the local view. Nothing of a failure is kept, except that an object found missing is not asked for again
 * for a moment. Main thread; owned by the fetch service.
 */

import { type ErrorCode, Errors } from '../common/errors.ts';
import { type Deferred, deferred } from '../common/lifecycle.ts';
import type { Logger } from '../common/logger.ts';
import { messageOf } from '../common/message-of.ts';
import type { Time } from '../common/time.ts';
import { partitionKey, type TopicIdPartition } from '../common/topic-id-partition.ts';
import type { BatchCoordinate } from '../coordinator/diskless-coordinator.ts';
import { StorageError } from '../storage/object-storage.ts';
import type { RecordPool } from '../worker/record-pool.ts';
import type { RewrittenRun } from '../worker/rewritten-run.ts';
import type { CommittingObjects } from './committing-objects.ts';
import { type FetchScheduler, OutOfFetchMemory, type ReadTicket } from './fetch-scheduler.ts';
import type { LocalLog, RunOrigin } from './local-log.ts';
import type { LandedBytes, ReadPriority } from './range-read.ts';

/** What came of reading a coordinate. The receiver releases each run's slab (`releaseRuns`). */
export interface RunOutcome {
  /** NONE, KAFKA_STORAGE_ERROR, CORRUPT_MESSAGE. */
  readonly error: ErrorCode;
  readonly message: string;
  /**
   * Runs without a gap that hold the whole coordinate, and where they were local perhaps more around it; with
   * CORRUPT_MESSAGE its good prefix, if it has one.
   */
  readonly runs: readonly RewrittenRun[];
  /** `gone`: the object is not there (any more). `no-memory`: no room for its bytes now. */
  readonly reason?: 'gone' | 'no-memory';
}

export interface RunRead {
  /** Rejects only with the reason it was cancelled with. */
  readonly outcome: Promise<RunOutcome>;
  /**
   * Nobody wants it any more. Its runs are released even if the outcome is on its way already: whoever cancels must not
   * touch them, nor release them, when it arrives.
   */
  cancel(reason: unknown): void;
}

export interface CoordinateReaderOptions {
  readonly scheduler: FetchScheduler;
  readonly recordPool: RecordPool;
  readonly localLog: LocalLog;
  readonly committing: CommittingObjects;
  readonly time: Time;
  readonly logger: Logger;
}

/** How long a missing object is not asked for again. Keys are never reused, so only a storage that lags can bring it back. */
const GONE_MS = 1000;
const MAX_GONE_OBJECTS = 10_000;

interface PendingRun {
  readonly key: string;
  readonly topicIdPartition: TopicIdPartition;
  readonly coordinate: BatchCoordinate;
  readonly waiters: Set<Deferred<RunOutcome>>;
  origin: RunOrigin;
  priority: ReadPriority;
  ticket: ReadTicket | undefined;
}

const RANK: Record<ReadPriority, number> = { hot: 0, cold: 1, readahead: 2 };

export class CoordinateReader {
  readonly #options: CoordinateReaderOptions;
  readonly #pending = new Map<string, PendingRun>();
  readonly #goneUntilMs = new Map<string, number>();

  constructor(options: CoordinateReaderOptions) {
    this.#options = options;
  }

  /** Reads a coordinate of a partition; what it finds stays in the local view as `origin`. */
  read(of: TopicIdPartition, coordinate: BatchCoordinate, priority: ReadPriority, origin: RunOrigin): RunRead {
    const local = this.#local(of, coordinate);
    if (local) return { outcome: Promise.resolve(local), cancel: () => releaseRuns(local.runs) };
    const pending = this.#join(of, coordinate, priority, origin);
    const waiter = deferred<RunOutcome>();
    pending.waiters.add(waiter);
    return { outcome: waiter.promise, cancel: (reason) => this.#leave(pending, waiter, reason) };
  }

  /** Whether a read of this coordinate is under way. */
  isPending(coordinate: BatchCoordinate): boolean {
    return this.#pending.has(keyOf(coordinate));
  }

  /** Whether the object was found missing a moment ago. */
  isGone(objectKey: string): boolean {
    const untilMs = this.#goneUntilMs.get(objectKey);
    if (untilMs === undefined) return false;
    if (this.#options.time.monotonicMs() < untilMs) return true;
    this.#goneUntilMs.delete(objectKey);
    return false;
  }

  #local(of: TopicIdPartition, { baseOffset, lastOffset }: BatchCoordinate): RunOutcome | undefined {
    const runs = this.#options.localLog.covering(partitionKey(of), baseOffset, lastOffset);
    if (runs.length === 0) return undefined;
    retainRuns(runs);
    return { error: Errors.NONE, message: '', runs };
  }

  #join(of: TopicIdPartition, coordinate: BatchCoordinate, priority: ReadPriority, origin: RunOrigin): PendingRun {
    const key = keyOf(coordinate);
    const known = this.#pending.get(key);
    if (known) {
      if (RANK[priority] < RANK[known.priority]) known.priority = priority;
      if (origin === 'tail') known.origin = 'tail';
      known.ticket?.raise(priority);
      return known;
    }
    const pending: PendingRun = {
      key,
      topicIdPartition: of,
      coordinate,
      waiters: new Set(),
      origin,
      priority,
      ticket: undefined,
    };
    this.#pending.set(key, pending);
    void this.#load(pending);
    return pending;
  }

  #leave(pending: PendingRun, waiter: Deferred<RunOutcome>, reason: unknown): void {
    if (!pending.waiters.delete(waiter)) {
      waiter.promise.then(({ runs }) => releaseRuns(runs)).catch(() => {}); // answered already, but nobody takes it
      return;
    }
    waiter.promise.catch(() => {});
    waiter.reject(reason);
    if (pending.waiters.size > 0) return;
    // What is being rewritten goes on and is kept; what is only being read is given up.
    if (this.#pending.get(pending.key) === pending) this.#pending.delete(pending.key);
    pending.ticket?.cancel(reason);
  }

  async #load(pending: PendingRun): Promise<void> {
    let outcome: RunOutcome;
    try {
      outcome = await this.#resolve(pending);
    } catch (error) {
      outcome = this.#failure(pending, error);
    }
    if (this.#pending.get(pending.key) === pending) this.#pending.delete(pending.key);
    for (const waiter of pending.waiters) {
      retainRuns(outcome.runs);
      waiter.resolve(outcome);
    }
    pending.waiters.clear();
    releaseRuns(outcome.runs);
  }

  /** The run with a reference for this reader; everyone who waits gets another. */
  async #resolve(pending: PendingRun): Promise<RunOutcome> {
    const { objectKey } = pending.coordinate;
    const committing = this.#options.committing.whenSettled(objectKey);
    if (committing) {
      await committing;
      const local = this.#local(pending.topicIdPartition, pending.coordinate);
      if (local) return local;
    }
    if (this.isGone(objectKey)) return gone(objectKey);
    const first = await this.#fetchAndRewrite(pending);
    if (first.error !== Errors.CORRUPT_MESSAGE) return first;
    this.#options.logger.warn({ objectKey, reason: first.message }, 'a run is corrupt: reading it once more');
    releaseRuns(first.runs);
    const second = await this.#fetchAndRewrite(pending);
    if (second.error === Errors.CORRUPT_MESSAGE) {
      this.#options.logger.error({ objectKey, reason: second.message }, 'a committed run is corrupt in object storage');
    }
    return second;
  }

  async #fetchAndRewrite(pending: PendingRun): Promise<RunOutcome> {
    if (pending.waiters.size === 0 && this.#pending.get(pending.key) !== pending) {
      throw new Error('nobody waits for this run any more');
    }
    pending.ticket = this.#options.scheduler.read(pending.coordinate, pending.priority);
    const landed = await pending.ticket.bytes;
    pending.ticket = undefined;
    try {
      const outcome = await this.#rewrite(pending, landed);
      retainRuns(outcome.runs);
      return outcome;
    } finally {
      landed.slab.release();
    }
  }

  async #rewrite(pending: PendingRun, { bytes, slab }: LandedBytes): Promise<RunOutcome> {
    const { coordinate, topicIdPartition } = pending;
    const { baseOffset, lastOffset, leaderEpoch, timestampType, logAppendTimeMs } = coordinate;
    const assigned = await this.#options.recordPool.assignOffsets(bytes, {
      baseOffset,
      lastOffset,
      leaderEpoch,
      logAppendTimeMs: timestampType === 1 ? logAppendTimeMs : -1n,
    });
    const message = `${partitionKey(topicIdPartition)} at ${coordinate.objectKey}+${coordinate.position}: ${assigned.message}`;
    if (assigned.goodBytes === 0) return { error: assigned.error, message, runs: [] };
    const run: RewrittenRun = {
      topicIdPartition,
      baseOffset,
      lastOffset: assigned.nextOffset - 1n,
      bytes: bytes.subarray(0, assigned.goodBytes),
      slab,
    };
    if (assigned.error !== Errors.NONE) return { error: assigned.error, message, runs: [run] };
    slab.retain();
    this.#options.localLog.append(run, pending.origin);
    return { error: Errors.NONE, message: '', runs: [run] };
  }

  #failure({ coordinate: { objectKey, position, size } }: PendingRun, error: unknown): RunOutcome {
    if (error instanceof StorageError && error.kind === 'not-found') {
      this.#noteGone(objectKey);
      return gone(objectKey);
    }
    const message = `${size} bytes of ${objectKey} at ${position}: ${messageOf(error)}`;
    const reason = error instanceof OutOfFetchMemory ? { reason: 'no-memory' as const } : {};
    return { error: Errors.KAFKA_STORAGE_ERROR, message, runs: [], ...reason };
  }

  #noteGone(objectKey: string): void {
    if (this.#goneUntilMs.size >= MAX_GONE_OBJECTS) this.#goneUntilMs.delete(this.#goneUntilMs.keys().next().value!);
    this.#goneUntilMs.set(objectKey, this.#options.time.monotonicMs() + GONE_MS);
  }
}

export function retainRuns(runs: readonly RewrittenRun[]): void {
  for (const run of runs) run.slab.retain();
}

export function releaseRuns(runs: readonly RewrittenRun[]): void {
  for (const run of runs) run.slab.release();
}

function keyOf({ objectKey, position, size, baseOffset }: BatchCoordinate): string {
  return `${objectKey}+${position}+${size}@${baseOffset}`;
}

function gone(objectKey: string): RunOutcome {
  return {
    error: Errors.KAFKA_STORAGE_ERROR,
    message: `object ${objectKey} does not exist`,
    runs: [],
    reason: 'gone',
  };
}
