/** Kafka's Fetch end to end over real parts in memory: budgets, ordering, waiting, errors, sharing. */
import { afterEach, describe, expect, it } from 'vitest';
import { Errors } from '../../src/common/errors.ts';
import { type Meter, noopMeter } from '../../src/common/metrics.ts';
import type { TopicIdPartition } from '../../src/common/topic-id-partition.ts';
import { type DisklessCoordinator, ListOffsetsTimestamp } from '../../src/coordinator/diskless-coordinator.ts';
import type { FetchResult } from '../../src/fetch/fetch-request.ts';
import { StorageError } from '../../src/storage/object-storage.ts';
import { intercept } from '../support/intercept.ts';
import { ManualTime, settle } from '../support/manual-time.ts';
import { readRecords } from '../support/read-records.ts';
import { buildBatch, plainBatch } from '../support/record-batches.ts';
import { batchOfSize, bytesOf, FetchFixture, type FixtureOptions, offsetsOf } from './fetch-fixture.ts';

let fixture: FetchFixture;

async function open(options: FixtureOptions = {}): Promise<FetchFixture> {
  fixture = await FetchFixture.open(options);
  return fixture;
}

afterEach(() => fixture.close());

/** The batch offsets of each partition of a result, after which it is released. */
function take(result: FetchResult): [bigint, bigint][][] {
  const offsets = result.partitions.map(({ records }) => offsetsOf(records));
  result.release();
  return offsets;
}

