/** Records that share groups give up, on their way through a whole engine into a dead-letter queue (KIP-1191). */
import { describe, expect, it } from 'vitest';
import { Errors } from '../../src/common/errors.ts';
import { deferred } from '../../src/common/lifecycle.ts';
import type { TopicIdPartition } from '../../src/common/topic-id-partition.ts';
import { compress } from '../../src/record/compression/compress.ts';
import { parseHeader, parseRecords } from '../../src/record/record-batch.ts';
import { RecordState } from '../../src/share/record-state.ts';
import type { ShareAcknowledgementBatch } from '../../src/share/share-fetch-request.ts';
import { StorageError } from '../../src/storage/object-storage.ts';
import { batchOf, EngineFixture, type FixtureOptions } from '../support/engine-fixture.ts';
import { ManualTime } from '../support/manual-time.ts';
import { batchesOf } from '../support/read-records.ts';
import { encodeRecords, type TestBatch } from '../support/record-batches.ts';
import { ShareMember } from '../support/share-member.ts';

const GROUP = 'workers';
const DLQ = 'dlq.orders';
const COPYING = { 'errors.deadletterqueue.copy.record.enable': 'true' };

interface Dead {
  readonly partition: number;
  readonly key: string | null;
  readonly value: string | null;
  readonly headers: Record<string, string>;
}

interface OpenOptions extends FixtureOptions {
  readonly group?: Record<string, string>;
  /** Of the dead-letter topic; null: there is none. */
  readonly dlq?: { readonly partitions?: number; readonly configs?: Record<string, string> } | null;
}

const ENABLED = { 'errors.deadletterqueue.group.enable': 'true' };

/** An engine with a topic `orders` of three partitions, and a group that reads it and has a dead-letter queue. */
async function open({ group, dlq, ...options }: OpenOptions = {}) {
  const fixture = await EngineFixture.open(options);
  const topicId = await fixture.createTopic('orders', 3);
  const queue =
    dlq === null ? undefined : await fixture.createTopic(DLQ, dlq?.partitions ?? 2, dlq?.configs ?? ENABLED);
  await fixture.metadata.alterConfigs(`group:${GROUP}`, {
    'share.auto.offset.reset': 'earliest',
    'errors.deadletterqueue.topic.name': DLQ,
    ...group,
  });
  const partitions = [0, 1, 2].map((partition): TopicIdPartition => ({ topicId, partition }));
  return { fixture, partitions, queue, member: new ShareMember(fixture.engine, GROUP, 'm1') };
}

const said = (type: number, ...offsets: number[]): ShareAcknowledgementBatch[] =>
  offsets.map((offset) => ({ firstOffset: BigInt(offset), lastOffset: BigInt(offset), acknowledgeTypes: [type] }));

/** Everything in the dead-letter queue, with its headers. */
async function deadLetters({ engine }: EngineFixture, topicId: string, partitions = 2): Promise<Dead[]> {
  const dead: Dead[] = [];
  for (let partition = 0; partition < partitions; partition++) {
    for (let fetchOffset = 0n; ; ) {
      const result = await engine.fetch(
        { minBytes: 0, maxWaitMs: 0, maxBytes: 2 ** 20, isolation: 'read_uncommitted' },
        [{ topicIdPartition: { topicId, partition }, fetchOffset, maxBytes: 2 ** 20 }],
      );
      const batches = result.partitions[0]!.records.flatMap((run) => [...batchesOf(run)]);
      for (const batch of batches) {
        const header = parseHeader(batch);
        fetchOffset = header.baseOffset + BigInt(header.lastOffsetDelta) + 1n;
        for (const { key, value, headers } of parseRecords(batch.subarray(61), header.recordsCount, 0n).records) {
          const named = headers.map((one) => [String(Buffer.from(one.key)), String(Buffer.from(one.value!))]);
          dead.push({ partition, key: text(key), value: text(value), headers: Object.fromEntries(named) });
        }
      }
      result.release();
      if (batches.length === 0) break;
    }
  }
  return dead;
}

const text = (bytes: Uint8Array | null): string | null => bytes && String(Buffer.from(bytes));

/** Waits until the engine has dealt with so many dead letters. */
async function dealtWith({ engine }: EngineFixture, copied: number, lost = 0): Promise<void> {
  await expect
    .poll(() => engine.stats(), { timeout: 15_000, interval: 5 })
    .toMatchObject({ deadLettersCopied: copied, deadLettersLost: lost });
}

