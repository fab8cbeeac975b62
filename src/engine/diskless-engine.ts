/**
 * The engine's public surface. Brokers import it; everything behind it is constructed by `openEngine`.
 *
 * Requests are batches, results return in request order with a Kafka error code each; a promise rejects (with `ApiError`)
 * only when the whole request is unusable: invalid argument, abort, closed engine.
 */
import type { ErrorCode } from '../common/errors.ts';
import type { Logger } from '../common/logger.ts';
import type { Meter } from '../common/metrics.ts';
import type { Random } from '../common/random.ts';
import type { Time } from '../common/time.ts';
import type { TopicIdPartition } from '../common/topic-id-partition.ts';
import type { TopicCounts } from '../common/topic-traffic.ts';
import type { Uuid } from '../common/uuid.ts';
import type {
  DeleteRecordsRequest,
  DeleteRecordsResult,
  DisklessCoordinator,
} from '../coordinator/diskless-coordinator.ts';
import type { TopicDescription } from '../coordinator/topic-store.ts';
import type { ExplainFetchRequest, FetchExplanation } from '../fetch/explain-fetch.ts';
import type { FetchParams, FetchPartition, FetchResult } from '../fetch/fetch-request.ts';
import type { ChangeListener, PartitionWatch } from '../fetch/fetch-service.ts';
import type { AppendOptions, AppendPartition, AppendResult } from '../produce/append-request.ts';
import type {
  ShareAcknowledgeRequest,
  ShareAcknowledgeResult,
  ShareFetchRequest,
  ShareFetchResult,
} from '../share/share-fetch-request.ts';
import type { ShareOffsets } from '../share/share-offsets.ts';
import type { ObjectStorage } from '../storage/object-storage.ts';
import type { MaintenanceStats } from './maintenance.ts';
import type { NewPartitions, TopicConfigChanges } from './topic-admin.ts';

export type { ExplainFetchRequest, FetchExplanation } from '../fetch/explain-fetch.ts';
export type { FetchParams, FetchPartition, FetchPartitionData, FetchResult } from '../fetch/fetch-request.ts';
export type { ChangeListener, PartitionWatch, WatchedPartition } from '../fetch/fetch-service.ts';
export type { AppendOptions, AppendPartition, AppendResult } from '../produce/append-request.ts';
export type { InFlightRecords, InFlightRun } from '../share/in-flight-records.ts';
export type * from '../share/share-fetch-request.ts';
export type { ShareOffsetDescription, ShareOffsets, ShareStartOffset } from '../share/share-offsets.ts';
export type { NewPartitions, TopicConfigChanges } from './topic-admin.ts';

/** What an engine is made of. Components stay the caller's: close them after the engine. */
export interface EngineComponents {
  readonly objectStorage: ObjectStorage;
  readonly coordinator: DisklessCoordinator;
  readonly time?: Time;
  readonly random?: Random;
  readonly meter?: Meter;
  readonly logger?: Logger;
}

export type EngineStatus = 'open' | 'closing' | 'closed' | 'failed';

export interface NewTopic {
  readonly name: string;
  readonly partitions: number;
  readonly configs?: Readonly<Record<string, string>>;
}

export interface ListOffsetsPartition {
  readonly topicIdPartition: TopicIdPartition;
  /** Milliseconds, or one of `ListOffsetsTimestamp`. */
  readonly timestamp: bigint;
}

export interface ListOffsetsPartitionResult {
  readonly error: ErrorCode;
  readonly timestamp: bigint;
  readonly offset: bigint;
  readonly leaderEpoch: number;
}

/** Counts since the engine was opened, and what is held now. Bytes unless the name says otherwise. */
export interface EngineStats extends MaintenanceStats {
  readonly appendedBatches: number;
  readonly appendedRecords: number;
  readonly appendedBytes: number;
  readonly segmentsCommitted: number;
  readonly segmentsAbandoned: number;
  /** Records that share groups gave up, with a copy in the group's dead-letter queue, and without one. */
  readonly deadLettersCopied: number;
  readonly deadLettersLost: number;
  readonly bufferedBytes: number;
  readonly fetches: number;
  readonly fetchedBytes: number;
  readonly rangedGets: number;
  readonly rangedGetBytes: number;
  /** Partitions answered from the local view alone, and those for which the coordinator had to be asked. */
  readonly localHits: number;
  readonly localMisses: number;
  readonly parkedFetches: number;
  readonly leasedBytes: number;
}

/** What passed through this process of one topic. */
export interface TopicStats extends TopicCounts {
  /** Its name. */
  readonly topic: string;
  readonly topicId: Uuid;
}

/** Keeps the process alive while it is open, like a listening socket. */
export interface DisklessEngine extends AsyncDisposable {
  readonly status: EngineStatus;
  /** Why the status is `failed`: what has been appended stays readable, but nothing more can be appended. */
  readonly failure: Error | undefined;
  /** Aborts when the status becomes `failed`, the reason being `failure`: close the engine and open another. */
  readonly failed: AbortSignal;

