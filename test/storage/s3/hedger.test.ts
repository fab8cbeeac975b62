import { describe, expect, it } from 'vitest';
import { type Deferred, deferred } from '../../../src/common/lifecycle.ts';
import { type Hedgeable, Hedger } from '../../../src/storage/s3/hedger.ts';
import { ManualTime } from '../../support/manual-time.ts';

/** An attempt that the test settles. */
class ManualAttempt implements Hedgeable<string> {
  readonly outcome: Deferred<string> = deferred();
  answered = false;
  aborted = false;
  get settled(): Promise<string> {
    return this.outcome.promise;
  }
  abort(reason: unknown): void {
    this.aborted = true;
    this.outcome.reject(reason);
  }
}

const settings = { budget: 0.02, burst: 2, minDelayMs: 10, maxDelayMs: 1000 };

function setup(): { time: ManualTime; hedger: Hedger; primary: ManualAttempt; second: ManualAttempt } {
  const time = new ManualTime();
  const [primary, second] = [new ManualAttempt(), new ManualAttempt()];
  return { time, hedger: new Hedger(settings, time), primary, second };
}

describe('Hedger', () => {
  it('starts nothing when the answer is in time, and leaves no timer', async () => {
    const { time, hedger, primary } = setup();
    const run = hedger.run(primary, () => expect.unreachable('no hedge is needed'));
    await time.advance(999);
    primary.outcome.resolve('bytes');
    expect([await run, hedger.hedges, time.armedTimers]).toEqual(['bytes', 0, 0]);
  });

  it('takes the hedge when it is faster, and aborts the first', async () => {
    const { time, hedger, primary, second } = setup();
    const run = hedger.run(primary, () => second);
    await time.advance(1000);
    second.outcome.resolve('hedged');
    expect(await run).toBe('hedged');
    expect([primary.aborted, hedger.hedges, hedger.wins]).toEqual([true, 1, 1]);
  });

  it('takes the first when it is faster after all, and aborts the hedge', async () => {
    const { time, hedger, primary, second } = setup();
    const run = hedger.run(primary, () => second);
    await time.advance(1000);
    primary.outcome.resolve('first');
    expect([await run, second.aborted, hedger.wins]).toEqual(['first', true, 0]);
  });

  it('survives the failure of either, and reports that of the first when both fail', async () => {
    const one = setup();
    const hedgeFails = one.hedger.run(one.primary, () => one.second);
    await one.time.advance(1000);
    one.second.outcome.reject(new Error('hedge failed'));
    one.primary.outcome.resolve('first');
    expect(await hedgeFails).toBe('first');

    const two = setup();
    const firstFails = two.hedger.run(two.primary, () => two.second);
    await two.time.advance(1000);
    two.primary.outcome.reject(new Error('first failed'));
    await two.time.advance(1);
    two.second.outcome.resolve('hedged');
    expect(await firstFails).toBe('hedged');

    const both = setup();
    const bothFail = both.hedger.run(both.primary, () => both.second);
    await both.time.advance(1000);
    both.primary.outcome.reject(new Error('first failed'));
    both.second.outcome.reject(new Error('hedge failed'));
    await expect(bothFail).rejects.toThrow('first failed');
  });

  it('does not hedge an answer that has begun', async () => {
    const { time, hedger, primary } = setup();
    primary.answered = true;
    const run = hedger.run(primary, () => expect.unreachable('it is on its way'));
    await time.advance(5000);
    primary.outcome.resolve('slow body');
    expect([await run, hedger.hedges]).toEqual(['slow body', 0]);
  });

  it('keeps hedges below 2 % of all gets, however slow they are', async () => {
    const { time, hedger } = setup();
    const gets = 1000;
    for (let i = 0; i < gets; i++) {
      const primary = new ManualAttempt();
      const run = hedger.run(primary, () => new ManualAttempt());
      await time.advance(hedger.delayMs + 1);
      primary.outcome.resolve('late');
      await run;
    }
    expect(hedger.hedges).toBeGreaterThan(10);
    expect(hedger.hedges).toBeLessThanOrEqual(settings.burst + gets * settings.budget);
  });

  it('waits by the latencies it sees, within its bounds', async () => {
    const { time, hedger } = setup();
    const latency = async (ms: number): Promise<void> => {
      const primary = new ManualAttempt();
      const run = hedger.run(primary, () => undefined);
      await time.advance(ms);
      primary.outcome.resolve('x');
      await run;
    };
    for (let i = 0; i < 2500; i++) await latency(i % 20 === 0 ? 60 : 20);
    expect(hedger.delayMs).toBeGreaterThan(40);
    expect(hedger.delayMs).toBeLessThan(150);
    for (let i = 0; i < 1500; i++) await latency(1);
    expect(hedger.delayMs).toBe(settings.minDelayMs);
  });
});