/** The group's start offset of a partition, as the next leader would find it. */
async function startOffset({ metadata }: EngineFixture, topicIdPartition: TopicIdPartition): Promise<bigint> {
  const [state] = await metadata.readShareStates([{ groupId: GROUP, topicIdPartition }]);
  return state!.startOffset;
}

describe('a dead-letter queue', () => {
  it('gets what is rejected, with its content and where it came from', async () => {
    const { fixture, partitions, queue, member } = await open({ group: COPYING });
    const records = [{ key: 'k0', value: 'v0' }, { key: 'k1', value: 'v1' }, { value: null }];
    await fixture.append(partitions[2]!, { records });
    await member.take([partitions[2]!]);
    expect(await member.acknowledge(partitions[2]!, ...said(1, 0), ...said(3, 1, 2))).toBe(Errors.NONE);
    await dealtWith(fixture, 2);
    const headers = (offset: number) => ({
      '__dlq.errors.topic': 'orders',
      '__dlq.errors.partition': '2',
      '__dlq.errors.offset': String(offset),
      '__dlq.errors.group': GROUP,
      '__dlq.errors.delivery.count': '1',
      '__dlq.errors.message': 'Offset rejected by client.',
    });
    // Partition 2 of the source goes to partition 2 modulo 2.
    expect(await deadLetters(fixture, queue!)).toEqual([
      { partition: 0, key: 'k1', value: 'v1', headers: headers(1) },
      { partition: 0, key: null, value: null, headers: headers(2) },
    ]);
    // Archived, and passed with the next write.
    await fixture.append(partitions[2]!, batchOf('next'));
    await member.take([partitions[2]!]);
    expect(await member.acknowledge(partitions[2]!, ...said(1, 3))).toBe(Errors.NONE);
    await expect.poll(() => startOffset(fixture, partitions[2]!)).toBe(3n);
  });

  it('gets what was delivered too often, without its content unless the group wants it', async () => {
    const time = new ManualTime();
    const { fixture, partitions, queue, member } = await open({ time, group: { 'share.delivery.count.limit': '2' } });
    await time.advanceUntil(fixture.append(partitions[0]!, batchOf('poison')));
    for (let delivery = 1; delivery <= 2; delivery++) {
      expect(await time.advanceUntil(member.take([partitions[0]!]))).toEqual([[0, 0, delivery]]);
      await time.advance(30_000);
    }
    await time.advanceUntil(dealtWith(fixture, 1));
    const [dead] = await time.advanceUntil(deadLetters(fixture, queue!));
    expect(dead).toMatchObject({ partition: 0, key: null, value: null });
    expect(dead!.headers).toMatchObject({
      '__dlq.errors.delivery.count': '2',
      '__dlq.errors.message': 'Offset delivery count exceeded the threshold.',
    });
  });

  it('reads its records back with one GET where they lie in one object, across partitions and batches', async () => {
    const { fixture, partitions, queue, member } = await open({
      group: COPYING,
      settings: { fetchLocalViewBytes: 0, produceCommitIntervalMs: 50 },
    });
    const values = (partition: number) => Array.from({ length: 10 }, (_, i) => `${partition}-${i}`);
    for (const _ of [1, 2, 3]) {
      await Promise.all(partitions.map((of) => fixture.append(of, batchOf(...values(of.partition)))));
    }
    expect((await member.take(partitions)).length).toBeGreaterThanOrEqual(3);
    const segments = (await fixture.objectKeys()).length;
    const before = fixture.engine.stats().rangedGets;
    const answers = await member.acknowledgeAll(
      new Map(partitions.map((of) => [of, [...said(3, 2, 5), ...said(3, 17), ...said(3, 24)]])),
    );
    expect(answers).toEqual([Errors.NONE, Errors.NONE, Errors.NONE]);
    await dealtWith(fixture, 12);
    expect(fixture.engine.stats().rangedGets - before).toBe(segments);
    const found = (await deadLetters(fixture, queue!)).map(({ value }) => value);
    expect(found.toSorted()).toEqual(
      partitions.flatMap(({ partition }) => [2, 4, 5, 7].map((i) => `${partition}-${i}`)),
    );
  });

  it('copies out of compressed batches of thousands of records', async () => {
    const { fixture, partitions, queue, member } = await open({ group: COPYING });
    const records = Array.from({ length: 5000 }, (_, i) => ({ key: `k${i}`, value: `value ${i}` }));
    const compressed: TestBatch = { records, payload: compress('zstd', encodeRecords(records)), attributes: 4 };
    await fixture.append(partitions[0]!, compressed);
    const record_limit = { acquireMode: 'record_limit', maxRecords: 2000 } as const;
    expect(await member.take([partitions[0]!], record_limit)).toEqual([[0, 1999, 1]]);
    expect(await member.acknowledge(partitions[0]!, ...said(3, 7, 1234, 1999))).toBe(Errors.NONE);
    await dealtWith(fixture, 3);
    const found = (await deadLetters(fixture, queue!)).map(({ key, value }) => [key, value]);
    expect(found).toEqual([7, 1234, 1999].map((i) => [`k${i}`, `value ${i}`]));
  });

  it('keeps to max.message.bytes, and leaves the content of a larger record out', async () => {
    const configs = { ...ENABLED, 'max.message.bytes': '2000' };
    const { fixture, partitions, queue, member } = await open({ group: COPYING, dlq: { configs } });
    const values = [...Array.from({ length: 20 }, (_, i) => `${i}`.padEnd(300, 'x')), 'y'.repeat(3000)];
    await fixture.append(partitions[0]!, batchOf(...values));
    await member.take([partitions[0]!]);
    expect(await member.acknowledge(partitions[0]!, { firstOffset: 0n, lastOffset: 20n, acknowledgeTypes: [3] })).toBe(
      0,
    );
    await dealtWith(fixture, 21);
    const dead = await deadLetters(fixture, queue!);
    expect(dead.map(({ value }) => value)).toEqual([...values.slice(0, 20), null]);
    expect(dead.map(({ headers }) => headers['__dlq.errors.offset'])).toEqual(values.map((_, i) => String(i)));
  });

  it.each<[string, OpenOptions]>([
    ['does not exist', { dlq: null }],
    ['is not open to dead letters', { dlq: { configs: {} } }],
    ['refuses records without a key', { dlq: { configs: { ...ENABLED, 'cleanup.policy': 'compact' } } }],
    ['has a name that the cluster does not allow', { group: { 'errors.deadletterqueue.topic.name': 'orders' } }],
  ])('whose topic %s loses the record, which is archived all the same', async (_, options) => {
    const { fixture, partitions, member } = await open(options);
    await fixture.append(partitions[0]!, batchOf('a', 'b'));
    await member.take([partitions[0]!]);
    expect(await member.acknowledge(partitions[0]!, ...said(3, 0), ...said(1, 1))).toBe(Errors.NONE);
    await dealtWith(fixture, 0, 1);
    const stored = async () => {
      const [state] = await fixture.metadata.readShareStates([{ groupId: GROUP, topicIdPartition: partitions[0]! }]);
      return state!.stateBatches.map(({ firstOffset, deliveryState }) => [Number(firstOffset), deliveryState]);
    };
    await expect.poll(stored).toContainEqual([0, RecordState.ARCHIVED]);
    await fixture.append(partitions[0]!, batchOf('c'));
    expect(await member.take([partitions[0]!])).toEqual([[2, 2, 1]]);
  });

  it('is made when the cluster says so, and then used by other groups too', async () => {
    const { fixture, partitions, member } = await open({ dlq: null, group: COPYING, settings: { numPartitions: 3 } });
    await fixture.metadata.alterConfigs('broker', { 'errors.deadletterqueue.auto.create.topics.enable': 'true' });
    await fixture.append(partitions[1]!, batchOf('a'));
    await member.take([partitions[1]!]);
    expect(await member.acknowledge(partitions[1]!, ...said(3, 0))).toBe(Errors.NONE);
    await dealtWith(fixture, 1);
    const topic = (await fixture.engine.listTopics()).find(({ name }) => name === DLQ)!;
    expect(topic.partitions).toBe(3);
    expect(topic.configs).toMatchObject(ENABLED);
    expect(await deadLetters(fixture, topic.topicId, 3)).toMatchObject([{ partition: 1, value: 'a' }]);
  });

  it('is written once the storage takes it: a copy that fails is tried again', async () => {
    let failures = 0;
    let isDown = false;
    const { fixture, partitions, queue, member } = await open({
      group: COPYING,
      settings: { produceUploadDeadlineMs: 5 },
      storage: (real) => ({
        put: (...args) => {
          if (!isDown) return real.put(...args);
          if (++failures >= 3) isDown = false;
          return Promise.reject(new StorageError('unavailable', 'down'));
        },
      }),
    });
    await fixture.append(partitions[0]!, batchOf('a'));
    await member.take([partitions[0]!]);
    isDown = true;
    expect(await member.acknowledge(partitions[0]!, ...said(3, 0))).toBe(Errors.NONE);
    await dealtWith(fixture, 1);
    expect(failures).toBeGreaterThanOrEqual(3);
    expect(await deadLetters(fixture, queue!)).toMatchObject([{ value: 'a' }]);
  });

  it('gets headers alone when the log has the record no more', async () => {
    const { fixture, partitions, queue, member } = await open({ group: COPYING });
    await fixture.append(partitions[0]!, batchOf('a', 'b'));
    await member.take([partitions[0]!]);
    await fixture.engine.deleteRecords([{ topicIdPartition: partitions[0]!, beforeOffset: 1n }]);
    expect(await member.acknowledge(partitions[0]!, ...said(3, 0, 1))).toBe(Errors.NONE);
    await dealtWith(fixture, 2);
    expect((await deadLetters(fixture, queue!)).map(({ value }) => value)).toEqual([null, 'b']);
  });

  it('waits for a storage that cannot be read', async () => {
    let failures = 0;
    let isDown = false;
    const { fixture, partitions, queue, member } = await open({
      group: COPYING,
      settings: { fetchLocalViewBytes: 0 },
      storage: (real) => ({
        getRange: (...args) => {
          if (!isDown) return real.getRange(...args);
          if (++failures === 2) isDown = false;
          return Promise.reject(new StorageError('unavailable', 'down'));
        },
      }),
    });
    await fixture.append(partitions[0]!, batchOf('a'));
    await member.take([partitions[0]!]);
    isDown = true;
    expect(await member.acknowledge(partitions[0]!, ...said(3, 0))).toBe(Errors.NONE);
    await dealtWith(fixture, 1);
    expect(failures).toBe(2);
    expect(await deadLetters(fixture, queue!)).toMatchObject([{ value: 'a' }]);
  });

  it('gets a record once, though its group left and came back while the copy was under way', async () => {
    const held = deferred<void>();
    let isHolding = false;
    const { fixture, partitions, queue, member } = await open({
      storage: (real) => ({
        put: async (...args) => {
          if (isHolding) await held.promise;
          return real.put(...args);
        },
      }),
    });
    await fixture.append(partitions[0]!, batchOf('a', 'b'));
    await member.take([partitions[0]!]);
    isHolding = true;
    expect(await member.acknowledge(partitions[0]!, ...said(3, 0))).toBe(Errors.NONE);
    await fixture.engine.shareConnectionLost(GROUP, member.id);
    const next = new ShareMember(fixture.engine, GROUP, 'm2');
    expect(await next.take([partitions[0]!])).toEqual([[1, 1, 2]]);
    held.resolve();
    await dealtWith(fixture, 1);
    expect(await next.acknowledge(partitions[0]!, ...said(1, 1))).toBe(Errors.NONE);
    await fixture.append(partitions[0]!, batchOf('c'));
    expect(await next.take([partitions[0]!])).toEqual([[2, 2, 1]]);
    expect((await deadLetters(fixture, queue!)).length).toBe(1);
  });

  it('gets from the next leader what the last one had not copied when it ended', async () => {
    const before = await open({
      group: COPYING,
      settings: { produceUploadDeadlineMs: 1 },
      storage: (real) => ({
        put: (...args) => (isDown ? Promise.reject(new StorageError('unavailable', 'down')) : real.put(...args)),
      }),
    });
    let isDown = false;
    const { fixture, partitions, queue, member } = before;
    await fixture.append(partitions[0]!, batchOf('a', 'b'));
    await member.take([partitions[0]!]);
    isDown = true;
    expect(await member.acknowledge(partitions[0]!, ...said(3, 0))).toBe(Errors.NONE);
    await fixture.engine.destroy();
    expect(fixture.engine.stats()).toMatchObject({ deadLettersCopied: 0, deadLettersLost: 0 });

    const after = await EngineFixture.open({ over: fixture });
    const next = new ShareMember(after.engine, GROUP, 'm2');
    // It is not delivered again, and goes where it was going.
    expect(await next.take([partitions[0]!])).toEqual([[1, 1, 1]]);
    await dealtWith(after, 1);
    expect(await deadLetters(after, queue!)).toMatchObject([
      { value: 'a', headers: { '__dlq.errors.message': 'Offset rejected by client.' } },
    ]);
  });
});
