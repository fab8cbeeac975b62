/**
 * A `DisklessCoordinator` over a `CoordinatorStore` that lives elsewhere: it forwards the operations, keeps the list of
 * topics for `listTopics`, and tells listeners what changed. Main thread; whoever constructs it closes it.
 */
import { once } from '../common/lifecycle.ts';
import type { TopicIdPartition } from '../common/topic-id-partition.ts';
import type { Uuid } from '../common/uuid.ts';
import { validateCommit, validateObjectKey } from './commit-validation.ts';
import type { CoordinatorStore, StoreChanges, StoreOperation } from './coordinator-store.ts';
import {
  type AbandonFileResult,
  type CommitFileRequest,
  type CommitFileResult,
  type CoordinatorChange,
  CoordinatorError,
  type DeleteRecordsRequest,
  type DisklessCoordinator,
  type EnforceRetentionRequest,
  type FindBatchesRequest,
  type ListOffsetsRequest,
} from './diskless-coordinator.ts';
import type { CommittedOffset, StoredGroup } from './group-store.ts';
import { inPortions } from './in-portions.ts';
import type { SharePartitionKey, ShareStateWrite } from './share-state-store.ts';
import { validateTombstoneAge } from './tombstones.ts';
import { validateConfigs } from './topic-rules.ts';
import type { CreateTopicRequest, TopicDescription } from './topic-store.ts';

export type StoreResult<O extends StoreOperation> = ReturnType<CoordinatorStore[O]>;

/** How operations reach the store. */
export interface StoreTransport {
  /** Aborts when no call will be answered any more, although nobody closed it; left out where that cannot be. */
  readonly failed?: AbortSignal;
  /** Settles when the operation is durable. `changes` have been handed to `onChanges` before it resolves. */
  call<O extends StoreOperation>(operation: O, args: Parameters<CoordinatorStore[O]>): Promise<StoreResult<O>>;
  close(): Promise<void>;
}

export interface StoreCoordinatorOptions {
  readonly description: string;
  readonly clusterId: Uuid;
  readonly topics: readonly TopicDescription[];
  /** The last change number that the store gave out. */
  readonly changeNumber: number;
  readonly transport: StoreTransport;
}

type Configs = Readonly<Record<string, string>>;
type ConfigChanges = Readonly<Record<string, string | null>>;

export class StoreCoordinator implements DisklessCoordinator {
  readonly description: string;
  readonly clusterId: Uuid;
  readonly #transport: StoreTransport;
  readonly #topics: Map<Uuid, TopicDescription>;
  #sortedTopics: readonly TopicDescription[] | undefined;
  #changeNumber: number;
  readonly #listeners = new Set<(change: CoordinatorChange) => void>();
  #closed = false;

  constructor(options: StoreCoordinatorOptions) {
    this.description = options.description;
    this.clusterId = options.clusterId;
    this.#transport = options.transport;
    this.#topics = new Map(options.topics.map((topic) => [topic.topicId, topic]));
    this.#changeNumber = options.changeNumber;
  }

  get failed(): AbortSignal | undefined {
    return this.#transport.failed;
  }

