/** The scheduler over a storage whose every GET the test answers itself, with the pool's real slabs. */
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FetchMemory } from '../../src/fetch/fetch-memory.ts';
import { FetchScheduler, type FetchSchedulerOptions, type ReadTicket } from '../../src/fetch/fetch-scheduler.ts';
import type { LandedBytes } from '../../src/fetch/range-read.ts';
import { InMemoryObjectStorage } from '../../src/storage/in-memory-object-storage.ts';
import { type GetOptions, StorageError } from '../../src/storage/object-storage.ts';
import { openRecordPool } from '../../src/worker/piscina-record-pool.ts';
import type { RecordPool } from '../../src/worker/record-pool.ts';
import { intercept } from '../support/intercept.ts';
import { ManualTime, settle } from '../support/manual-time.ts';
import { tellsSeed } from '../support/tells-seed.ts';
import { untilCovered } from '../support/until-covered.ts';

/** A GET that the scheduler has made and the test has not answered yet. */
interface OpenGet {
  readonly objectKey: string;
  readonly position: number;
  readonly size: number;
  readonly signal: AbortSignal;
  answer(error?: Error): void;
}

/** What byte `position` of an object holds. */
function byteAt(objectKey: string, position: number): number {
  return (position * 31 + objectKey.charCodeAt(0) * 7) & 0xff;
}

/** A storage that lets every GET wait until the test answers it. A cancelled one settles when answered, as sockets do. */
class HeldStorage {
  readonly open = new Set<OpenGet>();
  readonly made: { objectKey: string; position: number; size: number }[] = [];
  readonly storage = intercept(new InMemoryObjectStorage(), {
    getRange: (objectKey, range, options) => this.#get(objectKey, range, options!),
  });

  #get(objectKey: string, range: { position: number; size: number }, options: GetOptions): Promise<Uint8Array> {
    this.made.push({ objectKey, ...range });
    return new Promise((resolve, reject) => {
      const get: OpenGet = {
        objectKey,
        ...range,
        signal: options.signal!,
        answer: (error) => {
          this.open.delete(get);
          if (options.signal!.aborted) return reject(options.signal!.reason);
          if (error) return reject(error);
          for (let i = 0; i < range.size; i++) options.into![i] = byteAt(objectKey, range.position + i);
          resolve(options.into!);
        },
      };
      this.open.add(get);
    });
  }

  answerAll(error?: Error): void {
    for (const get of [...this.open]) get.answer(error);
  }
}

const CAPACITY = 1024 * 1024;

let pool: RecordPool;
let memory: FetchMemory;
let held: HeldStorage;
let time: ManualTime;
let scheduler: FetchScheduler;

function open(options: Partial<FetchSchedulerOptions> = {}): FetchScheduler {
  scheduler = new FetchScheduler({
    objectStorage: held.storage,
    memory,
    time,
    costModel: { requestCostBytes: 100, maxRangeBytes: 1000 },
    maxGets: 4,
    maxBytesInFlight: 1024 * 1024,
    collectWindowMs: 0,
    memoryWaitMs: 200,
    ...options,
  });
  return scheduler;
}

beforeEach(async () => {
  pool = await openRecordPool({ workerThreads: 0, appendCapacityBytes: 1024, fetchCapacityBytes: CAPACITY });
  memory = new FetchMemory(pool.slabs);
  held = new HeldStorage();
  time = new ManualTime();
});

afterEach(async () => {
  const closing = scheduler.close();
  await settle();
  held.answerAll();
  await closing;
  await pool.close(); // asserts that every slab came back
});

const range = (position: number, size: number, objectKey = 'a') => ({ objectKey, position, size });

function expectBytes({ bytes }: LandedBytes, objectKey: string, position: number, size: number): void {
  expect(bytes.length).toBe(size);
  for (let i = 0; i < size; i++) {
    if (bytes[i] !== byteAt(objectKey, position + i)) throw new Error(`wrong byte at ${objectKey}+${position + i}`);
  }
}

