import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { Errors, errorName } from '../../src/common/errors.ts';
import { silentLogger } from '../../src/common/logger.ts';
import { systemTime, type Time, type Timer } from '../../src/common/time.ts';
import type { ValidationOptions } from '../../src/record/validation.ts';
import { openRecordPool, type RecordPoolOptions } from '../../src/worker/piscina-record-pool.ts';
import type { RecordPool } from '../../src/worker/record-pool.ts';
import type { Slab } from '../../src/worker/slab-pool.ts';
import { buildBatch, encodeRecord, plainBatch } from '../support/record-batches.ts';
import { KAFKA_DEFAULTS } from '../support/test-kernel.ts';

const MiB = 1024 * 1024;
const options: ValidationOptions = { ...KAFKA_DEFAULTS, maxMessageBytes: 8 * MiB };

/** A real clock that runs `haste` times as fast. */
class HastyTime implements Time {
  haste: number;

  constructor(haste: number) {
    this.haste = haste;
  }

  nowMs = (): number => Date.now();
  monotonicMs = (): number => performance.now() * this.haste;

  setTimer(delayMs: number, callback: () => void): Timer {
    return systemTime.setTimer(delayMs / this.haste, callback);
  }
}

/** A gzip batch of `count` smallest records. */
function gzipBatch(count: number): Buffer {
  const records = Array.from({ length: count }, (_, i) => encodeRecord({}, i));
  return buildBatch({ records: [], recordCount: count, payload: gzipSync(Buffer.concat(records)), attributes: 1 });
}

let pool: RecordPool | undefined;
afterEach(async () => {
  await pool?.close();
  pool = undefined;
});

async function open(settings: RecordPoolOptions = {}): Promise<RecordPool> {
  const opened = await openRecordPool({
    workerThreads: 2,
    appendCapacityBytes: 64 * MiB,
    fetchCapacityBytes: 16 * MiB,
    ...settings,
  });
  pool = opened;
  return opened;
}

function lease(records: Uint8Array): Slab {
  const slab = pool!.slabs.lease(records.length, 'append')!;
  slab.bytes.set(records);
  return slab;
}