  async #call<O extends StoreOperation>(
    operation: O,
    ...args: Parameters<CoordinatorStore[O]>
  ): Promise<StoreResult<O>> {
    if (this.#closed) throw new CoordinatorError('closed', 'the coordinator is closed');
    return this.#transport.call(operation, args);
  }

  registerUploader(nodeId: number) {
    return this.#call('registerUploader', nodeId);
  }
  async commitFile(request: CommitFileRequest): Promise<CommitFileResult> {
    validateCommit(request);
    return this.#call('commitFile', request);
  }
  async abandonFile(objectKey: string): Promise<AbandonFileResult> {
    validateObjectKey(objectKey);
    return this.#call('abandonFile', objectKey);
  }
  findBatches(request: FindBatchesRequest) {
    return this.#call('findBatches', request);
  }
  listOffsets(requests: readonly ListOffsetsRequest[]) {
    return inPortions(requests, (some) => this.#call('listOffsets', some));
  }
  deleteRecords(requests: readonly DeleteRecordsRequest[]) {
    return inPortions(requests, (some) => this.#call('deleteRecords', some));
  }
  enforceRetention(request: EnforceRetentionRequest) {
    return this.#call('enforceRetention', request);
  }
  filesToDelete(request: { readonly graceMs: number; readonly limit: number }) {
    return this.#call('filesToDelete', request);
  }
  deleteFiles(objectKeys: readonly string[]) {
    return this.#call('deleteFiles', objectKeys);
  }
  async forgetFiles(request: { readonly olderThanMs: number; readonly limit: number }) {
    validateTombstoneAge(request.olderThanMs);
    return this.#call('forgetFiles', request);
  }
  describeFiles(objectKeys: readonly string[]) {
    return this.#call('describeFiles', objectKeys);
  }
  logSizes(topicIds: readonly Uuid[]) {
    return this.#call('logSizes', topicIds);
  }
  describeProducers(partitions: readonly TopicIdPartition[]) {
    return inPortions(partitions, (some) => this.#call('describeProducers', some));
  }
  async createTopics(requests: readonly CreateTopicRequest[]) {
    for (const { configs } of requests) validateConfigs(configs);
    return this.#call('createTopics', requests);
  }
  createPartitions(requests: readonly { readonly topicId: Uuid; readonly partitions: number }[]) {
    return this.#call('createPartitions', requests);
  }
  deleteTopics(topicIds: readonly Uuid[]) {
    return this.#call('deleteTopics', topicIds);
  }
  async alterTopicConfigs(requests: readonly { readonly topicId: Uuid; readonly changes: ConfigChanges }[]) {
    for (const { changes } of requests) validateConfigs(changes);
    return this.#call('alterTopicConfigs', requests);
  }
  async alterConfigs(scope: string, changes: ConfigChanges) {
    validateConfigs(changes);
    return this.#call('alterConfigs', scope, changes);
  }
  readConfigs(scope: string): Promise<Configs> {
    return this.#call('readConfigs', scope);
  }
  listConfigScopes(prefix: string) {
    return this.#call('listConfigScopes', prefix);
  }
  allocateProducerIdBlock(size: number) {
    return this.#call('allocateProducerIdBlock', size);
  }
  loadGroups() {
    return this.#call('loadGroups');
  }
  storeGroup(group: StoredGroup) {
    return this.#call('storeGroup', group);
  }
  deleteGroups(groupIds: readonly string[]) {
    return this.#call('deleteGroups', groupIds);
  }
  commitOffsets(groupId: string, offsets: readonly CommittedOffset[], fence?: { readonly epoch: number }) {
    return this.#call('commitOffsets', groupId, offsets, fence);
  }
  fetchOffsets(groupId: string, partitions?: readonly TopicIdPartition[]) {
    return this.#call('fetchOffsets', groupId, partitions);
  }
  deleteOffsets(groupId: string, partitions: readonly TopicIdPartition[]) {
    return this.#call('deleteOffsets', groupId, partitions);
  }
  readShareStates(keys: readonly SharePartitionKey[]) {
    return this.#call('readShareStates', keys);
  }
  writeShareStates(writes: readonly ShareStateWrite[]) {
    return this.#call('writeShareStates', writes);
  }
  listSharePartitions(groupId: string) {
    return this.#call('listSharePartitions', groupId);
  }

  async listTopics(): Promise<readonly TopicDescription[]> {
    if (this.#closed) throw new CoordinatorError('closed', 'the coordinator is closed');
    this.#sortedTopics ??= [...this.#topics.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
    return this.#sortedTopics;
  }

  onChange(listener: (change: CoordinatorChange) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Called by the transport for what became durable together, before those operations resolve. */
  applyChanges(changes: StoreChanges): void {
    const { highWatermarks, logStartOffsets } = changes;
    this.#changeNumber = changes.changeNumber - 1;
    if (changes.topics.length > 0 || changes.deletedTopics.length > 0) {
      this.#applyTopics(changes);
      this.#emit({ kind: 'topics', changeNumber: ++this.#changeNumber });
    }
    if (highWatermarks.size > 0) this.#emit({ kind: 'commit', changeNumber: ++this.#changeNumber, highWatermarks });
    if (logStartOffsets.size > 0)
      this.#emit({ kind: 'log-start', changeNumber: ++this.#changeNumber, logStartOffsets });
  }

  /** Called by the transport when it may have missed something: whoever waits must look again. */
  probe(): void {
    this.#emit({ kind: 'probe', changeNumber: this.#changeNumber });
  }

  #applyTopics({ topics, deletedTopics }: StoreChanges): void {
    for (const topicId of deletedTopics) this.#topics.delete(topicId);
    for (const topic of topics) this.#topics.set(topic.topicId, topic);
    this.#sortedTopics = undefined;
  }

  #emit(change: CoordinatorChange): void {
    for (const listener of this.#listeners) listener(change);
  }

  readonly close = once(async (): Promise<void> => {
    this.#closed = true;
    await this.#transport.close();
  });

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