async function expectRead(ticket: ReadTicket, position: number, size: number, objectKey = 'a'): Promise<void> {
  const landed = await ticket.bytes;
  expectBytes(landed, objectKey, position, size);
  landed.bytes.fill(0); // the reader owns its bytes: nobody else may see this
  landed.slab.release();
}

describe('FetchScheduler', () => {
  it('plans everything wanted within a turn together', async () => {
    open();
    const tickets = [range(0, 50), range(120, 80), range(50, 10), range(900, 50)].map((r) => scheduler.read(r, 'hot'));
    await settle();
    expect(held.made).toEqual([
      { objectKey: 'a', position: 0, size: 200 },
      { objectKey: 'a', position: 900, size: 50 },
    ]);
    held.answerAll();
    await expectRead(tickets[0]!, 0, 50);
    await expectRead(tickets[1]!, 120, 80);
    await expectRead(tickets[2]!, 50, 10);
    await expectRead(tickets[3]!, 900, 50);
  });

  it('lets fifty readers of the same bytes share one GET, each with bytes of its own', async () => {
    open();
    const tickets = Array.from({ length: 50 }, () => scheduler.read(range(10, 300), 'cold'));
    await settle();
    expect(held.made).toEqual([{ objectKey: 'a', position: 10, size: 300 }]);
    held.answerAll();
    for (const ticket of tickets) await expectRead(ticket, 10, 300);
  });

  it('joins a GET in flight byte by byte and reads only what it lacks', async () => {
    open();
    const first = scheduler.read(range(0, 400), 'hot');
    await settle();
    const inside = scheduler.read(range(100, 50), 'hot');
    const across = scheduler.read(range(350, 150), 'hot');
    await settle();
    expect(held.made.slice(1)).toEqual([{ objectKey: 'a', position: 400, size: 100 }]);
    held.answerAll();
    await expectRead(first, 0, 400);
    await expectRead(inside, 100, 50);
    await expectRead(across, 350, 150);
  });

  it('uses the gap that a GET in flight reads anyway, without a copy', async () => {
    open();
    const tickets = [scheduler.read(range(0, 50), 'hot'), scheduler.read(range(100, 50), 'hot')];
    await settle();
    const leased = memory.leasedBytes;
    const gap = scheduler.read(range(50, 50), 'hot');
    await settle();
    expect(held.made).toHaveLength(1);
    expect(memory.leasedBytes).toBe(leased);
    held.answerAll();
    await expectRead(gap, 50, 50);
    for (const ticket of tickets) (await ticket.bytes).slab.release();
  });

  it('lands a read that is cut into pieces in one slab', async () => {
    open();
    const ticket = scheduler.read(range(5, 2500), 'hot');
    await settle();
    expect(held.made.map((get) => get.size)).toEqual([1000, 1000, 500]);
    const leased = memory.leasedBytes;
    held.answerAll();
    await expectRead(ticket, 5, 2500);
    expect(leased).toBeLessThan(2500 + 64);
  });

  it('serves a read that straddles what two landings read', async () => {
    open({ maxGets: 1 });
    const tickets = [range(0, 900), range(900, 200), range(1100, 800)].map((r) => scheduler.read(r, 'hot'));
    for (let i = 0; i < 6; i++) {
      await settle();
      held.answerAll();
    }
    await expectRead(tickets[0]!, 0, 900);
    await expectRead(tickets[1]!, 900, 200);
    await expectRead(tickets[2]!, 1100, 800);
    expect(held.made.reduce((sum, get) => sum + get.size, 0)).toBe(1900);
  });

  it('fails with its GET only who wanted just those bytes; the others are read apart', async () => {
    open();
    const bad = scheduler.read(range(0, 50), 'hot');
    const good = scheduler.read(range(60, 40), 'hot');
    await settle();
    expect(held.made).toHaveLength(1);
    held.answerAll(new StorageError('corrupt', 'short body'));
    await settle();
    for (const get of [...held.open]) get.answer(get.position < 50 ? new StorageError('corrupt', 'bad') : undefined);
    await expect(bad.bytes).rejects.toThrow('bad');
    await expectRead(good, 60, 40);
  });

  it('does not repeat what says the same of every range: a missing object fails all its readers at once', async () => {
    open();
    const tickets = [scheduler.read(range(0, 50), 'hot'), scheduler.read(range(60, 40), 'hot')];
    await settle();
    held.answerAll(new StorageError('not-found', 'no such object'));
    for (const ticket of tickets) await expect(ticket.bytes).rejects.toThrow('no such object');
    expect(held.made).toHaveLength(1);
  });

  it('never keeps a failure: the next read asks again', async () => {
    open();
    const first = scheduler.read(range(0, 50), 'hot');
    await settle();
    held.answerAll(new StorageError('unavailable', 'away'));
    await expect(first.bytes).rejects.toThrow('away');
    const second = scheduler.read(range(0, 50), 'hot');
    await settle();
    held.answerAll();
    await expectRead(second, 0, 50);
  });

  it('cancels a GET when its last reader leaves, and not before', async () => {
    open();
    const first = scheduler.read(range(0, 100), 'cold');
    const second = scheduler.read(range(20, 30), 'cold');
    await settle();
    const [get] = held.open;
    first.cancel(new Error('left'));
    await expect(first.bytes).rejects.toThrow('left');
    expect(get!.signal.aborted).toBe(false);
    second.cancel(new Error('left too'));
    await expect(second.bytes).rejects.toThrow('left too');
    expect(get!.signal.aborted).toBe(true);
    const third = scheduler.read(range(0, 100), 'cold'); // a cancelled GET is not joined
    await settle();
    expect(held.made).toHaveLength(2);
    held.answerAll();
    await expectRead(third, 0, 100);
  });

  it('never has more GETs, or more bytes, in flight than allowed', async () => {
    open({ maxGets: 3, maxBytesInFlight: 1500 });
    const tickets = Array.from({ length: 12 }, (_, i) => scheduler.read(range(i * 5000, 600), 'hot'));
    for (let i = 0; i < 12; i++) {
      await settle();
      expect(held.open.size).toBeLessThanOrEqual(2); // two of 600 bytes; a third would pass 1500
      held.answerAll();
    }
    for (const [i, ticket] of tickets.entries()) await expectRead(ticket, i * 5000, 600);
  });

  it('collects for a short window while it is busy, where that is asked for', async () => {
    open({ maxGets: 4, collectWindowMs: 5 });
    const busy = [scheduler.read(range(0, 10, 'x'), 'hot'), scheduler.read(range(0, 10, 'y'), 'hot')];
    await settle();
    expect(held.made).toHaveLength(2); // an idle scheduler does not wait
    const tickets = [scheduler.read(range(0, 50), 'hot')];
    await time.advance(4);
    tickets.push(scheduler.read(range(50, 50), 'hot'));
    expect(held.made).toHaveLength(2);
    await time.advance(1);
    expect(held.made.slice(2)).toEqual([{ objectKey: 'a', position: 0, size: 100 }]);
    held.answerAll();
    for (const ticket of [...busy, ...tickets]) (await ticket.bytes).slab.release();
  });

  it('keeps a GET free for hot reads, and starves nobody', async () => {
    open({ maxGets: 4 });
    const cold = Array.from({ length: 10 }, (_, i) => scheduler.read(range(i * 5000, 10, 'cold'), 'cold'));
    await settle();
    expect(held.open.size).toBe(3);
    const hot = scheduler.read(range(0, 10, 'hot'), 'hot');
    await settle();
    expect([...held.open].some((get) => get.objectKey === 'hot')).toBe(true);
    // A stream of hot reads, one after the other: cold ones still come through.
    const stream: ReadTicket[] = [];
    for (let i = 1; i < 60; i++) {
      stream.push(scheduler.read(range(i * 5000, 10, 'hot'), 'hot'));
      await settle(1);
      for (const get of [...held.open].slice(0, 1)) get.answer();
    }
    await settle();
    expect(held.made.filter((get) => get.objectKey === 'cold').length).toBe(10);
    for (let i = 0; i < 40; i++) {
      held.answerAll();
      await settle(1);
    }
    for (const ticket of [...cold, hot, ...stream]) (await ticket.bytes).slab.release();
  });

  it('reads ahead only while nobody waits, and raises what somebody turns out to need', async () => {
    open({ maxGets: 1 });
    const ahead = scheduler.read(range(0, 10, 'ahead'), 'readahead');
    const cold = scheduler.read(range(0, 10, 'cold'), 'cold');
    await settle();
    expect(held.made.map((get) => get.objectKey)).toEqual(['cold']);
    ahead.raise('hot');
    const later = scheduler.read(range(0, 10, 'later'), 'hot');
    held.answerAll();
    await settle();
    expect(held.made.map((get) => get.objectKey)).toEqual(['cold', 'ahead']);
    held.answerAll();
    await settle();
    held.answerAll();
    for (const ticket of [ahead, cold, later]) (await ticket.bytes).slab.release();
  });

  it('waits for memory, goes on when some is freed, and gives up when the time is over', async () => {
    open();
    const hog = memory.lease(CAPACITY - 1000)!;
    const first = scheduler.read(range(0, 2000), 'hot');
    await settle();
    expect(held.made).toHaveLength(0);
    hog.release();
    memory.notifyFreed();
    await settle();
    held.answerAll();
    await expectRead(first, 0, 2000);
    const again = memory.lease(CAPACITY - 1000)!;
    const second = scheduler.read(range(0, 2000), 'hot');
    const caught = expect(second.bytes).rejects.toThrow('found no room');
    await time.advance(199);
    await time.advance(2);
    await caught;
    again.release();
  });

  it('reads without its neighbours when there is no memory for all of them', async () => {
    open();
    const hog = memory.lease(CAPACITY - 512)!;
    const tickets = [scheduler.read(range(0, 400), 'hot'), scheduler.read(range(450, 400), 'hot')];
    await settle();
    expect(held.made).toEqual([{ objectKey: 'a', position: 0, size: 400 }]);
    held.answerAll();
    await expectRead(tickets[0]!, 0, 400);
    memory.notifyFreed();
    await settle();
    held.answerAll();
    await expectRead(tickets[1]!, 450, 400);
    hog.release();
  });

  it('says how much of a range is in flight or queued', async () => {
    open({ maxGets: 1 });
    const tickets = [scheduler.read(range(0, 100), 'hot'), scheduler.read(range(5000, 100), 'hot')];
    await settle();
    expect(scheduler.coverage(range(50, 100))).toEqual({ inFlight: 50, queued: 0, missing: [range(100, 50)] });
    expect(scheduler.coverage(range(5050, 100))).toEqual({ inFlight: 0, queued: 50, missing: [range(5100, 50)] });
    held.answerAll();
    await settle();
    held.answerAll();
    for (const ticket of tickets) (await ticket.bytes).slab.release();
  });
});

