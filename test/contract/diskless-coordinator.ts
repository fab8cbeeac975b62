/**
 * The contract of `DisklessCoordinator`, run over every implementation. A harness opens a coordinator over some storage
 * and can open the same storage again; what cannot survive (memory) says so.
 */

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Errors } from '../../src/common/errors.ts';
import { seededRandom } from '../../src/common/random.ts';
import { partitionKey, type TopicIdPartition } from '../../src/common/topic-id-partition.ts';
import { isUuid } from '../../src/common/uuid.ts';
import type { CoordinatorSettings } from '../../src/coordinator/coordinator-store.ts';
import {
  type CoordinatorChange,
  type DisklessCoordinator,
  ListOffsetsTimestamp,
} from '../../src/coordinator/diskless-coordinator.ts';
import { MAX_SEGMENT_AGE_MS, MIN_TOMBSTONE_AGE_MS } from '../../src/coordinator/tombstones.ts';
import { batch, by, file, findFrom, newUuid, retainAll, SettableTime, topic } from '../coordinator/fixture.ts';

export interface CoordinatorHarness {
  readonly name: string;
  readonly survivesReopening: boolean;
  /** An empty storage. */
  create(): Promise<CoordinatorStorage>;
}

export interface CoordinatorStorage {
  open(options: CoordinatorSettings & { readonly time: SettableTime }): Promise<DisklessCoordinator>;
  remove(): Promise<void>;
}

const MAX_INT32 = 2_147_483_647;

