/** An engine over real in-memory parts, some of whose methods a test may put aside; closed after each test. */
import { afterEach } from 'vitest';
import { Errors } from '../../src/common/errors.ts';
import type { Meter } from '../../src/common/metrics.ts';
import { seededRandom } from '../../src/common/random.ts';
import { systemTime, type Time } from '../../src/common/time.ts';
import type { TopicIdPartition } from '../../src/common/topic-id-partition.ts';
import type { Uuid } from '../../src/common/uuid.ts';
import type { DisklessCoordinator } from '../../src/coordinator/diskless-coordinator.ts';
import { InMemoryDisklessCoordinator } from '../../src/coordinator/in-memory-diskless-coordinator.ts';
import type { DisklessEngine } from '../../src/engine/diskless-engine.ts';
import { openEngine } from '../../src/engine/engine.ts';
import type { EngineSettings } from '../../src/engine/settings.ts';
import type { AppendResult } from '../../src/produce/append-request.ts';
import { InMemoryObjectStorage } from '../../src/storage/in-memory-object-storage.ts';
import type { ObjectStorage } from '../../src/storage/object-storage.ts';
import { intercept } from './intercept.ts';
import { type ReadRecord, readRecords } from './read-records.ts';
import { buildBatch, type TestBatch } from './record-batches.ts';

/** Small and quick, so that a test waits for nothing: segments close at once. */
export const quickSettings: Partial<EngineSettings> = {
  produceCommitIntervalMs: 1,
  produceUploadDeadlineMs: 15_000,
  produceCommitDeadlineMs: 15_000,
  retryBackoffMs: 1,
  retryBackoffMaxMs: 5,
  produceMemoryBytes: 8 * 1024 * 1024,
  produceBufferMaxBytes: 1024 * 1024,
  fetchMemoryBytes: 16 * 1024 * 1024,
  workerThreads: 1,
};

export interface FixtureOptions {
  readonly time?: Time;
  readonly meter?: Meter;
  readonly settings?: Partial<EngineSettings>;
  /** Methods put aside; they get the real part. */
  readonly storage?: (real: ObjectStorage) => Partial<ObjectStorage>;
  readonly coordinator?: (real: DisklessCoordinator) => Partial<DisklessCoordinator>;
  /** Parts of an earlier fixture, for a second engine over the same data. */
  readonly over?: Pick<EngineFixture, 'objects' | 'metadata'>;
}

const opened: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

export class EngineFixture {
  readonly engine: DisklessEngine;
  /** The real parts. */
  readonly objects: ObjectStorage;
  readonly metadata: DisklessCoordinator;

  static async open(options: FixtureOptions = {}): Promise<EngineFixture> {
    const time = options.time ?? systemTime;
    const objects = options.over?.objects ?? new InMemoryObjectStorage({ time });
    const metadata = options.over?.metadata ?? new InMemoryDisklessCoordinator({ time, random: seededRandom(1) });
    const engine = await openEngine(
      {
        objectStorage: intercept(objects, options.storage?.(objects) ?? {}),
        coordinator: intercept(metadata, options.coordinator?.(metadata) ?? {}),
        time,
        ...(options.meter ? { meter: options.meter } : {}),
      },
      { ...quickSettings, ...options.settings },
    );
    opened.push(() => engine.close());
    return new EngineFixture(engine, objects, metadata);
  }

  private constructor(engine: DisklessEngine, objects: ObjectStorage, metadata: DisklessCoordinator) {
    this.engine = engine;
    this.objects = objects;
    this.metadata = metadata;
  }

  async createTopic(name: string, partitions = 1, configs: Record<string, string> = {}): Promise<Uuid> {
    // Batches of the tests are old; retention would take them.
    const lasting = { 'retention.ms': '-1', ...configs };
    const [created] = await this.engine.createTopics([{ name, partitions, configs: lasting }]);
    if (created!.error !== Errors.NONE) throw new Error(`topic ${name}: ${created!.message}`);
    return created!.topicId;
  }

  /** Appends one batch to one partition. */
  async append(topicIdPartition: TopicIdPartition, batch: TestBatch, timeoutMs?: number): Promise<AppendResult> {
    const records = buildBatch(batch);
    const options = timeoutMs === undefined ? {} : { timeoutMs };
    const [result] = await this.engine.append([{ topicIdPartition, records }], options);
    return result!;
  }

  /** Everything from an offset to the high watermark, copied. */
  async readAll(topicIdPartition: TopicIdPartition, fromOffset = 0n): Promise<ReadRecord[]> {
    const records: ReadRecord[] = [];
    for (let fetchOffset = fromOffset; ; ) {
      const result = await this.engine.fetch(
        { minBytes: 0, maxWaitMs: 0, maxBytes: 1024 * 1024, isolation: 'read_uncommitted' },
        [{ topicIdPartition, fetchOffset, maxBytes: 1024 * 1024 }],
      );
      const [data] = result.partitions;
      if (data!.error !== Errors.NONE) throw new Error(`fetch at ${fetchOffset} answered ${data!.error}`);
      const read = readRecords(data!.records).filter(({ offset }) => offset >= fetchOffset);
      result.release();
      if (read.length === 0) return records;
      records.push(...read);
      fetchOffset = read.at(-1)!.offset + 1n;
    }
  }

  async objectKeys(): Promise<string[]> {
    const keys: string[] = [];
    for await (const { key } of this.objects.list()) keys.push(key);
    return keys;
  }
}

/** A batch of one record per value. */
export function batchOf(...values: string[]): TestBatch {
  return { records: values.map((value) => ({ value })) };
}

/** Batches of one idempotent producer, by sequence. */
export function idempotent(producerId: bigint, baseSequence: number, ...values: string[]): TestBatch {
  return { ...batchOf(...values), producerId, producerEpoch: 0, baseSequence };
}

export function valuesOf(records: readonly ReadRecord[]): (string | null)[] {
  return records.map((record) => record.value);
}
