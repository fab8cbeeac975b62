/** Readahead and followed partitions through the fetch service, over real parts in memory. */
import { afterEach, describe, expect, it } from 'vitest';
import type { CoordinatorChange, DisklessCoordinator } from '../../src/coordinator/diskless-coordinator.ts';
import { intercept } from '../support/intercept.ts';
import { ManualTime, settle } from '../support/manual-time.ts';
import { batchOfSize, FetchFixture, type FixtureOptions, offsetsOf } from './fetch-fixture.ts';

const KIB = 1024;

let fixture: FetchFixture;

async function open(options: FixtureOptions = {}): Promise<FetchFixture> {
  fixture = await FetchFixture.open(options);
  return fixture;
}

afterEach(() => fixture.close());

/** One partition over `segments` small objects of one 64 KiB batch each, and the function that reads its next ones. */
async function scattered(segments: number) {
  const [partition] = await fixture.createTopic(1);
  const batch = batchOfSize(64 * KIB);
  for (let i = 0; i < segments; i++) await fixture.write([[partition!, [batch]]]);
  let next = 0n;
  const readNext = async (): Promise<bigint> => {
    const result = await fixture.fetch([[partition!, next, 128 * KIB]], { maxBytes: 128 * KIB });
    const offsets = offsetsOf(result.partitions[0]!.records);
    result.release();
    expect(offsets[0]![0]).toBe(next);
    next = offsets.at(-1)![1] + 1n;
    return next;
  };
  return { partition: partition!, readNext };
}

describe('readahead', () => {
  it('reads before a sequential reader asks, so that it meets its data in memory', async () => {
    await open({ settings: { fetchReadaheadMaxBytes: 1024 * KIB } });
    const { readNext } = await scattered(64);
    let waited = 0;
    for (let next = 0n; next < 64n; ) {
      const gets = fixture.gets.length;
      const before = fixture.service.stats().localHits;
      next = await readNext();
      if (fixture.service.stats().localHits === before) waited++;
      expect(fixture.gets.length).toBeGreaterThanOrEqual(gets);
      await settle(10);
    }
    expect(waited).toBeLessThan(8);
    expect(fixture.gets).toHaveLength(64); // every object read once, none twice
  });

  it('does nothing for a reader that does not come back, and stops when the reader stops', async () => {
    await open({ settings: { fetchReadaheadMaxBytes: 1024 * KIB } });
    const { readNext } = await scattered(64);
    await readNext();
    await settle(20);
    expect(fixture.gets).toHaveLength(2);
    for (let i = 0; i < 6; i++) {
      await readNext();
      await settle(10);
    }
    const { length: gets } = fixture.gets;
    expect(gets).toBeLessThanOrEqual(14 + 16); // what it consumed, and at most the largest window
    await settle(50);
    expect(fixture.gets).toHaveLength(gets);
  });

  it('widens the window for a reader that catches up with it, and stays narrow for a slow one', async () => {
    const time = new ManualTime();
    let open_ = true;
    const gate: (() => void)[] = [];
    await open({
      time,
      settings: { fetchReadaheadMaxBytes: 2048 * KIB },
      beforeGet: () => (open_ ? undefined : new Promise<void>((resolve) => gate.push(resolve))),
    });
    const slow = await scattered(64);
    for (let i = 0; i < 8; i++) {
      await slow.readNext();
      await settle(10);
    }
    const slowAhead = fixture.gets.length - 16;
    open_ = false;
    const fast = await scattered(64);
    const before = fixture.gets.length;
    for (let i = 0; i < 8; i++) {
      const reading = fast.readNext();
      await settle(10);
      for (const go of gate.splice(0)) go();
      await reading;
    }
    await settle(10);
    const fastAhead = fixture.gets.length - before - 16;
    expect(slowAhead).toBeGreaterThan(0);
    expect(fastAhead).toBeGreaterThan(slowAhead);
    for (const go of gate.splice(0)) go();
    await settle(10);
  });

  it('gives up what is under way for a reader that has gone silent', async () => {
    const time = new ManualTime();
    let isHeld = false;
    const aborted: string[] = [];
    await open({
      time,
      settings: { fetchReadaheadMaxBytes: 1024 * KIB },
      beforeGet: async (objectKey, _range, signal) => {
        if (!isHeld) return;
        await new Promise<void>((_resolve, reject) => {
          signal!.addEventListener('abort', () => {
            aborted.push(objectKey);
            reject(signal!.reason);
          });
        });
      },
    });
    const { readNext } = await scattered(64);
    await readNext();
    await readNext();
    isHeld = true;
    await settle(10);
    expect(fixture.gets.length).toBeGreaterThan(4);
    await time.advance(4_000);
    expect(aborted).toEqual([]);
    await time.advance(8_000);
    expect(aborted).toHaveLength(fixture.gets.length - 4);
    expect(time.armedTimers).toBe(0);
  });

  it('fetches a lagging reader its scattered objects in parallel', async () => {
    const gate: (() => void)[] = [];
    await open({ beforeGet: () => new Promise<void>((resolve) => gate.push(resolve)) });
    const [partition] = await fixture.createTopic(1);
    for (let i = 0; i < 20; i++) await fixture.write([[partition!, [batchOfSize(64 * KIB)]]]);
    const reading = fixture.fetch([[partition!, 0n]], { maxBytes: 1024 * KIB });
    await settle(10);
    expect(gate).toHaveLength(16);
    for (const go of gate) go();
    (await reading).release();
  });
});

