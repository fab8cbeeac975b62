/**
 * The engine: hands calls to the append, the fetch and the share side, and closes it all in order. Main thread. Storage and
 * coordinator stay the caller's.
 */
import { ApiError, type ErrorCode } from '../common/errors.ts';
import { DisposalStack, holdProcess } from '../common/lifecycle.ts';
import type { Time, Timer } from '../common/time.ts';
import type { TopicIdPartition } from '../common/topic-id-partition.ts';
import type { Uuid } from '../common/uuid.ts';
import type { DeleteRecordsRequest, DeleteRecordsResult } from '../coordinator/diskless-coordinator.ts';
import type { TopicDescription } from '../coordinator/topic-store.ts';
import type { ExplainFetchRequest, FetchExplanation } from '../fetch/explain-fetch.ts';
import type { FetchParams, FetchPartition, FetchResult } from '../fetch/fetch-request.ts';
import type { ChangeListener, PartitionWatch } from '../fetch/fetch-service.ts';
import type { AppendOptions, AppendPartition, AppendResult } from '../produce/append-request.ts';
import type { AppendService } from '../produce/append-service.ts';
import type {
  ShareAcknowledgeRequest,
  ShareAcknowledgeResult,
  ShareFetchRequest,
  ShareFetchResult,
} from '../share/share-fetch-request.ts';
import type { ShareOffsets } from '../share/share-offsets.ts';
import { answered } from './coordinator-failure.ts';
import type {
  DisklessEngine,
  EngineComponents,
  EngineStats,
  EngineStatus,
  ListOffsetsPartition,
  ListOffsetsPartitionResult,
  NewTopic,
  TopicStats,
} from './diskless-engine.ts';
import { observeEngine } from './engine-metrics.ts';
import { completeComponents, type EngineParts, openEngineParts } from './engine-parts.ts';
import { listOffsets } from './offset-lookup.ts';
import { type EngineSettings, engineSettings } from './settings.ts';
import {
  alterTopicConfigs,
  type CreateTopicResult,
  createPartitions,
  createTopics,
  deleteTopics,
  type NewPartitions,
  type TopicConfigChanges,
} from './topic-admin.ts';

/**
 * Opens an engine over a storage and a coordinator; nothing is left behind when it fails.
 * @throws ApiError INVALID_CONFIG for a bad setting; CoordinatorError when the coordinator does not answer
 */
export async function openEngine(
  given: EngineComponents,
  partialSettings?: Partial<EngineSettings>,
): Promise<DisklessEngine> {
  const settings = engineSettings(partialSettings);
  const components = completeComponents(given);
  const opened = new DisposalStack();
  try {
    const engine = new Engine(await openEngineParts(components, settings, opened));
    observeEngine(engine, components.meter);
    return engine;
  } catch (error) {
    await opened.dispose();
    throw error;
  }
}

class Engine implements DisklessEngine {
  readonly #parts: EngineParts;
  #status: 'open' | 'closing' | 'closed' = 'open';
  #ending: Promise<void> | undefined;
  /** An open engine keeps the process alive, like a listening socket: an append may wait for nothing but a timer. */
  readonly #letProcessEnd = holdProcess();

  constructor(parts: EngineParts) {
    this.#parts = parts;
  }

  get status(): EngineStatus {
    return this.#status === 'open' && this.failure ? 'failed' : this.#status;
  }

  get failure(): Error | undefined {
    return this.#parts.failed.error;
  }

  get failed(): AbortSignal {
    return this.#parts.failed.signal;
  }

  get appendBacklogBytes(): number {
    return this.#parts.appendService.backlogBytes;
  }

  get appendOutage(): string | undefined {
    return this.#parts.appendService.outage;
  }

  whenAppendRoom(): Promise<void> {
    return this.#parts.appendService.whenRoom();
  }

  async append(partitions: readonly AppendPartition[], options?: AppendOptions): Promise<AppendResult[]> {
    this.#requireOpen();
    const { failure } = this;
    if (failure) throw new ApiError('KAFKA_STORAGE_ERROR', failure.message, { cause: failure });
    return this.#parts.appendService.append(partitions, options);
  }

  async fetch(
    params: FetchParams,
    partitions: readonly FetchPartition[],
    options?: { signal?: AbortSignal },
  ): Promise<FetchResult> {
    this.#requireOpen();
    return this.#parts.fetchService.fetch(params, partitions, options);
  }