describe('reading back', () => {
  it('returns what another broker committed, offsets injected, values intact', async () => {
    const { fetch } = bound(await open());
    const [partition] = await fixture.createTopic(1);
    const batch = (values: string[]): Buffer => buildBatch({ records: values.map((value) => ({ value })) });
    await fixture.write([[partition!, [batch(['a', 'b']), batch(['c']), batch(['d', 'e'])]]]);
    const result = await fetch([[partition!, 0n]]);
    const [data] = result.partitions;
    expect(data).toMatchObject({ error: 0, highWatermark: 5n, lastStableOffset: 5n, logStartOffset: 0n });
    expect(offsetsOf(data!.records)).toEqual([
      [0n, 1n],
      [2n, 2n],
      [3n, 4n],
    ]);
    expect(readRecords(data!.records).map(({ offset, value }) => [offset, value])).toEqual([
      [0n, 'a'],
      [1n, 'b'],
      [2n, 'c'],
      [3n, 'd'],
      [4n, 'e'],
    ]);
    result.release();
  });

  it('begins with the batch that holds the fetch offset, not with its coordinate', async () => {
    const { fetch } = bound(await open());
    const [partition] = await fixture.createTopic(1);
    await fixture.write([[partition!, [plainBatch(2, 10), plainBatch(3, 10), plainBatch(2, 10)]]]);
    expect(take(await fetch([[partition!, 3n]]))).toEqual([
      [
        [2n, 4n],
        [5n, 6n],
      ],
    ]);
    expect(take(await fetch([[partition!, 6n]]))).toEqual([[[5n, 6n]]]);
  });

  it('serves the same from the local view without GET and without the coordinator', async () => {
    const { fetch } = bound(await open());
    const [partition] = await fixture.createTopic(1);
    await fixture.write([[partition!, [plainBatch(2, 10), plainBatch(3, 10)]]]);
    const first = take(await fetch([[partition!, 0n]]));
    const { length: gets } = fixture.gets;
    const { finds } = fixture;
    expect(take(await fetch([[partition!, 0n]]))).toEqual(first);
    expect(fixture.gets).toHaveLength(gets);
    expect(fixture.finds).toBe(finds);
    expect(fixture.service.stats().localHits).toBe(1);
  });

  it('makes no GET for a tail reader on the writing process', async () => {
    const { fetch } = bound(await open());
    const [partition] = await fixture.createTopic(1);
    let next = 0n;
    for (let round = 0; round < 20; round++) {
      const waiting = fetch([[partition!, next]], { maxWaitMs: 10_000 });
      if (round % 2 === 0) await settle();
      await fixture.writeOwn([[partition!, [plainBatch(2, 100), plainBatch(1, 100)]]]);
      const offsets = take(await waiting);
      expect(offsets[0]![0]).toEqual([next, next + 1n]);
      next = offsets[0]!.at(-1)![1] + 1n;
    }
    expect(fixture.gets).toEqual([]);
  });

  it('packs small batches of one commit into one run, in memory that is small too', async () => {
    const { fetch } = bound(await open());
    const [first, second] = await fixture.createTopic(2);
    const tiny = Array.from({ length: 200 }, (_, i) => buildBatch({ records: [{ value: `value ${i}` }] }));
    await fixture.writeOwn([
      [first!, [...tiny, batchOfSize(40_000), ...tiny]],
      [second!, tiny],
    ]);
    const bytes = 3 * tiny.reduce((sum, { length }) => sum + length, 0) + 40_000;
    expect(fixture.service.stats().cachedBytes).toBeLessThan(bytes + 5_000);
    const result = await fetch([
      [first!, 0n],
      [second!, 150n],
    ]);
    expect(result.partitions.map(({ records }) => records.length)).toEqual([3, 1]);
    const records = result.partitions.map((data) => readRecords(data.records));
    expect(records[0]!.map(({ offset }) => offset)).toEqual(Array.from({ length: 401 }, (_, i) => BigInt(i)));
    expect(records[1]!.map(({ value }) => value)).toEqual(Array.from({ length: 50 }, (_, i) => `value ${150 + i}`));
    result.release();
    expect(fixture.gets).toEqual([]);
  });

  it('waits for the writing process instead of reading back what is about to be in memory', async () => {
    const { fetch } = bound(await open());
    const [partition] = await fixture.createTopic(1);
    const batch = plainBatch(2, 10);
    const objectKey = 'segments/committing';
    await fixture.storage.put(objectKey, [Uint8Array.of(0), batch]);
    fixture.service.onCommitting(objectKey);
    await fixture.coordinator.commitFile(fixture.commitRequest(objectKey, partition!, batch));
    const fetching = fetch([[partition!, 0n]]); // it finds the batch at the coordinator, not yet in the local view
    await settle(10);
    expect(fixture.gets).toEqual([]);
    fixture.service.onCommitted([await fixture.rewritten(partition!, batch, 0n)]);
    fixture.service.onCommitSettled(objectKey);
    expect(take(await fetching)).toEqual([[[0n, 1n]]]);
    expect(fixture.gets).toEqual([]);
  });

  it('answers OFFSET_OUT_OF_RANGE below the log start and above the high watermark, NONE at it', async () => {
    const { fetch } = bound(await open());
    const [partition] = await fixture.createTopic(1);
    await fixture.write([[partition!, [plainBatch(5, 10)]]]);
    await fixture.coordinator.deleteRecords([{ topicIdPartition: partition!, beforeOffset: 2n }]);
    const errors: Record<string, number> = {};
    for (const offset of [-1n, 1n, 2n, 5n, 6n]) {
      const result = await fetch([[partition!, offset]]);
      errors[String(offset)] = result.partitions[0]!.error;
      if (offset === 5n) expect(result.partitions[0]).toMatchObject({ highWatermark: 5n, logStartOffset: 2n });
      result.release();
    }
    expect(errors).toEqual({ '-1': 1, '1': 1, '2': 0, '5': 0, '6': 1 });
  });

  it('answers UNKNOWN_TOPIC_OR_PARTITION, also for a topic that was in the local view and is deleted', async () => {
    const { fetch } = bound(await open());
    const [partition] = await fixture.createTopic(1);
    await fixture.writeOwn([[partition!, [plainBatch(1, 10)]]]);
    take(await fetch([[partition!, 0n]]));
    await fixture.coordinator.deleteTopics([partition!.topicId]);
    await settle();
    const result = await fetch([[partition!, 0n]]);
    expect(result.partitions[0]!.error).toBe(Errors.UNKNOWN_TOPIC_OR_PARTITION);
    result.release();
    expect(fixture.service.stats().cachedBytes).toBe(0);
  });

  it('injects append time under LogAppendTime', async () => {
    const { fetch } = bound(await open());
    const [partition] = await fixture.createTopic(1);
    await fixture.write([[partition!, [plainBatch(2, 10, { attributes: 8 })]]]);
    const result = await fetch([[partition!, 0n]]);
    const [first] = readRecords(result.partitions[0]!.records);
    const [latest] = await fixture.coordinator.listOffsets([
      { topicIdPartition: partition!, timestamp: ListOffsetsTimestamp.maxTimestamp },
    ]);
    expect(first!.timestamp).toBe(latest!.timestamp);
    result.release();
  });
});