  /** The topics that exist, by name; kept current. */
  listTopics(): Promise<readonly TopicDescription[]>;
  /** Result i belongs to topic i. With `validateOnly` everything is checked and nothing created. */
  createTopics(
    topics: readonly NewTopic[],
    options?: { readonly validateOnly?: boolean },
  ): Promise<readonly { error: ErrorCode; message: string; topicId: Uuid }[]>;
  deleteTopics(topicIds: readonly Uuid[]): Promise<readonly { error: ErrorCode; message: string }[]>;

  /**
   * Gives topics more partitions: `partitions` counts those that exist, too. Result i belongs to request i. With
   * `validateOnly` everything is checked and nothing created.
   */
  createPartitions(
    requests: readonly NewPartitions[],
    options?: { readonly validateOnly?: boolean },
  ): Promise<readonly { error: ErrorCode; message: string }[]>;

  /**
   * Sets configs of topics (a value) and removes them (null), each topic's all or none; durable, and in force for what is
   * appended from then on, when it resolves. Result i belongs to request i.
   */
  alterTopicConfigs(requests: readonly TopicConfigChanges[]): Promise<readonly { error: ErrorCode; message: string }[]>;

  /**
   * Stores batches: resolves when each is durable and has its offset, or has failed. Batches of one partition are
   * committed in the order of the calls. @throws ApiError INVALID_REQUEST for a duplicate or impossible partition;
   * KAFKA_STORAGE_ERROR when the engine is not open
   */
  append(partitions: readonly AppendPartition[], options?: AppendOptions): Promise<AppendResult[]>;

  /**
   * Why segments cannot be stored or committed just now, a full disk for one: appends wait, and fail in the end. Undefined
   * while they can, and when nobody has appended for half a minute.
   */
  readonly appendOutage: string | undefined;
  /** Bytes that producers sent and that are not committed yet, those that wait for memory included. */
  readonly appendBacklogBytes: number;
  /**
   * Resolves when no append waits for memory: at once, or later. A host that awaits it before it reads more from its
   * producers' sockets keeps its own memory flat however slow the storage is.
   */
  whenAppendRoom(): Promise<void>;

  fetch(
    params: FetchParams,
    partitions: readonly FetchPartition[],
    options?: { signal?: AbortSignal },
  ): Promise<FetchResult>;
  /** What a fetch would do and cost here and now, without doing it; `explanationText` and `explanationJson` print it. */
  explainFetch(request: ExplainFetchRequest): Promise<FetchExplanation>;
  /**
   * Keeps what other brokers append to these partitions in this process' memory as well, until the function returned is
   * called: for partitions whose consumers read at the tail here.
   */
  followPartitions(partitions: readonly TopicIdPartition[]): () => void;
  /**
   * Tells `listener` in which of the partitions added to the watch something may have changed: commits, log starts,
   * deletions, by any broker. For fetch sessions (KIP-227): whoever adds a partition before looking at it need not look
   * again before it is told, so that a consumer of many partitions costs nothing while nothing happens. Close it.
   */
  watchPartitions<T>(listener: ChangeListener<T>): PartitionWatch<T>;
  listOffsets(requests: readonly ListOffsetsPartition[]): Promise<ListOffsetsPartitionResult[]>;
  deleteRecords(requests: readonly DeleteRecordsRequest[]): Promise<DeleteRecordsResult[]>;

  /**
   * Kafka's ShareFetch at the share-partition leader (KIP-932): acknowledgements first, then records, each acquired for
   * this member alone. This process must be the leader of the partitions; the caller has checked membership and rights.
   */
  shareFetch(request: ShareFetchRequest, options?: { signal?: AbortSignal }): Promise<ShareFetchResult>;
  /** Kafka's ShareAcknowledge; each partition's error is answered once the change is durable. */
  shareAcknowledge(request: ShareAcknowledgeRequest): Promise<ShareAcknowledgeResult>;
  /** A member's connection is gone: its share session ends and what it held comes back. */
  shareConnectionLost(groupId: string, memberId: string): Promise<void>;

  /** Where groups stand in their share partitions: for a group coordinator, and for administrators. */
  readonly shareOffsets: ShareOffsets;

  /** Closes and commits the active segment now; resolves when everything appended before is committed or has failed. */
  flush(): Promise<void>;
  stats(): EngineStats;
  /** Of topics that exist and had something appended or fetched here, in the order in which that began. */
  topicStats(): TopicStats[];
  /** Drains: refuses new work, commits what was accepted, answers parked fetches, closes the workers. */
  close(options?: { timeoutMs?: number }): Promise<void>;
  /** Aborts: fails what is in flight and frees everything. */
  destroy(cause?: Error): Promise<void>;
}