describe('followed partitions', () => {
  it('are brought into the local view as others commit, without a fetch', async () => {
    await open();
    const [partition, other] = await fixture.createTopic(2);
    await fixture.write([[partition!, [batchOfSize(500)]]]);
    const unfollow = fixture.service.follow([partition!]);
    await settle(10);
    expect(fixture.gets).toHaveLength(0); // from the log's end on
    for (let i = 0; i < 3; i++)
      await fixture.write([
        [partition!, [batchOfSize(500)]],
        [other!, [batchOfSize(500)]],
      ]);
    await settle(20);
    const { length: gets } = fixture.gets;
    expect(gets).toBeGreaterThan(0);
    const result = await fixture.fetch([[partition!, 1n]]);
    expect(offsetsOf(result.partitions[0]!.records).map(([base]) => base)).toEqual([1n, 2n, 3n]);
    result.release();
    expect(fixture.gets).toHaveLength(gets);
    unfollow();
    await fixture.write([[partition!, [batchOfSize(500)]]]);
    await settle(20);
    expect(fixture.gets).toHaveLength(gets);
  });

  it('mix own commits with those of others, and catch up after a probe', async () => {
    let listener: ((change: CoordinatorChange) => void) | undefined;
    let isDeaf = false;
    await open({
      coordinator: (real) =>
        intercept<DisklessCoordinator>(real, {
          onChange: (heard) => {
            listener = heard;
            return real.onChange((change) => {
              if (!isDeaf) heard(change);
            });
          },
        }),
    });
    const [partition] = await fixture.createTopic(1);
    fixture.service.follow([partition!]);
    await settle(10);
    await fixture.writeOwn([[partition!, [batchOfSize(500)]]]);
    await fixture.write([[partition!, [batchOfSize(500)]]]);
    await settle(20);
    expect(fixture.gets).toHaveLength(1);
    isDeaf = true;
    const waiting = fixture.fetch([[partition!, 2n]], { maxWaitMs: 15_000 });
    await settle(10);
    await fixture.write([[partition!, [batchOfSize(500)]]]);
    await settle(20);
    expect(fixture.service.stats().parkedFetches).toBe(1);
    listener!({ kind: 'probe', changeNumber: 0 });
    const result = await waiting;
    expect(offsetsOf(result.partitions[0]!.records)).toEqual([[2n, 2n]]);
    result.release();
    expect(fixture.gets).toHaveLength(2); // fetch and background fetcher shared it
  });

  it('start again at the end instead of reading a backlog that nobody may want', async () => {
    await open();
    const [partition] = await fixture.createTopic(1);
    fixture.service.follow([partition!]);
    await settle(10);
    const batch = batchOfSize(3 * 1024 * KIB);
    const content = [[partition!, Array(7).fill(batch)]] as const;
    await fixture.write(content);
    await settle(30);
    expect(fixture.gets).toHaveLength(0);
    await fixture.write([[partition!, [batchOfSize(500)]]]);
    await settle(20);
    expect(fixture.gets).toHaveLength(1);
  });
});