describe('budgets', () => {
  it('returns the first batch even above every limit, and leaves later partitions empty without an error', async () => {
    const { fetch } = bound(await open());
    const [first, second] = await fixture.createTopic(2);
    await fixture.write([
      [first!, [batchOfSize(1000), batchOfSize(1000)]],
      [second!, [batchOfSize(1000)]],
    ]);
    for (const [maxBytes, partitionMaxBytes] of [
      [10, 10_000],
      [10_000, 10],
      [0, 0],
    ] as const) {
      const result = await fetch(
        [
          [first!, 0n, partitionMaxBytes],
          [second!, 0n, 100],
        ],
        { maxBytes },
      );
      expect(result.partitions.map(({ error, highWatermark }) => [error, highWatermark])).toEqual([
        [0, 2n],
        [0, 1n],
      ]);
      expect(take(result)).toEqual([[[0n, 0n]], []]);
    }
  });

  it('spends one budget in the order of the request', async () => {
    const { fetch } = bound(await open());
    const partitions = await fixture.createTopic(3);
    const batches = Array.from({ length: 4 }, () => batchOfSize(1000));
    await fixture.write(partitions.map((partition) => [partition, batches]));
    const sizes = async (order: TopicIdPartition[]): Promise<number[]> => {
      const result = await fetch(
        order.map((partition) => [partition, 0n, 3000]),
        { maxBytes: 5500 },
      );
      const bytes = result.partitions.map(({ records }) => bytesOf(records));
      result.release();
      return bytes;
    };
    expect(await sizes(partitions)).toEqual([3000, 2000, 0]);
    expect(await sizes([...partitions].reverse())).toEqual([3000, 2000, 0]); // now from the local view
  });

  it('reads 4 MiB runs of 16 KiB batches to the end with 64 KiB at a time: every record, no loop', async () => {
    const { fetch } = bound(await open());
    const [partition] = await fixture.createTopic(1);
    const batch = batchOfSize(16 * 1024);
    for (let run = 0; run < 2; run++) await fixture.write([[partition!, Array(256).fill(batch)]]);
    let next = 0n;
    let fetches = 0;
    while (next < 512n) {
      const result = await fetch([[partition!, next, 64 * 1024]], { maxBytes: 64 * 1024 });
      const { records } = result.partitions[0]!;
      expect(bytesOf(records)).toBeLessThanOrEqual(64 * 1024);
      for (const [base, last] of offsetsOf(records)) {
        expect(base).toBe(next);
        next = last + 1n;
      }
      result.release();
      fetches++;
    }
    expect(fetches).toBe(128);
    expect(fixture.gets.reduce((sum, get) => sum + get.size, 0)).toBe(512 * batch.length);
  });

  it('advances all of ten lagging partitions on a small budget, when they take turns as Kafka consumers do', async () => {
    const { fetch } = bound(await open());
    const partitions = await fixture.createTopic(10);
    for (let segment = 0; segment < 5; segment++) {
      await fixture.write(partitions.map((partition) => [partition, [batchOfSize(20_000), batchOfSize(20_000)]]));
    }
    const next = new Map(partitions.map((partition) => [partition, 0n]));
    let order = [...partitions];
    for (let round = 0; round < 30; round++) {
      const result = await fetch(
        order.map((partition) => [partition, next.get(partition)!, 40_000]),
        { maxBytes: 80_000 },
      );
      const served: TopicIdPartition[] = [];
      for (const [index, { records }] of result.partitions.entries()) {
        if (records.length === 0) continue;
        served.push(order[index]!);
        next.set(order[index]!, offsetsOf(records).at(-1)![1] + 1n);
      }
      result.release();
      order = [...order.filter((partition) => !served.includes(partition)), ...served];
      if (round === 4) expect(Math.min(...[...next.values()].map(Number))).toBeGreaterThan(0);
    }
    expect([...next.values()]).toEqual(Array(10).fill(10n));
  });
});

