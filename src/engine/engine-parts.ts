/**
 * Puts an engine together: everything behind storage and coordinator, in the order in which one part needs another. Main
 * thread; the engine closes it.
 */
import type { DisposalStack } from '../common/lifecycle.ts';
import { silentLogger } from '../common/logger.ts';
import { noopMeter } from '../common/metrics.ts';
import { systemRandom } from '../common/random.ts';
import { systemTime } from '../common/time.ts';
import { TopicTraffic } from '../common/topic-traffic.ts';
import { measuredCoordinator } from '../coordinator/measured-coordinator.ts';
import { type FetchService, openFetchService } from '../fetch/fetch-service.ts';
import { AppendService } from '../produce/append-service.ts';
import { segmentChecksums } from '../produce/segment-checksums.ts';
import type { Crc32c } from '../produce/segment-format.ts';
import { measuredObjectStorage } from '../storage/measured-object-storage.ts';
import { openRecordPool, type RecordPoolOptions } from '../worker/piscina-record-pool.ts';
import type { RecordPool } from '../worker/record-pool.ts';
import { DeadLetterQueue } from './dead-letter-queue.ts';
import { DeadLetterTopics } from './dead-letter-topics.ts';
import type { EngineComponents } from './diskless-engine.ts';
import { EngineFailure } from './engine-failure.ts';
import { Maintenance } from './maintenance.ts';
import { listOffsets } from './offset-lookup.ts';
import type { EngineSettings } from './settings.ts';
import { ShareConfigs } from './share-configs.ts';
import { openShareService, type ShareParts } from './share-parts.ts';
import { TopicCatalog } from './topic-catalog.ts';

type Components = Required<EngineComponents>;

export interface EngineParts {
  readonly components: Components;
  readonly recordPool: RecordPool;
  readonly topics: TopicCatalog;
  readonly traffic: TopicTraffic;
  readonly fetchService: FetchService;
  readonly appendService: AppendService;
  readonly deadLetters: DeadLetterQueue;
  readonly maintenance: Maintenance;
  readonly share: ShareParts;
  readonly shareConfigs: ShareConfigs;
  readonly failed: EngineFailure;
}

/** Defaults filled in; storage and coordinator measured where there is somebody who reads it. */
export function completeComponents(given: EngineComponents): Components {
  const { objectStorage, coordinator, time = systemTime, random = systemRandom } = given;
  const { meter = noopMeter, logger = silentLogger } = given;
  const isObserved = given.meter !== undefined || given.logger !== undefined;
  return {
    objectStorage: given.meter ? measuredObjectStorage(objectStorage, meter, time) : objectStorage,
    coordinator: isObserved ? measuredCoordinator(coordinator, { meter, time, logger }) : coordinator,
    time,
    random,
    meter,
    logger,
  };
}

/** What has to be closed when opening fails half way is put into `opened`; later the engine closes it all. */
export async function openEngineParts(
  components: Components,
  settings: EngineSettings,
  opened: DisposalStack,
): Promise<EngineParts> {
  const { coordinator, logger, time } = components;
  const recordPool = opened.use(await openRecordPool(recordPoolOptions(components, settings)), (pool) => pool.close());
  const traffic = new TopicTraffic();
  const topics = opened.use(await TopicCatalog.open(coordinator, logger, traffic), (catalog) => catalog.close());
  const fetchService = opened.use(openFetchService({ ...components, recordPool, traffic, settings }), (service) =>
    service.close(),
  );
  const { epoch: uploaderEpoch } = await coordinator.registerUploader(settings.nodeId);
  const failed = opened.use(new EngineFailure(coordinator, logger), (one) => one.close());
  const shareConfigs = new ShareConfigs(coordinator, time);
  const base = { components, recordPool, topics, traffic, fetchService, failed, shareConfigs };
  const checksums = segmentChecksums();
  const appendService = appendServiceOf(base, settings, checksums, uploaderEpoch);
  const deadLetters = deadLetterQueueOf(base, settings, checksums, appendService);
  const share = openShareService({
    components,
    settings,
    fetchService,
    topics,
    configs: shareConfigs,
    deadLetters,
    listOffsets: (requests) => listOffsets({ coordinator, fetchService, recordPool }, requests),
  });
  const maintenance = new Maintenance({ ...components, objectKeyPrefix: settings.objectKeyPrefix, settings });
  maintenance.start();
  return { ...base, appendService, deadLetters, share, maintenance };
}

/** What appending rests on. */
type BaseParts = Omit<EngineParts, 'appendService' | 'deadLetters' | 'share' | 'maintenance'>;

function recordPoolOptions({ time, logger }: Components, settings: EngineSettings): RecordPoolOptions {
  const { produceMemoryBytes, fetchMemoryBytes, workerThreads } = settings;
  const threads = workerThreads === undefined ? {} : { workerThreads };
  return { appendCapacityBytes: produceMemoryBytes, fetchCapacityBytes: fetchMemoryBytes, time, logger, ...threads };
}

function appendServiceOf(
  base: BaseParts,
  settings: EngineSettings,
  checksums: Crc32c,
  uploaderEpoch: number,
): AppendService {
  return new AppendService({
    ...base.components,
    recordPool: base.recordPool,
    checksums,
    topics: base.topics,
    traffic: base.traffic,
    uploaderId: settings.nodeId,
    uploaderEpoch,
    commitListener: base.fetchService,
    onFatal: (reason) => base.failed.fail(new Error(reason)),
    objectKeyPrefix: settings.objectKeyPrefix,
    maxSegmentBytes: settings.produceBufferMaxBytes,
    commitIntervalMs: settings.produceCommitIntervalMs,
    uploadConcurrency: settings.produceUploadConcurrency,
    uploadDeadlineMs: settings.produceUploadDeadlineMs,
    commitDeadlineMs: settings.produceCommitDeadlineMs,
    requestTimeoutMs: settings.produceRequestTimeoutMs,
    maxWaitingRequests: settings.produceMaxWaitingRequests,
    maxWaitingBytes: settings.produceMaxWaitingBytes,
    backoff: { initialMs: settings.retryBackoffMs, maxMs: settings.retryBackoffMaxMs },
  });
}

function deadLetterQueueOf(
  base: BaseParts,
  settings: EngineSettings,
  { crc32c }: Crc32c,
  appendService: AppendService,
): DeadLetterQueue {
  const { components, topics, fetchService, recordPool, failed, shareConfigs } = base;
  return new DeadLetterQueue({
    ...components,
    source: { coordinator: components.coordinator, fetchService, recordPool },
    topics: new DeadLetterTopics({ ...components, configs: shareConfigs, numPartitions: settings.numPartitions }),
    crc32c,
    topicName: ({ topicId }) => topics.find(topicId)?.name,
    append: async (partitions) => {
      failed.signal.throwIfAborted();
      return appendService.append(partitions);
    },
  });
}
