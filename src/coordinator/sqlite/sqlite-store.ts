/**
 * The coordinator's operations on SQLite, each inside the transaction that the worker opened around it. Synchronous; owns
 * the caches over the tables, which `forget` empties whenever something was rolled back. Runs in the SQLite worker.
 */
import { type ErrorCode, Errors } from '../../common/errors.ts';
import { partitionKey, type TopicIdPartition } from '../../common/topic-id-partition.ts';
import type { Uuid } from '../../common/uuid.ts';
import { assignOffsets, DEFAULT_MAX_COORDINATE_BYTES } from '../assign-offsets.ts';
import {
  ChangeCollector,
  type CoordinatorSettings,
  type CoordinatorStore,
  type StoreChanges,
} from '../coordinator-store.ts';
import type {
  AbandonFileResult,
  CommitFileRequest,
  CommitFileResult,
  DeleteRecordsRequest,
  DeleteRecordsResult,
  EnforceRetentionRequest,
  EnforceRetentionResult,
  FileDescription,
  FindBatchesRequest,
  FindBatchesResult,
  ListOffsetsRequest,
  ListOffsetsResult,
  ProducerStateDescription,
} from '../diskless-coordinator.ts';
import { FindBudget, findResult } from '../find-budget.ts';
import type { CommittedOffset, StoredGroup } from '../group-store.ts';
import { answerListOffsets, UNKNOWN_LOG } from '../list-offsets.ts';
import { DEFAULT_PRODUCER_ID_EXPIRATION_MS, describeProducers } from '../producer-state.ts';
import { producerIdExpirationMs, retentionLimits } from '../retention.ts';
import type { SharePartitionKey, SharePartitionState, ShareStateWrite } from '../share-state-store.ts';
import { isOldSegment, tooOld } from '../tombstones.ts';
import { applyConfigChanges, validatePartitionCount } from '../topic-rules.ts';
import type { CreateTopicRequest, TopicDescription } from '../topic-store.ts';
import { CoordinateTable } from './coordinate-table.ts';
import type { SqlDatabase } from './driver.ts';
import { FileTable } from './file-table.ts';
import { GroupTable } from './group-table.ts';
import { LogTable, type SqliteLogHead } from './log-table.ts';
import { RetentionSteps } from './retention-steps.ts';
import { TopicTable } from './topic-table.ts';

type Errored = { readonly error: ErrorCode };
type Configs = Readonly<Record<string, string>>;
type ConfigChanges = Readonly<Record<string, string | null>>;

export class SqliteStore implements CoordinatorStore {
  readonly #database: SqlDatabase;
  readonly #nowMs: () => number;
  readonly #settings: Required<CoordinatorSettings>;
  readonly #topics: TopicTable;
  readonly #logs: LogTable;
  readonly #coordinates: CoordinateTable;
  readonly #files: FileTable;
  readonly #groups: GroupTable;
  readonly #retention: RetentionSteps;
  #changeNumber: number;
  #changes = new ChangeCollector();

