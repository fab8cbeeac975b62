import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../../src/common/logger.ts';
import { seededRandom } from '../../../src/common/random.ts';
import { StorageError, type StorageErrorKind } from '../../../src/storage/object-storage.ts';
import { RetryPolicy } from '../../../src/storage/s3/retry-policy.ts';
import { ManualTime } from '../../support/manual-time.ts';

const settings = {
  maxAttempts: 4,
  baseDelayMs: 100,
  throttledDelayMs: 1000,
  maxDelayMs: 1500,
  budget: 10,
  budgetPerSuccess: 0.5,
};

function policy(overrides: Partial<typeof settings> = {}): { time: ManualTime; tested: RetryPolicy } {
  const time = new ManualTime();
  return { time, tested: new RetryPolicy({ ...settings, ...overrides }, time, seededRandom(7), silentLogger) };
}

const failing = (kind: StorageErrorKind, calls: { count: number }) => async (): Promise<never> => {
  calls.count++;
  throw new StorageError(kind, `failed with ${kind}`);
};

describe('RetryPolicy', () => {
  const kinds: [StorageErrorKind, number][] = [
    ['unavailable', 4],
    ['timeout', 4],
    ['corrupt', 4],
    ['throttled', 4],
    ['no-space', 1],
    ['denied', 1],
    ['not-found', 1],
    ['already-exists', 1],
    ['range-not-satisfiable', 1],
    ['closed', 1],
  ];
  it.each(kinds)('tries %s %i times', async (kind, attempts) => {
    const { time, tested } = policy();
    const calls = { count: 0 };
    const run = tested.run(undefined, failing(kind, calls));
    const message = attempts > 1 ? `failed with ${kind}, after 4 attempts` : `failed with ${kind}`;
    await expect(time.advanceUntil(run)).rejects.toThrow(new StorageError(kind, message));
    expect([calls.count, time.armedTimers]).toEqual([attempts, 0]);
  });

  it('waits between attempts at random, up to a bound that doubles', async () => {
    const { time, tested } = policy({ maxAttempts: 30, budget: 1000 });
    const at: number[] = [];
    const run = tested.run(undefined, async () => {
      at.push(time.monotonicMs());
      throw new StorageError('unavailable', 'down');
    });
    await time.advanceUntil(run, 1).catch(() => {});
    const delays = at.slice(1).map((ms, index) => ms - at[index]!);
    delays.forEach((delay, index) => {
      expect(delay).toBeLessThanOrEqual(Math.min(1500, 100 * 2 ** index) + 1);
    });
    expect(new Set(delays.map(Math.round)).size).toBeGreaterThan(20);
  });

  it('stops retrying everything once the budget is used up, and earns it back by successes', async () => {
    const { time, tested } = policy();
    const calls = { count: 0 };
    for (let i = 0; i < 20; i++) {
      await time.advanceUntil(tested.run(undefined, failing('unavailable', calls))).catch(() => {});
    }
    expect([calls.count, tested.retries]).toEqual([20 + 10, 10]);
    for (let i = 0; i < 4; i++) await tested.run(undefined, async () => {});
    await time.advanceUntil(tested.run(undefined, failing('unavailable', calls))).catch(() => {});
    expect(tested.retries).toBe(12);
  });

  it('ends its pauses when it is closed', async () => {
    const { time, tested } = policy();
    const run = tested.run(undefined, failing('throttled', { count: 0 }));
    await time.advance(0);
    tested.close(new StorageError('closed', 'closed'));
    await expect(run).rejects.toMatchObject({ kind: 'closed' });
    await expect(tested.run(undefined, failing('timeout', { count: 0 }))).rejects.toMatchObject({ kind: 'closed' });
    expect(time.armedTimers).toBe(0);
  });

  it('gives up at once when the caller does', async () => {
    const { time, tested } = policy();
    const abort = new AbortController();
    const run = tested.run(abort.signal, failing('throttled', { count: 0 }));
    await time.advance(0);
    abort.abort(new Error('enough'));
    await expect(run).rejects.toThrow('enough');
    expect(time.armedTimers).toBe(0);
  });
});