describe('record pool', () => {
  it.each([0, 2])('reads records back the same inline and in workers (%i)', async (workerThreads) => {
    const opened = await open({ workerThreads });
    const counts = [5_000, 20_000, 10, 30_000, 1, 25_000];
    const slabs = counts.map((count) => {
      const records = Array.from({ length: count }, (_, i) =>
        encodeRecord({ key: `k${i}`, value: `${count}-${i}` }, i),
      );
      return lease(
        buildBatch({ records: [], recordCount: count, payload: gzipSync(Buffer.concat(records)), attributes: 1 }),
      );
    });
    const room = { maxBytes: 1000, maxRecordBytes: 1000 };
    const reads = await Promise.all(
      slabs.map((slab, i) => opened.readRecords(slab.bytes, { offsets: [0n, BigInt(counts[i]! - 1)], ...room })),
    );
    const values = reads.map(({ records }) => records.map(({ value }) => Buffer.from(value!).toString()));
    expect(values).toEqual(counts.map((count) => (count === 1 ? ['1-0'] : [`${count}-0`, `${count}-${count - 1}`])));
    for (const slab of slabs) slab.release();
  });

  it('gives the same verdicts inline and in workers, each to its own caller', async () => {
    const opened = await open();
    const sizes = [1, 10, 100, 5_000, 20_000, 3, 50_000, 2];
    const slabs = sizes.map((count) => lease(plainBatch(count, 20)));
    const bad = lease(plainBatch(30_000, 20));
    bad.bytes[5_000]! ^= 1;
    const results = await Promise.all([...slabs, bad].map((slab) => opened.validate(slab.bytes, options)));
    expect(results.slice(0, -1).map(({ batch }) => batch.recordCount)).toEqual(sizes);
    expect(results.at(-1)!.batch.error).toBe(Errors.CORRUPT_MESSAGE);
    for (const slab of [...slabs, bad]) slab.release();
  });

  it('assigns offsets in place and finds timestamps', async () => {
    const opened = await open();
    const run = lease(Buffer.concat([plainBatch(3, 10), plainBatch(5, 10)]));
    const assigned = await opened.assignOffsets(run.bytes, {
      baseOffset: 100n,
      lastOffset: 107n,
      leaderEpoch: 7,
      logAppendTimeMs: -1n,
    });
    expect(assigned).toMatchObject({ error: Errors.NONE, batches: 2, nextOffset: 108n, goodBytes: run.bytes.length });
    const found = await opened.offsetForTimestamp(run.bytes, 1_700_000_000_003n);
    expect(found).toEqual({ offset: 106n, timestamp: 1_700_000_000_003n });
    expect(await opened.offsetForTimestamp(run.bytes, 1_700_000_000_009n)).toBeUndefined();
    run.release();
  });

  it('refuses more than its queue may hold, retriably', async () => {
    const opened = await open({ queueMaxBytes: MiB });
    const slabs = Array.from({ length: 4 }, () => lease(plainBatch(20_000, 60)));
    const settled = await Promise.allSettled(slabs.map((slab) => opened.validate(slab.bytes, options)));
    const refused = settled.filter((result) => result.status === 'rejected');
    expect(refused.length).toBeGreaterThan(0);
    expect(refused[0]!.reason).toMatchObject({ code: 'KAFKA_STORAGE_ERROR', retriable: true });
    for (const slab of slabs) slab.release();
  });

  it('replaces a stuck worker and tells its callers to try again', async () => {
    const clock = new HastyTime(5000);
    const logged: string[] = [];
    const logger = { ...silentLogger, error: (_: object, message: string) => logged.push(message) };
    const opened = await open({ workerThreads: 1, time: clock, logger });
    // Tens of milliseconds of work, which the hasty clock takes for minutes.
    const heavy = lease(gzipBatch(600_000));
    let refused: unknown;
    // On a busy machine the work may be done before the watchdog, in this thread, has looked twice.
    while (!refused) {
      refused = await opened.validate(heavy.bytes, options).then(
        () => undefined,
        (error) => error,
      );
    }
    expect(refused).toMatchObject({ code: 'KAFKA_STORAGE_ERROR', retriable: true });
    expect(logged).toContain('a record worker is stuck and is replaced');
    clock.haste = 1;
    const { batch } = await opened.validate(heavy.bytes, options);
    expect([batch.error, batch.recordCount]).toEqual([Errors.NONE, 600_000]);
    heavy.release();
  });

  it('ends a bomb in a worker with a verdict, and the worker goes on', async () => {
    const opened = await open();
    const zeros = gzipSync(Buffer.alloc(64 * MiB));
    const bomb = lease(buildBatch({ records: [], recordCount: 1, payload: zeros, attributes: 1 }));
    const good = lease(gzipBatch(20_000));
    const all = [bomb, good, bomb, good, bomb].map((slab) => opened.validate(slab.bytes, options));
    const errors = (await Promise.all(all)).map(({ batch }) => errorName(batch.error));
    expect(errors).toEqual(['MESSAGE_TOO_LARGE', 'NONE', 'MESSAGE_TOO_LARGE', 'NONE', 'MESSAGE_TOO_LARGE']);
    bomb.release();
    good.release();
  });

  it('puts a rebuilt batch into a slab of its own', async () => {
    const opened = await open();
    const plain = lease(plainBatch(100, 50));
    const { batch, slab } = await opened.validate(plain.bytes, { ...options, compressionType: 'lz4' });
    expect(batch).toMatchObject({ error: Errors.NONE, recordCount: 100, attributes: 3 });
    expect(slab!.bytes).toEqual(batch.bytes);
    expect(opened.slabs.leasedBytes('append')).toBeGreaterThan(plain.bytes.length);
    slab!.release();
    plain.release();
  });

  it('asserts at close that every slab came back', async () => {
    const opened = await open();
    const slab = lease(plainBatch(1, 1));
    await expect(opened.close()).rejects.toThrow(/still leased/);
    slab.release();
    pool = undefined;
  });
});
