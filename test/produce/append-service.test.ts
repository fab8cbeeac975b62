/** The append side by itself, where an engine gives no handle: failures of its own parts. */
import { afterEach, expect, it } from 'vitest';
import { ApiError, Errors } from '../../src/common/errors.ts';
import { silentLogger } from '../../src/common/logger.ts';
import { noopMeter } from '../../src/common/metrics.ts';
import { systemRandom } from '../../src/common/random.ts';
import { systemTime } from '../../src/common/time.ts';
import { parseTopicConfig } from '../../src/common/topic-config.ts';
import { TopicTraffic } from '../../src/common/topic-traffic.ts';
import { randomUuid } from '../../src/common/uuid.ts';
import { InMemoryDisklessCoordinator } from '../../src/coordinator/in-memory-diskless-coordinator.ts';
import { AppendService } from '../../src/produce/append-service.ts';
import { segmentChecksums } from '../../src/produce/segment-checksums.ts';
import { InMemoryObjectStorage } from '../../src/storage/in-memory-object-storage.ts';
import { openRecordPool } from '../../src/worker/piscina-record-pool.ts';
import type { RecordPool } from '../../src/worker/record-pool.ts';
import { intercept } from '../support/intercept.ts';
import { buildBatch } from '../support/record-batches.ts';

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function openService(overrides: (pool: RecordPool) => Partial<RecordPool>) {
  const pool = await openRecordPool({ workerThreads: 0 });
  const coordinator = new InMemoryDisklessCoordinator();
  const topicId = randomUuid(systemRandom);
  await coordinator.createTopics([{ topicId, name: 'orders', partitions: 2, configs: {} }]);
  const topic = { name: 'orders', partitions: 2, config: parseTopicConfig({}) };
  const service = new AppendService({
    objectStorage: new InMemoryObjectStorage(),
    coordinator,
    recordPool: intercept(pool, overrides(pool)),
    checksums: segmentChecksums(),
    topics: { find: () => topic, refreshed: async () => topic },
    time: systemTime,
    random: systemRandom,
    logger: silentLogger,
    meter: noopMeter,
    traffic: new TopicTraffic(),
    uploaderId: 0,
    uploaderEpoch: 1,
    objectKeyPrefix: 'segments',
    maxSegmentBytes: 300,
    commitIntervalMs: 1,
    uploadConcurrency: 2,
    uploadDeadlineMs: 5_000,
    commitDeadlineMs: 5_000,
    backoff: { initialMs: 1, maxMs: 5 },
    requestTimeoutMs: 10_000,
    maxWaitingRequests: 10,
    maxWaitingBytes: 1_000_000,
    commitListener: {
      onCommitting: () => {},
      onCommitted: (runs) => {
        for (const { slab } of runs) slab.release();
      },
      onCommitSettled: () => {},
    },
    onFatal: (reason) => {
      throw new Error(reason);
    },
  });
  closing.push(
    () => pool.close(),
    () => service.close(),
  );
  const append = async (partition: number, value: string) => {
    const records = buildBatch({ records: [{ value }] });
    const [result] = await service.append([{ topicIdPartition: { topicId, partition }, records }]);
    return result!;
  };
  return { service, append };
}

it('fails what came behind a batch whose check was lost with a worker, in its partition only', async () => {
  let checks = 0;
  const { append } = await openService((pool) => ({
    validate: (records, options) => {
      checks += 1;
      const lost = new ApiError('KAFKA_STORAGE_ERROR', 'the record worker was lost; try again');
      return checks === 2 ? Promise.reject(lost) : pool.validate(records, options);
    },
  }));
  // Two to a segment: the lost one's successors are in its own segment and in a later one.
  const results = await Promise.all([append(0, 'a'), append(0, 'b'), append(1, 'x'), append(0, 'c'), append(0, 'd')]);
  expect(results.map(({ error }) => error)).toEqual([
    Errors.NONE,
    Errors.KAFKA_STORAGE_ERROR,
    Errors.NONE,
    Errors.KAFKA_STORAGE_ERROR,
    Errors.KAFKA_STORAGE_ERROR,
  ]);
  expect((await append(0, 'b')).baseOffset).toBe(1n);
});

it('acknowledges what is committed even when it cannot be rewritten for the local view', async () => {
  const { append, service } = await openService(() => ({
    assignOffsets: () => Promise.reject(new ApiError('KAFKA_STORAGE_ERROR', 'the record worker was lost; try again')),
  }));
  expect((await append(0, 'a')).baseOffset).toBe(0n);
  await service.flush();
  expect(service.backlogBytes).toBe(0);
});