describe('waiting', () => {
  it('answers at the deadline with nothing, and costs nothing while it waits', async () => {
    const time = new ManualTime();
    const { fetch } = bound(await open({ time }));
    const [partition] = await fixture.createTopic(1);
    const waiting = fetch([[partition!, 0n]], { maxWaitMs: 30_000 });
    await time.advance(29_999);
    expect(fixture.service.stats().parkedFetches).toBe(1);
    expect([fixture.finds, fixture.gets.length, time.armedTimers]).toEqual([1, 0, 1]);
    await time.advance(1);
    const result = await waiting;
    expect(result.partitions[0]).toMatchObject({ error: 0, highWatermark: 0n, records: [] });
    result.release();
    expect(time.armedTimers).toBe(0);
  });

  it('waits for minBytes over several commits, by this process and by others', async () => {
    const time = new ManualTime();
    const { fetch } = bound(await open({ time }));
    const [first, second] = await fixture.createTopic(2);
    const waiting = fetch(
      [
        [first!, 0n],
        [second!, 0n],
      ],
      { minBytes: 2500, maxWaitMs: 60_000 },
    );
    await settle();
    await fixture.writeOwn([[first!, [batchOfSize(1000)]]]);
    await settle();
    await fixture.write([[second!, [batchOfSize(1000)]]]);
    await settle();
    expect(fixture.service.stats().parkedFetches).toBe(1);
    await fixture.writeOwn([[first!, [batchOfSize(1000)]]]);
    expect(take(await waiting)).toEqual([
      [
        [0n, 0n],
        [1n, 1n],
      ],
      [[0n, 0n]],
    ]);
  });

  it('does not hold up a tail partition for a cold one beyond maxWaitMs, and reads on for the cold one', async () => {
    const time = new ManualTime();
    const gate: (() => void)[] = [];
    const { fetch } = bound(await open({ time, beforeGet: () => new Promise<void>((resolve) => gate.push(resolve)) }));
    const [cold, tail] = await fixture.createTopic(2);
    await fixture.write([[cold!, [batchOfSize(500)]]]);
    await fixture.writeOwn([[tail!, [batchOfSize(500)]]]);
    const waiting = fetch(
      [
        [cold!, 0n],
        [tail!, 0n],
      ],
      { maxWaitMs: 500 },
    );
    await time.advance(499);
    expect(gate).toHaveLength(1);
    await time.advance(1);
    const result = await waiting;
    expect(result.partitions.map(({ error }) => error)).toEqual([0, 0]);
    expect(take(result)).toEqual([[], [[0n, 0n]]]);
    const alone = fetch([[cold!, 0n]], { maxWaitMs: 500 });
    await time.advance(2000); // with nothing to answer with, it waits for its GET
    for (const go of gate) go();
    expect(take(await alone)).toEqual([[[0n, 0n]]]);
    expect(gate).toHaveLength(1);
  });

  it('never misses a commit that lands between the look and the wait', async () => {
    let onFind: (() => Promise<unknown>) | undefined;
    const { fetch } = bound(
      await open({
        coordinator: (real: DisklessCoordinator) =>
          intercept<DisklessCoordinator>(real, {
            findBatches: async (request) => {
              const results = await real.findBatches(request);
              await onFind?.(); // the commit happens after the look, before the fetch hears its result
              return results;
            },
          }),
      }),
    );
    const [partition] = await fixture.createTopic(1);
    for (const [round, write] of [fixture.write, fixture.writeOwn].entries()) {
      onFind = () => {
        onFind = undefined;
        return write.call(fixture, [[partition!, [plainBatch(1, 10)]]]);
      };
      const offsets = take(await fetch([[partition!, BigInt(round)]], { maxWaitMs: 15_000 }));
      expect(offsets).toEqual([[[BigInt(round), BigInt(round)]]]);
    }
  });

  it('is answered at once when its topic is deleted', async () => {
    const { fetch } = bound(await open());
    const [first] = await fixture.createTopic(1);
    const waiting = fetch([[first!, 0n]], { maxWaitMs: 15_000 });
    await settle();
    await fixture.coordinator.deleteTopics([first!.topicId]);
    const result = await waiting;
    expect(result.partitions[0]!.error).toBe(Errors.UNKNOWN_TOPIC_OR_PARTITION);
    result.release();
  });

  it('rejects with the reason when it is aborted, and leaves nothing behind', async () => {
    const time = new ManualTime();
    const { fetch } = bound(await open({ time }));
    const [partition] = await fixture.createTopic(1);
    const controller = new AbortController();
    const waiting = fetch([[partition!, 0n]], { maxWaitMs: 15_000 }, controller.signal);
    await settle();
    controller.abort(new Error('the client went away'));
    await expect(waiting).rejects.toThrow('the client went away');
    await expect(fetch([[partition!, 0n]], {}, controller.signal)).rejects.toThrow('the client went away');
    expect([fixture.service.stats().parkedFetches, time.armedTimers]).toEqual([0, 0]);
  });

  it('takes 50,000 partitions in one fetch', async () => {
    const { fetch } = bound(await open());
    const partitions = await fixture.createTopic(50_000);
    const [busy] = partitions.slice(40_000);
    const waiting = fetch(
      partitions.map((partition) => [partition, 0n, 1000]),
      { maxWaitMs: 15_000 },
    );
    await settle();
    await fixture.writeOwn([[busy!, [plainBatch(1, 10)]]]);
    const result = await waiting;
    expect(result.partitions).toHaveLength(50_000);
    const withRecords = result.partitions.filter(({ records }) => records.length > 0);
    expect(withRecords.map(({ topicIdPartition }) => topicIdPartition.partition)).toEqual([40_000]);
    result.release();
    expect(fixture.service.stats().parkedFetches).toBe(0);
  });

  it('answers parked fetches when it closes, and refuses new ones', async () => {
    const { fetch } = bound(await open());
    const [partition] = await fixture.createTopic(1);
    const waiting = fetch([[partition!, 0n]], { maxWaitMs: 15_000 });
    await settle();
    await fixture.service.close();
    const result = await waiting;
    expect(result.partitions[0]!.error).toBe(0);
    result.release();
    await expect(fetch([[partition!, 0n]])).rejects.toMatchObject({ code: 'KAFKA_STORAGE_ERROR' });
  });

  it('does not wait for a GET that hangs when it is destroyed', async () => {
    const { fetch } = bound(
      await open({
        beforeGet: (_objectKey, _range, signal) =>
          new Promise((_resolve, reject) => signal!.addEventListener('abort', () => reject(signal!.reason))),
      }),
    );
    const [partition] = await fixture.createTopic(1);
    await fixture.write([[partition!, [plainBatch(1, 10)]]]);
    const waiting = fetch([[partition!, 0n]], { maxWaitMs: 15_000 });
    await settle(10);
    expect(fixture.gets).toHaveLength(1);
    await fixture.service.destroy();
    const result = await waiting;
    expect(result.partitions[0]!.error).toBe(Errors.KAFKA_STORAGE_ERROR);
    result.release();
  });

  it('answers a fetch of no partitions at once', async () => {
    const { fetch } = bound(await open());
    expect((await fetch([], { maxWaitMs: 15_000 })).partitions).toEqual([]);
  });
});

