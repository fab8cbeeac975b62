/**
 * Constructs the fetch side of an engine and is its front door: local view, planner, scheduler, waiting fetches.
 *
 * Main thread. The engine opens and closes it; storage, coordinator and record pool stay the engine's. Closing order:
 * refuse new fetches, answer the parked ones, wait for those under way, stop the scheduler, give every slab back.
 */
import { assert } from '../common/assert.ts';
import { ApiError, Errors } from '../common/errors.ts';
import { once } from '../common/lifecycle.ts';
import { type Logger, silentLogger } from '../common/logger.ts';
import type { Meter } from '../common/metrics.ts';
import { noopMeter } from '../common/metrics.ts';
import { systemTime, type Time } from '../common/time.ts';
import { partitionKey, type TopicIdPartition } from '../common/topic-id-partition.ts';
import type { TopicTraffic } from '../common/topic-traffic.ts';
import type { BatchCoordinate, DisklessCoordinator } from '../coordinator/diskless-coordinator.ts';
import type { ObjectStorage } from '../storage/object-storage.ts';
import type { RecordPool } from '../worker/record-pool.ts';
import type { RewrittenRun } from '../worker/rewritten-run.ts';
import { batchesBetween } from './batch-walk.ts';
import { ChangeFeed } from './change-feed.ts';
import { CommittingObjects } from './committing-objects.ts';
import { CoordinateReader, releaseRuns } from './coordinate-reader.ts';
import { type ChangeListener, DelayedFetches, type PartitionWatch } from './delayed-fetch.ts';
import { type ExplainFetchRequest, explainFetch, type FetchExplanation } from './explain-fetch.ts';
import { FetchMemory } from './fetch-memory.ts';
import { observeFetches } from './fetch-metrics.ts';
import type { FetchParams, FetchPartition, FetchResult } from './fetch-request.ts';
import { FetchScheduler } from './fetch-scheduler.ts';
import type { FetchService, FetchStats } from './fetch-service.ts';
import { type FetchSettings, fetchSettings } from './fetch-settings.ts';
import type { FetchSlot } from './fetch-slot.ts';
import { FollowedPartitions } from './followed-partitions.ts';
import { InMemoryLocalLog } from './in-memory-local-log.ts';
import { PendingFetch } from './pending-fetch.ts';
import { Readahead } from './readahead.ts';

export interface FetchServiceComponents {
  readonly objectStorage: ObjectStorage;
  readonly coordinator: DisklessCoordinator;
  readonly recordPool: RecordPool;
  /** Where what is fetched is counted by topic. */
  readonly traffic: TopicTraffic;
  readonly settings?: Partial<FetchSettings>;
  readonly time?: Time;
  readonly meter?: Meter;
  readonly logger?: Logger;
}

/** @throws ApiError INVALID_CONFIG for a setting out of bounds */
export function openFetchService(components: FetchServiceComponents): FetchService {
  return new ObjectFetchService(components);
}

/** How a coordinate is read by whoever reads it alone. */
const TAIL = ['hot', 'tail'] as const;
const PAST = ['cold', 'scan'] as const;

class ObjectFetchService implements FetchService {
  readonly #components: Required<Pick<FetchServiceComponents, 'coordinator' | 'time' | 'logger'>>;
  readonly #traffic: TopicTraffic;
  readonly #settings: FetchSettings;
  readonly #memory: FetchMemory;
  readonly #localLog: InMemoryLocalLog;
  readonly #committing = new CommittingObjects();
  readonly #delayed = new DelayedFetches();
  readonly #scheduler: FetchScheduler;
  readonly #reader: CoordinateReader;
  readonly #readahead: Readahead;
  readonly #followed: FollowedPartitions;
  readonly #changes: ChangeFeed;
  readonly #pending = new Map<PendingFetch, Promise<unknown>>();
  #isClosed = false;
  #fetches = 0;
  #fetchedBytes = 0;
  #localHits = 0;
  #localMisses = 0;

