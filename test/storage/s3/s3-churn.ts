/**
 * Load on an S3 storage whose store fails a share of all requests, with a model of what must be true: every put that
 * succeeded is there byte for byte, every get gives the right bytes or a typed failure, and nothing is left over.
 * Run small by the tests, long by `npm run test:s3` (SHOAL_CHURN_REQUESTS).
 */
import { expect } from 'vitest';
import { randomInt, seededRandom } from '../../../src/common/random.ts';
import { S3ObjectStorage } from '../../../src/s3.ts';
import { StorageError } from '../../../src/storage/object-storage.ts';
import { seededFaults } from '../../support/s3/faults.ts';
import { S3Double } from '../../support/s3/s3-double.ts';

export interface ChurnResult {
  readonly requests: number;
  readonly faults: number;
  readonly faultKinds: number;
  readonly failed: number;
  readonly mostSockets: number;
  readonly retries: number;
  /** Resident memory and open handles after the first tenth of the load, and at its end. */
  readonly rssBytes: readonly [early: number, late: number];
  readonly handles: readonly [early: number, late: number];
}

const LANES = 24;
const MAX_BYTES = 40_000;
const TYPED = ['unavailable', 'timeout', 'throttled', 'corrupt'];

function bodyOf(key: number): Buffer {
  const random = seededRandom(key);
  const body = Buffer.alloc(randomInt(random, 1, MAX_BYTES));
  for (let i = 0; i < body.length; i += 61) body[i] = (key + i) & 255;
  return body;
}

class Churn {
  readonly #storage: S3ObjectStorage;
  readonly #double: S3Double;
  readonly #stored: number[] = [];
  readonly #random = seededRandom(99);
  #nextKey = 0;
  failed = 0;

  constructor(storage: S3ObjectStorage, double: S3Double) {
    this.#storage = storage;
    this.#double = double;
  }

  /** Lanes of operations until this many requests have been sent. */
  async until(requests: number): Promise<void> {
    const lane = async (): Promise<void> => {
      while (this.#storage.stats.attempts < requests) await this.#operation().catch((error) => this.#note(error));
    };
    await Promise.all(Array.from({ length: LANES }, lane));
  }

  #note(error: unknown): void {
    if (!(error instanceof StorageError) || !TYPED.includes(error.kind)) throw error;
    this.failed++;
  }

  #operation(): Promise<void> {
    return this.#stored.length < 20 || this.#random.next() < 0.2 ? this.#put() : this.#get();
  }

  async #put(): Promise<void> {
    const key = this.#nextKey++;
    const body = bodyOf(key);
    try {
      await this.#storage.put(`k${key}`, [body.subarray(0, 10), body.subarray(10)]);
      this.#stored.push(key);
    } finally {
      body.fill(0xee);
    }
    if (this.#stored.length > 500) await this.#forget(this.#stored.splice(0, 250));
  }

  /** The double checks what was put, and drops it, so that its own memory stays flat. */
  async #forget(keys: number[]): Promise<void> {
    for (const key of keys) {
      const stored = this.#double.store.objects.get(`k${key}`);
      expect(stored && Buffer.compare(stored.body, bodyOf(key))).toBe(0);
      this.#double.store.objects.delete(`k${key}`);
      this.#double.store.creations.delete(`k${key}`);
    }
  }

  async #get(): Promise<void> {
    const key = this.#stored[this.#stored.length - 1 - randomInt(this.#random, 0, 9)]!;
    const body = bodyOf(key);
    const position = randomInt(this.#random, 0, body.length - 1);
    const range = { position, size: randomInt(this.#random, 1, body.length - position) };
    const into = new Uint8Array(range.size);
    const bytes = await this.#storage.getRange(`k${key}`, range, { into });
    expect(Buffer.compare(bytes, body.subarray(position, position + range.size))).toBe(0);
  }
}

function footprint(): { rss: number; handles: number } {
  globalThis.gc?.();
  return { rss: process.memoryUsage().rss, handles: process.getActiveResourcesInfo().length };
}

export async function churn(requests: number, seed: number): Promise<ChurnResult> {
  const double = await S3Double.start();
  const storage = await S3ObjectStorage.open({
    ...double.config,
    // Long enough that a busy machine does not add failures to those of the schedule.
    deadlines: { connectMs: 5_000, firstByteMs: 2_000, betweenBytesMs: 2_000 },
    retry: { baseDelayMs: 1, throttledDelayMs: 5, maxDelayMs: 20 },
    limits: { maxInFlight: 32, pauseMs: 2, maxPauseMs: 10 },
  });
  try {
    double.schedule = seededFaults(seed, { rate: 0.1 });
    const load = new Churn(storage, double);
    await load.until(requests / 10);
    const early = footprint();
    await load.until(requests);
    const late = footprint();
    expect(storage.stats.inFlight).toBe(0);
    return {
      requests: storage.stats.attempts,
      faults: double.faultCount,
      faultKinds: double.faults.size,
      failed: load.failed,
      mostSockets: double.mostSockets,
      retries: storage.stats.retries,
      rssBytes: [early.rss, late.rss],
      handles: [early.handles, late.handles],
    };
  } finally {
    await storage.close();
    await double.stop();
  }
}