  async explainFetch(request: ExplainFetchRequest): Promise<FetchExplanation> {
    this.#requireOpen();
    return answered(this.#parts.fetchService.explain(request));
  }

  followPartitions(partitions: readonly TopicIdPartition[]): () => void {
    this.#requireOpen();
    return this.#parts.fetchService.follow(partitions);
  }

  watchPartitions<T>(listener: ChangeListener<T>): PartitionWatch<T> {
    this.#requireOpen();
    return this.#parts.fetchService.watch(listener);
  }

  async listOffsets(requests: readonly ListOffsetsPartition[]): Promise<ListOffsetsPartitionResult[]> {
    this.#requireOpen();
    const { components, fetchService, recordPool } = this.#parts;
    return listOffsets({ coordinator: components.coordinator, fetchService, recordPool }, requests);
  }

  async deleteRecords(requests: readonly DeleteRecordsRequest[]): Promise<DeleteRecordsResult[]> {
    this.#requireOpen();
    return answered(this.#parts.components.coordinator.deleteRecords(requests));
  }

  async listTopics(): Promise<readonly TopicDescription[]> {
    this.#requireOpen();
    return answered(this.#parts.components.coordinator.listTopics());
  }

  async createTopics(topics: readonly NewTopic[], options?: { validateOnly?: boolean }): Promise<CreateTopicResult[]> {
    this.#requireOpen();
    const { coordinator, random } = this.#parts.components;
    return createTopics(coordinator, random, topics, options?.validateOnly ?? false);
  }

  async deleteTopics(topicIds: readonly Uuid[]): Promise<{ error: ErrorCode; message: string }[]> {
    this.#requireOpen();
    return deleteTopics(this.#parts.components.coordinator, topicIds);
  }

  async createPartitions(
    requests: readonly NewPartitions[],
    options?: { validateOnly?: boolean },
  ): Promise<{ error: ErrorCode; message: string }[]> {
    this.#requireOpen();
    const { components, topics } = this.#parts;
    const results = await createPartitions(components.coordinator, requests, options?.validateOnly ?? false);
    await answered(topics.refresh());
    return results;
  }

  async alterTopicConfigs(requests: readonly TopicConfigChanges[]): Promise<{ error: ErrorCode; message: string }[]> {
    this.#requireOpen();
    const results = await alterTopicConfigs(this.#parts.components.coordinator, requests);
    await answered(this.#parts.topics.refresh());
    return results;
  }

  async shareFetch(request: ShareFetchRequest, options?: { signal?: AbortSignal }): Promise<ShareFetchResult> {
    this.#requireOpen();
    await answered(this.#parts.shareConfigs.refresh(request.groupId));
    return this.#parts.share.service.shareFetch(request, options);
  }

  async shareAcknowledge(request: ShareAcknowledgeRequest): Promise<ShareAcknowledgeResult> {
    this.#requireOpen();
    await answered(this.#parts.shareConfigs.refresh(request.groupId));
    return this.#parts.share.service.shareAcknowledge(request);
  }

  async shareConnectionLost(groupId: string, memberId: string): Promise<void> {
    if (this.#status === 'open') await this.#parts.share.service.connectionLost(groupId, memberId);
  }

  get shareOffsets(): ShareOffsets {
    this.#requireOpen();
    return this.#parts.share.offsets;
  }

  async flush(): Promise<void> {
    this.#requireOpen();
    await this.#parts.appendService.flush();
  }

  stats(): EngineStats {
    const { appendService, deadLetters, fetchService, maintenance, recordPool } = this.#parts;
    const { slabs } = recordPool;
    const { cachedBytes: _, ...fetching } = fetchService.stats();
    return {
      ...appendService.counters,
      ...fetching,
      ...maintenance.stats(),
      ...deadLetters.counters,
      bufferedBytes: slabs.leasedBytes('append'),
      leasedBytes: slabs.leasedBytes('append') + slabs.leasedBytes('fetch'),
    };
  }

  topicStats(): TopicStats[] {
    const { topics, traffic } = this.#parts;
    return [...traffic.all].flatMap(([topicId, counts]) => {
      const topic = topics.find(topicId)?.name;
      return topic === undefined ? [] : [{ topic, topicId, ...counts }];
    });
  }

  close(options: { timeoutMs?: number } = {}): Promise<void> {
    this.#ending ??= this.#close(options.timeoutMs);
    return this.#ending;
  }

  /** During a close it cuts the draining short. */
  async destroy(cause: Error = new Error('destroy() was called')): Promise<void> {
    if (this.#status === 'open') this.#ending = this.#close(0, cause);
    else if (this.#status === 'closing') await this.#parts.appendService.destroy(cause);
    await this.#ending;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Appends first: what they commit is still handed to the fetch side, and parked fetches see it before they end. */
  async #close(timeoutMs: number | undefined, cause?: Error): Promise<void> {
    this.#status = 'closing';
    const { appendService, deadLetters, fetchService, maintenance, share, topics, recordPool, components, failed } =
      this.#parts;
    const parts = new DisposalStack();
    parts.use(recordPool, (pool) => pool.close());
    parts.use(topics, (catalog) => catalog.close());
    parts.use(failed, (one) => one.close());
    parts.use(deadLetters, (queue) => queue.ended());
    parts.use(fetchService, (service) => (cause ? service.destroy() : service.close()));
    parts.use(share, (one) => one.close());
    parts.use(maintenance, (jobs) => jobs.close());
    parts.use(appendService, (service) =>
      cause ? service.destroy(cause) : drain(service, timeoutMs, components.time),
    );
    parts.use(deadLetters, (queue) => queue.stop());
    try {
      await parts.dispose();
    } finally {
      this.#status = 'closed';
      this.#letProcessEnd();
    }
  }

  #requireOpen(): void {
    if (this.#status === 'open') return;
    throw new ApiError('KAFKA_STORAGE_ERROR', `the engine is ${this.#status}; open a new one`);
  }
}

/** Commits what was accepted; past the timeout what is left is answered as of unknown outcome. */
async function drain(service: AppendService, timeoutMs: number | undefined, time: Time): Promise<void> {
  const tooLate = (): void => void service.destroy(new Error(`close() did not finish within ${timeoutMs} ms`));
  const timer: Timer | undefined = timeoutMs === undefined ? undefined : time.setTimer(timeoutMs, tooLate);
  try {
    await service.close();
  } finally {
    timer?.cancel();
  }
}
