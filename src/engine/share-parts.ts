/** Puts the share side of an engine together: what share partitions need of coordinator, fetch side and offset lookup. */
import { type ErrorCode, Errors } from '../common/errors.ts';
import type { ShareAutoOffsetReset } from '../common/group-config.ts';
import type { TopicIdPartition } from '../common/topic-id-partition.ts';
import { type CoordinatorChange, ListOffsetsTimestamp } from '../coordinator/diskless-coordinator.ts';
import type { FetchService } from '../fetch/fetch-service.ts';
import { StoredSharePersister } from '../share/persister.ts';
import { ShareOffsets } from '../share/share-offsets.ts';
import { ShareService } from '../share/share-service.ts';
import type { DeadLetterQueue } from './dead-letter-queue.ts';
import type { EngineComponents, ListOffsetsPartition, ListOffsetsPartitionResult } from './diskless-engine.ts';
import type { EngineSettings } from './settings.ts';
import type { ShareConfigs } from './share-configs.ts';
import type { TopicCatalog } from './topic-catalog.ts';

export interface SharePartsOptions {
  readonly components: Required<EngineComponents>;
  readonly settings: EngineSettings;
  readonly fetchService: FetchService;
  readonly topics: TopicCatalog;
  readonly configs: ShareConfigs;
  readonly deadLetters: DeadLetterQueue;
  listOffsets(requests: readonly ListOffsetsPartition[]): Promise<ListOffsetsPartitionResult[]>;
}

type FoundOffset = { readonly error: ErrorCode; readonly offset: number };

export interface ShareParts {
  readonly service: ShareService;
  readonly offsets: ShareOffsets;
  /** Ends the subscription and the service. */
  close(): void;
}

export function openShareService(options: SharePartsOptions): ShareParts {
  const { components, configs, topics } = options;
  const { coordinator, time, random } = components;
  const persister = new StoredSharePersister(coordinator);
  const service = new ShareService({
    persister,
    time,
    random,
    reader: options.fetchService,
    maxShareSessions: options.settings.groupShareMaxShareSessions,
    fetchMaxBytes: options.settings.shareFetchMaxBytes,
    checkPartition: (partition) => checkPartition(topics, partition),
    configOf: (groupId) => configs.of(groupId),
    resetOffset: (groupId, partition) => resetOffset(options, configs.of(groupId).autoOffsetReset, partition),
    earliestOffset: (partition) => lookUp(options, partition, ListOffsetsTimestamp.earliest),
    copyDeadLetters: (groupId, partition, letters) => options.deadLetters.copy(groupId, partition, letters),
  });
  const unsubscribe = coordinator.onChange((change) => onChange(service, topics, change));
  const offsets = new ShareOffsets({
    persister,
    store: coordinator,
    partitions: service.partitions,
    time,
    logEndOffsets: (partitions) => logEndOffsets(options, partitions),
  });
  return {
    service,
    offsets,
    close: () => {
      unsubscribe();
      service.close();
    },
  };
}

/** Asks the coordinator again for what is not known here; it may have been made a moment ago. */
async function checkPartition(topics: TopicCatalog, { topicId, partition }: TopicIdPartition): Promise<ErrorCode> {
  const isIn = (topic: { readonly partitions: number } | undefined): boolean =>
    topic !== undefined && partition >= 0 && partition < topic.partitions;
  if (isIn(topics.find(topicId))) return Errors.NONE;
  try {
    const topic = await topics.refreshed(topicId);
    if (!topic) return Errors.UNKNOWN_TOPIC_ID;
    return isIn(topic) ? Errors.NONE : Errors.UNKNOWN_TOPIC_OR_PARTITION;
  } catch {
    return Errors.COORDINATOR_NOT_AVAILABLE;
  }
}

async function lookUp(
  options: SharePartsOptions,
  topicIdPartition: TopicIdPartition,
  timestamp: bigint,
): Promise<FoundOffset> {
  const [found] = await options.listOffsets([{ topicIdPartition, timestamp }]);
  return { error: found!.error, offset: Number(found!.offset) };
}

function logEndOffsets({ listOffsets }: SharePartsOptions, partitions: readonly TopicIdPartition[]) {
  return listOffsets(
    partitions.map((topicIdPartition) => ({ topicIdPartition, timestamp: ListOffsetsTimestamp.latest })),
  );
}

/** Where a group without a start offset begins. A duration that no record is young enough for is tried again later. */
async function resetOffset(
  options: SharePartsOptions,
  reset: ShareAutoOffsetReset,
  partition: TopicIdPartition,
): Promise<FoundOffset> {
  if (reset.type === 'earliest') return lookUp(options, partition, ListOffsetsTimestamp.earliest);
  if (reset.type === 'latest') return lookUp(options, partition, ListOffsetsTimestamp.latest);
  const since = BigInt(Math.floor(options.components.time.nowMs() - reset.durationMs));
  const found = await lookUp(options, partition, since < 0n ? 0n : since);
  return found.error === Errors.NONE && found.offset < 0 ? { error: Errors.OFFSET_NOT_AVAILABLE, offset: -1 } : found;
}

function onChange(service: ShareService, topics: TopicCatalog, change: CoordinatorChange): void {
  if (change.kind === 'commit') for (const key of change.highWatermarks.keys()) service.onAppend(key);
  if (change.kind === 'probe') service.partitions.wakeAll();
  if (change.kind !== 'topics') return;
  void topics.refresh().then(
    () => service.partitions.drop((_, { topicId }) => topics.find(topicId) === undefined),
    () => {},
  );
}
