/**
 * The fetch side of an engine, as the engine sees it: local view, planner, scheduler and waiting fetches behind one door.
 * Main thread; constructed and closed by the engine.
 */

import type { TopicIdPartition } from '../common/topic-id-partition.ts';
import type { BatchCoordinate } from '../coordinator/diskless-coordinator.ts';
import type { RewrittenRun } from '../worker/rewritten-run.ts';
import type { ChangeListener, PartitionWatch } from './delayed-fetch.ts';
import type { ExplainFetchRequest, FetchExplanation } from './explain-fetch.ts';
import type { FetchParams, FetchPartition, FetchResult } from './fetch-request.ts';

export interface FetchStats {
  readonly fetches: number;
  readonly fetchedBytes: number;
  readonly rangedGets: number;
  readonly rangedGetBytes: number;
  /** Partitions answered from the local view without a coordinator call. */
  readonly localHits: number;
  /** Partitions answered with records for which the coordinator had to be asked. */
  readonly localMisses: number;
  readonly parkedFetches: number;
  readonly cachedBytes: number;
}

export interface FetchService {
  /** Kafka's Fetch. @throws ApiError for an unusable request; the signal's reason when it aborts. */
  fetch(
    params: FetchParams,
    partitions: readonly FetchPartition[],
    options?: { signal?: AbortSignal },
  ): Promise<FetchResult>;

  /**
   * This process is about to commit that object and still holds its bytes. A fetch that hears of the commit before
   * `onCommitted` (the coordinator tells everyone at once) waits for the rewritten runs instead of reading the object.
   */
  onCommitting(objectKey: string): void;

  /** Ends `onCommitting`, after `onCommitted` or when the segment failed: whatever has no run by now is read as usual. */
  onCommitSettled(objectKey: string): void;

  /** What this process has just committed, rewritten: goes into the local view (or is released) and wakes parked fetches. */
  onCommitted(runs: readonly RewrittenRun[]): void;

  /**
   * Reads one coordinate through the same planner, scheduler and cache as every fetch: for ListOffsets by time and share
   * fetches. The caller releases the run's slab. @throws ApiError KAFKA_STORAGE_ERROR or CORRUPT_MESSAGE
   */
  readCoordinate(
    topicIdPartition: TopicIdPartition,
    coordinate: BatchCoordinate,
    options?: { signal?: AbortSignal },
  ): Promise<RewrittenRun>;

  /**
   * What a fetch would do and cost, without doing it. `explanationText` and `explanationJson` turn it into text and JSON.
   * Rejects with the coordinator's error.
   */
  explain(request: ExplainFetchRequest): Promise<FetchExplanation>;

  /**
   * Keeps the local view of these partitions in sync with what other brokers commit from now on, until the function
   * returned is called: for partitions whose consumers read at the tail of this process.
   */
  follow(partitions: readonly TopicIdPartition[]): () => void;

  /** Tells a listener what changes in the partitions that it adds, until it closes the watch. */
  watch<T>(listener: ChangeListener<T>): PartitionWatch<T>;

  stats(): FetchStats;
  /** Answers parked fetches with what there is, waits for GETs, gives every slab back. */
  close(): Promise<void>;
  /** As `close`, but cancels GETs under way: what they were to bring is answered KAFKA_STORAGE_ERROR. */
  destroy(): Promise<void>;
}

export type { ChangeListener, PartitionWatch, WatchedPartition } from './delayed-fetch.ts';
export {
  type CoordinateSource,
  type ExplainedCoordinate,
  type ExplainFetchRequest,
  explanationJson,
  explanationText,
  type FetchExplanation,
} from './explain-fetch.ts';
export { type FetchServiceComponents, openFetchService } from './object-fetch-service.ts';
