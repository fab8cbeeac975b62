/** The append path through a whole engine over real parts: what producers are told, and what consumers then read. */
import crc32cOracle from 'crc-32/crc32c.js';
import { describe, expect, it } from 'vitest';
import { Errors } from '../../src/common/errors.ts';
import { deferred } from '../../src/common/lifecycle.ts';
import { CoordinatorError } from '../../src/coordinator/diskless-coordinator.ts';
import { readSegmentFooter } from '../../src/produce/segment-reader.ts';
import { StorageError } from '../../src/storage/object-storage.ts';
import { batchOf, EngineFixture, idempotent, valuesOf } from '../support/engine-fixture.ts';
import { settle } from '../support/manual-time.ts';
import { buildBatch } from '../support/record-batches.ts';

describe('append', () => {
  it('gives offsets in order and fetches the records back', async () => {
    const fixture = await EngineFixture.open();
    const topicId = await fixture.createTopic('orders', 2);
    const first = await fixture.append({ topicId, partition: 0 }, batchOf('a', 'b'));
    const second = await fixture.append({ topicId, partition: 0 }, batchOf('c'));
    const other = await fixture.append({ topicId, partition: 1 }, batchOf('x'));
    expect([first, second, other].map(({ error, baseOffset }) => [error, baseOffset])).toEqual([
      [Errors.NONE, 0n],
      [Errors.NONE, 2n],
      [Errors.NONE, 0n],
    ]);
    expect(first.logAppendTimeMs).toBe(-1n);
    const records = await fixture.readAll({ topicId, partition: 0 });
    expect(records.map(({ offset, value }) => [offset, value])).toEqual([
      [0n, 'a'],
      [1n, 'b'],
      [2n, 'c'],
    ]);
    expect(fixture.engine.stats()).toMatchObject({ appendedBatches: 3, segmentsCommitted: 3, segmentsAbandoned: 0 });
  });

  it('answers partitions in request order, and a bad CRC only for its own', async () => {
    const fixture = await EngineFixture.open();
    const topicId = await fixture.createTopic('orders', 3);
    const broken = buildBatch(batchOf('broken'));
    broken[broken.length - 1]! ^= 1;
    const results = await fixture.engine.append([
      { topicIdPartition: { topicId, partition: 2 }, records: buildBatch(batchOf('two')) },
      { topicIdPartition: { topicId, partition: 0 }, records: broken },
      { topicIdPartition: { topicId, partition: 1 }, records: buildBatch(batchOf('one')) },
    ]);
    expect(results.map((result) => [result.topicIdPartition.partition, result.error])).toEqual([
      [2, Errors.NONE],
      [0, Errors.CORRUPT_MESSAGE],
      [1, Errors.NONE],
    ]);
    expect(results[1]!.message).not.toBe('');
    expect(valuesOf(await fixture.readAll({ topicId, partition: 1 }))).toEqual(['one']);
    expect(await fixture.readAll({ topicId, partition: 0 })).toEqual([]);
  });

  it('stores nothing when every batch is invalid', async () => {
    let commits = 0;
    const fixture = await EngineFixture.open({
      coordinator: (real) => ({
        commitFile: (request) => {
          commits += 1;
          return real.commitFile(request);
        },
      }),
    });
    const topicId = await fixture.createTopic('orders', 1, { 'max.message.bytes': '100' });
    const tooLarge = await fixture.append({ topicId, partition: 0 }, batchOf('x'.repeat(200)));
    const unknown = await fixture.append({ topicId, partition: 1 }, batchOf('x'));
    await fixture.engine.flush();
    expect(tooLarge.error).toBe(Errors.MESSAGE_TOO_LARGE);
    expect(unknown.error).toBe(Errors.UNKNOWN_TOPIC_OR_PARTITION);
    expect(await fixture.objectKeys()).toEqual([]);
    expect(commits).toBe(0);
  });

  it('names the record without a key on a compacted topic', async () => {
    const fixture = await EngineFixture.open();
    const topicId = await fixture.createTopic('tables', 1, { 'cleanup.policy': 'compact' });
    const result = await fixture.append({ topicId, partition: 0 }, { records: [{ key: 'k' }, { value: 'v' }] });
    expect(result.error).toBe(Errors.INVALID_RECORD);
    expect(result.recordErrors).toEqual([{ batchIndex: 1, message: expect.stringContaining('key') }]);
  });

  it('injects the coordinator’s append time under LogAppendTime', async () => {
    const fixture = await EngineFixture.open();
    const topicId = await fixture.createTopic('orders', 1, { 'message.timestamp.type': 'LogAppendTime' });
    const result = await fixture.append({ topicId, partition: 0 }, { ...batchOf('a'), baseTimestamp: 5n });
    expect(result.logAppendTimeMs).toBeGreaterThan(1_700_000_000_000n);
    const [record] = await fixture.readAll({ topicId, partition: 0 });
    expect(record!.timestamp).toBe(result.logAppendTimeMs);
  });

  it('refuses a request that names a partition twice, as a whole', async () => {
    const fixture = await EngineFixture.open();
    const topicIdPartition = { topicId: await fixture.createTopic('orders'), partition: 0 };
    const twice = [1, 2].map(() => ({ topicIdPartition, records: buildBatch(batchOf('a')) }));
    await expect(fixture.engine.append(twice)).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
    expect(await fixture.engine.append([])).toEqual([]);
  });

  it('keeps the order of calls when a small batch follows a large one that a worker checks', async () => {
    const fixture = await EngineFixture.open();
    const topicIdPartition = { topicId: await fixture.createTopic('orders'), partition: 0 };
    const calls = [];
    for (let round = 0; round < 8; round++) {
      calls.push(fixture.append(topicIdPartition, batchOf('L'.repeat(600_000))));
      calls.push(fixture.append(topicIdPartition, batchOf('s')));
    }
    const results = await Promise.all(calls);
    expect(results.map(({ baseOffset }) => baseOffset)).toEqual(results.map((_, index) => BigInt(index)));
  });
});

