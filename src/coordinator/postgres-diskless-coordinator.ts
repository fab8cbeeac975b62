/**
 * The Diskless Coordinator in PostgreSQL, shared by many brokers: whoever asks last sees what anybody committed. Commits
 * are one round trip to a database function; an outcome that was lost with its connection is found out by repeating the
 * commit, which is idempotent by object key. Main thread; whoever opens it closes it.
 */
import type { ConnectionOptions as TlsOptions } from 'node:tls';
import { once } from '../common/lifecycle.ts';
import { type Logger, silentLogger } from '../common/logger.ts';
import { type Random, systemRandom } from '../common/random.ts';
import { systemTime, type Time } from '../common/time.ts';
import { partitionKey, type TopicIdPartition } from '../common/topic-id-partition.ts';
import { randomUuid, type Uuid } from '../common/uuid.ts';
import { DEFAULT_MAX_COORDINATE_BYTES } from './assign-offsets.ts';
import { validateCommit, validateObjectKey } from './commit-validation.ts';
import type { CoordinatorSettings, DatabaseSettings } from './coordinator-store.ts';
import {
  type AbandonFileResult,
  type CommitFileRequest,
  type CommitFileResult,
  type CoordinatorChange,
  CoordinatorError,
  type DeleteRecordsRequest,
  type DeleteRecordsResult,
  type DisklessCoordinator,
  type EnforceRetentionRequest,
  type EnforceRetentionResult,
  type FindBatchesRequest,
  type ListOffsetsRequest,
} from './diskless-coordinator.ts';
import type { CommittedOffset, StoredGroup } from './group-store.ts';
import { inPortions } from './in-portions.ts';
import { ChangeFeed, type ForeignChange } from './postgres/change-feed.ts';
import { abandonAnswer, commitAnswer, commitQuery, highWatermarks } from './postgres/commit.ts';
import { CommitPlan } from './postgres/commit-plan.ts';
import { Connections, toCoordinatorError } from './postgres/connections.ts';
import { deleteFiles, describeFiles, filesToDelete, forgetFiles } from './postgres/files.ts';
import { PostgresGroups } from './postgres/groups.ts';
import { describeProducers, findBatches, listOffsets, logSizes, partitionArrays } from './postgres/lookups.ts';
import { prepareDatabase } from './postgres/prepare-database.ts';
import { PostgresRetention } from './postgres/retention-steps.ts';
import { PostgresTopics } from './postgres/topics.ts';
import { DEFAULT_PRODUCER_ID_EXPIRATION_MS } from './producer-state.ts';
import { producerIdExpirationMs } from './retention.ts';
import type { SharePartitionKey, ShareStateWrite } from './share-state-store.ts';
import { validateTombstoneAge } from './tombstones.ts';
import { validateConfigs } from './topic-rules.ts';
import type { CreateTopicRequest, TopicDescription } from './topic-store.ts';

export interface PostgresCoordinatorOptions extends DatabaseSettings {
  /**
   * `postgres://user:password@host:port/database`. TLS with `?sslmode=verify-full` (and `&sslrootcert=FILE` for an authority
   * that Node does not know): encrypted, certificate and host name checked. `require`, `prefer` and `verify-ca` mean the same;
   * `no-verify` encrypts without checking, `disable` does neither, which is the default.
   */
  readonly connectionString: string;
  /** TLS settings of node:tls (`ca`, `cert`, `key`, …) where the connection string's do not suffice. */
  readonly ssl?: boolean | TlsOptions;
  /** The schema that holds the tables; created where it is missing. Lower case letters, digits and _. @default 'shoal' */
  readonly schema?: string;
  /** @default 10 */
  readonly maxConnections?: number;
  /** How long to wait for a connection. @default 10,000 */
  readonly connectTimeoutMs?: number;
  /** How long a statement may take on the server. @default 30,000 */
  readonly statementTimeoutMs?: number;
  /** The coordinator's clock. @default the database's own, which all brokers share */
  readonly time?: Time;
  readonly random?: Random;
  readonly logger?: Logger;
  /** The cluster's id if the schema is new. @default a random one */
  readonly clusterId?: Uuid;
}

type ConfigChanges = Readonly<Record<string, string | null>>;

const DEFAULT_STATEMENT_TIMEOUT_MS = 30_000;

/**
 * Opens the coordinator, creating or migrating its schema.
 * @throws CoordinatorError `unavailable`, with one line that says what to do
 */
