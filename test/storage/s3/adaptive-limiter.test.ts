import { describe, expect, it } from 'vitest';
import { AdaptiveLimiter } from '../../../src/storage/s3/adaptive-limiter.ts';
import { ManualTime } from '../../support/manual-time.ts';

/** Passes a little with every look at it, as a real one does. */
class PassingTime extends ManualTime {
  readonly #lookMs: number;
  #looks = 0;

  constructor(lookMs: number) {
    super();
    this.#lookMs = lookMs;
  }

  override monotonicMs(): number {
    return super.monotonicMs() + ++this.#looks * this.#lookMs;
  }
}

function limiter(maxInFlight: number): { time: ManualTime; limiter: AdaptiveLimiter } {
  const time = new ManualTime();
  return { time, limiter: new AdaptiveLimiter({ maxInFlight, pauseMs: 100, maxPauseMs: 1000 }, time) };
}

describe('AdaptiveLimiter', () => {
  it('admits as many as it may, and the rest in the order of asking', async () => {
    const { limiter: tested } = limiter(2);
    const order: number[] = [];
    expect([tested.tryAcquire(), tested.tryAcquire(), tested.tryAcquire()]).toEqual([true, true, false]);
    const waiting = [1, 2, 3].map((n) => tested.acquire(undefined).then(() => order.push(n)));
    tested.release();
    await waiting[0];
    expect(order).toEqual([1]);
    tested.release();
    tested.release();
    await Promise.all(waiting);
    expect([order, tested.inFlight]).toEqual([[1, 2, 3], 2]);
  });

  it('halves once for a wave of throttled answers, pauses, and grows back by successes', async () => {
    const { time, limiter: tested } = limiter(64);
    for (let i = 0; i < 50; i++) tested.throttled(undefined);
    expect(tested.limit).toBe(32);
    expect(tested.tryAcquire()).toBe(false);
    await time.advance(100);
    expect(tested.tryAcquire()).toBe(true);
    tested.throttled(undefined);
    expect(tested.limit).toBe(16);
    for (let i = 0; i < 16; i++) tested.succeeded();
    expect(tested.limit).toBe(16);
    for (let i = 0; i < 1000; i++) tested.succeeded();
    expect(tested.limit).toBeGreaterThan(40);
    expect(tested.limit).toBeLessThan(64);
    for (let i = 0; i < 1500; i++) tested.succeeded();
    expect(tested.limit).toBe(64);
  });

  it('never falls below one, and obeys Retry-After up to its bound', async () => {
    const { time, limiter: tested } = limiter(4);
    for (let i = 0; i < 10; i++) {
      tested.throttled(undefined);
      await time.advance(100);
    }
    expect(tested.limit).toBe(1);
    tested.throttled(400);
    let admitted = false;
    const waiting = tested.acquire(undefined).then(() => {
      admitted = true;
    });
    await time.advance(399);
    expect(admitted).toBe(false);
    await time.advance(1);
    await waiting;
    tested.release();
    tested.throttled(3_600_000);
    const bounded = tested.acquire(undefined);
    await time.advance(1000);
    await bounded;
  });

  it('admits who waits when the pause ends, whenever that falls between two looks at the clock', async () => {
    for (let lookMs = 0; lookMs < 1; lookMs += 0.05) {
      const time = new PassingTime(lookMs);
      const tested = new AdaptiveLimiter({ maxInFlight: 1, pauseMs: 1, maxPauseMs: 1 }, time);
      tested.throttled(undefined);
      const waiting = tested.acquire(undefined);
      await time.advance(1);
      expect([tested.inFlight, time.armedTimers], `${lookMs} ms a look`).toEqual([1, 0]);
      await waiting;
    }
  });

  it('lets go of those who give up or are closed, without losing a slot', async () => {
    const { time, limiter: tested } = limiter(1);
    expect(tested.tryAcquire()).toBe(true);
    const abort = new AbortController();
    const given = tested.acquire(abort.signal);
    const next = tested.acquire(undefined);
    abort.abort(new Error('given up'));
    await expect(given).rejects.toThrow('given up');
    tested.release();
    await next;
    const closed = tested.acquire(undefined);
    tested.close(new Error('closed'));
    await expect(closed).rejects.toThrow('closed');
    expect([tested.inFlight, time.armedTimers]).toEqual([1, 0]);
  });
});
