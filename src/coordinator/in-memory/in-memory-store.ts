/**
 * The coordinator's state in plain maps and arrays: the readable reference model that the other implementations are
 * compared with. Nothing here is fast on purpose, and nothing outlives the process.
 */
import { type ErrorCode, Errors } from '../../common/errors.ts';
import { type PartitionKey, partitionKey, type TopicIdPartition } from '../../common/topic-id-partition.ts';
import type { Uuid } from '../../common/uuid.ts';
import { applyStaged, assignOffsets, DEFAULT_MAX_COORDINATE_BYTES, type StagedLog } from '../assign-offsets.ts';
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
import { breaches, PARTITIONS_PER_RETENTION_STEP, producerIdExpirationMs, retentionLimits } from '../retention.ts';
import type { SharePartitionKey, SharePartitionState, ShareStateWrite } from '../share-state-store.ts';
import { isOldSegment, tooOld } from '../tombstones.ts';
import { applyConfigChanges, validateBlockSize, validatePartitionCount } from '../topic-rules.ts';
import type { CreateTopicRequest, TopicDescription } from '../topic-store.ts';
import { InMemoryFiles } from './in-memory-files.ts';
import { InMemoryGroups } from './in-memory-groups.ts';
import { InMemoryLog, toBatchCoordinate } from './in-memory-log.ts';

type Errored = { readonly error: ErrorCode };
type Configs = Readonly<Record<string, string>>;
type ConfigChanges = Readonly<Record<string, string | null>>;

export class InMemoryStore implements CoordinatorStore {
  readonly #nowMs: () => number;
  readonly #settings: Required<CoordinatorSettings>;
  readonly #topics = new Map<Uuid, TopicDescription>();
  readonly #logs = new Map<PartitionKey, InMemoryLog>();
  /** Logs of deleted topics whose coordinates are still to be dropped. */
  readonly #deadLogs: InMemoryLog[] = [];
  readonly #files = new InMemoryFiles();
  readonly #groups = new InMemoryGroups();
  readonly #configs = new Map<string, Configs>();
  readonly #uploaderEpochs = new Map<number, number>();
  #nextProducerId = 0n;
  #changeNumber = 0;
  #changes = new ChangeCollector();
  /** Logs that this pass of retention has not looked at yet; undefined between passes. */
  #retentionPass: InMemoryLog[] | undefined;