export async function openPostgresCoordinator(options: PostgresCoordinatorOptions): Promise<DisklessCoordinator> {
  const schema = options.schema ?? 'shoal';
  if (!/^[a-z_][a-z0-9_]{0,49}$/.test(schema)) {
    throw new CoordinatorError('invalid', `schema "${schema}": lower case letters, digits and _ expected, at most 50`);
  }
  const connections = await Connections.create(
    {
      connectionString: options.connectionString,
      ...(options.ssl === undefined ? {} : { ssl: options.ssl }),
      schema,
      maxConnections: options.maxConnections ?? 10,
      connectTimeoutMs: options.connectTimeoutMs ?? 10_000,
      statementTimeoutMs: options.statementTimeoutMs ?? DEFAULT_STATEMENT_TIMEOUT_MS,
    },
    systemTime,
  );
  const random = options.random ?? systemRandom;
  try {
    const { clusterId, changeNumber } = await prepareDatabase(connections, {
      schema,
      clusterIdIfNew: options.clusterId ?? randomUuid(random),
      mayMigrate: options.mayMigrate ?? true,
    });
    const identity = { clusterId, changeNumber, origin: randomUuid(random), schema };
    const coordinator = new PostgresDisklessCoordinator(options, connections, identity);
    await coordinator.open();
    return coordinator;
  } catch (error) {
    await connections.close();
    throw toCoordinatorError(error);
  }
}

interface Identity {
  readonly clusterId: Uuid;
  readonly changeNumber: number;
  /** This process among those on the same database. */
  readonly origin: Uuid;
  readonly schema: string;
}

class PostgresDisklessCoordinator implements DisklessCoordinator {
  readonly description: string;
  readonly clusterId: Uuid;
  readonly #time: Time | undefined;
  readonly #settings: Required<CoordinatorSettings>;
  readonly #connections: Connections;
  readonly #origin: string;
  readonly #topics: PostgresTopics;
  readonly #groups: PostgresGroups;
  readonly #retention: PostgresRetention;
  readonly #feed: ChangeFeed;
  readonly #listeners = new Set<(change: CoordinatorChange) => void>();
  #changeNumber: number;
  #closed = false;

