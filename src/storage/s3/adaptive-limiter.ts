/**
 * How many requests run at a time: at most `maxInFlight`, fewer while the store asks to slow down.
 *
 * A throttled answer halves the limit and pauses new requests; each success adds a little (additive increase,
 * multiplicative decrease). One wave of throttled answers counts once, because those in flight were all sent before the
 * first of them came back. So a store under pressure sees fewer requests, never more. Main thread; closed by its owner.
 */
import { type Deferred, deferred } from '../../common/lifecycle.ts';
import type { Time, Timer } from '../../common/time.ts';

export interface LimiterSettings {
  readonly maxInFlight: number;
  /** How long new requests wait after a throttled answer that does not say so itself. */
  readonly pauseMs: number;
  /** The longest pause that a store's Retry-After gets. */
  readonly maxPauseMs: number;
}

export class AdaptiveLimiter {
  readonly #settings: LimiterSettings;
  readonly #time: Time;
  readonly #waiting = new Set<Deferred<void>>();
  #limit: number;
  #inFlight = 0;
  #pausedUntilMs = 0;
  #timer: Timer | undefined;

  constructor(settings: LimiterSettings, time: Time) {
    this.#settings = settings;
    this.#time = time;
    this.#limit = settings.maxInFlight;
  }

  /** Requests allowed at a time now; at least 1. */
  get limit(): number {
    return Math.floor(this.#limit);
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  /** Takes a slot if one is free; the caller releases it. */
  tryAcquire(): boolean {
    if (this.#waiting.size > 0 || !this.#hasRoom(this.#pauseLeftMs())) return false;
    this.#inFlight++;
    return true;
  }

  /** Takes a slot, in the order of asking. @throws the signal's reason, or what `close` was given */
  async acquire(signal: AbortSignal | undefined): Promise<void> {
    if (this.tryAcquire()) return;
    const turn = deferred<void>();
    const onAbort = (): void => {
      if (this.#waiting.delete(turn)) turn.reject(signal!.reason);
    };
    signal?.addEventListener('abort', onAbort, { once: true });
    this.#waiting.add(turn);
    this.#admit();
    try {
      await turn.promise;
    } finally {
      signal?.removeEventListener('abort', onAbort);
    }
  }

  release(): void {
    this.#inFlight--;
    this.#admit();
  }

  /** A request succeeded: the limit grows by one for every `limit` successes. */
  succeeded(): void {
    if (this.#limit < this.#settings.maxInFlight) {
      this.#limit = Math.min(this.#settings.maxInFlight, this.#limit + 1 / this.#limit);
    }
  }

  /**
   * A request was throttled.
   * @param retryAfterMs what the store asked for, if it did
   * @returns whether this was the first of a wave, which lowered the limit
   */
  throttled(retryAfterMs: number | undefined): boolean {
    const nowMs = this.#time.monotonicMs();
    const pauseMs = Math.min(retryAfterMs ?? this.#settings.pauseMs, this.#settings.maxPauseMs);
    const first = nowMs >= this.#pausedUntilMs;
    if (first) this.#limit = Math.max(1, this.#limit / 2);
    this.#pausedUntilMs = Math.max(this.#pausedUntilMs, nowMs + pauseMs);
    return first;
  }

  /** Fails those who wait. Slots in use are released by their holders. */
  close(reason: unknown): void {
    this.#timer?.cancel();
    for (const turn of this.#waiting) turn.reject(reason);
    this.#waiting.clear();
  }

  #hasRoom(pauseLeftMs: number): boolean {
    return this.#inFlight < this.limit && pauseLeftMs <= 0;
  }

  #pauseLeftMs(): number {
    return this.#pausedUntilMs - this.#time.monotonicMs();
  }

  /** Looks at the clock once: a pause that ended between two looks would admit nobody and arm no timer either. */
  #admit(): void {
    const leftMs = this.#pauseLeftMs();
    for (const turn of this.#waiting) {
      if (!this.#hasRoom(leftMs)) break;
      this.#waiting.delete(turn);
      this.#inFlight++;
      turn.resolve();
    }
    if (this.#waiting.size > 0 && leftMs > 0) this.#wakeAfter(leftMs);
  }

  /** When only the pause is in the way, nobody's release will admit the next. */
  #wakeAfter(pauseLeftMs: number): void {
    this.#timer ??= this.#time.setTimer(Math.ceil(pauseLeftMs), () => {
      this.#timer = undefined;
      this.#admit();
    });
  }
}