describe('a segment', () => {
  it('of many small batches keeps each one’s verdict, among neighbours that are refused or known already', async () => {
    const fixture = await EngineFixture.open({ settings: { produceCommitIntervalMs: 60_000 } });
    const topicId = await fixture.createTopic('orders', 2);
    const zero = { topicId, partition: 0 };
    const flushed = async <T>(calls: Promise<T>[]): Promise<T[]> => {
      await settle();
      await fixture.engine.flush();
      return Promise.all(calls);
    };
    await flushed([fixture.append(zero, idempotent(1n, 0, 'a', 'b'))]);
    const results = await flushed([
      fixture.append(zero, batchOf('c')),
      fixture.append(zero, idempotent(1n, 0, 'a', 'b')),
      fixture.append(zero, idempotent(1n, 2, 'd', 'e')),
      fixture.append({ topicId, partition: 1 }, batchOf('x')),
      fixture.append(zero, idempotent(1n, 9, 'gap')),
      fixture.append(zero, batchOf('f')),
      fixture.append(zero, batchOf('L'.repeat(50_000))),
      fixture.append(zero, batchOf('g')),
      fixture.append(zero, batchOf('h')),
    ]);
    expect(results.map(({ error, baseOffset }) => [error, baseOffset])).toEqual([
      [0, 2n],
      [0, 0n],
      [0, 3n],
      [0, 0n],
      [Errors.OUT_OF_ORDER_SEQUENCE_NUMBER, -1n],
      [0, 5n],
      [0, 6n],
      [0, 7n],
      [0, 8n],
    ]);
    const values = ['a', 'b', 'c', 'd', 'e', 'f', 'L'.repeat(50_000), 'g', 'h'];
    expect(valuesOf(await fixture.readAll(zero))).toEqual(values);
    // Once the log start is known, all of it is served from what the append path handed on.
    const { rangedGets, segmentsCommitted } = fixture.engine.stats();
    expect(segmentsCommitted).toBe(2);
    expect(valuesOf(await fixture.readAll(zero))).toEqual(values);
    expect(fixture.engine.stats().rangedGets).toBe(rangedGets);
    // And the same from the object, by an engine that has nothing in memory.
    const other = await EngineFixture.open({ over: fixture });
    expect(valuesOf(await other.readAll(zero))).toEqual(values);
    expect(other.engine.stats().rangedGets).toBeGreaterThan(0);
  });

  it('explains itself and is stored with its checksum', async () => {
    const stored: { object: Buffer; crc32c: number | undefined }[] = [];
    const fixture = await EngineFixture.open({
      settings: { produceCommitIntervalMs: 60_000, nodeId: 7 },
      storage: (real) => ({
        put: (key, body, options) => {
          stored.push({ object: Buffer.concat(body), crc32c: options?.crc32c });
          return real.put(key, body, options);
        },
      }),
    });
    const topicId = await fixture.createTopic('orders', 3);
    const sizes = [40_000, 10, 70_000, 10, 20, 30];
    const calls = sizes.map((size, index) =>
      fixture.append({ topicId, partition: index % 3 }, batchOf('x'.repeat(size))),
    );
    await settle();
    await fixture.engine.flush();
    await Promise.all(calls);
    expect(stored).toHaveLength(1);
    const { object, crc32c } = stored[0]!;
    expect(crc32c).toBe(crc32cOracle.buf(object) >>> 0);
    const footer = await readSegmentFooter(fixture.objects, (await fixture.objectKeys())[0]!);
    expect(footer).toMatchObject({ uploaderId: 7, segmentSequence: 0 });
    expect(footer.runs.map((run) => [run.topicIdPartition.partition, run.batchCount])).toEqual([
      [0, 2],
      [1, 2],
      [2, 2],
    ]);
  });
});