  constructor(options: PostgresCoordinatorOptions, connections: Connections, identity: Identity) {
    const { host, pathname } = new URL(options.connectionString);
    this.description = `postgres ${host}${pathname} schema ${identity.schema}`;
    this.clusterId = identity.clusterId;
    this.#changeNumber = identity.changeNumber;
    this.#origin = identity.origin;
    this.#time = options.time;
    this.#settings = {
      maxCoordinateBytes: options.maxCoordinateBytes ?? DEFAULT_MAX_COORDINATE_BYTES,
      producerIdExpirationMs: options.producerIdExpirationMs ?? DEFAULT_PRODUCER_ID_EXPIRATION_MS,
    };
    this.#connections = connections;
    this.#topics = new PostgresTopics(connections, identity.origin);
    this.#groups = new PostgresGroups(connections);
    this.#retention = new PostgresRetention(connections);
    this.#feed = new ChangeFeed({
      connections,
      schema: identity.schema,
      origin: identity.origin,
      time: systemTime,
      logger: options.logger ?? silentLogger,
      onChange: (change) => this.#onForeignChange(change),
      onProbe: () => this.#onProbe(),
      statementTimeoutMs: options.statementTimeoutMs ?? DEFAULT_STATEMENT_TIMEOUT_MS,
    });
  }

  async open(): Promise<void> {
    await this.#feed.open();
    await this.#topics.refresh();
  }

  /** undefined: the database's clock is asked. */
  #nowMs(): number | undefined {
    return this.#time?.nowMs();
  }

  #expirationMs(): number {
    return producerIdExpirationMs(this.#topics.brokerConfigs, this.#settings.producerIdExpirationMs);
  }

  #open(): void {
    if (this.#closed) throw new CoordinatorError('closed', 'the coordinator is closed');
  }

  /** A write that others are to hear of, also when its answer is lost. */
  async #write<T>(write: Promise<T>): Promise<T> {
    try {
      return await write;
    } catch (error) {
      if (error instanceof CoordinatorError && error.kind === 'unavailable') this.#feed.doubt();
      throw error;
    }
  }

  /** Tells this process's listeners at once and the other brokers soon. */
  #changed(change: Distribute<CoordinatorChange>): void {
    this.#emit(change);
    this.#feed.notify();
  }

  /** Numbers rise for each listener, also where a foreign transaction with a lower number commits late. */
  #emit(change: Distribute<CoordinatorChange>, changeNumber = 0): void {
    this.#changeNumber = Math.max(this.#changeNumber + 1, changeNumber);
    for (const listener of this.#listeners) listener({ ...change, changeNumber: this.#changeNumber });
  }

  async #onForeignChange({ changeNumber, kind, topicIds, partitions, offsets }: ForeignChange): Promise<void> {
    const byPartition = new Map<string, bigint>();
    for (const [index, topicId] of topicIds.entries()) {
      byPartition.set(partitionKey({ topicId, partition: partitions[index]! }), offsets[index]!);
    }
    if (kind === 'topics' || kind === 'configs') await this.#topics.refresh();
    if (kind === 'commit') this.#emit({ kind, highWatermarks: byPartition }, changeNumber);
    if (kind === 'log-start') this.#emit({ kind, logStartOffsets: byPartition }, changeNumber);
    if (kind === 'topics') this.#emit({ kind }, changeNumber);
  }

  async #onProbe(): Promise<void> {
    await this.#topics.refresh();
    this.#emit({ kind: 'topics' });
    this.#emit({ kind: 'probe' });
  }

  async registerUploader(nodeId: number): Promise<{ epoch: number }> {
    this.#open();
    return this.#topics.registerUploader(nodeId);
  }

  async commitFile(request: CommitFileRequest): Promise<CommitFileResult> {
    this.#open();
    validateCommit(request);
    const plan = new CommitPlan(request.batches, this.#settings.maxCoordinateBytes);
    const query = commitQuery(request, plan, {
      nowMs: this.#nowMs(),
      maxCoordinateBytes: this.#settings.maxCoordinateBytes,
      producerIdExpirationMs: this.#expirationMs(),
      origin: this.#origin,
    });
    const [row] = await this.#write(this.#connections.query(query));
    const { result, changeNumber } = commitAnswer(request.objectKey, plan, row!);
    if (changeNumber !== undefined) {
      this.#changed({ kind: 'commit', highWatermarks: highWatermarks(request, plan, result) });
    }
    return result;
  }

  async abandonFile(objectKey: string): Promise<AbandonFileResult> {
    this.#open();
    validateObjectKey(objectKey);
    const values = [objectKey, this.#nowMs() ?? null];
    const [row] = await this.#connections.query({
      name: 'abandon_file',
      text: 'SELECT * FROM abandon_file($1, $2)',
      values,
    });
    return abandonAnswer(row!);
  }

  async findBatches(request: FindBatchesRequest) {
    this.#open();
    return findBatches(this.#connections, request);
  }

  async listOffsets(requests: readonly ListOffsetsRequest[]) {
    this.#open();
    return inPortions(requests, (some) => listOffsets(this.#connections, some));
  }

  async deleteRecords(requests: readonly DeleteRecordsRequest[]): Promise<DeleteRecordsResult[]> {
    this.#open();
    return inPortions(requests, (some) => this.#deleteRecords(some));
  }

  async #deleteRecords(requests: readonly DeleteRecordsRequest[]): Promise<DeleteRecordsResult[]> {
    const query = {
      name: 'delete_records',
      text: 'SELECT * FROM delete_records($1, $2, $3, $4)',
      values: [
        this.#origin,
        ...partitionArrays(requests.map(({ topicIdPartition }) => topicIdPartition)),
        requests.map(({ beforeOffset }) => beforeOffset),
      ],
    };
    const before = await this.#write(this.#connections.query(query));
    const moved = new Map<string, bigint>();
    for (const [index, row] of before.entries()) {
      if (row.moved) moved.set(partitionKey(requests[index]!.topicIdPartition), row.low_watermark as bigint);
    }
    if (moved.size > 0) this.#changed({ kind: 'log-start', logStartOffsets: moved });
    return before.map((row) => ({ error: row.error as number, lowWatermark: row.low_watermark as bigint }));
  }

  async enforceRetention({ maxCoordinates }: EnforceRetentionRequest): Promise<EnforceRetentionResult> {
    this.#open();
    const step = this.#retention.step({
      maxCoordinates,
      nowMs: this.#nowMs(),
      origin: this.#origin,
      producerIdExpirationMs: this.#expirationMs(),
    });
    const { logStartOffsets, ...result } = await this.#write(step);
    if (logStartOffsets.size > 0) this.#changed({ kind: 'log-start', logStartOffsets });
    if (!result.more) await this.#feed.forgetOldChanges();
    return result;
  }

  async filesToDelete(request: { readonly graceMs: number; readonly limit: number }): Promise<string[]> {
    this.#open();
    return filesToDelete(this.#connections, this.#nowMs(), request);
  }
  async deleteFiles(objectKeys: readonly string[]): Promise<void> {
    this.#open();
    return deleteFiles(this.#connections, this.#nowMs(), objectKeys);
  }
  async forgetFiles(request: { readonly olderThanMs: number; readonly limit: number }): Promise<number> {
    this.#open();
    validateTombstoneAge(request.olderThanMs);
    return forgetFiles(this.#connections, this.#nowMs(), request);
  }
  async describeFiles(objectKeys: readonly string[]) {
    this.#open();
    return describeFiles(this.#connections, objectKeys);
  }
  async logSizes(topicIds: readonly Uuid[]) {
    this.#open();
    return logSizes(this.#connections, topicIds);
  }
  async describeProducers(partitions: readonly TopicIdPartition[]) {
    this.#open();
    return inPortions(partitions, (some) =>
      describeProducers(this.#connections, some, this.#nowMs(), this.#expirationMs()),
    );
  }

  async createTopics(requests: readonly CreateTopicRequest[]) {
    this.#open();
    for (const { configs } of requests) validateConfigs(configs);
    return this.#topicsChanged(await this.#write(this.#topics.create(requests)));
  }
  async createPartitions(requests: readonly { readonly topicId: Uuid; readonly partitions: number }[]) {
    this.#open();
    return this.#topicsChanged(await this.#write(this.#topics.createPartitions(requests)));
  }
  async deleteTopics(topicIds: readonly Uuid[]) {
    this.#open();
    return this.#topicsChanged(await this.#write(this.#topics.delete(topicIds)));
  }
  async alterTopicConfigs(requests: readonly { readonly topicId: Uuid; readonly changes: ConfigChanges }[]) {
    this.#open();
    for (const { changes } of requests) validateConfigs(changes);
    return this.#topicsChanged(await this.#write(this.#topics.alterConfigsOf(requests)));
  }

  #topicsChanged<T extends { readonly error: number }>(results: T[]): T[] {
    if (results.some(({ error }) => error === 0)) this.#changed({ kind: 'topics' });
    return results;
  }

  async listTopics(): Promise<readonly TopicDescription[]> {
    this.#open();
    return this.#topics.list();
  }
  async alterConfigs(scope: string, changes: ConfigChanges): Promise<void> {
    this.#open();
    validateConfigs(changes);
    await this.#write(this.#topics.alterConfigs(scope, changes));
    this.#feed.notify();
  }
  async readConfigs(scope: string) {
    this.#open();
    return this.#topics.readConfigs(scope);
  }
  async listConfigScopes(prefix: string) {
    this.#open();
    return this.#topics.listConfigScopes(prefix);
  }
  async allocateProducerIdBlock(size: number) {
    this.#open();
    return this.#topics.allocateProducerIdBlock(size);
  }

  async loadGroups() {
    this.#open();
    return this.#groups.loadGroups();
  }
  async storeGroup(group: StoredGroup) {
    this.#open();
    return this.#groups.storeGroup(group);
  }
  async deleteGroups(groupIds: readonly string[]) {
    this.#open();
    return this.#groups.deleteGroups(groupIds);
  }
  async commitOffsets(groupId: string, offsets: readonly CommittedOffset[], fence?: { readonly epoch: number }) {
    this.#open();
    return this.#groups.commitOffsets(groupId, offsets, fence);
  }
  async fetchOffsets(groupId: string, partitions?: readonly TopicIdPartition[]) {
    this.#open();
    return this.#groups.fetchOffsets(groupId, partitions);
  }
  async deleteOffsets(groupId: string, partitions: readonly TopicIdPartition[]) {
    this.#open();
    return this.#groups.deleteOffsets(groupId, partitions);
  }
  async readShareStates(keys: readonly SharePartitionKey[]) {
    this.#open();
    return this.#groups.readShareStates(keys);
  }
  async writeShareStates(writes: readonly ShareStateWrite[]) {
    this.#open();
    return this.#groups.writeShareStates(writes);
  }
  async listSharePartitions(groupId: string) {
    this.#open();
    return this.#groups.listSharePartitions(groupId);
  }

  onChange(listener: (change: CoordinatorChange) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  readonly close = once(async (): Promise<void> => {
    this.#closed = true;
    await this.#connections.settle();
    await this.#feed.close();
    await this.#connections.close();
  });

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

/** A change without its number, each kind by itself. */
type Distribute<T> = T extends unknown ? Omit<T, 'changeNumber'> : never;
