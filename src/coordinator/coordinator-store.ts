/**
 * The synchronous inside of the embedded coordinators: what memory and SQLite implement, and what the asynchronous
 * `StoreCoordinator` puts before either of them, in this thread or across a thread boundary. Everything here can be
 * cloned between threads. A store throws `CoordinatorError`; an operation that throws has changed nothing.
 */
import type { ErrorCode } from '../common/errors.ts';
import type { PartitionKey, TopicIdPartition } from '../common/topic-id-partition.ts';
import type { Uuid } from '../common/uuid.ts';
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
} from './diskless-coordinator.ts';
import type { CommittedOffset, StoredGroup } from './group-store.ts';
import type { SharePartitionKey, SharePartitionState, ShareStateWrite } from './share-state-store.ts';
import type { CreateTopicRequest, TopicDescription } from './topic-store.ts';

/** What an operation, or a transaction of several, changed, for the listeners of `onChange`: up to three kinds of changes. */
export interface StoreChanges {
  /** Of the first kind of them; the others have the numbers after it. */
  readonly changeNumber: number;
  readonly highWatermarks: ReadonlyMap<PartitionKey, bigint>;
  readonly logStartOffsets: ReadonlyMap<PartitionKey, bigint>;
  /** Topics as they are now, and ids of those that are gone. */
  readonly topics: readonly TopicDescription[];
  readonly deletedTopics: readonly Uuid[];
}

type Errored = { readonly error: ErrorCode };
type Configs = Readonly<Record<string, string>>;
type ConfigChanges = Readonly<Record<string, string | null>>;

/**
 * The operations of `DisklessCoordinator`, less those that are answered without the store. Commits and object keys were
 * validated before they come here.
 */
export interface CoordinatorStore {
  registerUploader(nodeId: number): { epoch: number };
  commitFile(request: CommitFileRequest): CommitFileResult;
  abandonFile(objectKey: string): AbandonFileResult;
  findBatches(request: FindBatchesRequest): FindBatchesResult[];
  listOffsets(requests: readonly ListOffsetsRequest[]): ListOffsetsResult[];
  deleteRecords(requests: readonly DeleteRecordsRequest[]): DeleteRecordsResult[];
  enforceRetention(request: EnforceRetentionRequest): EnforceRetentionResult;
  filesToDelete(request: { readonly graceMs: number; readonly limit: number }): string[];
  deleteFiles(objectKeys: readonly string[]): void;
  forgetFiles(request: { readonly olderThanMs: number; readonly limit: number }): number;
  describeFiles(objectKeys: readonly string[]): (FileDescription | undefined)[];
  logSizes(topicIds: readonly Uuid[]): (readonly bigint[] | undefined)[];
  describeProducers(partitions: readonly TopicIdPartition[]): ProducerStateDescription[][];
  createTopics(requests: readonly CreateTopicRequest[]): Errored[];
  createPartitions(requests: readonly { readonly topicId: Uuid; readonly partitions: number }[]): Errored[];
  deleteTopics(topicIds: readonly Uuid[]): Errored[];
  alterTopicConfigs(requests: readonly { readonly topicId: Uuid; readonly changes: ConfigChanges }[]): Errored[];
  alterConfigs(scope: string, changes: ConfigChanges): void;
  readConfigs(scope: string): Configs;
  listConfigScopes(prefix: string): string[];
  allocateProducerIdBlock(size: number): { firstProducerId: bigint; size: number };
  loadGroups(): StoredGroup[];
  storeGroup(group: StoredGroup): Errored;
  deleteGroups(groupIds: readonly string[]): void;
  commitOffsets(groupId: string, offsets: readonly CommittedOffset[], fence?: { readonly epoch: number }): Errored[];
  fetchOffsets(groupId: string, partitions?: readonly TopicIdPartition[]): CommittedOffset[];
  deleteOffsets(groupId: string, partitions: readonly TopicIdPartition[]): void;
  readShareStates(keys: readonly SharePartitionKey[]): (SharePartitionState | undefined)[];
  writeShareStates(writes: readonly ShareStateWrite[]): Errored[];
  listSharePartitions(groupId: string): TopicIdPartition[];
}

export type StoreOperation = keyof CoordinatorStore;

/** Operations that write nothing, so that they need no transaction of their own and can be repeated after a failure. */
export const READ_OPERATIONS: ReadonlySet<StoreOperation> = new Set<StoreOperation>([
  'findBatches',
  'listOffsets',
  'filesToDelete',
  'describeFiles',
  'logSizes',
  'describeProducers',
  'readConfigs',
  'listConfigScopes',
  'loadGroups',
  'fetchOffsets',
  'readShareStates',
  'listSharePartitions',
]);

/** Settings that all implementations share. */
export interface CoordinatorSettings {
  /** Adjacent batches become one coordinate up to this many bytes. @default 1 MiB */
  readonly maxCoordinateBytes?: number;
  /**
   * How long a producer may be idle before it counts as never seen; `producer.id.expiration.ms` of the scope `broker`
   * goes before it. Counted on the coordinator's clock; should that be set back to before a producer expired, the producer
   * is known again unless the store has dropped its state meanwhile. @default 24 hours, as in Kafka
   */
  readonly producerIdExpirationMs?: number;
}

/** Of coordinators over a database. */
export interface DatabaseSettings extends CoordinatorSettings {
  /**
   * Whether a database that is new or of an earlier version is brought to this one's; it is refused otherwise.
   * @default true
   */
  readonly mayMigrate?: boolean;
}

/** Collects what an operation, or a transaction of several, changes. */
export class ChangeCollector {
  readonly highWatermarks = new Map<PartitionKey, bigint>();
  readonly logStartOffsets = new Map<PartitionKey, bigint>();
  readonly topics = new Map<Uuid, TopicDescription>();
  readonly deletedTopics = new Set<Uuid>();

  /** How many changes listeners will hear: topics, high watermarks, log start offsets. */
  get kinds(): number {
    const topics = this.topics.size + this.deletedTopics.size;
    return Math.sign(topics) + Math.sign(this.highWatermarks.size) + Math.sign(this.logStartOffsets.size);
  }

  /** Takes in what changed after this. */
  add(later: ChangeCollector): void {
    for (const topicId of later.deletedTopics) this.topicDeleted(topicId);
    for (const topic of later.topics.values()) this.topicSet(topic);
    for (const [key, offset] of later.highWatermarks) this.highWatermarks.set(key, offset);
    for (const [key, offset] of later.logStartOffsets) this.logStartOffsets.set(key, offset);
  }

  topicSet(topic: TopicDescription): void {
    this.deletedTopics.delete(topic.topicId);
    this.topics.set(topic.topicId, topic);
  }

  topicDeleted(topicId: Uuid): void {
    this.topics.delete(topicId);
    this.deletedTopics.add(topicId);
  }

  toChanges(changeNumber: number): StoreChanges {
    return {
      changeNumber,
      highWatermarks: this.highWatermarks,
      logStartOffsets: this.logStartOffsets,
      topics: [...this.topics.values()],
      deletedTopics: [...this.deletedTopics],
    };
  }
}
