/** A whole engine on an S3 that fails: what producers are told, and that nothing refused is ever read. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type AppendResult,
  type DisklessEngine,
  Errors,
  InMemoryDisklessCoordinator,
  openEngine,
  type TopicIdPartition,
} from '../../../src/index.ts';
import { S3ObjectStorage } from '../../../src/s3.ts';
import { quickSettings } from '../../support/engine-fixture.ts';
import { readRecords } from '../../support/read-records.ts';
import { buildBatch } from '../../support/record-batches.ts';
import { type Fault, seededFaults } from '../../support/s3/faults.ts';
import { S3Double } from '../../support/s3/s3-double.ts';

let double: S3Double;
let storage: S3ObjectStorage;
let coordinator: InMemoryDisklessCoordinator;
let engine: DisklessEngine;
let at: TopicIdPartition;

beforeEach(async () => {
  double = await S3Double.start();
  storage = await S3ObjectStorage.open({
    ...double.config,
    deadlines: { firstByteMs: 500, betweenBytesMs: 500 },
    retry: { maxAttempts: 2, baseDelayMs: 1, throttledDelayMs: 1 },
    limits: { pauseMs: 1 },
  });
  coordinator = new InMemoryDisklessCoordinator();
  const settings = { ...quickSettings, fetchLocalViewBytes: 0, produceUploadDeadlineMs: 3_000 };
  engine = await openEngine({ objectStorage: storage, coordinator }, settings);
  const [topic] = await engine.createTopics([{ name: 'topic', partitions: 1 }]);
  at = { topicId: topic!.topicId, partition: 0 };
});

afterEach(async () => {
  await engine.close();
  await coordinator.close();
  await storage.close();
  await double.stop();
});

async function append(value: string): Promise<AppendResult> {
  const records = buildBatch({ records: [{ value }], baseTimestamp: BigInt(Date.now()) });
  return (await engine.append([{ topicIdPartition: at, records }]))[0]!;
}

/** All values of the partition, however many fetches that takes. */
async function values(): Promise<(string | null)[]> {
  const params = { minBytes: 1, maxWaitMs: 0, maxBytes: 1 << 20, isolation: 'read_uncommitted' as const };
  const read: (string | null)[] = [];
  for (;;) {
    const asked = [{ topicIdPartition: at, fetchOffset: BigInt(read.length), maxBytes: 1 << 20 }];
    const { partitions, release } = await engine.fetch(params, asked);
    const [data] = partitions;
    read.push(...readRecords(data!.records).map((record) => record.value));
    release();
    if (data!.error === Errors.NONE && BigInt(read.length) >= data!.highWatermark) return read;
  }
}

const down: Fault = { at: 'before', do: 'status', status: 500, code: 'InternalError' };
const denied: Fault = { at: 'before', do: 'status', status: 403, code: 'AccessDenied' };

describe('an engine on S3', () => {
  it('keeps data through an outage shorter than its deadline, and acknowledges it once it is stored', async () => {
    double.schedule = () => down;
    let settled = false;
    const pending = append('kept').finally(() => {
      settled = true;
    });
    while (double.faultCount < 6) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(settled).toBe(false);
    double.schedule = () => undefined;
    expect(await pending).toMatchObject({ error: Errors.NONE, baseOffset: 0n });
    expect(await values()).toEqual(['kept']);
  });

  it('answers KAFKA_STORAGE_ERROR when it may not write, shows nothing of it, and goes on when it may again', async () => {
    double.schedule = (method) => (method === 'PUT' ? denied : undefined);
    expect((await append('refused')).error).toBe(Errors.KAFKA_STORAGE_ERROR);
    double.schedule = () => undefined;
    expect(await append('accepted')).toMatchObject({ error: Errors.NONE, baseOffset: 0n });
    expect(await values()).toEqual(['accepted']);
  });

  it('answers KAFKA_STORAGE_ERROR for a partition that cannot be read now, and reads it later', async () => {
    await append('there');
    double.schedule = () => denied;
    const params = { minBytes: 1, maxWaitMs: 0, maxBytes: 1 << 20, isolation: 'read_uncommitted' as const };
    const { partitions, release } = await engine.fetch(params, [
      { topicIdPartition: at, fetchOffset: 0n, maxBytes: 1 << 20 },
    ]);
    expect(partitions[0]).toMatchObject({ error: Errors.KAFKA_STORAGE_ERROR, records: [] });
    release();
    double.schedule = () => undefined;
    expect(await values()).toEqual(['there']);
  });

  it('loses and doubles nothing when a fifth of all requests fail in every way', async () => {
    double.schedule = seededFaults(4711, { rate: 0.2, stalls: false });
    const acknowledged: string[] = [];
    for (let i = 0; i < 60; i++) {
      const { error } = await append(`value ${i}`);
      if (error === Errors.NONE) acknowledged.push(`value ${i}`);
    }
    expect(await values()).toEqual(acknowledged);
    expect(acknowledged.length).toBeGreaterThan(50);
    expect(double.faultCount).toBeGreaterThan(10);
  });
});