  constructor(components: FetchServiceComponents) {
    const { objectStorage, coordinator, recordPool, time = systemTime, logger = silentLogger } = components;
    const settings = fetchSettings(components.settings);
    this.#settings = settings;
    this.#traffic = components.traffic;
    this.#components = { coordinator, time, logger };
    const memory = new FetchMemory(recordPool.slabs);
    const viewBytes = Math.min(settings.fetchLocalViewBytes, Math.floor(memory.capacityBytes * 0.75));
    const localLog = new InMemoryLocalLog(memory, viewBytes);
    const scheduler = new FetchScheduler({
      objectStorage,
      memory,
      time,
      costModel: { requestCostBytes: settings.fetchRequestCostBytes, maxRangeBytes: settings.fetchMaxRangeBytes },
      maxGets: settings.fetchMaxInFlightGets,
      maxBytesInFlight: Math.min(settings.fetchMaxInFlightBytes, Math.floor(memory.capacityBytes / 4)),
      collectWindowMs: settings.fetchCollectWindowMs,
      memoryWaitMs: settings.fetchMemoryWaitMs,
    });
    const reader = new CoordinateReader({
      scheduler,
      recordPool,
      localLog,
      committing: this.#committing,
      time,
      logger,
    });
    this.#readahead = new Readahead({
      coordinator,
      reader,
      localLog,
      time,
      maxWindowBytes: settings.fetchReadaheadMaxBytes,
      maxTotalBytes: Math.floor(viewBytes / 8), // half of what scans may always keep
    });
    this.#followed = new FollowedPartitions({ coordinator, reader, localLog, time, logger });
    this.#changes = new ChangeFeed({
      coordinator,
      localLog,
      delayed: this.#delayed,
      committing: this.#committing,
      memory,
      time,
      logger,
      followed: this.#followed,
    });
    memory.onFreed(() => this.#delayed.memoryFreed());
    this.#memory = memory;
    this.#localLog = localLog;
    this.#scheduler = scheduler;
    this.#reader = reader;
    observeFetches(components.meter ?? noopMeter, () => this.stats());
  }

  async fetch(
    params: FetchParams,
    partitions: readonly FetchPartition[],
    options: { signal?: AbortSignal } = {},
  ): Promise<FetchResult> {
    this.#checkOpen();
    checkParams(params, partitions);
    const fetch = new PendingFetch(
      {
        ...this.#components,
        localLog: this.#localLog,
        reader: this.#reader,
        memory: this.#memory,
        delayed: this.#delayed,
        onServed: (slot, nextOffset) => this.#onServed(slot, nextOffset),
      },
      params,
      partitions,
      options.signal,
    );
    const running = fetch.run();
    this.#pending.set(fetch, running);
    try {
      return this.#count(await running);
    } finally {
      this.#pending.delete(fetch);
    }
  }

  onCommitting(objectKey: string): void {
    if (!this.#isClosed) this.#committing.begin(objectKey);
  }

  onCommitSettled(objectKey: string): void {
    this.#changes.onCommitSettled(objectKey);
  }

  onCommitted(runs: readonly RewrittenRun[]): void {
    if (this.#isClosed) for (const run of runs) run.slab.release();
    else this.#changes.onCommitted(runs);
  }

  async readCoordinate(
    topicIdPartition: TopicIdPartition,
    coordinate: BatchCoordinate,
    { signal }: { signal?: AbortSignal } = {},
  ): Promise<RewrittenRun> {
    this.#checkOpen();
    signal?.throwIfAborted();
    const isAtTail =
      coordinate.lastOffset + 1n >= (this.#localLog.bounds(partitionKey(topicIdPartition))?.highWatermark ?? 0n);
    const [priority, origin] = isAtTail ? TAIL : PAST;
    const read = this.#reader.read(topicIdPartition, coordinate, priority, origin);
    const onAbort = (): void => read.cancel(signal!.reason);
    signal?.addEventListener('abort', onAbort, { once: true });
    try {
      const { runs, error, message } = await read.outcome;
      signal?.throwIfAborted(); // its runs are released then
      const run = error === Errors.NONE ? exactRun(coordinate, runs, this.#memory) : undefined;
      if (run !== runs[0]) releaseRuns(runs);
      if (run) return run;
      const reason = message || 'no memory for the copy of a coordinate: try again';
      throw new ApiError(error === Errors.CORRUPT_MESSAGE ? 'CORRUPT_MESSAGE' : 'KAFKA_STORAGE_ERROR', reason);
    } finally {
      signal?.removeEventListener('abort', onAbort);
    }
  }

  async explain(request: ExplainFetchRequest): Promise<FetchExplanation> {
    this.#checkOpen();
    const parts = { localLog: this.#localLog, reader: this.#reader, scheduler: this.#scheduler };
    return explainFetch({ coordinator: this.#components.coordinator, settings: this.#settings, ...parts }, request);
  }

  follow(partitions: readonly TopicIdPartition[]): () => void {
    this.#checkOpen();
    return this.#followed.follow(partitions);
  }

  watch<T>(listener: ChangeListener<T>): PartitionWatch<T> {
    this.#checkOpen();
    return this.#delayed.watch(listener);
  }

  stats(): FetchStats {
    const { rangedGets, rangedGetBytes } = this.#scheduler.stats;
    return {
      fetches: this.#fetches,
      fetchedBytes: this.#fetchedBytes,
      rangedGets,
      rangedGetBytes,
      localHits: this.#localHits,
      localMisses: this.#localMisses,
      parkedFetches: this.#delayed.size,
      cachedBytes: this.#localLog.sizeBytes,
    };
  }

  readonly close = once(async (): Promise<void> => {
    this.#isClosed = true;
    this.#changes.close();
    this.#committing.close();
    for (const fetch of this.#pending.keys()) fetch.finishNow();
    this.#readahead.close();
    await Promise.allSettled([...this.#pending.values(), this.#followed.close()]);
    await this.#scheduler.close();
    this.#localLog.close();
  });

  async destroy(): Promise<void> {
    const closing = this.close();
    await Promise.all([closing, this.#scheduler.close()]);
  }

  #onServed({ key, partition, highWatermark, source }: FetchSlot, nextOffset: bigint): void {
    const wasLocal = source === 'local';
    if (wasLocal) this.#localHits++;
    else this.#localMisses++;
    const { topicIdPartition, fetchOffset } = partition;
    this.#readahead.onServed({ key, topicIdPartition, fetchOffset, nextOffset, highWatermark, wasLocal });
  }

  #count(result: FetchResult): FetchResult {
    this.#fetches++;
    let bytes = 0;
    for (const { topicIdPartition, records } of result.partitions) {
      if (records.length === 0) continue;
      const size = records.reduce((sum, batches) => sum + batches.length, 0);
      this.#traffic.fetched(topicIdPartition.topicId, size);
      bytes += size;
    }
    this.#fetchedBytes += bytes;
    return result;
  }

  #checkOpen(): void {
    if (this.#isClosed) throw new ApiError('KAFKA_STORAGE_ERROR', 'the engine is closed');
  }
}

/**
 * A coordinate as one run with a reference of its own: the run itself, a part of it, or, where the local view holds it in
 * several pieces, a copy; undefined when there is no memory for one.
 */
function exactRun(
  { baseOffset, lastOffset }: BatchCoordinate,
  runs: readonly RewrittenRun[],
  memory: FetchMemory,
): RewrittenRun | undefined {
  const [first] = runs as [RewrittenRun];
  if (runs.length === 1 && first.baseOffset === baseOffset && first.lastOffset === lastOffset) return first;
  const pieces = runs.map((run) => batchesBetween(run, baseOffset, lastOffset));
  const range = { topicIdPartition: first.topicIdPartition, baseOffset, lastOffset };
  if (pieces.length === 1) {
    first.slab.retain();
    return { ...range, bytes: pieces[0]!, slab: first.slab };
  }
  const slab = memory.lease(pieces.reduce((sum, piece) => sum + piece.length, 0));
  if (!slab) return undefined;
  let position = 0;
  for (const piece of pieces) {
    slab.bytes.set(piece, position);
    position += piece.length;
  }
  return { ...range, bytes: slab.bytes, slab };
}

/** @throws ApiError INVALID_REQUEST naming what is wrong */
function checkParams(params: FetchParams, partitions: readonly FetchPartition[]): void {
  const { minBytes, maxWaitMs, maxBytes } = params;
  for (const [name, value] of Object.entries({ minBytes, maxBytes })) {
    if (!Number.isSafeInteger(value))
      throw new ApiError('INVALID_REQUEST', `${name} is ${value}: an integer is needed`);
  }
  if (!Number.isFinite(maxWaitMs))
    throw new ApiError('INVALID_REQUEST', `maxWaitMs is ${maxWaitMs}: a number is needed`);
  for (const { topicIdPartition, fetchOffset, maxBytes: limit } of partitions) {
    if (typeof fetchOffset === 'bigint' && Number.isSafeInteger(limit)) continue;
    const name = `${topicIdPartition.topicId}-${topicIdPartition.partition}`;
    throw new ApiError('INVALID_REQUEST', `fetch of ${name}: a bigint fetchOffset and an integer maxBytes are needed`);
  }
  assert(params.isolation === 'read_uncommitted' || params.isolation === 'read_committed', 'isolation is known');
}