describe('failures', () => {
  it('costs only its own partition when a batch is corrupt: the good prefix, and the others', async () => {
    let corrupt: { objectKey: string; position: number } | undefined;
    const { fetch } = bound(
      await open({
        afterGet: (objectKey, position, bytes) => {
          if (corrupt?.objectKey === objectKey) bytes[corrupt.position - position]! ^= 0xff;
        },
      }),
    );
    const [bad, good] = await fixture.createTopic(2);
    const batch = batchOfSize(500);
    const { objectKey } = await fixture.write([
      [bad!, [batch, batch, batch]],
      [good!, [batch, batch]],
    ]);
    corrupt = { objectKey, position: 1 + 500 + 100 };
    const result = await fetch([
      [bad!, 0n],
      [good!, 0n],
    ]);
    expect(result.partitions.map(({ error }) => error)).toEqual([0, 0]);
    expect(take(result)).toEqual([
      [[0n, 0n]],
      [
        [0n, 0n],
        [1n, 1n],
      ],
    ]);
    const next = await fetch([
      [bad!, 1n],
      [good!, 2n],
    ]);
    expect(next.partitions.map(({ error }) => error)).toEqual([Errors.CORRUPT_MESSAGE, 0]);
    next.release();
    corrupt = undefined; // the damage was on the way, and is not remembered
    expect(take(await fetch([[bad!, 1n]]))).toEqual([
      [
        [1n, 1n],
        [2n, 2n],
      ],
    ]);
  });

  it('does not let a corrupt partition at the front eat the budget of those behind it', async () => {
    let corruptKey: string | undefined;
    const { fetch } = bound(
      await open({
        afterGet: (objectKey, _position, bytes) => {
          if (objectKey === corruptKey) bytes[100]! ^= 0xff;
        },
      }),
    );
    const [bad, good] = await fixture.createTopic(2);
    corruptKey = (await fixture.write([[bad!, [batchOfSize(5000)]]])).objectKey;
    await fixture.write([[good!, [batchOfSize(5000)]]]);
    const result = await fetch(
      [
        [bad!, 0n],
        [good!, 0n],
      ],
      { maxBytes: 5000 },
    );
    expect(result.partitions.map(({ error }) => error)).toEqual([Errors.CORRUPT_MESSAGE, 0]);
    expect(take(result)).toEqual([[], [[0n, 0n]]]);
  });

  it('reads once more when bytes were damaged on the way', async () => {
    let damage = 1;
    const { fetch } = bound(
      await open({
        afterGet: (_objectKey, _position, bytes) => {
          if (damage-- > 0) bytes[90]! ^= 1;
        },
      }),
    );
    const [partition] = await fixture.createTopic(1);
    await fixture.write([[partition!, [batchOfSize(500)]]]);
    expect(take(await fetch([[partition!, 0n]]))).toEqual([[[0n, 0n]]]);
    expect(fixture.gets).toHaveLength(2);
  });

  it('answers KAFKA_STORAGE_ERROR for a committed object that is gone, OFFSET_OUT_OF_RANGE if its batches are too', async () => {
    const time = new ManualTime();
    const { fetch } = bound(await open({ time }));
    const [partition, other] = await fixture.createTopic(2);
    const { objectKey } = await fixture.write([[partition!, [batchOfSize(500)]]]);
    await fixture.write([[other!, [batchOfSize(500)]]]);
    await fixture.storage.delete([objectKey]);
    const result = await fetch([
      [partition!, 0n],
      [other!, 0n],
    ]);
    expect(result.partitions.map(({ error }) => error)).toEqual([Errors.KAFKA_STORAGE_ERROR, 0]);
    expect(take(result)).toEqual([[], [[0n, 0n]]]);
    const { length: gets } = fixture.gets;
    (await fetch([[partition!, 0n]])).release();
    expect(fixture.gets).toHaveLength(gets); // known to be gone, for a moment
    await fixture.coordinator.deleteRecords([{ topicIdPartition: partition!, beforeOffset: 1n }]);
    const after = await fetch([[partition!, 0n]]);
    expect(after.partitions[0]!.error).toBe(Errors.OFFSET_OUT_OF_RANGE);
    after.release();
  });

  it('hears that batches were deleted while it was about to read them', async () => {
    let beforeGet: (() => Promise<unknown>) | undefined;
    const { fetch } = bound(
      await open({
        beforeGet: async () => {
          await beforeGet?.();
        },
      }),
    );
    const [partition] = await fixture.createTopic(1);
    const { objectKey } = await fixture.write([[partition!, [batchOfSize(500)]]]);
    beforeGet = async () => {
      await fixture.coordinator.deleteRecords([{ topicIdPartition: partition!, beforeOffset: 1n }]);
      await fixture.storage.delete([objectKey]);
    };
    const result = await fetch([[partition!, 0n]]);
    expect(result.partitions[0]!.error).toBe(Errors.OFFSET_OUT_OF_RANGE);
    result.release();
  });

  it('does not keep a failed GET, and serves what does not need it', async () => {
    let fails = true;
    const { fetch } = bound(
      await open({
        beforeGet: () => {
          if (fails) throw new StorageError('unavailable', 'injected');
        },
      }),
    );
    const [remote, local] = await fixture.createTopic(2);
    await fixture.write([[remote!, [batchOfSize(500)]]]);
    await fixture.writeOwn([[local!, [batchOfSize(500)]]]);
    const result = await fetch([
      [remote!, 0n],
      [local!, 0n],
    ]);
    expect(result.partitions.map(({ error }) => error)).toEqual([Errors.KAFKA_STORAGE_ERROR, 0]);
    expect(take(result)).toEqual([[], [[0n, 0n]]]);
    fails = false;
    expect(take(await fetch([[remote!, 0n]]))).toEqual([[[0n, 0n]]]);
  });

  it('answers KAFKA_STORAGE_ERROR while the coordinator is away, and what is local all the same', async () => {
    let isAway = false;
    const { fetch } = bound(
      await open({
        coordinator: (real) =>
          intercept<DisklessCoordinator>(real, {
            findBatches: async (request) => {
              if (isAway) throw new Error('away');
              return real.findBatches(request);
            },
          }),
      }),
    );
    const [local, other] = await fixture.createTopic(2);
    await fixture.writeOwn([[local!, [batchOfSize(500)]]]);
    take(await fetch([[local!, 0n]]));
    isAway = true;
    const result = await fetch([
      [local!, 0n],
      [other!, 0n],
    ]);
    expect(result.partitions.map(({ error, highWatermark }) => [error, highWatermark])).toEqual([
      [0, 1n],
      [Errors.KAFKA_STORAGE_ERROR, -1n],
    ]);
    expect(take(result)).toEqual([[[0n, 0n]], []]);
  });

  it.each([
    ['minBytes', { minBytes: Number.NaN }],
    ['maxBytes', { maxBytes: 1.5 }],
    ['maxWaitMs', { maxWaitMs: Infinity }],
  ])('refuses a request whose %s is no number it can use', async (name, params) => {
    const { fetch } = bound(await open());
    await expect(fetch([], params)).rejects.toThrow(name);
  });
});