/** What may happen to a scheduler, for the random histories below. */
type Step =
  | { readonly kind: 'read'; readonly objectKey: string; readonly position: number; readonly size: number }
  | { readonly kind: 'cancel'; readonly which: number }
  | { readonly kind: 'answer'; readonly which: number; readonly fails: boolean }
  | { readonly kind: 'turn' };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('read' as const),
      objectKey: fc.constantFrom('a', 'b'),
      position: fc.nat(400),
      size: fc.integer({ min: 1, max: 120 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('cancel' as const), which: fc.nat(30) }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('answer' as const), which: fc.nat(10), fails: fc.boolean() }),
  },
  { weight: 3, arbitrary: fc.constant({ kind: 'turn' as const }) },
);

describe('FetchScheduler under random arrivals, failures and cancellations', () => {
  it('behaves as the reference model: right bytes or a failure of its own, nothing stuck, nothing leaked', async () => {
    open();
    let reads = 0;
    let failures = 0;
    let cancellations = 0;
    const property = fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 60 }), async (steps) => {
      held = new HeldStorage();
      open({ maxGets: 3, maxBytesInFlight: 400, costModel: { requestCostBytes: 30, maxRangeBytes: 100 } });
      /** The model: every read ends exactly once; it fails only if a GET of nothing but its bytes failed. */
      const model: {
        ticket: ReadTicket;
        position: number;
        size: number;
        objectKey: string;
        mayFail: boolean;
        cancelled: boolean;
        ended: 'bytes' | 'failed' | undefined;
      }[] = [];
      const answer = (get: OpenGet, fails: boolean): void => {
        const wasWanted = !get.signal.aborted;
        for (const read of model) {
          const isWithin = get.position >= read.position && get.position + get.size <= read.position + read.size;
          if (fails && wasWanted && read.objectKey === get.objectKey && isWithin) read.mayFail = true;
        }
        get.answer(fails ? new StorageError('timeout', 'injected') : undefined);
        if (fails && wasWanted) failures++;
      };
      for (const action of steps) {
        if (action.kind === 'turn') await settle(1);
        else if (action.kind === 'cancel') {
          const read = model[action.which];
          if (read && !read.ended && !read.cancelled) {
            read.cancelled = true;
            cancellations++;
            read.ticket.cancel(new Error('cancelled'));
          }
        } else if (action.kind === 'answer') {
          const get = [...held.open][action.which];
          if (get) answer(get, action.fails);
          for (let i = 0; i < 8; i++) await Promise.resolve(); // a failure the scheduler has not heard of cannot be told apart
        } else {
          const { objectKey, position, size } = action;
          const ticket = scheduler.read(action, reads % 3 === 0 ? 'cold' : 'hot');
          const read: (typeof model)[number] = {
            ticket,
            objectKey,
            position,
            size,
            mayFail: false,
            cancelled: false,
            ended: undefined,
          };
          model.push(read);
          reads++;
          ticket.bytes.then(
            (landed) => {
              read.ended = 'bytes';
              expectBytes(landed, objectKey, position, size);
              landed.bytes.fill(0xee);
              landed.slab.release();
            },
            () => {
              read.ended = 'failed';
            },
          );
        }
        expect(held.open.size).toBeLessThanOrEqual(3);
        expect([...held.open].reduce((sum, get) => sum + get.size, 0)).toBeLessThanOrEqual(400);
      }
      for (let i = 0; i < 400 && (held.open.size > 0 || model.some((read) => !read.ended)); i++) {
        await settle(1);
        for (const get of [...held.open]) answer(get, false);
      }
      await settle();
      for (const read of model) {
        expect(read.ended).toBeDefined();
        if (read.ended === 'failed') expect(read.mayFail || read.cancelled).toBe(true);
      }
      // Whatever is read is read exactly: no byte outside what somebody wanted, but for gaps worth a request.
      for (const get of held.made) {
        expect(model.some((read) => read.objectKey === get.objectKey)).toBe(true);
        expect(get.size).toBeLessThanOrEqual(100);
      }
      expect(memory.leasedBytes).toBe(0);
    });
    await untilCovered(
      () => Math.min(reads, failures, cancellations) > 0,
      () => fc.assert(property, { ...tellsSeed(), numRuns: 500 }),
    );
    expect(Math.min(reads, failures, cancellations)).toBeGreaterThan(0);
  });
});
