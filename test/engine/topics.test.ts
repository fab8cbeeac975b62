/** Creating and deleting topics, listing offsets and deleting records through the engine. */
import { describe, expect, it } from 'vitest';
import { Errors } from '../../src/common/errors.ts';
import type { TopicIdPartition } from '../../src/common/topic-id-partition.ts';
import { ZERO_UUID } from '../../src/common/uuid.ts';
import { CoordinatorError, ListOffsetsTimestamp } from '../../src/coordinator/diskless-coordinator.ts';
import { batchOf, EngineFixture, valuesOf } from '../support/engine-fixture.ts';

describe('creating topics', () => {
  it('answers each by itself, in request order', async () => {
    const fixture = await EngineFixture.open();
    await fixture.createTopic('taken');
    const asked = [
      { name: 'fine', partitions: 2, configs: { 'retention.ms': '1000' } },
      { name: 'taken', partitions: 1 },
      { name: 'fi_ne', partitions: 1 },
      { name: 'fi.ne', partitions: 1 },
      { name: '', partitions: 1 },
      { name: 'none', partitions: 0 },
      { name: 'many', partitions: 50_001 },
      { name: 'half', partitions: 1.5 },
      { name: 'odd', partitions: 1, configs: { 'retention.ms': 'long' } },
      { name: 'twice', partitions: 1 },
      { name: 'twice', partitions: 2 },
    ];
    const results = await fixture.engine.createTopics(asked);
    expect(results.map(({ error }) => error)).toEqual([
      Errors.NONE,
      Errors.TOPIC_ALREADY_EXISTS,
      Errors.NONE,
      Errors.INVALID_TOPIC_EXCEPTION,
      Errors.INVALID_TOPIC_EXCEPTION,
      Errors.INVALID_PARTITIONS,
      Errors.INVALID_PARTITIONS,
      Errors.INVALID_PARTITIONS,
      Errors.INVALID_CONFIG,
      Errors.INVALID_REQUEST,
      Errors.INVALID_REQUEST,
    ]);
    for (const { error, message, topicId } of results) {
      expect(message === '').toBe(error === Errors.NONE);
      expect(topicId === ZERO_UUID).toBe(error !== Errors.NONE);
    }
    expect(results[8]!.message).toContain('retention.ms');
    expect((await fixture.engine.listTopics()).map(({ name }) => name)).toEqual(['fi_ne', 'fine', 'taken']);
  });

  it('makes a topic appendable at once, also for an engine that did not create it', async () => {
    const fixture = await EngineFixture.open();
    const other = await EngineFixture.open({ over: fixture });
    const topicId = await fixture.createTopic('orders');
    expect((await other.append({ topicId, partition: 0 }, batchOf('a'))).error).toBe(Errors.NONE);
  });
});

describe('deleting topics', () => {
  it('forgets them, and says which were not there', async () => {
    const fixture = await EngineFixture.open();
    const topicId = await fixture.createTopic('orders');
    const results = await fixture.engine.deleteTopics([topicId, 'AAAAAAAAAAAAAAAAAAAAAQ']);
    expect(results.map(({ error }) => error)).toEqual([Errors.NONE, Errors.UNKNOWN_TOPIC_ID]);
    expect((await fixture.append({ topicId, partition: 0 }, batchOf('a'))).error).toBe(
      Errors.UNKNOWN_TOPIC_OR_PARTITION,
    );
  });
});

/** What ListOffsets answers: error, offset, timestamp. */
async function offsetAt({ engine }: EngineFixture, topicIdPartition: TopicIdPartition, timestamp: bigint) {
  const [result] = await engine.listOffsets([{ topicIdPartition, timestamp }]);
  return [result!.error, result!.offset, result!.timestamp];
}