export function testDisklessCoordinator(harness: CoordinatorHarness): void {
  describe(`DisklessCoordinator contract: ${harness.name}`, () => {
    let storage: CoordinatorStorage;
    let time: SettableTime;
    let coordinator: DisklessCoordinator;

    beforeEach(async () => {
      storage = await harness.create();
      time = new SettableTime();
      coordinator = await storage.open({ time });
    });
    afterEach(async () => {
      await coordinator.close();
      await storage.remove();
    });

    async function reopen(settings: CoordinatorSettings = {}): Promise<void> {
      await coordinator.close();
      coordinator = await storage.open({ time, ...settings });
    }

    async function commitOne(of: TopicIdPartition, records: number, more = {}) {
      return (await coordinator.commitFile(file([batch(of, records, more)]))).batches[0]!;
    }

    describe('commitFile', () => {
      it('gives dense offsets per partition, in the order of the batches', async () => {
        const [a, b] = (await topic(coordinator, 2)) as [TopicIdPartition, TopicIdPartition];
        const first = await coordinator.commitFile(file([batch(a, 3), batch(a, 1), batch(b, 5)]));
        const second = await coordinator.commitFile(file([batch(a, 2), batch(b, 1)]));
        expect(first.batches.map((result) => result.baseOffset)).toEqual([0n, 3n, 0n]);
        expect(second.batches.map((result) => result.baseOffset)).toEqual([4n, 5n]);
        expect(second.batches[0]).toEqual({
          error: Errors.NONE,
          baseOffset: 4n,
          logAppendTimeMs: -1n,
          logStartOffset: 0n,
          duplicate: false,
        });
      });

      it('refuses a batch of an unknown topic or partition and accepts the others', async () => {
        const [a] = (await topic(coordinator)) as [TopicIdPartition];
        const unknown = [
          { topicId: newUuid(), partition: 0 },
          { ...a, partition: 1 },
        ];
        const { batches } = await coordinator.commitFile(
          file([batch(unknown[0]!, 1), batch(unknown[1]!, 1), batch(a, 1)]),
        );
        expect(batches.map((result) => result.error)).toEqual([
          Errors.UNKNOWN_TOPIC_OR_PARTITION,
          Errors.UNKNOWN_TOPIC_OR_PARTITION,
          Errors.NONE,
        ]);
        expect(batches[0]).toMatchObject({ baseOffset: -1n, logAppendTimeMs: -1n, duplicate: false });
      });

      it('returns the first result when repeated, without committing again', async () => {
        const [a] = (await topic(coordinator)) as [TopicIdPartition];
        const request = file([batch(a, 3), batch({ ...a, partition: 9 }, 1)]);
        const first = await coordinator.commitFile(request);
        await commitOne(a, 1);
        time.ms += 5_000;
        expect(await coordinator.commitFile(request)).toEqual(first);
        if (harness.survivesReopening) {
          await reopen();
          expect(await coordinator.commitFile(request)).toEqual(first);
        }
        expect((await findFrom(coordinator, a, 0n)).highWatermark).toBe(4n);
      });

      it('refuses a repeat with other content, and a request that contradicts itself', async () => {
        const [a] = (await topic(coordinator)) as [TopicIdPartition];
        const request = file([batch(a, 3)]);
        await coordinator.commitFile(request);
        const wrong = [
          { ...request, sizeBytes: request.sizeBytes + 1 },
          { ...request, batches: [...request.batches, { ...request.batches[0]!, position: 101 }] },
          file([]),
          file([batch(a, 1)], { objectKey: '' }),
          file([batch(a, 1)], { objectKey: 'x'.repeat(513) }),
          file([batch(a, 1, { size: 60 })]),
          file([batch(a, 0)]),
          file([batch(a, 1)], { objectKey: 'a\0b' }),
          file([batch(a, 1), { ...batch(a, 1), position: 50 }]),
          file([batch(a, 1)], { sizeBytes: 100 }),
          file([batch(a, 1, { offsetOfMaxTimestampDelta: 1 })]),
          file([batch(a, 1, { maxTimestamp: -2n })]),
          file([batch(a, 1, { producerId: 5n })]),
          file([batch(a, 1, by(-1n, 0, 0))]),
          file([batch({ ...a, topicId: 'nonsense' }, 1)]),
          file([batch(a, 1)], { uploaderEpoch: -1 }),
        ];
        for (const one of wrong) {
          await expect(coordinator.commitFile(one)).rejects.toMatchObject({ kind: 'invalid' });
        }
        expect((await findFrom(coordinator, a, 0n)).highWatermark).toBe(3n);
      });

      it('joins adjacent batches of one kind into one coordinate, up to the bound', async () => {
        await coordinator.close();
        coordinator = await storage.open({ time, maxCoordinateBytes: 250 });
        const [a, b] = (await topic(coordinator, 2)) as [TopicIdPartition, TopicIdPartition];
        const batches = [batch(a, 1), batch(a, 2), batch(a, 3), batch(a, 1, { timestampType: 1 }), batch(b, 1)];
        const request = file([...batches, batch(b, 1, { position: 600 })]);
        await coordinator.commitFile(request);
        const found = await findFrom(coordinator, a, 0n);
        const shape = found.coordinates.map(({ position, size, baseOffset, lastOffset }) => [
          position,
          size,
          baseOffset,
          lastOffset,
        ]);
        expect(shape).toEqual([
          [1, 200, 0n, 2n],
          [201, 100, 3n, 5n],
          [301, 100, 6n, 6n],
        ]);
        expect((await findFrom(coordinator, b, 0n)).coordinates).toHaveLength(2);
      });

      it('keeps a refused batch between two accepted ones out of their coordinates', async () => {
        const [a] = (await topic(coordinator)) as [TopicIdPartition];
        await commitOne(a, 1, by(7n, 0, 0));
        const { batches } = await coordinator.commitFile(
          file([batch(a, 2), batch(a, 1, by(7n, 0, 5)), batch(a, 1, by(7n, 0, 0)), batch(a, 3)]),
        );
        expect(batches.map(({ error, duplicate }) => [error, duplicate])).toEqual([
          [Errors.NONE, false],
          [Errors.OUT_OF_ORDER_SEQUENCE_NUMBER, false],
          [Errors.NONE, true],
          [Errors.NONE, false],
        ]);
        const { coordinates } = await findFrom(coordinator, a, 1n);
        expect(coordinates.map(({ position, size }) => [position, size])).toEqual([
          [1, 100],
          [301, 100],
        ]);
      });

      it('adds offset deltas up in 64 bits', async () => {
        const [a] = (await topic(coordinator)) as [TopicIdPartition];
        const huge = { lastOffsetDelta: MAX_INT32, offsetOfMaxTimestampDelta: MAX_INT32 };
        await coordinator.commitFile(file([batch(a, 1, huge), batch(a, 1, { ...huge, maxTimestamp: 2_000n })]));
        const { highWatermark, coordinates } = await findFrom(coordinator, a, 2n ** 31n);
        expect(highWatermark).toBe(2n ** 32n);
        expect(coordinates).toMatchObject([{ baseOffset: 0n, lastOffset: 2n ** 32n - 1n }]);
        const [greatest] = await coordinator.listOffsets([
          { topicIdPartition: a, timestamp: ListOffsetsTimestamp.maxTimestamp },
        ]);
        expect(greatest).toMatchObject({ offset: 2n ** 32n - 1n, timestamp: 2_000n });
      });

      it('takes the greatest timestamp that there is, of idempotent batches one by one and several at once', async () => {
        const [a] = (await topic(coordinator)) as [TopicIdPartition];
        const maxTimestamp = 2n ** 63n - 1n;
        const at = (sequence: number) => batch(a, 1, { ...by(1n, 0, sequence), maxTimestamp });
        const files = [[at(0)], [at(1)], [at(2), at(3)], [at(3), at(4)]];
        const results = [];
        for (const batches of files) results.push(...(await coordinator.commitFile(file(batches))).batches);
        expect(results.map(({ baseOffset }) => baseOffset)).toEqual([0n, 1n, 2n, 3n, 3n, 4n]);
        const [found] = await coordinator.listOffsets([{ topicIdPartition: a, timestamp: -3n }]);
        expect(found).toMatchObject({ timestamp: maxTimestamp, offset: 0n });
        expect(await coordinator.listOffsets([{ topicIdPartition: a, timestamp: maxTimestamp }])).toMatchObject([
          { offset: 0n },
        ]);
      });

      it('never lets LogAppendTime go back, also after a restart', async () => {
        const [a] = (await topic(coordinator)) as [TopicIdPartition];
        const first = await commitOne(a, 1, { timestampType: 1, maxTimestamp: 5n });
        expect(first.logAppendTimeMs).toBe(BigInt(time.ms));
        time.ms -= 60_000;
        expect((await commitOne(a, 1, { timestampType: 1 })).logAppendTimeMs).toBe(first.logAppendTimeMs);
        if (harness.survivesReopening) await reopen();
        expect((await commitOne(a, 1, { timestampType: 1 })).logAppendTimeMs).toBe(first.logAppendTimeMs);
        const { coordinates } = await findFrom(coordinator, a, 0n);
        expect(coordinates[0]).toMatchObject({
          logAppendTimeMs: first.logAppendTimeMs,
          maxTimestamp: first.logAppendTimeMs,
        });
      });

      it('commits many files at once, each whole', async () => {
        const [a] = (await topic(coordinator)) as [TopicIdPartition];
        const requests = Array.from({ length: 50 }, () => file([batch(a, 2), batch(a, 1)]));
        const bad = file([batch(a, 1)], { objectKey: '' });
        const results = await Promise.allSettled([...requests, bad].map((request) => coordinator.commitFile(request)));
        expect(results.at(-1)!.status).toBe('rejected');
        const offsets = results.flatMap((result) => (result.status === 'fulfilled' ? result.value.batches : []));
        const sorted = offsets.map(({ baseOffset }) => Number(baseOffset)).sort((x, y) => x - y);
        expect(sorted).toEqual(Array.from({ length: 50 }, (_, i) => [3 * i, 3 * i + 2]).flat());
        expect((await findFrom(coordinator, a, 0n)).highWatermark).toBe(150n);
      });
    });

    it('fails those alone that are refused, among many that come together', async () => {
      const [a, b] = (await topic(coordinator, 2)) as [TopicIdPartition, TopicIdPartition];
      const givenUp = file([batch(a, 1)]);
      await coordinator.abandonFile(givenUp.objectKey);
      const heard: CoordinatorChange[] = [];
      coordinator.onChange((change) => heard.push(change));
      const again = file([batch(b, 1)]);
      await commitOne(a, 3);
      const settled = await Promise.allSettled([
        coordinator.commitFile(givenUp),
        coordinator.commitFile(again),
        coordinator.createPartitions([
          { topicId: a.topicId, partitions: 5 },
          { topicId: a.topicId, partitions: -1 },
        ]),
        coordinator.commitFile(again),
        coordinator.deleteRecords([{ topicIdPartition: a, beforeOffset: 2n }]),
        coordinator.commitFile(file([batch(a, 2)])),
      ]);
      expect(settled.map(({ status }) => (status === 'fulfilled' ? 1 : 0))).toEqual([0, 1, 0, 1, 1, 1]);
      expect(settled[3]).toEqual(settled[1]);
      expect((await coordinator.listTopics()).map(({ partitions }) => partitions)).toEqual([2]);
      expect(await coordinator.logSizes([a.topicId])).toEqual([[200n, 100n]]);
      expect(await findFrom(coordinator, a, 2n)).toMatchObject({ highWatermark: 5n, logStartOffset: 2n });
      expect(heard.every(({ kind }) => kind !== 'topics')).toBe(true);
      const numbers = heard.map(({ changeNumber }) => changeNumber);
      expect(numbers).toEqual([...new Set(numbers)].sort((x, y) => x - y));
    });

    describe('producer state', () => {
      let a: TopicIdPartition;
      beforeEach(async () => {
        [a] = (await topic(coordinator)) as [TopicIdPartition];
      });
      const errorOf = async (records: number, more: object) => (await commitOne(a, records, more)).error;

      it('accepts sequences that follow and refuses gaps', async () => {
        expect(await errorOf(3, by(1n, 0, 0))).toBe(Errors.NONE);
        expect(await errorOf(2, by(1n, 0, 3))).toBe(Errors.NONE);
        expect(await errorOf(1, by(1n, 0, 6))).toBe(Errors.OUT_OF_ORDER_SEQUENCE_NUMBER);
        expect(await errorOf(1, by(1n, 0, 4))).toBe(Errors.OUT_OF_ORDER_SEQUENCE_NUMBER);
        expect(await errorOf(1, by(1n, 0, 5))).toBe(Errors.NONE);
      });

      it('accepts any sequence where it knows nothing of the producer', async () => {
        expect(await errorOf(1, by(1n, 3, 41))).toBe(Errors.NONE);
        expect(await errorOf(1, by(1n, 3, 42))).toBe(Errors.NONE);
      });

      it('answers duplicates among the last five with their first offset, in one file and across files', async () => {
        const { batches } = await coordinator.commitFile(
          file([batch(a, 2, by(1n, 0, 0)), batch(a, 2, by(1n, 0, 0)), batch(a, 1, by(1n, 0, 2))]),
        );
        expect(batches.map(({ baseOffset, duplicate }) => [baseOffset, duplicate])).toEqual([
          [0n, false],
          [0n, true],
          [2n, false],
        ]);
        for (let sequence = 3; sequence < 7; sequence += 1) await commitOne(a, 1, by(1n, 0, sequence));
        expect(await commitOne(a, 1, by(1n, 0, 2))).toMatchObject({
          error: Errors.NONE,
          baseOffset: 2n,
          duplicate: true,
        });
        expect(await commitOne(a, 1, by(1n, 0, 6))).toMatchObject({ baseOffset: 6n, duplicate: true });
        expect(await errorOf(2, by(1n, 0, 0))).toBe(Errors.OUT_OF_ORDER_SEQUENCE_NUMBER);
        expect((await findFrom(coordinator, a, 0n)).highWatermark).toBe(7n);
      });

      it('answers a duplicate under LogAppendTime with its first append time', async () => {
        const first = await commitOne(a, 1, { ...by(1n, 0, 0), timestampType: 1 });
        time.ms += 1_000;
        expect(await commitOne(a, 1, { ...by(1n, 0, 0), timestampType: 1 })).toEqual({ ...first, duplicate: true });
      });

      it('wraps sequences from 2147483647 to 0', async () => {
        expect(await errorOf(1, by(1n, 0, MAX_INT32 - 1))).toBe(Errors.NONE);
        expect(await errorOf(3, by(1n, 0, MAX_INT32))).toBe(Errors.NONE);
        expect(await commitOne(a, 3, by(1n, 0, MAX_INT32))).toMatchObject({ baseOffset: 1n, duplicate: true });
        expect(await errorOf(1, by(1n, 0, 2))).toBe(Errors.NONE);
        expect(await errorOf(1, by(2n, 0, MAX_INT32))).toBe(Errors.NONE);
        expect(await errorOf(1, by(2n, 0, 0))).toBe(Errors.NONE);
      });

      it('fences an older epoch and lets a newer one begin at 0 only', async () => {
        expect(await errorOf(2, by(1n, 5, 0))).toBe(Errors.NONE);
        expect(await errorOf(1, by(1n, 4, 2))).toBe(Errors.INVALID_PRODUCER_EPOCH);
        expect(await errorOf(1, by(1n, 6, 2))).toBe(Errors.OUT_OF_ORDER_SEQUENCE_NUMBER);
        expect(await commitOne(a, 2, by(1n, 6, 0))).toMatchObject({ baseOffset: 2n, duplicate: false });
        expect(await errorOf(2, by(1n, 5, 0))).toBe(Errors.INVALID_PRODUCER_EPOCH);
      });

      it('keeps producers and partitions apart', async () => {
        const [b] = (await topic(coordinator)) as [TopicIdPartition];
        await commitOne(a, 1, by(1n, 0, 0));
        expect((await commitOne(b, 1, by(1n, 0, 0))).duplicate).toBe(false);
        expect((await commitOne(a, 1, by(2n, 0, 0))).duplicate).toBe(false);
      });

      it('forgets a producer that was idle for producer.id.expiration.ms', async () => {
        await coordinator.alterConfigs('broker', { 'producer.id.expiration.ms': '60000' });
        await commitOne(a, 1, by(1n, 0, 0));
        time.ms += 59_999;
        expect(await errorOf(1, by(1n, 0, 9))).toBe(Errors.OUT_OF_ORDER_SEQUENCE_NUMBER);
        expect(await coordinator.describeProducers([a])).toHaveLength(1);
        time.ms += 1;
        expect(await coordinator.describeProducers([a])).toEqual([[]]);
        expect(await errorOf(1, by(1n, 0, 9))).toBe(Errors.NONE);
        expect(await errorOf(1, by(1n, 0, 10))).toBe(Errors.NONE);
      });

      it('does not count as idle the time by which the clock was wrong for a while', async () => {
        await coordinator.alterConfigs('broker', { 'producer.id.expiration.ms': '60000' });
        await commitOne(a, 1, by(1n, 0, 0));
        time.ms += 60_000;
        await commitOne(a, 1);
        time.ms -= 60_000;
        // So many that whatever is done once in a while has been done.
        const many = Array.from({ length: 300 }, (_, i) => batch(a, 1, { ...by(2n, 0, i), position: 1 + 101 * i }));
        await coordinator.commitFile(file(many));
        expect(await commitOne(a, 1, by(1n, 0, 0))).toMatchObject({ baseOffset: 0n, duplicate: true });
      });

      it('remembers nothing from before that, also after a restart', async () => {
        await reopen({ producerIdExpirationMs: 1_000 });
        const [a] = (await topic(coordinator)) as [TopicIdPartition];
        await commitOne(a, 1, by(1n, 0, 0));
        time.ms += 1_000;
        await commitOne(a, 1, by(1n, 0, 50));
        if (harness.survivesReopening) await reopen({ producerIdExpirationMs: 1_000 });
        const again = [batch(a, 1, by(1n, 0, 0)), batch(a, 1, by(1n, 0, 50)), batch(a, 1, by(1n, 0, 51))];
        expect((await coordinator.commitFile(file(again))).batches).toMatchObject([
          { error: Errors.OUT_OF_ORDER_SEQUENCE_NUMBER },
          { duplicate: true, baseOffset: 1n },
          { baseOffset: 2n },
        ]);
      });

      it('describes producers', async () => {
        await commitOne(a, 3, { ...by(9n, 2, 0), maxTimestamp: 77n });
        await commitOne(a, 1, by(3n, 0, 0));
        expect(await coordinator.describeProducers([a, { ...a, partition: 1 }])).toEqual([
          [
            { producerId: 3n, producerEpoch: 0, lastSequence: 0, lastTimestampMs: 1_000n },
            { producerId: 9n, producerEpoch: 2, lastSequence: 2, lastTimestampMs: 77n },
          ],
          [],
        ]);
      });

      it('outlives the coordinates it came from', async () => {
        await commitOne(a, 1, by(1n, 0, 0));
        await coordinator.deleteRecords([{ topicIdPartition: a, beforeOffset: -1n }]);
        await retainAll(coordinator);
        if (harness.survivesReopening) await reopen();
        expect(await commitOne(a, 1, by(1n, 0, 0))).toMatchObject({ baseOffset: 0n, duplicate: true });
        expect(await errorOf(1, by(1n, 0, 2))).toBe(Errors.OUT_OF_ORDER_SEQUENCE_NUMBER);
      });

      it.runIf(harness.survivesReopening)('is right after a restart, however long the log', async () => {
        for (let round = 0; round < 70; round += 1) {
          await coordinator.commitFile(
            file([batch(a, 1, by(1n, 0, round)), batch(a, 1), batch(a, 2, by(2n, 1, 2 * round))]),
          );
          if (round % 23 !== 0) continue;
          await reopen();
          expect((await coordinator.describeProducers([a]))[0]).toMatchObject([
            { producerId: 1n, lastSequence: round },
            { producerId: 2n, producerEpoch: 1, lastSequence: 2 * round + 1 },
          ]);
        }
        expect(await commitOne(a, 1, by(1n, 0, 65))).toMatchObject({ duplicate: true, baseOffset: 260n });
        expect(await errorOf(1, by(1n, 0, 64))).toBe(Errors.OUT_OF_ORDER_SEQUENCE_NUMBER);
        expect(await errorOf(2, by(2n, 1, 140))).toBe(Errors.NONE);
      });
    });

    describe('abandonFile', () => {
      it('refuses every later commit of the key', async () => {
        const [a] = (await topic(coordinator)) as [TopicIdPartition];
        const request = file([batch(a, 1)]);
        expect(await coordinator.abandonFile(request.objectKey)).toEqual({ outcome: 'abandoned' });
        expect(await coordinator.abandonFile(request.objectKey)).toEqual({ outcome: 'abandoned' });
        await expect(coordinator.commitFile(request)).rejects.toMatchObject({ kind: 'abandoned' });
        if (harness.survivesReopening) await reopen();
        await coordinator.deleteFiles([request.objectKey]);
        await expect(coordinator.commitFile(request)).rejects.toMatchObject({ kind: 'abandoned' });
        expect((await findFrom(coordinator, a, 0n)).highWatermark).toBe(0n);
      });

      it('changes nothing when the key is committed, and returns the commit', async () => {
        const [a] = (await topic(coordinator)) as [TopicIdPartition];
        const request = file([batch(a, 4)]);
        const committed = await coordinator.commitFile(request);
        expect(await coordinator.abandonFile(request.objectKey)).toEqual({ outcome: 'committed', ...committed });
        expect(await coordinator.describeFiles([request.objectKey])).toMatchObject([{ state: 'uploaded' }]);
      });

      it('races a commit to one outcome', async () => {
        const [a] = (await topic(coordinator)) as [TopicIdPartition];
        for (let round = 0; round < 10; round += 1) {
          const request = file([batch(a, 1)]);
          const both = [() => coordinator.commitFile(request), () => coordinator.abandonFile(request.objectKey)];
          const [commit, abandon] = await Promise.allSettled((round % 2 ? both.reverse() : both).map((run) => run()));
          const outcomes = round % 2 ? [abandon!, commit!] : [commit!, abandon!];
          const committed = outcomes[0]!.status === 'fulfilled';
          expect(outcomes[1]).toMatchObject({
            status: 'fulfilled',
            value: { outcome: committed ? 'committed' : 'abandoned' },
          });
        }
      });
    });

    describe('findBatches', () => {
      let a: TopicIdPartition;
      let b: TopicIdPartition;
      beforeEach(async () => {
        [a, b] = (await topic(coordinator, 2)) as [TopicIdPartition, TopicIdPartition];
        for (let i = 0; i < 20; i += 1) await coordinator.commitFile(file([batch(a, 10), batch(b, 10)]));
      });
      const find = (fetches: [TopicIdPartition, bigint, number][], maxBytes: number, minOneBatch?: boolean) =>
        coordinator.findBatches({
          partitions: fetches.map(([topicIdPartition, fetchOffset, limit]) => ({
            topicIdPartition,
            fetchOffset,
            maxBytes: limit,
          })),
          maxBytes,
          ...(minOneBatch === undefined ? {} : { minOneBatch }),
        });

      it('begins with the coordinate that holds the fetch offset', async () => {
        const [found] = await find([[a, 15n, 250]], 10_000);
        expect(found).toMatchObject({
          error: Errors.NONE,
          logStartOffset: 0n,
          highWatermark: 200n,
          lastStableOffset: 200n,
        });
        // 15 to 19 are half of the first coordinate, so 50 of its 100 bytes count.
        expect(found!.coordinates.map(({ baseOffset }) => baseOffset)).toEqual([10n, 20n, 30n]);
        expect(found!.coordinates[0]).toEqual({
          objectKey: expect.stringMatching(/^segments\//),
          position: 1,
          size: 100,
          baseOffset: 10n,
          lastOffset: 19n,
          timestampType: 0,
          logAppendTimeMs: -1n,
          maxTimestamp: 1_000n,
          leaderEpoch: 0,
        });
      });

      it('spends the request’s bytes in the order of the partitions', async () => {
        const found = await find(
          [
            [a, 0n, 300],
            [b, 0n, 1_000],
            [a, 50n, 1_000],
          ],
          450,
        );
        expect(found.map(({ coordinates }) => coordinates.length)).toEqual([3, 2, 0]);
        expect(found[2]).toMatchObject({ error: Errors.NONE, highWatermark: 200n });
      });

      it('returns one coordinate above the limits, of the first partition that has any', async () => {
        const fetches: [TopicIdPartition, bigint, number][] = [
          [a, 200n, 0],
          [b, 0n, 0],
          [a, 0n, 0],
        ];
        const counts = async (minOne?: boolean) =>
          (await find(fetches, 0, minOne)).map(({ coordinates }) => coordinates.length);
        expect(await counts()).toEqual([0, 1, 0]);
        expect(await counts(false)).toEqual([0, 0, 0]);
      });

      it('tells the end, what is out of range, and what does not exist apart', async () => {
        await coordinator.deleteRecords([{ topicIdPartition: a, beforeOffset: 25n }]);
        const found = await find(
          [
            [a, 200n, 1_000],
            [a, 201n, 1_000],
            [a, 24n, 1_000],
            [a, -1n, 1_000],
            [{ ...a, partition: 7 }, 0n, 1_000],
            [a, 25n, 100],
          ],
          100_000,
        );
        expect(found.map(({ error }) => error)).toEqual([
          Errors.NONE,
          Errors.OFFSET_OUT_OF_RANGE,
          Errors.OFFSET_OUT_OF_RANGE,
          Errors.OFFSET_OUT_OF_RANGE,
          Errors.UNKNOWN_TOPIC_OR_PARTITION,
          Errors.NONE,
        ]);
        expect(found[0]!.coordinates).toEqual([]);
        expect(found[1]).toMatchObject({ logStartOffset: 25n, highWatermark: 200n });
        expect(found[4]).toMatchObject({ logStartOffset: -1n, highWatermark: -1n, lastStableOffset: -1n });
        expect(found[5]!.coordinates[0]).toMatchObject({ baseOffset: 20n });
      });

      it('tiles the whole log without gap or overlap', async () => {
        const { coordinates } = await findFrom(coordinator, a, 0n);
        let next = 0n;
        for (const { baseOffset, lastOffset } of coordinates) {
          expect(baseOffset).toBe(next);
          next = lastOffset + 1n;
        }
        expect(next).toBe(200n);
      });
    });

    describe('listOffsets', () => {
      let a: TopicIdPartition;
      beforeEach(async () => {
        [a] = (await topic(coordinator)) as [TopicIdPartition];
      });
      const list = async (timestamp: bigint, fromOffset?: bigint) =>
        (
          await coordinator.listOffsets([
            { topicIdPartition: a, timestamp, ...(fromOffset === undefined ? {} : { fromOffset }) },
          ])
        )[0]!;

      it('answers Kafka’s special timestamps', async () => {
        expect(await list(ListOffsetsTimestamp.earliest)).toMatchObject({ offset: 0n, timestamp: -1n });
        expect(await list(ListOffsetsTimestamp.maxTimestamp)).toMatchObject({ offset: -1n, timestamp: -1n });
        await commitOne(a, 10, { maxTimestamp: 50n, offsetOfMaxTimestampDelta: 4 });
        await commitOne(a, 10, { maxTimestamp: 70n, offsetOfMaxTimestampDelta: 3 });
        await commitOne(a, 10, { maxTimestamp: 70n });
        await coordinator.deleteRecords([{ topicIdPartition: a, beforeOffset: 5n }]);
        expect(await list(ListOffsetsTimestamp.latest)).toMatchObject({ offset: 30n, timestamp: -1n, leaderEpoch: 0 });
        expect(await list(ListOffsetsTimestamp.earliest)).toMatchObject({ offset: 5n, timestamp: -1n });
        expect(await list(ListOffsetsTimestamp.earliestLocal)).toMatchObject({ offset: 5n, timestamp: -1n });
        expect(await list(ListOffsetsTimestamp.maxTimestamp)).toMatchObject({ offset: 13n, timestamp: 70n });
        expect(await list(ListOffsetsTimestamp.latestTiered)).toMatchObject({ error: Errors.NONE, offset: -1n });
        expect(await list(-6n)).toMatchObject({ error: Errors.UNSUPPORTED_VERSION });
        const [unknown] = await coordinator.listOffsets([
          { topicIdPartition: { ...a, partition: 3 }, timestamp: ListOffsetsTimestamp.latest },
        ]);
        expect(unknown).toMatchObject({ error: Errors.UNKNOWN_TOPIC_OR_PARTITION, offset: -1n });
      });

      it('answers tens of thousands of partitions in one call, each by itself', async () => {
        const [b] = (await topic(coordinator, 24_000)) as [TopicIdPartition];
        const partitions = Array.from({ length: 25_000 }, (_, partition) => ({ ...b, partition }));
        await coordinator.commitFile(file([batch(partitions[11_111]!, 2, by(1n, 0, 0))]));
        const deletions = partitions.map((topicIdPartition) => ({ topicIdPartition, beforeOffset: 1n }));
        const deleted = await coordinator.deleteRecords(deletions);
        const starts = await coordinator.listOffsets(
          partitions.map((topicIdPartition) => ({ topicIdPartition, timestamp: ListOffsetsTimestamp.earliest })),
        );
        const producers = await coordinator.describeProducers(partitions);
        expect([deleted.length, starts.length, producers.length]).toEqual([25_000, 25_000, 25_000]);
        expect(deleted.findIndex(({ error }) => error === Errors.NONE)).toBe(11_111);
        expect(starts.findIndex(({ offset }) => offset === 1n)).toBe(11_111);
        expect(starts.findIndex(({ error }) => error !== Errors.NONE)).toBe(24_000);
        expect(producers.findIndex((one) => one.length > 0)).toBe(11_111);
      });

      it('tells of a max timestamp that a deleted record has', async () => {
        await commitOne(a, 10, { maxTimestamp: 70n, offsetOfMaxTimestampDelta: 3 });
        await commitOne(a, 10, { maxTimestamp: 60n, offsetOfMaxTimestampDelta: 2 });
        await coordinator.deleteRecords([{ topicIdPartition: a, beforeOffset: 3n }]);
        expect((await list(ListOffsetsTimestamp.maxTimestamp)).coordinate).toBeUndefined();
        await coordinator.deleteRecords([{ topicIdPartition: a, beforeOffset: 4n }]);
        const deleted = { offset: 4n, timestamp: 70n, coordinate: { baseOffset: 0n, lastOffset: 9n } };
        expect(await list(ListOffsetsTimestamp.maxTimestamp)).toMatchObject(deleted);
        const behind = await list(ListOffsetsTimestamp.maxTimestamp, 10n);
        expect(behind).toMatchObject({ offset: 12n, timestamp: 60n });
        expect(behind.coordinate).toBeUndefined();
        expect(await list(ListOffsetsTimestamp.maxTimestamp, 20n)).toMatchObject({ offset: -1n, timestamp: -1n });
      });

      it('has one max timestamp for all records of an append under LogAppendTime', async () => {
        const { logAppendTimeMs: timestamp } = await commitOne(a, 10, { timestampType: 1 });
        await coordinator.deleteRecords([{ topicIdPartition: a, beforeOffset: 4n }]);
        const found = await list(ListOffsetsTimestamp.maxTimestamp);
        expect(found).toMatchObject({ offset: 4n, timestamp });
        expect(found.coordinate).toBeUndefined();
      });

      it('finds the first coordinate with a timestamp at least as great, in any order of timestamps', async () => {
        for (const maxTimestamp of [30n, 10n, 90n, 20n, 60n]) await commitOne(a, 10, { maxTimestamp });
        expect(await list(5n)).toMatchObject({ offset: 0n, timestamp: 30n });
        expect(await list(31n)).toMatchObject({ offset: 20n, timestamp: 90n, coordinate: { baseOffset: 20n } });
        expect(await list(91n)).toMatchObject({ error: Errors.NONE, offset: -1n, timestamp: -1n });
        expect(await list(31n, 30n)).toMatchObject({ offset: 40n, timestamp: 60n });
        await coordinator.deleteRecords([{ topicIdPartition: a, beforeOffset: 25n }]);
        expect(await list(31n)).toMatchObject({ offset: 25n, coordinate: { baseOffset: 20n } });
        await coordinator.deleteRecords([{ topicIdPartition: a, beforeOffset: 30n }]);
        expect(await list(31n)).toMatchObject({ offset: 40n });
        await retainAll(coordinator);
        expect(await list(0n)).toMatchObject({ offset: 30n, timestamp: 20n });
        expect(await list(ListOffsetsTimestamp.maxTimestamp)).toMatchObject({ offset: 40n, timestamp: 60n });
      });

      it('takes records without a timestamp for older than any time', async () => {
        await commitOne(a, 1, { maxTimestamp: -1n });
        expect(await list(0n)).toMatchObject({ offset: -1n });
        expect(await list(ListOffsetsTimestamp.maxTimestamp)).toMatchObject({ offset: -1n, timestamp: -1n });
      });

      it('agrees with a plain search over a long log, also after restarts', async () => {
        const timestamps = Array.from({ length: 300 }, (_, i) => BigInt((i * 7_919) % 1_009));
        for (let i = 0; i < timestamps.length; i += 20) {
          const batches = timestamps
            .slice(i, i + 20)
            .map((maxTimestamp, j) => batch(a, 1, { maxTimestamp, position: 1 + 101 * j }));
          await coordinator.commitFile(file(batches));
          if (harness.survivesReopening) await reopen();
          expect(await list(ListOffsetsTimestamp.latest)).toMatchObject({ offset: BigInt(i + 20) });
          expect(await coordinator.logSizes([a.topicId])).toEqual([[BigInt(100 * (i + 20))]]);
        }
        for (const start of [0, 1, 63, 64, 129, 200, 299]) {
          await coordinator.deleteRecords([{ topicIdPartition: a, beforeOffset: BigInt(start) }]);
          if (start % 2 === 0) await retainAll(coordinator);
          for (const wanted of [0n, 500n, 990n, 1_000n, 1_008n]) {
            const index = timestamps.findIndex((timestamp, i) => i >= start && timestamp >= wanted);
            expect((await list(wanted)).offset).toBe(BigInt(index));
          }
          const left = timestamps.slice(start);
          const greatest = [...left].sort((x, y) => Number(y - x))[0]!;
          expect(await list(ListOffsetsTimestamp.maxTimestamp)).toMatchObject({
            offset: BigInt(start + left.indexOf(greatest)),
            timestamp: greatest,
          });
        }
      });
    });

    // Two levels of runs and a bit, searched from starts that lie anywhere in them.
    it('agrees with a plain search over a log of thousands of coordinates', { timeout: 60_000 }, async () => {
      const [a] = (await topic(coordinator)) as [TopicIdPartition];
      const random = seededRandom(5);
      const timestamps = Array.from({ length: 8_400 }, (_, i) => BigInt(i + Math.floor(random.next() * 3_000)));
      for (let i = 0; i < timestamps.length; i += 1_400) {
        const batches = timestamps
          .slice(i, i + 1_400)
          .map((maxTimestamp, j) => batch(a, 1, { maxTimestamp, position: 1 + 101 * j }));
        await coordinator.commitFile(file(batches));
      }
      let start = 0;
      for (let round = 0; round < 12; round += 1) {
        for (let query = 0; query < 25; query += 1) {
          const wanted = BigInt(Math.floor(random.next() * 11_600));
          const from = query % 2 === 0 ? start : start + Math.floor(random.next() * (timestamps.length - start));
          const request = { topicIdPartition: a, timestamp: wanted, fromOffset: BigInt(from) };
          const index = timestamps.findIndex((timestamp, i) => i >= from && timestamp >= wanted);
          expect((await coordinator.listOffsets([request]))[0]!.offset, `${wanted} from ${from}`).toBe(BigInt(index));
        }
        start += Math.floor(random.next() * 1_000);
        await coordinator.deleteRecords([{ topicIdPartition: a, beforeOffset: BigInt(start) }]);
        if (round % 2 === 0) await retainAll(coordinator);
      }
    });

    describe('deleteRecords', () => {
      it('moves the log start offset forward only, also into a batch', async () => {
        const [a] = (await topic(coordinator)) as [TopicIdPartition];
        await commitOne(a, 10);
        const remove = async (beforeOffset: bigint) =>
          (await coordinator.deleteRecords([{ topicIdPartition: a, beforeOffset }]))[0]!;
        expect(await remove(4n)).toEqual({ error: Errors.NONE, lowWatermark: 4n });
        expect(await remove(2n)).toEqual({ error: Errors.NONE, lowWatermark: 4n });
        expect(await remove(11n)).toEqual({ error: Errors.OFFSET_OUT_OF_RANGE, lowWatermark: -1n });
        expect(await remove(-2n)).toEqual({ error: Errors.OFFSET_OUT_OF_RANGE, lowWatermark: -1n });
        expect((await findFrom(coordinator, a, 4n)).coordinates).toHaveLength(1);
        expect(await remove(-1n)).toEqual({ error: Errors.NONE, lowWatermark: 10n });
        expect(await commitOne(a, 1)).toMatchObject({ baseOffset: 10n, logStartOffset: 10n });
        const [unknown] = await coordinator.deleteRecords([
          { topicIdPartition: { ...a, partition: 1 }, beforeOffset: 0n },
        ]);
        expect(unknown).toEqual({ error: Errors.UNKNOWN_TOPIC_OR_PARTITION, lowWatermark: -1n });
      });

      it('drops coordinates wholly below in bounded steps', async () => {
        const [a] = (await topic(coordinator)) as [TopicIdPartition];
        for (let i = 0; i < 10; i += 1) await commitOne(a, 10);
        await coordinator.deleteRecords([{ topicIdPartition: a, beforeOffset: 75n }]);
        expect(await retainAll(coordinator, 3)).toMatchObject({ coordinatesDeleted: 7, bytesDeleted: 700, steps: 3 });
        expect((await findFrom(coordinator, a, 75n)).coordinates.map(({ baseOffset }) => baseOffset)).toEqual([
          70n,
          80n,
          90n,
        ]);
      });
    });

    describe('enforceRetention', () => {
      it('drops by time, oldest first, up to the first that is young enough', async () => {
        const [a] = (await topic(coordinator, 1, { 'retention.ms': '1000' })) as [TopicIdPartition];
        const at = (ago: number) => ({ maxTimestamp: BigInt(time.ms - ago) });
        for (const ago of [5_000, 1_001, 1_000, 4_000, 0]) await commitOne(a, 10, at(ago));
        const retained = await retainAll(coordinator);
        expect(retained).toMatchObject({ coordinatesDeleted: 2, bytesDeleted: 200, partitions: [a] });
        expect(await findFrom(coordinator, a, 20n)).toMatchObject({ logStartOffset: 20n, highWatermark: 50n });
        time.ms += 1;
        expect((await retainAll(coordinator)).coordinatesDeleted).toBe(2);
        time.ms += 10_000;
        await retainAll(coordinator);
        expect(await findFrom(coordinator, a, 50n)).toMatchObject({ error: Errors.NONE, logStartOffset: 50n });
        expect((await commitOne(a, 1)).baseOffset).toBe(50n);
      });

      it('counts records without a timestamp from their commit', async () => {
        const [a] = (await topic(coordinator, 1, { 'retention.ms': '1000' })) as [TopicIdPartition];
        await commitOne(a, 1, { maxTimestamp: -1n });
        time.ms += 1_000;
        expect((await retainAll(coordinator)).coordinatesDeleted).toBe(0);
        time.ms += 1;
        expect((await retainAll(coordinator)).coordinatesDeleted).toBe(1);
      });

      it('drops by size while at least retention.bytes remain', async () => {
        const configs = { 'retention.bytes': '250', 'retention.ms': '-1' };
        const [a] = (await topic(coordinator, 1, configs)) as [TopicIdPartition];
        for (let i = 0; i < 5; i += 1) await commitOne(a, 1);
        expect((await retainAll(coordinator)).coordinatesDeleted).toBe(2);
        await coordinator.deleteRecords([{ topicIdPartition: a, beforeOffset: 3n }]);
        expect((await retainAll(coordinator)).coordinatesDeleted).toBe(1);
        expect((await retainAll(coordinator)).coordinatesDeleted).toBe(0);
      });

      it('takes limits from the broker’s configs, then Kafka’s defaults, and leaves compacted topics alone', async () => {
        const old = { maxTimestamp: BigInt(time.ms - 8 * 86_400_000) };
        const [a] = (await topic(coordinator, 1, {})) as [TopicIdPartition];
        const [c] = (await topic(coordinator, 1, { 'cleanup.policy': 'compact' })) as [TopicIdPartition];
        await coordinator.commitFile(file([batch(a, 1, old), batch(c, 1, old)]));
        await coordinator.alterConfigs('broker', { 'log.retention.ms': '-1' });
        expect((await retainAll(coordinator)).coordinatesDeleted).toBe(0);
        await coordinator.alterConfigs('broker', { 'log.retention.ms': null });
        expect(await retainAll(coordinator)).toMatchObject({ coordinatesDeleted: 1, partitions: [a] });
      });

      it('takes a limit beyond 64 bits for the greatest there is', async () => {
        const configs = { 'retention.ms': '9999999999999999999', 'retention.bytes': '100' };
        const [a] = (await topic(coordinator, 1, configs)) as [TopicIdPartition];
        for (let i = 0; i < 3; i += 1) await commitOne(a, 1, { maxTimestamp: 0n });
        expect((await retainAll(coordinator)).coordinatesDeleted).toBe(2);
      });

      it('goes through many partitions in bounded steps', async () => {
        const partitions = await topic(coordinator, 600, { 'retention.ms': '1' });
        await coordinator.commitFile(file(partitions.map((of) => batch(of, 1))));
        const retained = await retainAll(coordinator, 50);
        expect(retained.coordinatesDeleted).toBe(600);
        expect(retained.partitions).toHaveLength(600);
        expect(retained.steps).toBeGreaterThanOrEqual(12);
      });
    });

    describe('files', () => {
      it('of a topic of very many partitions are let go in bounded steps, with coordinates or without', async () => {
        const partitions = await topic(coordinator, 3_000);
        await coordinator.commitFile(file(partitions.slice(0, 10).map((of) => batch(of, 1))));
        await coordinator.deleteTopics([partitions[0]!.topicId]);
        const retained = await retainAll(coordinator);
        expect(retained.coordinatesDeleted).toBe(10);
        expect(await coordinator.filesToDelete({ graceMs: 0, limit: 10 })).toHaveLength(1);
        // The one in memory holds nobody up and counts only what it drops.
        if (harness.survivesReopening) expect(retained.steps).toBeGreaterThan(3_000 / 256);
      });

      it('are deletable after their last coordinate is gone and the grace has passed', async () => {
        const [a, b] = (await topic(coordinator, 2)) as [TopicIdPartition, TopicIdPartition];
        const shared = file([batch(a, 1), batch(b, 1)]);
        await coordinator.commitFile(shared);
        expect(await coordinator.describeFiles([shared.objectKey, 'nothing'])).toEqual([
          {
            objectKey: shared.objectKey,
            state: 'uploaded',
            sizeBytes: shared.sizeBytes,
            liveBytes: 200,
            sinceMs: time.ms,
          },
          undefined,
        ]);
        await coordinator.deleteRecords([{ topicIdPartition: a, beforeOffset: -1n }]);
        await retainAll(coordinator);
        expect(await coordinator.describeFiles([shared.objectKey])).toMatchObject([
          { state: 'uploaded', liveBytes: 100 },
        ]);
        await expect(coordinator.deleteFiles([shared.objectKey])).rejects.toMatchObject({ kind: 'invalid' });
        time.ms += 1_000;
        await coordinator.deleteRecords([{ topicIdPartition: b, beforeOffset: -1n }]);
        await retainAll(coordinator);
        const deletable = () => coordinator.filesToDelete({ graceMs: 500, limit: 10 });
        expect(await deletable()).toEqual([]);
        time.ms += 500;
        expect(await deletable()).toEqual([shared.objectKey]);
        if (harness.survivesReopening) await reopen();
        expect(await deletable()).toEqual([shared.objectKey]);
        await coordinator.deleteFiles([shared.objectKey, 'nothing']);
        expect(await deletable()).toEqual([]);
        expect(await coordinator.describeFiles([shared.objectKey])).toMatchObject([{ state: 'deleted', liveBytes: 0 }]);
      });

      it('are deletable at once when no batch was accepted, and when abandoned; oldest first, to the limit', async () => {
        const nowhere = { topicId: newUuid(), partition: 0 };
        const dead = file([batch(nowhere, 1)]);
        await coordinator.commitFile(dead);
        time.ms += 1;
        await coordinator.abandonFile('given-up');
        time.ms += 1;
        const dead2 = file([batch(nowhere, 1)]);
        await coordinator.commitFile(dead2);
        expect(await coordinator.describeFiles([dead.objectKey, 'given-up'])).toMatchObject([
          { state: 'deleting', liveBytes: 0 },
          { state: 'abandoned', liveBytes: 0, sinceMs: time.ms - 1 },
        ]);
        const toDelete = (limit: number) => coordinator.filesToDelete({ graceMs: 0, limit });
        expect(await toDelete(2)).toEqual([dead.objectKey, 'given-up']);
        await coordinator.deleteFiles(await toDelete(2));
        expect(await toDelete(10)).toEqual([dead2.objectKey]);
        expect(await coordinator.describeFiles(['given-up'])).toMatchObject([{ state: 'abandoned' }]);
        expect(await coordinator.commitFile(dead)).toMatchObject({
          batches: [{ error: Errors.UNKNOWN_TOPIC_OR_PARTITION }],
        });
      });

      it('are forgotten long after they are gone, oldest first, to the limit; never while they may be needed', async () => {
        const [a] = (await topic(coordinator)) as [TopicIdPartition];
        const kept = file([batch(a, 1)]);
        await coordinator.commitFile(kept);
        const dead = file([batch({ topicId: newUuid(), partition: 0 }, 1)]);
        await coordinator.commitFile(dead);
        await coordinator.deleteFiles([dead.objectKey]);
        time.ms += 1;
        await coordinator.abandonFile('gone');
        await coordinator.deleteFiles(['gone']);
        await coordinator.abandonFile('still there');
        const keys = [kept.objectKey, dead.objectKey, 'gone', 'still there'];
        const forget = (limit: number) => coordinator.forgetFiles({ olderThanMs: MIN_TOMBSTONE_AGE_MS, limit });
        const states = async () => (await coordinator.describeFiles(keys)).map((one) => one?.state);
        time.ms += MIN_TOMBSTONE_AGE_MS - 2;
        expect(await forget(10)).toBe(0);
        time.ms += 5;
        expect(await forget(1)).toBe(1);
        expect(await states()).toEqual(['uploaded', undefined, 'abandoned', 'abandoned']);
        if (harness.survivesReopening) await reopen();
        expect(await forget(10)).toBe(1);
        expect(await states()).toEqual(['uploaded', undefined, undefined, 'abandoned']);
        await expect(coordinator.forgetFiles({ olderThanMs: 1, limit: 1 })).rejects.toMatchObject({ kind: 'invalid' });
      });

      it('are refused when they are committed a day after they were made, unless they are known', async () => {
        const [a] = (await topic(coordinator)) as [TopicIdPartition];
        const createdMs = time.ms;
        const [early, late] = [file([batch(a, 1)], { createdMs }), file([batch(a, 1)], { createdMs })];
        time.ms += MAX_SEGMENT_AGE_MS - 1;
        const first = await coordinator.commitFile(early);
        time.ms += 1;
        await expect(coordinator.commitFile(late)).rejects.toMatchObject({ kind: 'abandoned' });
        expect(await coordinator.commitFile(early)).toEqual(first);
        expect(await coordinator.describeFiles([late.objectKey])).toEqual([undefined]);
        expect((await commitOne(a, 1)).baseOffset).toBe(1n);
      });

      it('survive a step at a time the deletion of their topic', async () => {
        const [a] = (await topic(coordinator)) as [TopicIdPartition];
        const requests = Array.from({ length: 7 }, () => file([batch(a, 1)]));
        for (const request of requests) await coordinator.commitFile(request);
        await coordinator.deleteTopics([a.topicId]);
        expect(await coordinator.enforceRetention({ maxCoordinates: 3 })).toMatchObject({
          coordinatesDeleted: 3,
          partitions: [],
          more: true,
        });
        if (harness.survivesReopening) await reopen();
        expect((await retainAll(coordinator, 3)).coordinatesDeleted).toBe(4);
        const deletable = await coordinator.filesToDelete({ graceMs: 0, limit: 10 });
        expect(deletable.sort()).toEqual(requests.map(({ objectKey }) => objectKey));
      });
    });

    describe('topics', () => {
      it('are created whole or not at all, listed by name', async () => {
        const one = { topicId: newUuid(), name: 'b', partitions: 3, configs: { 'retention.ms': '5' } };
        const two = { topicId: newUuid(), name: 'a', partitions: 1, configs: {} };
        expect(await coordinator.createTopics([one, two])).toEqual([{ error: Errors.NONE }, { error: Errors.NONE }]);
        expect(await coordinator.listTopics()).toEqual([two, one]);
        expect(
          await coordinator.createTopics([
            { ...one, topicId: newUuid() },
            { ...two, name: 'c' },
          ]),
        ).toEqual([{ error: Errors.TOPIC_ALREADY_EXISTS }, { error: Errors.TOPIC_ALREADY_EXISTS }]);
        for (const partitions of [0, 50_001, 1.5]) {
          const wrong = [
            { topicId: newUuid(), name: 'x', partitions: 1, configs: {} },
            { topicId: newUuid(), name: 'y', partitions, configs: {} },
          ];
          await expect(coordinator.createTopics(wrong)).rejects.toMatchObject({ kind: 'invalid' });
        }
        if (harness.survivesReopening) await reopen();
        expect(await coordinator.listTopics()).toEqual([two, one]);
      });

      it('grow, and never shrink', async () => {
        const [a] = (await topic(coordinator, 2)) as [TopicIdPartition];
        const grow = async (topicId: string, partitions: number) =>
          (await coordinator.createPartitions([{ topicId, partitions }]))[0]!.error;
        expect(await grow(a.topicId, 2)).toBe(Errors.INVALID_PARTITIONS);
        expect(await grow(newUuid(), 2)).toBe(Errors.UNKNOWN_TOPIC_OR_PARTITION);
        await commitOne(a, 5);
        expect(await grow(a.topicId, 4)).toBe(Errors.NONE);
        expect((await coordinator.listTopics())[0]).toMatchObject({ partitions: 4 });
        expect(await commitOne({ ...a, partition: 3 }, 1)).toMatchObject({ error: Errors.NONE, baseOffset: 0n });
        expect((await commitOne(a, 1)).baseOffset).toBe(5n);
      });

      it('have the size of what their coordinates refer to', async () => {
        const [a] = (await topic(coordinator, 2)) as [TopicIdPartition];
        const empty = { topicId: newUuid(), name: 'empty', partitions: 1, configs: {} };
        await coordinator.createTopics([empty]);
        const sizes = () => coordinator.logSizes([empty.topicId, newUuid(), a.topicId]);
        expect(await sizes()).toEqual([[0n], undefined, [0n, 0n]]);
        const stored = batch(a, 5);
        await coordinator.commitFile(file([stored]));
        expect(await sizes()).toEqual([[0n], undefined, [BigInt(stored.size), 0n]]);
        await coordinator.deleteRecords([{ topicIdPartition: a, beforeOffset: -1n }]);
        await retainAll(coordinator);
        expect(await sizes()).toEqual([[0n], undefined, [0n, 0n]]);
        await coordinator.deleteTopics([a.topicId]);
        expect(await sizes()).toEqual([[0n], undefined, undefined]);
        expect(await coordinator.logSizes([])).toEqual([]);
      });

      it('take everything of theirs with them when deleted; the name is free at once', async () => {
        const [a] = (await topic(coordinator)) as [TopicIdPartition];
        const { name } = (await coordinator.listTopics())[0]!;
        await commitOne(a, 3, by(1n, 0, 0));
        const offset = { topicIdPartition: a, offset: 2n, leaderEpoch: -1, metadata: '', commitTimeMs: 1 };
        await coordinator.commitOffsets('g', [offset]);
        expect(await coordinator.deleteTopics([a.topicId, newUuid()])).toEqual([
          { error: Errors.NONE },
          { error: Errors.UNKNOWN_TOPIC_ID },
        ]);
        expect(await coordinator.listTopics()).toEqual([]);
        expect((await findFrom(coordinator, a, 0n)).error).toBe(Errors.UNKNOWN_TOPIC_OR_PARTITION);
        expect((await commitOne(a, 1)).error).toBe(Errors.UNKNOWN_TOPIC_OR_PARTITION);
        expect(await coordinator.describeProducers([a])).toEqual([[]]);
        expect(await coordinator.fetchOffsets('g')).toEqual([]);
        await coordinator.createTopics([{ topicId: a.topicId, name, partitions: 1, configs: {} }]);
        expect(await commitOne(a, 1, by(1n, 0, 7))).toMatchObject({ error: Errors.NONE, baseOffset: 0n });
      });

      it('refuse configs that a store could not keep, and change nothing then', async () => {
        const [a] = (await topic(coordinator, 1, {})) as [TopicIdPartition];
        const id = (topicId: string, changes: Record<string, string>) => ({ topicId, changes });
        for (const [name, value] of [
          ['name', 'a\0b'],
          ['na\0me', ''],
          ['name', '\ud800'],
        ] as const) {
          const wrong = { [name]: value };
          const create = coordinator.createTopics([{ topicId: newUuid(), name: 't', partitions: 1, configs: wrong }]);
          await expect(create).rejects.toMatchObject({ kind: 'invalid' });
          const alter = coordinator.alterTopicConfigs([id(a.topicId, { fine: '1' }), id(newUuid(), wrong)]);
          await expect(alter).rejects.toMatchObject({ kind: 'invalid' });
          await expect(coordinator.alterConfigs('broker', wrong)).rejects.toMatchObject({ kind: 'invalid' });
        }
        expect(await coordinator.listTopics()).toMatchObject([{ topicId: a.topicId, configs: {} }]);
        expect(await coordinator.readConfigs('broker')).toEqual({});
      });

      it('have configs that are set and removed; scopes too', async () => {
        const [a] = (await topic(coordinator, 1, { x: '1', y: '2' })) as [TopicIdPartition];
        const changes = { x: null, z: '3', __proto__x: 'p' };
        expect(
          await coordinator.alterTopicConfigs([
            { topicId: a.topicId, changes },
            { topicId: newUuid(), changes },
          ]),
        ).toEqual([{ error: Errors.NONE }, { error: Errors.UNKNOWN_TOPIC_ID }]);
        expect((await coordinator.listTopics())[0]!.configs).toEqual({ y: '2', z: '3', __proto__x: 'p' });
        await coordinator.alterConfigs('group:g', { a: '1', b: '2' });
        await coordinator.alterConfigs('group:g', { a: null, c: '3' });
        if (harness.survivesReopening) await reopen();
        expect(await coordinator.readConfigs('group:g')).toEqual({ b: '2', c: '3' });
        expect(await coordinator.readConfigs('broker')).toEqual({});
        await coordinator.alterConfigs('group:h', { a: '1' });
        await coordinator.alterConfigs('group:gone', { a: '1' });
        await coordinator.alterConfigs('group:gone', { a: null });
        expect((await coordinator.listConfigScopes('group:')).sort()).toEqual(['group:g', 'group:h']);
        expect(await coordinator.listConfigScopes('group%')).toEqual([]);
      });
    });

    describe('producer ids and uploaders', () => {
      it('never gives an id out twice', async () => {
        const blocks = await Promise.all([1, 1000, 5].map((size) => coordinator.allocateProducerIdBlock(size)));
        if (harness.survivesReopening) await reopen();
        blocks.push(await coordinator.allocateProducerIdBlock(10));
        const ids = blocks.flatMap(({ firstProducerId, size }) =>
          Array.from({ length: size }, (_, i) => firstProducerId + BigInt(i)),
        );
        expect(new Set(ids).size).toBe(1_016);
        expect(ids.every((id) => id >= 0n)).toBe(true);
        for (const size of [0, -1, 1.5, 1_000_001]) {
          await expect(coordinator.allocateProducerIdBlock(size)).rejects.toMatchObject({ kind: 'invalid' });
        }
      });

      it('gives every registration of a node a greater epoch', async () => {
        const first = await coordinator.registerUploader(7);
        const other = await coordinator.registerUploader(8);
        if (harness.survivesReopening) await reopen();
        const second = await coordinator.registerUploader(7);
        expect(second.epoch).toBeGreaterThan(first.epoch);
        expect(other.epoch).toBeGreaterThanOrEqual(0);
      });
    });

    describe('groups', () => {
      const group = (epoch: number, state = '{}') => ({ groupId: 'g', type: 'classic' as const, epoch, state });

      it('are stored unless a newer epoch is', async () => {
        expect(await coordinator.storeGroup(group(3, '{"a":1}'))).toEqual({ error: Errors.NONE });
        expect(await coordinator.storeGroup(group(2))).toEqual({ error: Errors.FENCED_MEMBER_EPOCH });
        expect(await coordinator.storeGroup(group(3, '{"a":2}'))).toEqual({ error: Errors.NONE });
        await coordinator.storeGroup({ ...group(0), groupId: 'a', type: 'share' });
        if (harness.survivesReopening) await reopen();
        expect(await coordinator.loadGroups()).toEqual([
          { ...group(0), groupId: 'a', type: 'share' },
          group(3, '{"a":2}'),
        ]);
        await coordinator.deleteGroups(['g', 'none']);
        expect((await coordinator.loadGroups()).map(({ groupId }) => groupId)).toEqual(['a']);
      });

      it('commit offsets, each partition by itself, unless fenced', async () => {
        const [a, b] = (await topic(coordinator, 2)) as [TopicIdPartition, TopicIdPartition];
        const at = (of: TopicIdPartition, offset: bigint) => ({
          topicIdPartition: of,
          offset,
          leaderEpoch: 4,
          metadata: 'méta',
          commitTimeMs: time.ms,
        });
        const commit = async (offsets: ReturnType<typeof at>[], fence?: { epoch: number }) =>
          (await coordinator.commitOffsets('g', offsets, fence)).map(({ error }) => error);
        expect(await commit([at(b, 5n), at({ ...a, partition: 2 }, 1n), at(a, 2n ** 62n)])).toEqual([
          Errors.NONE,
          Errors.UNKNOWN_TOPIC_OR_PARTITION,
          Errors.NONE,
        ]);
        expect(await commit([at(a, 1n)], { epoch: 3 })).toEqual([Errors.ILLEGAL_GENERATION]);
        await coordinator.storeGroup(group(3));
        expect(await commit([at(a, 1n), at(b, 1n)], { epoch: 2 })).toEqual([
          Errors.ILLEGAL_GENERATION,
          Errors.ILLEGAL_GENERATION,
        ]);
        expect(await commit([at(b, 6n)], { epoch: 3 })).toEqual([Errors.NONE]);
        if (harness.survivesReopening) await reopen();
        expect(await coordinator.fetchOffsets('g')).toEqual([at(a, 2n ** 62n), at(b, 6n)]);
        expect(await coordinator.fetchOffsets('g', [b, { ...a, partition: 9 }, a])).toEqual([
          at(b, 6n),
          at(a, 2n ** 62n),
        ]);
        expect(await coordinator.fetchOffsets('other')).toEqual([]);
        await coordinator.deleteOffsets('g', [a, { ...a, partition: 9 }]);
        expect(await coordinator.fetchOffsets('g')).toEqual([at(b, 6n)]);
        await coordinator.deleteGroups(['g']);
        expect(await coordinator.fetchOffsets('g')).toEqual([]);
      });
    });

    describe('text from clients', () => {
      it('is kept as it is and apart from other text, whatever characters it has', async () => {
        const [a] = (await topic(coordinator)) as [TopicIdPartition];
        const texts = [
          'a',
          'a\0b',
          'a\0',
          '\0',
          '\u0001',
          '\u00010',
          '\u0001\0\u00011',
          `'"\\{},%_\n\u007fü€😀`,
          'NULL',
        ];
        const offsetOf = (text: string) => {
          const offset = BigInt(texts.indexOf(text));
          return { topicIdPartition: a, offset, leaderEpoch: -1, metadata: text, commitTimeMs: 1 };
        };
        const stateEpoch = (text: string) => texts.indexOf(text);
        for (const text of texts) {
          await coordinator.storeGroup({ groupId: text, type: 'classic', epoch: 1, state: '{}' });
          await coordinator.commitOffsets(text, [offsetOf(text)], { epoch: 1 });
          await coordinator.alterConfigs(`group:${text}`, { name: `${texts.indexOf(text)}` });
          const state = {
            stateEpoch: stateEpoch(text),
            leaderEpoch: 0,
            startOffset: 0n,
            deliveryCompleteCount: 0,
            stateBatches: [],
          };
          const key = { groupId: text, topicIdPartition: a };
          expect(await coordinator.writeShareStates([{ key, expected: undefined, state }])).toEqual([{ error: 0 }]);
        }
        expect((await coordinator.loadGroups()).map(({ groupId }) => groupId).sort()).toEqual([...texts].sort());
        expect((await coordinator.listConfigScopes('group:a')).sort()).toEqual(['group:a', 'group:a\0', 'group:a\0b']);
        for (const text of texts) {
          expect(await coordinator.fetchOffsets(text)).toEqual([offsetOf(text)]);
          expect(await coordinator.fetchOffsets(text, [a])).toEqual([offsetOf(text)]);
          expect(await coordinator.readConfigs(`group:${text}`)).toEqual({ name: `${texts.indexOf(text)}` });
          const [share] = await coordinator.readShareStates([{ groupId: text, topicIdPartition: a }]);
          expect(share?.stateEpoch).toBe(stateEpoch(text));
          expect(await coordinator.listSharePartitions(text)).toEqual([a]);
        }
        await coordinator.deleteOffsets('a\0', [a]);
        await coordinator.deleteGroups(['a\0b']);
        expect((await coordinator.loadGroups()).map(({ groupId }) => groupId)).not.toContain('a\0b');
        expect(await coordinator.fetchOffsets('a')).toEqual([offsetOf('a')]);
        for (const gone of ['a\0', 'a\0b']) expect(await coordinator.fetchOffsets(gone)).toEqual([]);
      });
    });

    describe('share state', () => {
      it('is replaced only by who saw what is stored', async () => {
        const [a, b] = (await topic(coordinator, 2)) as [TopicIdPartition, TopicIdPartition];
        const key = { groupId: 's', topicIdPartition: a };
        const state = (stateEpoch: number, leaderEpoch: number) => ({
          stateEpoch,
          leaderEpoch,
          startOffset: 2n ** 40n,
          deliveryCompleteCount: -1,
          stateBatches: [
            { firstOffset: 2n ** 40n, lastOffset: 2n ** 40n + 5n, deliveryState: 2, deliveryCount: 1 },
            { firstOffset: 2n ** 40n + 9n, lastOffset: 2n ** 40n + 9n, deliveryState: 0, deliveryCount: 4 },
          ],
        });
        const write = async (
          expected: ReturnType<typeof state> | undefined,
          next: ReturnType<typeof state> | undefined,
        ) => (await coordinator.writeShareStates([{ key, expected, state: next }]))[0]!.error;
        expect(await coordinator.readShareStates([key])).toEqual([undefined]);
        expect(await write(state(0, 0), state(0, 1))).toBe(Errors.FENCED_STATE_EPOCH);
        expect(await write(undefined, state(1, 1))).toBe(Errors.NONE);
        expect(await write(undefined, state(9, 9))).toBe(Errors.FENCED_STATE_EPOCH);
        expect(await write(state(1, 0), state(9, 9))).toBe(Errors.FENCED_LEADER_EPOCH);
        expect(await write(state(0, 1), state(9, 9))).toBe(Errors.FENCED_STATE_EPOCH);
        expect(await write(state(1, 1), state(1, 2))).toBe(Errors.NONE);
        const other = { groupId: 's', topicIdPartition: b };
        await coordinator.writeShareStates([{ key: other, expected: undefined, state: state(0, 0) }]);
        if (harness.survivesReopening) await reopen();
        expect(await coordinator.readShareStates([key, other, { ...key, groupId: 'none' }])).toEqual([
          state(1, 2),
          state(0, 0),
          undefined,
        ]);
        expect(await coordinator.listSharePartitions('s')).toEqual([a, b]);
        expect(await write(state(1, 2), undefined)).toBe(Errors.NONE);
        expect(await coordinator.listSharePartitions('s')).toEqual([b]);
        const missing = { ...key, topicIdPartition: { ...a, partition: 2 } };
        const create = { expected: undefined, state: state(0, 0) };
        expect(
          await coordinator.writeShareStates([
            { key: missing, ...create },
            { key, ...create },
          ]),
        ).toEqual([{ error: Errors.UNKNOWN_TOPIC_OR_PARTITION }, { error: Errors.NONE }]);
        await coordinator.deleteTopics([a.topicId]);
        expect(await coordinator.readShareStates([other])).toEqual([undefined]);
        expect(await write(undefined, state(0, 0))).toBe(Errors.UNKNOWN_TOPIC_OR_PARTITION);
        expect(await coordinator.listSharePartitions('s')).toEqual([]);
      });
    });

    describe('changes', () => {
      it('are told once durable, with numbers that rise', async () => {
        const heard: CoordinatorChange[] = [];
        const unsubscribe = coordinator.onChange((change) => heard.push(change));
        const [a] = (await topic(coordinator)) as [TopicIdPartition];
        await commitOne(a, 3);
        await coordinator.deleteRecords([{ topicIdPartition: a, beforeOffset: 1n }]);
        await coordinator.deleteRecords([{ topicIdPartition: a, beforeOffset: 1n }]);
        await coordinator.commitFile(file([batch({ ...a, partition: 1 }, 1)]));
        expect(heard.map(({ kind }) => kind)).toEqual(['topics', 'commit', 'log-start']);
        expect(heard[1]).toMatchObject({ highWatermarks: new Map([[partitionKey(a), 3n]]) });
        expect(heard[2]).toMatchObject({ logStartOffsets: new Map([[partitionKey(a), 1n]]) });
        const numbers = heard.map(({ changeNumber }) => changeNumber);
        expect(numbers).toEqual([...new Set(numbers)].sort((x, y) => x - y));
        unsubscribe();
        await commitOne(a, 1);
        expect(heard).toHaveLength(3);
        if (!harness.survivesReopening) return;
        await reopen();
        coordinator.onChange((change) => heard.push(change));
        await coordinator.deleteTopics([a.topicId]);
        expect(heard[3]).toMatchObject({ kind: 'topics' });
        expect(heard[3]!.changeNumber).toBeGreaterThan(heard[2]!.changeNumber);
      });
    });

    describe('closing', () => {
      it('waits for what is in flight, is idempotent, and refuses what comes after', async () => {
        const [a] = (await topic(coordinator)) as [TopicIdPartition];
        const committing = Promise.all(Array.from({ length: 20 }, () => commitOne(a, 1)));
        const closing = coordinator.close();
        expect(coordinator.close()).toBe(closing);
        await closing;
        expect(await committing).toHaveLength(20);
        await expect(commitOne(a, 1)).rejects.toMatchObject({ kind: 'closed' });
        await expect(coordinator.listTopics()).rejects.toMatchObject({ kind: 'closed' });
      });

      it('keeps the cluster id', async () => {
        const { clusterId } = coordinator;
        expect(isUuid(clusterId)).toBe(true);
        if (!harness.survivesReopening) return;
        await reopen();
        expect(coordinator.clusterId).toBe(clusterId);
      });
    });
  });
}
