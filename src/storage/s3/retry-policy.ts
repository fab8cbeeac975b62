/**
 * Repeating what may succeed when repeated: a bounded number of attempts, full jitter between them, and a budget over all
 * operations, so that a store that fails everything sees little more than the first attempts. The storage that owns a
 * policy ends its pauses when it closes.
 */
import type { Logger } from '../../common/logger.ts';
import type { Random } from '../../common/random.ts';
import { sleep, type Time } from '../../common/time.ts';
import { StorageError } from '../object-storage.ts';
import { AbortGroup } from './abort-group.ts';

export interface RetrySettings {
  /** Attempts of one operation, the first included. */
  readonly maxAttempts: number;
  /** The first delay is uniform in [0, this], the second in [0, twice this], and so on. */
  readonly baseDelayMs: number;
  /** The same after a throttled answer. */
  readonly throttledDelayMs: number;
  readonly maxDelayMs: number;
  /** Retries that may be outstanding against the successes that pay for them. */
  readonly budget: number;
  /** What a success gives back; retries are at most this share of successes in the long run. */
  readonly budgetPerSuccess: number;
}

export class RetryPolicy {
  readonly #settings: RetrySettings;
  readonly #time: Time;
  readonly #random: Random;
  readonly #logger: Logger;
  readonly #pauses = new AbortGroup();
  #tokens: number;
  #retries = 0;

  constructor(settings: RetrySettings, time: Time, random: Random, logger: Logger) {
    this.#settings = settings;
    this.#time = time;
    this.#random = random;
    this.#logger = logger;
    this.#tokens = settings.budget;
  }

  /** Retries made so far. */
  get retries(): number {
    return this.#retries;
  }

  /** Runs `attempt` until it succeeds, fails for good, or attempts or budget are used up. @throws the last failure */
  async run<T>(signal: AbortSignal | undefined, attempt: () => Promise<T>): Promise<T> {
    for (let attempts = 1; ; attempts++) {
      try {
        const result = await attempt();
        this.#tokens = Math.min(this.#settings.budget, this.#tokens + this.#settings.budgetPerSuccess);
        return result;
      } catch (error) {
        if (!(error instanceof StorageError) || !this.#mayRetry(error, attempts)) throw afterAttempts(error, attempts);
        this.#tokens--;
        this.#retries++;
        await this.#pause(error, attempts, signal);
      }
    }
  }

  /** Ends the pauses of what is being repeated with `reason`. */
  close(reason: unknown): void {
    this.#pauses.end(reason);
  }

  #pause(error: StorageError, attempts: number, signal: AbortSignal | undefined): Promise<void> {
    const delayMs = this.#delayMs(error, attempts);
    this.#logger.debug({ kind: error.kind, attempts, delayMs }, `${error.message}; trying again`);
    return this.#pauses.run(signal, (either) => sleep(this.#time, delayMs, either));
  }

  #mayRetry(error: StorageError, attempts: number): boolean {
    const worthwhile = error.retriable && error.kind !== 'no-space';
    return worthwhile && attempts < this.#settings.maxAttempts && this.#tokens >= 1;
  }

  #delayMs(error: StorageError, attempts: number): number {
    const { baseDelayMs, throttledDelayMs, maxDelayMs } = this.#settings;
    const firstMs = error.kind === 'throttled' ? throttledDelayMs : baseDelayMs;
    return this.#random.next() * Math.min(maxDelayMs, firstMs * 2 ** (attempts - 1));
  }
}

function afterAttempts(error: unknown, attempts: number): unknown {
  if (!(error instanceof StorageError) || attempts === 1) return error;
  return new StorageError(error.kind, `${error.message}, after ${attempts} attempts`, { cause: error.cause });
}