describe('sharing', () => {
  it('makes the GETs of one for fifty identical cold fetches', async () => {
    const { fetch } = bound(await open());
    const partitions = await fixture.createTopic(4);
    for (let segment = 0; segment < 3; segment++) {
      await fixture.write(partitions.map((partition) => [partition, [batchOfSize(3000)]]));
    }
    await fixture.write(partitions.map((partition) => [partition, [batchOfSize(300_000)]])); // keeps the rest cold
    const wanted = partitions.map((partition) => [partition, 0n, 9000] as const);
    const results = await Promise.all(Array.from({ length: 50 }, () => fetch(wanted)));
    for (const result of results) expect(take(result).map((offsets) => offsets.length)).toEqual([3, 3, 3, 3]);
    expect(fixture.gets.filter((get) => get.size < 300_000)).toHaveLength(3);
  });

  it('does not let one consumer scanning the past evict the tail', async () => {
    const MIB = 1024 * 1024;
    const { fetch } = bound(await open({ fetchCapacityBytes: 16 * MIB }));
    const [old, live] = await fixture.createTopic(2);
    const batch = batchOfSize(512 * 1024);
    for (let segment = 0; segment < 40; segment++) await fixture.write([[old!, [batch, batch]]]);
    for (let round = 0; round < 8; round++) await fixture.writeOwn([[live!, [batch]]]);
    take(await fetch([[live!, 0n]]));
    for (let next = 0n; next < 70n; ) {
      const offsets = take(await fetch([[old!, next, MIB]], { maxBytes: MIB }));
      next = offsets[0]!.at(-1)![1] + 1n;
    }
    const { length: gets } = fixture.gets;
    expect(gets).toBeGreaterThan(30);
    for (let offset = 0n; offset < 8n; offset++) {
      expect(take(await fetch([[live!, offset, 100]]))[0]![0]).toEqual([offset, offset]);
    }
    expect(fixture.gets).toHaveLength(gets);
  });

  it('stays within its memory with 1,000 slow readers, and serves all of them and others', async () => {
    const MIB = 1024 * 1024;
    const capacity = 16 * MIB;
    const { fetch } = bound(await open({ fetchCapacityBytes: capacity, settings: { fetchMemoryWaitMs: 1 } }));
    const [old, live] = await fixture.createTopic(2);
    const batches = Array(256).fill(batchOfSize(1024)); // 256 KiB a segment, 32 MiB in all: twice what fits
    for (let segment = 0; segment < 128; segment++) await fixture.write([[old!, batches]]);
    await fixture.writeOwn([[live!, [batchOfSize(1000)]]]);
    const held: FetchResult[] = [];
    for (let reader = 0; reader < 1000; reader++) {
      const fetchOffset = BigInt((reader * 7919) % 32_768);
      const result = await fetch([[old!, fetchOffset, MIB / 4]], { maxBytes: MIB / 4 });
      held.push(result);
      expect(offsetsOf(result.partitions[0]!.records)[0]).toEqual([fetchOffset, fetchOffset]);
      expect(fixture.recordPool.slabs.leasedBytes('fetch')).toBeLessThanOrEqual(capacity);
    }
    expect(take(await fetch([[live!, 0n]]))).toEqual([[[0n, 0n]]]);
    for (const result of held) result.release();
    expect(bytesOf((await takeRecords(fetch([[old!, 500n, MIB / 4]])))!)).toBeGreaterThan(128 * 1024);
  });

  it('lets a reader for whom slow ones left no memory wait until one of them lets go', async () => {
    const MIB = 1024 * 1024;
    const time = new ManualTime();
    const { fetch } = bound(await open({ time, fetchCapacityBytes: 2 * MIB, settings: { fetchMemoryWaitMs: 1 } }));
    const [partition] = await fixture.createTopic(1);
    for (let segment = 0; segment < 8; segment++) await fixture.write([[partition!, [batchOfSize(500_000)]]]);
    const slow: FetchResult[] = [];
    for (let offset = 0n; offset < 3n; offset++) slow.push(await fetch([[partition!, offset]], { maxBytes: 500_000 }));
    const waiting = fetch([[partition!, 5n]], { maxBytes: 500_000, maxWaitMs: 1000 });
    await time.advance(500);
    for (const result of slow) result.release();
    expect(take(await waiting)).toEqual([[[5n, 5n]]]);
  });

  it('reports what it does through the meter', async () => {
    const readers = new Map<string, (result: { observe(value: number): void }) => void>();
    const instrument = (name: string) => ({
      addCallback: (read: (result: { observe(value: number): void }) => void) => readers.set(name, read),
      removeCallback: () => {},
    });
    const meter = { ...noopMeter, createObservableCounter: instrument, createObservableGauge: instrument };
    const { fetch } = bound(await open({ meter: meter as unknown as Meter }));
    const [partition] = await fixture.createTopic(1);
    await fixture.write([[partition!, [batchOfSize(500)]]]);
    for (let i = 0; i < 3; i++) take(await fetch([[partition!, 0n]]));
    const values: Record<string, number> = {};
    for (const [name, read] of readers) {
      read({
        observe: (value) => {
          values[name] = value;
        },
      });
    }
    expect(values).toMatchObject({
      'diskless.fetch.requests': 3,
      'diskless.fetch.bytes': 1500,
      'diskless.fetch.local_hits': 2,
      'diskless.fetch.ranged_gets': 1,
      'diskless.fetch.ranged_get_bytes': 500,
      'diskless.fetch.parked': 0,
    });
    expect(values['diskless.fetch.local_view']).toBeGreaterThan(500);
  });

  it('hands one coordinate to whoever reads it by itself', async () => {
    await open();
    const [partition] = await fixture.createTopic(1);
    await fixture.write([[partition!, [plainBatch(2, 10), plainBatch(1, 10)]]]);
    const [found] = await fixture.coordinator.findBatches({
      partitions: [{ topicIdPartition: partition!, fetchOffset: 0n, maxBytes: 1000 }],
      maxBytes: 1000,
    });
    const run = await fixture.service.readCoordinate(partition!, found!.coordinates[0]!);
    expect([run.baseOffset, run.lastOffset]).toEqual([0n, 2n]);
    run.slab.release();
    await fixture.storage.delete([found!.coordinates[0]!.objectKey]);
    const again = await fixture.service.readCoordinate(partition!, found!.coordinates[0]!); // from the local view
    again.slab.release();
    const missing = { ...found!.coordinates[0]!, objectKey: 'segments/none', baseOffset: 7n, lastOffset: 9n };
    await expect(fixture.service.readCoordinate(partition!, missing)).rejects.toMatchObject({
      code: 'KAFKA_STORAGE_ERROR',
    });
  });
});

