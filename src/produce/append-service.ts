/**
 * The append side of an engine behind one door: memory, validation, segments. Main thread; constructed and closed by the
 * engine.
 *
 * Bytes are copied once, at the door, into slabs of the `append` account; everything after works on that copy.
 */
import { ApiError, type ErrorCode, Errors } from '../common/errors.ts';
import type { Logger } from '../common/logger.ts';
import type { Meter } from '../common/metrics.ts';
import { Outage } from '../common/outage.ts';
import type { Random } from '../common/random.ts';
import type { Time } from '../common/time.ts';
import { type PartitionKey, partitionKey } from '../common/topic-id-partition.ts';
import type { TopicTraffic } from '../common/topic-traffic.ts';
import { isUuid } from '../common/uuid.ts';
import type { DisklessCoordinator } from '../coordinator/diskless-coordinator.ts';
import type { ValidatedBatch } from '../record/validation.ts';
import type { ObjectStorage } from '../storage/object-storage.ts';
import type { RecordPool } from '../worker/record-pool.ts';
import type { Slab } from '../worker/slab-pool.ts';
import { AppendCall } from './append-call.ts';
import { AppendDoor } from './append-door.ts';
import { type AppendCounters, AppendMetrics } from './append-metrics.ts';
import type { AppendOptions, AppendPartition, AppendResult } from './append-request.ts';
import type { BackoffSettings } from './backoff.ts';
import type { CommitListener } from './commit-listener.ts';
import { CommittedRuns } from './committed-runs.ts';
import { failedAppend, PendingBatch } from './pending-batch.ts';
import { SegmentCommitter } from './segment-committer.ts';
import type { Crc32c } from './segment-format.ts';
import { SegmentPipeline } from './segment-pipeline.ts';
import { SegmentUploader } from './segment-uploader.ts';
import { SegmentWriter } from './segment-writer.ts';
import type { KnownTopic, TopicLookup } from './topic-lookup.ts';
import { TopicValidation } from './topic-validation.ts';

export interface AppendServiceOptions {
  readonly objectStorage: ObjectStorage;
  readonly coordinator: DisklessCoordinator;
  readonly recordPool: RecordPool;
  readonly checksums: Crc32c;
  readonly topics: TopicLookup;
  readonly time: Time;
  readonly random: Random;
  readonly logger: Logger;
  readonly meter: Meter;
  /** Where what is appended is counted by topic. */
  readonly traffic: TopicTraffic;
  readonly uploaderId: number;
  readonly uploaderEpoch: number;
  /** See `EngineSettings` for these. */
  readonly objectKeyPrefix: string;
  readonly maxSegmentBytes: number;
  readonly commitIntervalMs: number;
  readonly uploadConcurrency: number;
  readonly uploadDeadlineMs: number;
  readonly commitDeadlineMs: number;
  readonly backoff: BackoffSettings;
  readonly requestTimeoutMs: number;
  readonly maxWaitingRequests: number;
  readonly maxWaitingBytes: number;
  readonly commitListener: CommitListener;
  /** A segment's outcome cannot be found out: appending must stop. */
  readonly onFatal: (reason: string) => void;
}

export class AppendService {
  readonly #options: AppendServiceOptions;
  readonly #metrics: AppendMetrics;
  readonly #uploadOutage: Outage;
  readonly #commitOutage: Outage;
  readonly #committedRuns: CommittedRuns;
  readonly #pipeline: SegmentPipeline;
  readonly #writer: SegmentWriter;
  readonly #door: AppendDoor;
  readonly #validation = new TopicValidation();
  #nextPlace = 0;

