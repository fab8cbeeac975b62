/** Bounded waiting between attempts, for uploads and commits. */
import type { Random } from '../common/random.ts';
import { sleep, type Time } from '../common/time.ts';

export interface BackoffSettings {
  readonly initialMs: number;
  readonly maxMs: number;
}

/** Doubling pauses with jitter, from half of the nominal pause to all of it, so that brokers do not retry in step. */
export class Backoff {
  readonly #time: Time;
  readonly #random: Random;
  readonly #maxMs: number;
  #nextMs: number;

  constructor(time: Time, random: Random, settings: BackoffSettings) {
    this.#time = time;
    this.#random = random;
    this.#maxMs = settings.maxMs;
    this.#nextMs = settings.initialMs;
  }

  /** Waits; false when the signal aborted meanwhile. */
  async pause(signal: AbortSignal): Promise<boolean> {
    const nominalMs = this.#nextMs;
    this.#nextMs = Math.min(this.#maxMs, nominalMs * 2);
    const pauseMs = nominalMs * (0.5 + this.#random.next() / 2);
    return sleep(this.#time, pauseMs, signal).then(
      () => true,
      () => false,
    );
  }
}