describe('a coordinate that the local view holds in other pieces', () => {
  it('is handed over exactly: joined from several runs, or cut out of a longer one', async () => {
    await open();
    const [first, second] = await fixture.createTopic(2);
    const small = [plainBatch(2, 10), plainBatch(3, 10)];
    await fixture.writeOwn([[first!, [...small, batchOfSize(40_000)]]]);
    const many = Array.from({ length: 100 }, () => batchOfSize(15_000)); // packed into one run, longer than a coordinate
    await fixture.writeOwn([[second!, many]]);
    for (const [partition, coordinates] of [
      [first!, 1],
      [second!, 2],
    ] as const) {
      const [found] = await fixture.coordinator.findBatches({
        partitions: [{ topicIdPartition: partition, fetchOffset: 0n, maxBytes: 2 ** 30 }],
        maxBytes: 2 ** 30,
      });
      expect(found!.coordinates).toHaveLength(coordinates);
      for (const coordinate of found!.coordinates) {
        const run = await fixture.service.readCoordinate(partition, coordinate);
        expect([run.baseOffset, run.lastOffset, run.bytes.length]).toEqual([
          coordinate.baseOffset,
          coordinate.lastOffset,
          coordinate.size,
        ]);
        expect(readRecords([run.bytes])[0]!.offset).toBe(coordinate.baseOffset);
        run.slab.release();
      }
      const offsets = take(await fixture.fetch([[partition, 0n]]))[0]!;
      expect(offsets.at(-1)![1]).toBe(found!.highWatermark - 1n);
    }
    expect(fixture.gets).toEqual([]);
  });
});

/** The records of a result's first partition, copied out before it is released. */
async function takeRecords(fetching: Promise<FetchResult>): Promise<Uint8Array[] | undefined> {
  const result = await fetching;
  const records = result.partitions[0]?.records.map((batches) => Uint8Array.from(batches));
  result.release();
  return records;
}

function bound(of: FetchFixture): { fetch: FetchFixture['fetch'] } {
  return { fetch: of.fetch.bind(of) };
}