describe('a storage that fails', () => {
  it('is tried again with the same key', async () => {
    const keys: string[] = [];
    const fixture = await EngineFixture.open({
      storage: (real) => ({
        put: async (key, body, options) => {
          keys.push(key);
          if (keys.length === 1) throw new StorageError('unavailable', 'once');
          await real.put(key, body, options);
        },
      }),
    });
    const topicIdPartition = { topicId: await fixture.createTopic('orders'), partition: 0 };
    expect((await fixture.append(topicIdPartition, batchOf('a'))).error).toBe(Errors.NONE);
    expect(keys).toHaveLength(2);
    expect(keys[1]).toBe(keys[0]);
  });

  it('recognises its own object when the answer to the PUT was lost', async () => {
    let attempts = 0;
    const fixture = await EngineFixture.open({
      storage: (real) => ({
        put: async (key, body, options) => {
          attempts += 1;
          await real.put(key, body, options);
          if (attempts === 1) throw new StorageError('timeout', 'the answer was lost');
        },
      }),
    });
    const topicIdPartition = { topicId: await fixture.createTopic('orders'), partition: 0 };
    expect((await fixture.append(topicIdPartition, batchOf('a'))).error).toBe(Errors.NONE);
    expect(await fixture.objectKeys()).toHaveLength(1);
    expect(valuesOf(await fixture.readAll(topicIdPartition))).toEqual(['a']);
  });

  it('fails the segment for good: abandoned first, and later batches of its partitions with it', async () => {
    const held = deferred<void>();
    let puts = 0;
    const abandoned: string[] = [];
    const fixture = await EngineFixture.open({
      storage: (real) => ({
        put: async (key, body, options) => {
          puts += 1;
          if (puts > 1) return real.put(key, body, options);
          await held.promise;
          throw new StorageError('denied', 'no longer allowed');
        },
      }),
      coordinator: (real) => ({
        abandonFile: async (key) => {
          await settle();
          const result = await real.abandonFile(key);
          abandoned.push(key);
          return result;
        },
      }),
    });
    const topicId = await fixture.createTopic('orders', 2);
    const zero = { topicId, partition: 0 };
    const order: string[] = [];
    const track = (name: string) => (result: { error: number }) => {
      order.push(`${name} ${result.error} after ${abandoned.length}`);
      return result;
    };
    const first = fixture.append(zero, idempotent(7n, 0, 'a')).then(track('first'));
    while (puts < 1) await settle();
    // In a later segment, which is stored and waits behind the first.
    const second = fixture.append(zero, idempotent(7n, 1, 'b')).then(track('second'));
    while (puts < 2) await settle();
    const elsewhere = await fixture.append({ topicId, partition: 1 }, batchOf('other'));
    expect(elsewhere.error).toBe(Errors.NONE);
    held.resolve();
    await Promise.all([first, second]);
    expect(order).toEqual([
      `first ${Errors.KAFKA_STORAGE_ERROR} after 1`,
      `second ${Errors.KAFKA_STORAGE_ERROR} after 1`,
    ]);
    // The producer sends both again, in order; nothing of the failed ones is in the way.
    expect((await fixture.append(zero, idempotent(7n, 0, 'a'))).baseOffset).toBe(0n);
    expect((await fixture.append(zero, idempotent(7n, 1, 'b'))).baseOffset).toBe(1n);
    expect(valuesOf(await fixture.readAll(zero))).toEqual(['a', 'b']);
    expect(fixture.engine.stats().segmentsAbandoned).toBeGreaterThan(0);
  });

  it('gives an upload up at its deadline', async () => {
    const fixture = await EngineFixture.open({
      settings: { produceUploadDeadlineMs: 20 },
      storage: () => ({ put: () => Promise.reject(new StorageError('throttled', 'slow down')) }),
    });
    const topicIdPartition = { topicId: await fixture.createTopic('orders'), partition: 0 };
    const result = await fixture.append(topicIdPartition, batchOf('a'));
    expect(result).toMatchObject({ error: Errors.KAFKA_STORAGE_ERROR, baseOffset: -1n });
    expect(result.message).toContain('slow down');
  });
});

