/** Opening, closing, destroying, being killed: what happens to what was accepted. */
import { describe, expect, it } from 'vitest';
import { Errors } from '../../src/common/errors.ts';
import { deferred } from '../../src/common/lifecycle.ts';
import { CoordinatorError } from '../../src/coordinator/diskless-coordinator.ts';
import { batchOf, EngineFixture, idempotent, valuesOf } from '../support/engine-fixture.ts';
import { ManualTime, settle } from '../support/manual-time.ts';

const never = new Promise<never>(() => {});

describe('closing', () => {
  it('commits what was accepted, then refuses', async () => {
    const fixture = await EngineFixture.open({ settings: { produceCommitIntervalMs: 60_000 } });
    const topicIdPartition = { topicId: await fixture.createTopic('orders'), partition: 0 };
    const append = fixture.append(topicIdPartition, batchOf('a'));
    await fixture.engine.close();
    expect(await append).toMatchObject({ error: Errors.NONE, baseOffset: 0n });
    expect(fixture.engine.status).toBe('closed');
    await expect(fixture.append(topicIdPartition, batchOf('b'))).rejects.toMatchObject({ code: 'KAFKA_STORAGE_ERROR' });
    await expect(fixture.engine.flush()).rejects.toThrow('closed');
    const next = await EngineFixture.open({ over: fixture });
    expect(valuesOf(await next.readAll(topicIdPartition))).toEqual(['a']);
  });

  it('twice gives the same promise', async () => {
    const { engine } = await EngineFixture.open();
    expect(engine.close()).toBe(engine.close());
    await engine.close();
    await engine.destroy();
  });

  it('answers what could not be committed in time as of unknown outcome', async () => {
    const time = new ManualTime();
    const fixture = await EngineFixture.open({ time, storage: () => ({ put: abortable }) });
    const topicIdPartition = { topicId: await fixture.createTopic('orders'), partition: 0 };
    const append = fixture.append(topicIdPartition, batchOf('a'));
    const closed = fixture.engine.close({ timeoutMs: 50 });
    await time.advanceUntil(closed);
    expect((await append).error).toBe(Errors.REQUEST_TIMED_OUT);
  });
});

/** A PUT that only ends when it is given up. */
function abortable(_key: string, _body: unknown, options?: { signal?: AbortSignal }): Promise<void> {
  return new Promise((_, reject) => {
    options!.signal!.addEventListener('abort', () => reject(options!.signal!.reason), { once: true });
  });
}

describe('destroying', () => {
  it('answers everything at once and frees all memory', async () => {
    const fixture = await EngineFixture.open({ storage: () => ({ put: abortable }) });
    const topicIdPartition = { topicId: await fixture.createTopic('orders'), partition: 0 };
    const appends = ['a', 'b', 'c'].map((value) => fixture.append(topicIdPartition, batchOf(value)));
    await settle();
    await fixture.engine.destroy(new Error('second signal'));
    for (const result of await Promise.all(appends)) expect(result.error).toBe(Errors.REQUEST_TIMED_OUT);
    expect(fixture.engine.status).toBe('closed');
  });
});

describe('being killed', () => {
  // The first engine never learns what happened, as if its process had ended; a second one takes over its data.
  it('between PUT and commit leaves nothing visible, and the retry is accepted', async () => {
    const reached = deferred<void>();
    const killed = await EngineFixture.open({
      coordinator: () => ({
        commitFile: () => {
          reached.resolve();
          return never;
        },
      }),
    });
    const topicIdPartition = { topicId: await killed.createTopic('orders'), partition: 0 };
    void killed.append(topicIdPartition, idempotent(9n, 0, 'a'));
    await reached.promise;
    const next = await EngineFixture.open({ over: killed });
    expect(await next.readAll(topicIdPartition)).toEqual([]);
    expect((await next.append(topicIdPartition, idempotent(9n, 0, 'a'))).baseOffset).toBe(0n);
    expect(valuesOf(await next.readAll(topicIdPartition))).toEqual(['a']);
    await killed.engine.destroy();
  });

  it('between commit and answer keeps the batch, and the retry gets its first offset', async () => {
    const reached = deferred<void>();
    const killed = await EngineFixture.open({
      coordinator: (real) => ({
        commitFile: async (request) => {
          await real.commitFile(request);
          reached.resolve();
          return never;
        },
      }),
    });
    const topicIdPartition = { topicId: await killed.createTopic('orders'), partition: 0 };
    void killed.append(topicIdPartition, idempotent(9n, 0, 'a', 'b'));
    await reached.promise;
    const next = await EngineFixture.open({ over: killed });
    expect(await next.append(topicIdPartition, idempotent(9n, 0, 'a', 'b'))).toMatchObject({
      error: 0,
      baseOffset: 0n,
    });
    expect((await next.append(topicIdPartition, idempotent(9n, 2, 'c'))).baseOffset).toBe(2n);
    expect(valuesOf(await next.readAll(topicIdPartition))).toEqual(['a', 'b', 'c']);
    await killed.engine.destroy();
  });
});

describe('opening', () => {
  it('leaves nothing behind when the coordinator does not answer', async () => {
    let listeners = 0;
    const opening = EngineFixture.open({
      coordinator: (real) => ({
        onChange: (listener) => {
          listeners += 1;
          const unsubscribe = real.onChange(listener);
          return () => {
            listeners -= 1;
            unsubscribe();
          };
        },
        registerUploader: () => Promise.reject(new CoordinatorError('unavailable', 'away')),
      }),
    });
    await expect(opening).rejects.toThrow('away');
    expect(listeners).toBe(0);
  });

  it('gives every engine a higher uploader epoch', async () => {
    const epochs: number[] = [];
    const first = await EngineFixture.open();
    const watch = (real: { commitFile: (request: never) => Promise<unknown> }) => real;
    void watch;
    const open = () =>
      EngineFixture.open({
        over: first,
        coordinator: (real) => ({
          commitFile: (request) => {
            epochs.push(request.uploaderEpoch);
            return real.commitFile(request);
          },
        }),
      });
    const topicId = await first.createTopic('orders');
    for (const fixture of [await open(), await open()]) {
      await fixture.append({ topicId, partition: 0 }, batchOf('a'));
    }
    expect(epochs[1]).toBeGreaterThan(epochs[0]!);
  });

  it('refuses settings that make no sense, naming them', async () => {
    const wrong = (settings: object, text: string) => expect(EngineFixture.open({ settings })).rejects.toThrow(text);
    await wrong({ produceBufferMaxBytes: 0 }, 'produceBufferMaxBytes is 0');
    await wrong({ objectKeyPrefix: '../up' }, 'objectKeyPrefix');
    await wrong({ produceMemoryBytes: 1024 * 1024 }, 'at least twice produceBufferMaxBytes');
    await wrong({ noSuchThing: 1 }, 'noSuchThing');
  });
});
