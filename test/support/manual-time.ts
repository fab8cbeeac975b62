/**
 * Time that only moves when a test moves it. Wall clock and monotonic clock advance together from given starts; due
 * timers fire in order, and after each the event loop turns so that what it started can go on.
 */
import type { Time, Timer } from '../../src/common/time.ts';

interface Armed {
  readonly dueMs: number;
  readonly callback: () => void;
}

/** Lets promises, message ports and I/O callbacks that are ready run: a few turns of the event loop. */
export async function settle(turns = 3): Promise<void> {
  for (let turn = 0; turn < turns; turn++) await new Promise<void>((resolve) => setImmediate(resolve));
}

export class ManualTime implements Time {
  #elapsedMs = 0;
  readonly #startMs: number;
  readonly #timers = new Set<Armed>();

  constructor(startMs = 1_800_000_000_000) {
    this.#startMs = startMs;
  }

  nowMs(): number {
    return this.#startMs + this.#elapsedMs;
  }

  monotonicMs(): number {
    return this.#elapsedMs;
  }

  setTimer(delayMs: number, callback: () => void): Timer {
    const armed = { dueMs: this.#elapsedMs + Math.max(0, delayMs), callback };
    this.#timers.add(armed);
    return { cancel: () => this.#timers.delete(armed) };
  }

  get armedTimers(): number {
    return this.#timers.size;
  }

  /** Moves time on by `ms`, firing what falls due on the way, timers armed by timers included. */
  async advance(ms: number): Promise<void> {
    const targetMs = this.#elapsedMs + ms;
    await settle();
    for (let next = this.#nextDue(targetMs); next; next = this.#nextDue(targetMs)) {
      this.#elapsedMs = Math.max(this.#elapsedMs, next.dueMs);
      this.#timers.delete(next);
      next.callback();
      await settle();
    }
    this.#elapsedMs = targetMs;
    await settle();
  }

  /** Time passes, and nothing can run meanwhile: what fell due is late. */
  stall(ms: number): void {
    this.#elapsedMs += ms;
  }

  /** Moves time on in steps until the promise settles; for work that also waits for threads and disks. */
  async advanceUntil<T>(promise: Promise<T>, stepMs = 50): Promise<T> {
    let settled = false;
    const done = (): void => {
      settled = true;
    };
    promise.then(done, done);
    await settle();
    while (!settled) await this.advance(stepMs);
    return promise;
  }

  #nextDue(targetMs: number): Armed | undefined {
    let next: Armed | undefined;
    for (const armed of this.#timers) {
      if (armed.dueMs <= targetMs && (next === undefined || armed.dueMs < next.dueMs)) next = armed;
    }
    return next;
  }
}