  /** `nowMs` is the coordinator's clock. */
  constructor(database: SqlDatabase, nowMs: () => number, settings: CoordinatorSettings) {
    this.#database = database;
    this.#nowMs = nowMs;
    this.#settings = {
      maxCoordinateBytes: settings.maxCoordinateBytes ?? DEFAULT_MAX_COORDINATE_BYTES,
      producerIdExpirationMs: settings.producerIdExpirationMs ?? DEFAULT_PRODUCER_ID_EXPIRATION_MS,
    };
    this.#topics = new TopicTable(database);
    this.#logs = new LogTable(database);
    this.#coordinates = new CoordinateTable(database);
    this.#files = new FileTable(database);
    this.#groups = new GroupTable(database);
    this.#retention = new RetentionSteps(database, this.#logs, this.#files);
    this.#changeNumber = this.#storedChangeNumber();
  }

  /** The cluster's id, which the first opening wrote. */
  clusterId(ifNew: Uuid): Uuid {
    this.#database.sql('INSERT INTO cluster SELECT ? WHERE NOT EXISTS (SELECT 1 FROM cluster)').run(ifNew);
    return this.#database.sql('SELECT cluster_id FROM cluster').get()!.cluster_id as Uuid;
  }

  get changeNumber(): number {
    return this.#changeNumber;
  }

  allTopics(): TopicDescription[] {
    return this.#topics.all();
  }

  /** Empties the caches after a rollback. */
  forget(): void {
    this.#logs.forget();
    this.#topics.forget();
    this.#changes = new ChangeCollector();
  }

  #storedChangeNumber(): number {
    return Number(this.#database.sql("SELECT value FROM counters WHERE name = 'change_number'").get()?.value ?? 0);
  }

  /** What changed since the last time it was asked. */
  takeChanges(): ChangeCollector {
    const changes = this.#changes;
    if (changes.kinds > 0) this.#changes = new ChangeCollector();
    return changes;
  }

  /** Gives a transaction's changes their numbers, which become durable with it; once before its COMMIT. */
  numberChanges(changes: ChangeCollector): StoreChanges {
    const numbered = changes.toChanges(this.#changeNumber + 1);
    this.#changeNumber += changes.kinds;
    this.#database.sql("INSERT OR REPLACE INTO counters VALUES ('change_number', ?)").run(this.#changeNumber);
    return numbered;
  }

  registerUploader(nodeId: number): { epoch: number } {
    return this.#topics.registerUploader(nodeId);
  }

  commitFile(request: CommitFileRequest): CommitFileResult {
    const nowMs = this.#nowMs();
    // Nearly all keys are new: whether this one is shows when its row is inserted, unless it must not be.
    if (isOldSegment(request, nowMs)) {
      const earlier = this.#files.earlierResult(request);
      if (earlier) return earlier;
      throw tooOld(request.objectKey);
    }
    const expirationMs = this.#producerIdExpirationMs();
    const { results, logs } = assignOffsets(request.batches, {
      nowMs: BigInt(nowMs),
      maxCoordinateBytes: this.#settings.maxCoordinateBytes,
      producerIdExpirationMs: expirationMs,
      headOf: (of) => this.#logs.head(of),
    });
    const live = { bytes: 0, coordinates: 0 };
    for (const { coordinates } of logs) {
      live.coordinates += coordinates.length;
      for (const { size } of coordinates) live.bytes += size;
    }
    const result = { batches: results };
    const fileId = this.#files.addCommitted(request, result, live, nowMs);
    if (fileId === undefined) return this.#files.earlierResult(request)!;
    for (const log of logs) {
      this.#logs.append(fileId, log, expirationMs, BigInt(nowMs));
      this.#changes.highWatermarks.set(partitionKey(log.head.topicIdPartition), log.highWatermark);
    }
    return result;
  }

  #producerIdExpirationMs(): number {
    return producerIdExpirationMs(this.readConfigs('broker'), this.#settings.producerIdExpirationMs);
  }

  abandonFile(objectKey: string): AbandonFileResult {
    return this.#files.abandon(objectKey, this.#nowMs());
  }

  findBatches(request: FindBatchesRequest): FindBatchesResult[] {
    const budget = new FindBudget(request);
    return request.partitions.map(({ topicIdPartition, fetchOffset, maxBytes }) => {
      const head = this.#logs.head(topicIdPartition);
      if (!head) return findResult(Errors.UNKNOWN_TOPIC_OR_PARTITION);
      if (fetchOffset < head.logStartOffset || fetchOffset > head.highWatermark) {
        return findResult(Errors.OFFSET_OUT_OF_RANGE, head);
      }
      const found = fetchOffset === head.highWatermark ? [] : this.#coordinates.from(head.logId, fetchOffset);
      return { ...findResult(Errors.NONE, head), coordinates: budget.take(maxBytes, fetchOffset, found) };
    });
  }

  listOffsets(requests: readonly ListOffsetsRequest[]): ListOffsetsResult[] {
    return requests.map((request) => {
      const head = this.#logs.head(request.topicIdPartition);
      return head ? answerListOffsets(this.#coordinates.forListOffsets(head), request) : UNKNOWN_LOG;
    });
  }

  deleteRecords(requests: readonly DeleteRecordsRequest[]): DeleteRecordsResult[] {
    return requests.map(({ topicIdPartition, beforeOffset }) => {
      const head = this.#logs.head(topicIdPartition);
      if (!head) return { error: Errors.UNKNOWN_TOPIC_OR_PARTITION, lowWatermark: -1n };
      const target = beforeOffset === -1n ? head.highWatermark : beforeOffset;
      if (target < 0n || target > head.highWatermark) return { error: Errors.OFFSET_OUT_OF_RANGE, lowWatermark: -1n };
      if (target > head.logStartOffset) this.#moveLogStart(head, target);
      return { error: Errors.NONE, lowWatermark: head.logStartOffset };
    });
  }

  #moveLogStart(head: SqliteLogHead, offset: bigint): void {
    head.logStartOffset = offset;
    this.#database.sql('UPDATE logs SET log_start_offset = ?, trim = 1 WHERE log_id = ?').run(offset, head.logId);
    this.#noteLogStart(head);
  }

  #noteLogStart({ topicIdPartition, logStartOffset }: SqliteLogHead): void {
    this.#changes.logStartOffsets.set(partitionKey(topicIdPartition), logStartOffset);
  }

  enforceRetention({ maxCoordinates }: EnforceRetentionRequest): EnforceRetentionResult {
    const broker = this.readConfigs('broker');
    return this.#retention.step({
      maxCoordinates,
      nowMs: this.#nowMs(),
      producerIdExpirationMs: this.#producerIdExpirationMs(),
      limitsOf: (topicId) => retentionLimits(this.#topics.get(topicId)?.configs ?? {}, broker),
      onLogStart: (head) => this.#noteLogStart(head),
    });
  }

  filesToDelete({ graceMs, limit }: { readonly graceMs: number; readonly limit: number }): string[] {
    return this.#files.toDelete(this.#nowMs() - graceMs, limit);
  }
  deleteFiles(objectKeys: readonly string[]): void {
    this.#files.markDeleted(objectKeys, this.#nowMs());
  }
  forgetFiles({ olderThanMs, limit }: { readonly olderThanMs: number; readonly limit: number }): number {
    return this.#files.forget(this.#nowMs() - olderThanMs, limit);
  }
  describeFiles(objectKeys: readonly string[]): (FileDescription | undefined)[] {
    return objectKeys.map((key) => this.#files.describe(key));
  }

  logSizes(topicIds: readonly Uuid[]): (readonly bigint[] | undefined)[] {
    return topicIds.map((topicId) => (this.#topics.get(topicId) ? this.#logs.sizes(topicId) : undefined));
  }

  describeProducers(partitions: readonly TopicIdPartition[]): ProducerStateDescription[][] {
    const nowMs = BigInt(this.#nowMs());
    const expirationMs = this.#producerIdExpirationMs();
    return partitions.map((of) => describeProducers(this.#logs.head(of)?.producers ?? new Map(), nowMs, expirationMs));
  }

  createTopics(requests: readonly CreateTopicRequest[]): Errored[] {
    return requests.map((request) => {
      const topic = this.#topics.create(request);
      if (!topic) return { error: Errors.TOPIC_ALREADY_EXISTS };
      this.#logs.create(topic.topicId, 0, topic.partitions);
      this.#noteTopic(topic);
      return { error: Errors.NONE };
    });
  }

  #noteTopic(topic: TopicDescription): void {
    this.#changes.topicSet(topic);
  }

  createPartitions(requests: readonly { readonly topicId: Uuid; readonly partitions: number }[]): Errored[] {
    return requests.map(({ topicId, partitions }) => {
      validatePartitionCount(partitions);
      const topic = this.#topics.get(topicId);
      if (!topic) return { error: Errors.UNKNOWN_TOPIC_OR_PARTITION };
      if (partitions <= topic.partitions) return { error: Errors.INVALID_PARTITIONS };
      this.#logs.create(topicId, topic.partitions, partitions);
      this.#update({ ...topic, partitions });
      return { error: Errors.NONE };
    });
  }

  #update(topic: TopicDescription): void {
    this.#topics.update(topic);
    this.#noteTopic(topic);
  }

  deleteTopics(topicIds: readonly Uuid[]): Errored[] {
    return topicIds.map((topicId) => {
      const topic = this.#topics.get(topicId);
      const result = this.#topics.delete(topicId);
      if (!topic) return result;
      for (let partition = 0; partition < topic.partitions; partition += 1) {
        this.#logs.forgetOne({ topicId, partition });
      }
      this.#changes.topicDeleted(topicId);
      return result;
    });
  }

  alterTopicConfigs(requests: readonly { readonly topicId: Uuid; readonly changes: ConfigChanges }[]): Errored[] {
    return requests.map(({ topicId, changes }) => {
      const topic = this.#topics.get(topicId);
      if (!topic) return { error: Errors.UNKNOWN_TOPIC_ID };
      this.#update({ ...topic, configs: applyConfigChanges(topic.configs, changes) });
      return { error: Errors.NONE };
    });
  }

  alterConfigs(scope: string, changes: ConfigChanges): void {
    this.#topics.alterConfigs(scope, changes);
  }
  readConfigs(scope: string): Configs {
    return this.#topics.readConfigs(scope);
  }
  listConfigScopes(prefix: string): string[] {
    return this.#topics.listConfigScopes(prefix);
  }
  allocateProducerIdBlock(size: number): { firstProducerId: bigint; size: number } {
    return this.#topics.allocateProducerIdBlock(size);
  }

  loadGroups(): StoredGroup[] {
    return this.#groups.loadGroups();
  }
  storeGroup(group: StoredGroup): Errored {
    return this.#groups.storeGroup(group);
  }
  deleteGroups(groupIds: readonly string[]): void {
    this.#groups.deleteGroups(groupIds);
  }
  commitOffsets(groupId: string, offsets: readonly CommittedOffset[], fence?: { readonly epoch: number }): Errored[] {
    return this.#groups.commitOffsets(groupId, offsets, fence, (of) => this.#exists(of));
  }

  #exists({ topicId, partition }: TopicIdPartition): boolean {
    return partition >= 0 && partition < (this.#topics.get(topicId)?.partitions ?? 0);
  }

  fetchOffsets(groupId: string, partitions?: readonly TopicIdPartition[]): CommittedOffset[] {
    return this.#groups.fetchOffsets(groupId, partitions);
  }
  deleteOffsets(groupId: string, partitions: readonly TopicIdPartition[]): void {
    this.#groups.deleteOffsets(groupId, partitions);
  }
  readShareStates(keys: readonly SharePartitionKey[]): (SharePartitionState | undefined)[] {
    return this.#groups.readShareStates(keys);
  }
  writeShareStates(writes: readonly ShareStateWrite[]): Errored[] {
    return this.#groups.writeShareStates(writes, (of) => this.#exists(of));
  }
  listSharePartitions(groupId: string): TopicIdPartition[] {
    return this.#groups.listSharePartitions(groupId);
  }
}