describe('the order of commits', () => {
  it('holds within a partition when the second upload finishes first, and lets other partitions pass', async () => {
    const held = deferred<void>();
    let puts = 0;
    const committed: number[] = [];
    const fixture = await EngineFixture.open({
      storage: (real) => ({
        put: async (key, body, options) => {
          puts += 1;
          if (puts === 1) await held.promise;
          await real.put(key, body, options);
        },
      }),
      coordinator: (real) => ({
        commitFile: (request) => {
          committed.push(request.segmentSequence);
          return real.commitFile(request);
        },
      }),
    });
    const topicId = await fixture.createTopic('orders', 2);
    const slow = fixture.append({ topicId, partition: 0 }, batchOf('first'));
    while (puts < 1) await settle();
    const behind = fixture.append({ topicId, partition: 0 }, batchOf('second'));
    while (puts < 2) await settle();
    const elsewhere = await fixture.append({ topicId, partition: 1 }, batchOf('other'));
    expect(elsewhere.baseOffset).toBe(0n);
    expect(committed).toEqual([2]);
    held.resolve();
    expect((await slow).baseOffset).toBe(0n);
    expect((await behind).baseOffset).toBe(1n);
    expect(committed).toEqual([2, 0, 1]);
    expect(valuesOf(await fixture.readAll({ topicId, partition: 0 }))).toEqual(['first', 'second']);
  });
});

describe('a coordinator that fails', () => {
  it('is asked again when its answer to a commit was lost', async () => {
    let lost = 0;
    const fixture = await EngineFixture.open({
      coordinator: (real) => ({
        commitFile: async (request) => {
          const result = await real.commitFile(request);
          if (lost++ < 3) throw new CoordinatorError('unavailable', 'the answer was lost');
          return result;
        },
      }),
    });
    const topicIdPartition = { topicId: await fixture.createTopic('orders'), partition: 0 };
    expect(await fixture.append(topicIdPartition, batchOf('a'))).toMatchObject({ error: Errors.NONE, baseOffset: 0n });
    expect(await fixture.append(topicIdPartition, batchOf('b'))).toMatchObject({ error: Errors.NONE, baseOffset: 1n });
    expect(lost).toBe(5);
    expect(valuesOf(await fixture.readAll(topicIdPartition))).toEqual(['a', 'b']);
  });

  it('whose commits happen but never answer is believed when the key is given up', async () => {
    const fixture = await EngineFixture.open({
      settings: { produceCommitDeadlineMs: 20 },
      coordinator: (real) => ({
        commitFile: async (request) => {
          await real.commitFile(request);
          throw new CoordinatorError('unavailable', 'the answer was lost');
        },
      }),
    });
    const topicIdPartition = { topicId: await fixture.createTopic('orders'), partition: 0 };
    expect(await fixture.append(topicIdPartition, batchOf('a'))).toMatchObject({ error: Errors.NONE, baseOffset: 0n });
    expect(valuesOf(await fixture.readAll(topicIdPartition))).toEqual(['a']);
  });

  it('that never commits gets its key abandoned, so that a late commit is refused', async () => {
    const late: (() => Promise<unknown>)[] = [];
    const fixture = await EngineFixture.open({
      settings: { produceCommitDeadlineMs: 20 },
      coordinator: (real) => ({
        commitFile: async (request) => {
          late.push(() => real.commitFile(request));
          throw new CoordinatorError('unavailable', 'not reached');
        },
      }),
    });
    const topicIdPartition = { topicId: await fixture.createTopic('orders'), partition: 0 };
    const result = await fixture.append(topicIdPartition, batchOf('a'));
    expect(result.error).toBe(Errors.KAFKA_STORAGE_ERROR);
    await expect(late[0]!()).rejects.toMatchObject({ kind: 'abandoned' });
    expect(await fixture.readAll(topicIdPartition)).toEqual([]);
  });

  it('that was closed under a commit fails the engine; the caller learns that the outcome is unknown', async () => {
    let first = true;
    const fixture = await EngineFixture.open({
      coordinator: (real) => ({
        commitFile: async (request) => {
          if (!first) throw new CoordinatorError('closed', 'closed');
          first = false;
          await real.commitFile(request);
          throw new CoordinatorError('unavailable', 'the answer was lost');
        },
        abandonFile: () => Promise.reject(new CoordinatorError('closed', 'closed')),
      }),
    });
    const topicIdPartition = { topicId: await fixture.createTopic('orders'), partition: 0 };
    expect((await fixture.append(topicIdPartition, batchOf('a'))).error).toBe(Errors.REQUEST_TIMED_OUT);
    expect(fixture.engine.status).toBe('failed');
    await expect(fixture.append(topicIdPartition, batchOf('b'))).rejects.toMatchObject({ code: 'KAFKA_STORAGE_ERROR' });
  });
});
