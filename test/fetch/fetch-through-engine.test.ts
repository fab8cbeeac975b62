/** The fetch side inside a whole engine: its own commits are read from memory, those of another engine from storage. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { TopicIdPartition } from '../../src/common/topic-id-partition.ts';
import { InMemoryDisklessCoordinator } from '../../src/coordinator/in-memory-diskless-coordinator.ts';
import type { DisklessEngine } from '../../src/engine/diskless-engine.ts';
import { openEngine } from '../../src/engine/engine.ts';
import { InMemoryObjectStorage } from '../../src/storage/in-memory-object-storage.ts';
import { settle } from '../support/manual-time.ts';
import { readRecords } from '../support/read-records.ts';
import { buildBatch } from '../support/record-batches.ts';

const objectStorage = new InMemoryObjectStorage();
let coordinator: InMemoryDisklessCoordinator;
let writer: DisklessEngine;
let other: DisklessEngine;
let partitions: TopicIdPartition[];

beforeEach(async () => {
  coordinator = new InMemoryDisklessCoordinator();
  const settings = {
    produceCommitIntervalMs: 1,
    fetchMemoryBytes: 8 * 1024 * 1024,
    produceMemoryBytes: 16 * 1024 * 1024,
  };
  writer = await openEngine({ objectStorage, coordinator }, { ...settings, nodeId: 1, workerThreads: 1 });
  other = await openEngine({ objectStorage, coordinator }, { ...settings, nodeId: 2, workerThreads: 0 });
  const [topic] = await writer.createTopics([{ name: 'topic', partitions: 3 }]);
  partitions = [0, 1, 2].map((partition) => ({ topicId: topic!.topicId, partition }));
});

afterEach(async () => {
  await writer.close();
  await other.close();
  await coordinator.close();
});

/** Reads a partition to `end` with parked fetches, as a consumer does. */
async function consume(engine: DisklessEngine, topicIdPartition: TopicIdPartition, end: number): Promise<string[]> {
  const values: string[] = [];
  const params = { minBytes: 1, maxWaitMs: 10_000, maxBytes: 100_000, isolation: 'read_uncommitted' } as const;
  while (values.length < end) {
    const result = await engine.fetch(params, [
      { topicIdPartition, fetchOffset: BigInt(values.length), maxBytes: 100_000 },
    ]);
    expect(result.partitions[0]!.error).toBe(0);
    for (const { offset, value } of readRecords(result.partitions[0]!.records)) {
      if (offset < BigInt(values.length)) continue;
      expect(offset).toBe(BigInt(values.length));
      values.push(value!);
    }
    result.release();
  }
  return values;
}

describe('an engine', () => {
  it('makes no GET for tail readers of what it writes; another engine reads the same from storage', async () => {
    const rounds = 40;
    const here = partitions.map((partition) => consume(writer, partition, rounds));
    const there = partitions.map((partition) => consume(other, partition, rounds));
    const appends: Promise<unknown>[] = [];
    for (let round = 0; round < rounds; round++) {
      const large = 'x'.repeat(round % 10 === 0 ? 100_000 : 0); // some are verified in the worker, and arrive later
      appends.push(
        writer.append(
          partitions.map((topicIdPartition) => ({
            topicIdPartition,
            records: buildBatch({ records: [{ value: `${round}:${large}` }] }),
          })),
        ),
      );
      if (round % 3 === 0) await settle(5);
    }
    await writer.flush();
    await Promise.all(appends);
    for (const values of [...(await Promise.all(here)), ...(await Promise.all(there))]) {
      expect(values.map((value) => Number.parseInt(value, 10))).toEqual(Array.from({ length: rounds }, (_, i) => i));
    }
    expect(writer.stats().rangedGets).toBe(0);
    expect(other.stats().rangedGets).toBeGreaterThan(0);
    expect(other.stats().rangedGets).toBeLessThanOrEqual(writer.stats().segmentsCommitted * partitions.length);
  });
});