  constructor(options: AppendServiceOptions) {
    const { recordPool, maxWaitingRequests, maxWaitingBytes } = options;
    this.#options = options;
    this.#metrics = new AppendMetrics(options.meter, options.traffic);
    this.#uploadOutage = new Outage({ ...options, what: 'segment upload' });
    this.#commitOutage = new Outage({ ...options, what: 'segment commit' });
    this.#committedRuns = new CommittedRuns(options);
    this.#pipeline = new SegmentPipeline({
      ...options,
      slabs: recordPool.slabs,
      metrics: this.#metrics,
      uploader: new SegmentUploader({
        ...options,
        outage: this.#uploadOutage,
        keyPrefix: options.objectKeyPrefix,
        deadlineMs: options.uploadDeadlineMs,
      }),
      committer: new SegmentCommitter({
        ...options,
        outage: this.#commitOutage,
        deadlineMs: options.commitDeadlineMs,
      }),
      committedRuns: this.#committedRuns,
    });
    this.#writer = new SegmentWriter({
      ...options,
      pipeline: this.#pipeline,
      onSettled: () => this.#memoryGivenBack(),
      onPartitionsFailed: (partitions, message) =>
        this.#door.refuseWaiting(partitions, Errors.KAFKA_STORAGE_ERROR, message),
    });
    this.#door = new AppendDoor({
      slabs: recordPool.slabs,
      maxWaitingRequests,
      maxWaitingBytes,
      onFull: () => this.#writer.rotate(),
    });
  }

  get counters(): AppendCounters {
    return this.#metrics.counters;
  }

  /** Bytes accepted and not committed, and bytes that wait outside. */
  get backlogBytes(): number {
    return this.#options.recordPool.slabs.leasedBytes('append') + this.#door.waitingBytes;
  }

  /** Why segments cannot be stored or committed just now; undefined while they can, or when nobody has tried lately. */
  get outage(): string | undefined {
    return this.#uploadOutage.reason ?? this.#commitOutage.reason;
  }

  /** Resolves when no request waits for memory: the moment to read more from producers' sockets. */
  whenRoom(): Promise<void> {
    return this.#door.whenRoom();
  }

  /**
   * Results in request order, when each batch is committed or has failed.
   * @throws ApiError INVALID_REQUEST for a duplicate or impossible partition
   */
  async append(partitions: readonly AppendPartition[], options: AppendOptions = {}): Promise<AppendResult[]> {
    checkRequest(partitions);
    if (partitions.length === 0) return [];
    const timeoutMs = options.timeoutMs ?? this.#options.requestTimeoutMs;
    const call = new AppendCall(partitions, (admitted, slabs) => this.#place(admitted, slabs));
    const timer = this.#options.time.setTimer(timeoutMs, () => this.#expire(call, timeoutMs));
    this.#door.enter(call);
    try {
      return await call.answer;
    } finally {
      timer.cancel();
    }
  }

  /** Resolves when everything that was let in before is committed or has failed, and is handed to the fetch side. */
  async flush(): Promise<void> {
    await this.#writer.flush();
    await this.#committedRuns.drained();
  }

  /** Commits what was let in or waits at the door. The engine accepts no more appends by then. */
  async close(): Promise<void> {
    while (this.#door.waitingRequests > 0) {
      this.#writer.rotate();
      await this.#door.whenRoom();
    }
    await this.flush();
  }

  /** Answers everything now and resolves when its bytes are given back. */
  async destroy(cause: Error): Promise<void> {
    const message = `the engine was destroyed before the outcome was known: ${cause.message}`;
    this.#pipeline.abort(cause);
    this.#door.refuseWaiting(undefined, Errors.KAFKA_STORAGE_ERROR, 'the engine was destroyed');
    this.#writer.abort(Errors.REQUEST_TIMED_OUT, message);
    await this.flush();
  }

  /** Copies a request in, starts its validation and reserves its place: in one turn, so that order is arrival order. */
  #place(call: AppendCall, slabs: readonly Slab[]): void {
    const batches = call.entries.map(({ topicIdPartition, records }, index) => {
      const slab = slabs[index]!;
      slab.bytes.set(records);
      const onResult = (result: AppendResult): void => {
        if (result.error !== Errors.NONE) this.#metrics.batchFailed(result.error);
        call.settle(index, result);
      };
      const batch = new PendingBatch({ topicIdPartition, place: this.#nextPlace++, slab, onResult });
      batch.validation = this.#validate(batch, records.length > 0 ? slab.bytes : slab.bytes.subarray(0, 0));
      return batch;
    });
    this.#writer.place(batches, call.sizeBytes);
  }

  /** Settles, never rejects, when no worker reads the batch's bytes any more. */
  async #validate(batch: PendingBatch, records: Uint8Array): Promise<void> {
    try {
      const topic = await this.#topicOf(batch);
      if (!hasPartition(topic, batch)) {
        this.#refuse(batch, Errors.UNKNOWN_TOPIC_OR_PARTITION, 'the topic or partition does not exist');
        return;
      }
      const options = this.#validation.optionsFor(topic.config, this.#options.time.nowMs());
      const { batch: verdict, slab } = await this.#options.recordPool.validate(records, options);
      if (verdict.error === Errors.NONE) batch.accept(verdict, topic.config.timestampType, slab);
      else this.#refuseInvalid(batch, verdict);
    } catch (error) {
      this.#failValidation(batch, error);
    }
  }

  /** A topic or partition that is not known here may have been made by another process a moment ago. */
  #topicOf(batch: PendingBatch): KnownTopic | undefined | Promise<KnownTopic | undefined> {
    const { topicId } = batch.topicIdPartition;
    const known = this.#options.topics.find(topicId);
    return hasPartition(known, batch) ? known : this.#options.topics.refreshed(topicId);
  }

  #refuseInvalid(batch: PendingBatch, { error, message, recordErrors }: ValidatedBatch): void {
    batch.settle(failedAppend(batch.topicIdPartition, error, message, recordErrors));
    batch.release();
    this.#memoryGivenBack();
  }

  #refuse(batch: PendingBatch, error: ErrorCode, message: string): void {
    batch.fail(error, message);
    batch.release();
    this.#memoryGivenBack();
  }

  /** The failure is ours and the producer will send the batch again: what came behind it must not get in before. */
  #failValidation(batch: PendingBatch, error: unknown): void {
    const message = error instanceof ApiError ? error.message : `validation failed: ${String(error)}`;
    this.#options.logger.error({ ...batch.topicIdPartition, error: String(error) }, 'validation failed');
    this.#writer.failLater(new Set([batch.key]), batch.place, message);
    this.#refuse(batch, Errors.KAFKA_STORAGE_ERROR, message);
  }

  #expire(call: AppendCall, timeoutMs: number): void {
    const message = `no memory for it within ${timeoutMs} ms; the storage is slower than the producers`;
    if (!this.#door.expire(call, Errors.REQUEST_TIMED_OUT, message)) call.expire(timeoutMs);
  }

  #memoryGivenBack(): void {
    this.#door.pump();
  }
}

function checkRequest(partitions: readonly AppendPartition[]): void {
  const seen = new Set<PartitionKey>();
  for (const { topicIdPartition, records } of partitions) {
    const { topicId, partition } = topicIdPartition;
    if (!isUuid(topicId)) throw new ApiError('INVALID_REQUEST', `${JSON.stringify(topicId)} is not a topic id`);
    if (!Number.isInteger(partition) || partition < 0) {
      throw new ApiError('INVALID_REQUEST', `partition ${partition} of topic ${topicId} is not a partition number`);
    }
    if (!(records instanceof Uint8Array)) {
      throw new ApiError('INVALID_REQUEST', `the records of ${topicId}-${partition} are not a Uint8Array`);
    }
    const key = partitionKey(topicIdPartition);
    if (seen.has(key)) {
      throw new ApiError(
        'INVALID_REQUEST',
        `partition ${key} stands twice in one request; append them one after another`,
      );
    }
    seen.add(key);
  }
}

function hasPartition(topic: KnownTopic | undefined, { topicIdPartition }: PendingBatch): topic is KnownTopic {
  return topic !== undefined && topicIdPartition.partition < topic.partitions;
}