describe('offsets', () => {
  it('are found by time, exact to the record', async () => {
    const fixture = await EngineFixture.open();
    const topicIdPartition = { topicId: await fixture.createTopic('orders'), partition: 0 };
    const at = (timestampDelta: number) => ({ value: `${timestampDelta}`, timestampDelta });
    await fixture.append(topicIdPartition, { records: [at(0), at(50), at(20)], baseTimestamp: 1_000n });
    await fixture.append(topicIdPartition, { records: [at(100), at(60), at(200)], baseTimestamp: 1_000n });
    const ask = (timestamp: bigint) => offsetAt(fixture, topicIdPartition, timestamp);
    expect(await ask(0n)).toEqual([0, 0n, 1_000n]);
    expect(await ask(1_001n)).toEqual([0, 1n, 1_050n]);
    expect(await ask(1_051n)).toEqual([0, 3n, 1_100n]);
    expect(await ask(1_101n)).toEqual([0, 5n, 1_200n]);
    expect(await ask(1_201n)).toEqual([0, -1n, -1n]);
    expect(await ask(ListOffsetsTimestamp.earliest)).toEqual([0, 0n, -1n]);
    expect(await ask(ListOffsetsTimestamp.latest)).toEqual([0, 6n, -1n]);
    expect(await ask(ListOffsetsTimestamp.maxTimestamp)).toEqual([0, 5n, 1_200n]);
    expect((await ask(-99n))[0]).toBe(Errors.UNSUPPORTED_VERSION);
  });

  it('below a log start inside a batch are not given out', async () => {
    const fixture = await EngineFixture.open();
    const topicIdPartition = { topicId: await fixture.createTopic('orders'), partition: 0 };
    const records = [0, 1, 2].map((timestampDelta) => ({ value: 'v', timestampDelta }));
    await fixture.append(topicIdPartition, { records, baseTimestamp: 1_000n });
    const [deleted] = await fixture.engine.deleteRecords([{ topicIdPartition, beforeOffset: 1n }]);
    expect(deleted).toEqual({ error: Errors.NONE, lowWatermark: 1n });
    const [found] = await fixture.engine.listOffsets([{ topicIdPartition, timestamp: 0n }]);
    expect(found).toMatchObject({ error: Errors.NONE, offset: 1n, timestamp: 1_001n });
    expect(valuesOf(await fixture.readAll(topicIdPartition, 1n))).toEqual(['v', 'v']);
  });

  it('go on behind a batch whose late records are all deleted', async () => {
    const fixture = await EngineFixture.open();
    const topicIdPartition = { topicId: await fixture.createTopic('orders'), partition: 0 };
    const records = (...deltas: number[]) => deltas.map((timestampDelta) => ({ value: 'v', timestampDelta }));
    await fixture.append(topicIdPartition, { records: records(500, 0, 10), baseTimestamp: 1_000n });
    await fixture.append(topicIdPartition, { records: records(5, 30), baseTimestamp: 1_000n });
    await fixture.append(topicIdPartition, { records: records(40, 90, 80), baseTimestamp: 1_000n });
    await fixture.engine.deleteRecords([{ topicIdPartition, beforeOffset: 1n }]);
    const ask = (timestamp: bigint) => offsetAt(fixture, topicIdPartition, timestamp);
    expect(await ask(1_010n)).toEqual([0, 2n, 1_010n]);
    expect(await ask(1_011n)).toEqual([0, 4n, 1_030n]);
    expect(await ask(1_031n)).toEqual([0, 5n, 1_040n]);
    expect(await ask(1_041n)).toEqual([0, 6n, 1_090n]);
    expect(await ask(1_091n)).toEqual([0, -1n, -1n]);
  });

  it('of the max timestamp are those of a record that is not deleted', async () => {
    const fixture = await EngineFixture.open();
    const records = (...deltas: number[]) => deltas.map((timestampDelta) => ({ value: 'v', timestampDelta }));
    const maxTimestampOf = async (first: number[], second: number[], beforeOffset: bigint) => {
      const topicIdPartition = {
        topicId: await fixture.createTopic(`orders-${beforeOffset}-${second.join('-')}`),
        partition: 0,
      };
      for (const deltas of [first, second]) {
        if (deltas.length === 0) continue;
        await fixture.append(topicIdPartition, { records: records(...deltas), baseTimestamp: 1_000n });
      }
      await fixture.engine.deleteRecords([{ topicIdPartition, beforeOffset }]);
      return offsetAt(fixture, topicIdPartition, ListOffsetsTimestamp.maxTimestamp);
    };
    const first = [5, 500, 7, 90, 30, 90, 2];
    expect(await maxTimestampOf(first, [], 1n)).toEqual([0, 1n, 1_500n]);
    expect(await maxTimestampOf(first, [], 2n)).toEqual([0, 3n, 1_090n]);
    expect(await maxTimestampOf(first, [], 4n)).toEqual([0, 5n, 1_090n]);
    expect(await maxTimestampOf(first, [], 6n)).toEqual([0, 6n, 1_002n]);
    expect(await maxTimestampOf(first, [], 7n)).toEqual([0, -1n, -1n]);
    expect(await maxTimestampOf(first, [1, 90], 2n)).toEqual([0, 3n, 1_090n]);
    expect(await maxTimestampOf(first, [1, 91, 91], 2n)).toEqual([0, 8n, 1_091n]);
    expect(await maxTimestampOf(first, [600, 0], 8n)).toEqual([0, 8n, 1_000n]);
  });

  it('are not to be had while the coordinator does not answer', async () => {
    const fixture = await EngineFixture.open({
      coordinator: () => ({ listOffsets: () => Promise.reject(new CoordinatorError('unavailable', 'away')) }),
    });
    const topicIdPartition = { topicId: await fixture.createTopic('orders'), partition: 0 };
    await expect(fixture.engine.listOffsets([{ topicIdPartition, timestamp: 0n }])).rejects.toMatchObject({
      code: 'KAFKA_STORAGE_ERROR',
    });
  });
});
