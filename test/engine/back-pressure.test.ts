/** A storage slower than the producers: memory stays bounded, consumers go on, waiting ends in time. */
import { describe, expect, it } from 'vitest';
import { Errors } from '../../src/common/errors.ts';
import { deferred } from '../../src/common/lifecycle.ts';
import { batchOf, EngineFixture, idempotent, valuesOf } from '../support/engine-fixture.ts';
import { ManualTime, settle } from '../support/manual-time.ts';

const KIB = 1024;
/** Room for two of the batches below. */
const tight = { produceMemoryBytes: 256 * KIB, produceBufferMaxBytes: 64 * KIB };
const big = (name: string) => batchOf(name.padEnd(72 * KIB, '.'));

describe('back-pressure', () => {
  it('keeps what is buffered within its memory while fetches go on, and takes all in the end', async () => {
    const held = deferred<void>();
    let blocked = false;
    const fixture = await EngineFixture.open({
      settings: tight,
      storage: (real) => ({
        put: async (key, body, options) => {
          if (blocked) await held.promise;
          await real.put(key, body, options);
        },
      }),
    });
    const { engine } = fixture;
    const topicIdPartition = { topicId: await fixture.createTopic('orders'), partition: 0 };
    await fixture.append(topicIdPartition, batchOf('before'));
    blocked = true;
    const appends = Array.from({ length: 20 }, (_, index) => fixture.append(topicIdPartition, big(`${index}.`)));
    await settle(20);
    expect(engine.stats().bufferedBytes).toBeLessThanOrEqual(tight.produceMemoryBytes);
    expect(engine.appendBacklogBytes).toBeGreaterThan(20 * 72 * KIB);
    let room = false;
    const whenRoom = engine.whenAppendRoom().then(() => {
      room = true;
    });
    expect(valuesOf(await fixture.readAll(topicIdPartition))).toEqual(['before']);
    expect(room).toBe(false);
    held.resolve();
    const results = await Promise.all(appends);
    await whenRoom;
    expect(results.map(({ baseOffset }) => baseOffset)).toEqual(appends.map((_, index) => BigInt(index + 1)));
    await engine.flush();
    expect(engine.appendBacklogBytes).toBe(0);
  });

  it('ends waiting at the request’s timeout, together with what waits behind it for the same partition', async () => {
    const time = new ManualTime();
    const held = deferred<void>();
    const fixture = await EngineFixture.open({
      time,
      settings: { ...tight, produceUploadDeadlineMs: 600_000, produceRequestTimeoutMs: 600_000 },
      storage: (real) => ({
        put: async (key, body, options) => {
          await held.promise;
          await real.put(key, body, options);
        },
      }),
    });
    const topicId = await fixture.createTopic('orders', 2);
    const zero = { topicId, partition: 0 };
    const fill = [0, 1].map((index) => fixture.append({ topicId, partition: 1 }, big(`${index}`)));
    const waiting = fixture.append(zero, { ...big('first'), producerId: 1n, producerEpoch: 0, baseSequence: 0 }, 1_000);
    // There would be room for it, but not before the one that it follows.
    const behind = fixture.append(zero, idempotent(1n, 1, 'next'), 9_000);
    const elsewhere = fixture.append({ topicId, partition: 1 }, big('elsewhere'));
    const impatient = fixture.append({ topicId, partition: 1 }, big('impatient'), 500);
    await time.advance(500);
    expect((await impatient).error).toBe(Errors.REQUEST_TIMED_OUT);
    await time.advance(500);
    expect((await waiting).error).toBe(Errors.REQUEST_TIMED_OUT);
    expect((await behind).error).toBe(Errors.REQUEST_TIMED_OUT);
    held.resolve();
    const results = await time.advanceUntil(Promise.all([...fill, elsewhere]));
    expect(results.map(({ error }) => error)).toEqual([0, 0, 0]);
    expect((await time.advanceUntil(fixture.append(zero, idempotent(1n, 0, 'again')))).baseOffset).toBe(0n);
  });

  it('answers a placed batch at the timeout too, and commits it all the same', async () => {
    const time = new ManualTime();
    const held = deferred<void>();
    const fixture = await EngineFixture.open({
      time,
      settings: { produceUploadDeadlineMs: 600_000 },
      storage: (real) => ({
        put: async (key, body, options) => {
          await held.promise;
          await real.put(key, body, options);
        },
      }),
    });
    const topicIdPartition = { topicId: await fixture.createTopic('orders'), partition: 0 };
    const append = fixture.append(topicIdPartition, idempotent(1n, 0, 'a'), 100);
    await time.advance(100);
    expect(await append).toMatchObject({ error: Errors.REQUEST_TIMED_OUT, baseOffset: -1n });
    held.resolve();
    expect(await time.advanceUntil(fixture.append(topicIdPartition, idempotent(1n, 0, 'a')))).toMatchObject({
      error: Errors.NONE,
      baseOffset: 0n,
    });
    expect(valuesOf(await fixture.readAll(topicIdPartition))).toEqual(['a']);
  });

  it('refuses what can never fit, and what finds the waiting room full', async () => {
    const fixture = await EngineFixture.open({
      settings: { ...tight, produceMaxWaitingRequests: 1 },
      storage: () => ({ put: (_key, _body, options) => aborted(options!.signal!) }),
    });
    const topicId = await fixture.createTopic('orders', 1, { 'max.message.bytes': '1000000' });
    const topicIdPartition = { topicId, partition: 0 };
    const huge = await fixture.append(topicIdPartition, batchOf('x'.repeat(300 * KIB)));
    expect(huge).toMatchObject({ error: Errors.MESSAGE_TOO_LARGE, message: expect.stringContaining('at most') });
    const appends = [0, 1, 2, 3, 4].map((index) => fixture.append(topicIdPartition, big(`${index}`)));
    expect((await appends[4]!).error).toBe(Errors.KAFKA_STORAGE_ERROR);
    await fixture.engine.destroy();
    await Promise.all(appends);
  });
});

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }));
}