  constructor(nowMs: () => number, settings: CoordinatorSettings = {}) {
    this.#nowMs = nowMs;
    this.#settings = {
      maxCoordinateBytes: settings.maxCoordinateBytes ?? DEFAULT_MAX_COORDINATE_BYTES,
      producerIdExpirationMs: settings.producerIdExpirationMs ?? DEFAULT_PRODUCER_ID_EXPIRATION_MS,
    };
  }

  /** What changed since the last call, or undefined. */
  takeChanges(): StoreChanges | undefined {
    const { kinds } = this.#changes;
    if (kinds === 0) return undefined;
    const changes = this.#changes.toChanges(this.#changeNumber + 1);
    this.#changeNumber += kinds;
    this.#changes = new ChangeCollector();
    return changes;
  }

  registerUploader(nodeId: number): { epoch: number } {
    const epoch = (this.#uploaderEpochs.get(nodeId) ?? 0) + 1;
    this.#uploaderEpochs.set(nodeId, epoch);
    return { epoch };
  }

  commitFile(request: CommitFileRequest): CommitFileResult {
    const earlier = this.#files.earlierResult(request);
    if (earlier) return earlier;
    const nowMs = this.#nowMs();
    if (isOldSegment(request, nowMs)) throw tooOld(request.objectKey);
    const { results, logs } = assignOffsets(request.batches, {
      nowMs: BigInt(nowMs),
      maxCoordinateBytes: this.#settings.maxCoordinateBytes,
      producerIdExpirationMs: this.#producerIdExpirationMs(),
      headOf: (of) => this.#logs.get(partitionKey(of)),
    });
    for (const log of logs) this.#append(request.objectKey, log);
    const coordinates = logs.flatMap((log) => log.coordinates);
    const bytes = coordinates.reduce((sum, { size }) => sum + size, 0);
    const result = { batches: results };
    this.#files.addCommitted(request, result, { bytes, coordinates: coordinates.length }, nowMs);
    return result;
  }

  #append(objectKey: string, staged: StagedLog): void {
    const log = staged.head as InMemoryLog;
    for (const coordinate of staged.coordinates) log.add(objectKey, coordinate);
    applyStaged(staged);
    this.#changes.highWatermarks.set(partitionKey(log.topicIdPartition), log.highWatermark);
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
      const log = this.#logs.get(partitionKey(topicIdPartition));
      if (!log) return findResult(Errors.UNKNOWN_TOPIC_OR_PARTITION);
      if (fetchOffset < log.logStartOffset || fetchOffset > log.highWatermark) {
        return findResult(Errors.OFFSET_OUT_OF_RANGE, log);
      }
      const coordinates = budget.take(maxBytes, fetchOffset, log.from(fetchOffset));
      return { ...findResult(Errors.NONE, log), coordinates: coordinates.map((c) => toBatchCoordinate(c as never)) };
    });
  }

  listOffsets(requests: readonly ListOffsetsRequest[]): ListOffsetsResult[] {
    return requests.map((request) => {
      const log = this.#logs.get(partitionKey(request.topicIdPartition));
      return log ? answerListOffsets(log, request) : UNKNOWN_LOG;
    });
  }

  deleteRecords(requests: readonly DeleteRecordsRequest[]): DeleteRecordsResult[] {
    return requests.map(({ topicIdPartition, beforeOffset }) => {
      const log = this.#logs.get(partitionKey(topicIdPartition));
      if (!log) return { error: Errors.UNKNOWN_TOPIC_OR_PARTITION, lowWatermark: -1n };
      const target = beforeOffset === -1n ? log.highWatermark : beforeOffset;
      if (target < 0n || target > log.highWatermark) return { error: Errors.OFFSET_OUT_OF_RANGE, lowWatermark: -1n };
      if (target > log.logStartOffset) this.#moveLogStart(log, target);
      return { error: Errors.NONE, lowWatermark: log.logStartOffset };
    });
  }

  #moveLogStart(log: InMemoryLog, offset: bigint): void {
    log.logStartOffset = offset;
    this.#changes.logStartOffsets.set(partitionKey(log.topicIdPartition), offset);
  }

  enforceRetention({ maxCoordinates }: EnforceRetentionRequest): EnforceRetentionResult {
    const step = { coordinatesDeleted: 0, bytesDeleted: 0, partitions: [] as TopicIdPartition[], left: maxCoordinates };
    const drop = (log: InMemoryLog): void => {
      const { objectKey, size } = log.coordinates.shift()!;
      this.#files.dropCoordinate(objectKey, size, this.#nowMs());
      step.coordinatesDeleted += 1;
      step.bytesDeleted += size;
      step.left -= 1;
    };
    for (const log of this.#deadLogs) while (step.left > 0 && log.coordinates.length > 0) drop(log);
    while (this.#deadLogs[0]?.coordinates.length === 0) this.#deadLogs.shift();
    for (const log of this.#logs.values()) {
      while (step.left > 0 && log.coordinates[0] && log.coordinates[0].lastOffset < log.logStartOffset) drop(log);
    }
    this.#retentionPass ??= [...this.#logs.values()];
    for (let looked = 0; step.left > 0 && looked < PARTITIONS_PER_RETENTION_STEP; looked += 1) {
      const log = this.#retentionPass[0];
      if (!log) break;
      if (this.#retain(log, drop, () => step.left > 0)) step.partitions.push(log.topicIdPartition);
      if (step.left > 0) this.#retentionPass.shift();
    }
    const more = step.left === 0 || this.#retentionPass.length > 0;
    if (!more) this.#retentionPass = undefined;
    const { left, ...result } = step;
    return { ...result, more };
  }

  /** Drops what breaches the log's limits while it may; tells whether the log start offset moved. */
  #retain(log: InMemoryLog, drop: (log: InMemoryLog) => void, mayDrop: () => boolean): boolean {
    const topic = this.#topics.get(log.topicIdPartition.topicId);
    if (!topic) return false;
    const limits = retentionLimits(topic.configs, this.readConfigs('broker'));
    const nowMs = BigInt(this.#nowMs());
    let start = log.logStartOffset;
    for (let oldest = log.coordinates[0]; oldest && mayDrop(); oldest = log.coordinates[0]) {
      if (!breaches(oldest, log.bytes, limits, nowMs)) break;
      start = oldest.lastOffset + 1n;
      drop(log);
    }
    if (start === log.logStartOffset) return false;
    this.#moveLogStart(log, start);
    return true;
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
    return topicIds.map((topicId) => {
      const topic = this.#topics.get(topicId);
      const sizeOf = (partition: number): bigint => this.#logs.get(partitionKey({ topicId, partition }))!.bytes;
      return topic && Array.from({ length: topic.partitions }, (_, partition) => sizeOf(partition));
    });
  }

  describeProducers(partitions: readonly TopicIdPartition[]): ProducerStateDescription[][] {
    const nowMs = BigInt(this.#nowMs());
    const expirationMs = this.#producerIdExpirationMs();
    const producersOf = (of: TopicIdPartition) => this.#logs.get(partitionKey(of))?.producers ?? new Map();
    return partitions.map((of) => describeProducers(producersOf(of), nowMs, expirationMs));
  }

  createTopics(requests: readonly CreateTopicRequest[]): Errored[] {
    for (const { partitions } of requests) validatePartitionCount(partitions);
    return requests.map((request) => {
      const taken = [...this.#topics.values()].some(
        ({ name, topicId }) => name === request.name || topicId === request.topicId,
      );
      if (taken) return { error: Errors.TOPIC_ALREADY_EXISTS };
      this.#setTopic({ ...request, configs: { ...request.configs } });
      return { error: Errors.NONE };
    });
  }

  #setTopic(topic: TopicDescription): void {
    this.#topics.set(topic.topicId, topic);
    this.#changes.topicSet(topic);
    for (let partition = 0; partition < topic.partitions; partition += 1) {
      const of = { topicId: topic.topicId, partition };
      if (!this.#logs.has(partitionKey(of))) this.#logs.set(partitionKey(of), new InMemoryLog(of));
    }
  }

  createPartitions(requests: readonly { readonly topicId: Uuid; readonly partitions: number }[]): Errored[] {
    for (const { partitions } of requests) validatePartitionCount(partitions);
    return requests.map(({ topicId, partitions }) => {
      const topic = this.#topics.get(topicId);
      if (!topic) return { error: Errors.UNKNOWN_TOPIC_OR_PARTITION };
      if (partitions <= topic.partitions) return { error: Errors.INVALID_PARTITIONS };
      this.#setTopic({ ...topic, partitions });
      return { error: Errors.NONE };
    });
  }

  deleteTopics(topicIds: readonly Uuid[]): Errored[] {
    return topicIds.map((topicId) => {
      if (!this.#topics.delete(topicId)) return { error: Errors.UNKNOWN_TOPIC_ID };
      this.#changes.topicDeleted(topicId);
      this.#groups.deleteTopic(topicId);
      for (const [key, log] of this.#logs) {
        if (log.topicIdPartition.topicId !== topicId) continue;
        this.#logs.delete(key);
        this.#deadLogs.push(log);
      }
      return { error: Errors.NONE };
    });
  }

  alterTopicConfigs(requests: readonly { readonly topicId: Uuid; readonly changes: ConfigChanges }[]): Errored[] {
    return requests.map(({ topicId, changes }) => {
      const topic = this.#topics.get(topicId);
      if (!topic) return { error: Errors.UNKNOWN_TOPIC_ID };
      this.#setTopic({ ...topic, configs: applyConfigChanges(topic.configs, changes) });
      return { error: Errors.NONE };
    });
  }

  alterConfigs(scope: string, changes: ConfigChanges): void {
    this.#configs.set(scope, applyConfigChanges(this.readConfigs(scope), changes));
  }
  readConfigs(scope: string): Configs {
    return this.#configs.get(scope) ?? {};
  }

  listConfigScopes(prefix: string): string[] {
    const isSet = (scope: string): boolean => Object.keys(this.readConfigs(scope)).length > 0;
    return [...this.#configs.keys()].filter((scope) => scope.startsWith(prefix) && isSet(scope));
  }

  allocateProducerIdBlock(size: number): { firstProducerId: bigint; size: number } {
    validateBlockSize(size);
    const firstProducerId = this.#nextProducerId;
    this.#nextProducerId += BigInt(size);
    return { firstProducerId, size };
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
  #exists(of: TopicIdPartition): boolean {
    return this.#logs.has(partitionKey(of));
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
