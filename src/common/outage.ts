/**
 * Something that fails again and again, told in few lines of log: one when it begins, one with a count now and then while
 * it lasts, one when it is over. Keeps the reason for whoever is asked whether all is well. Main thread; holds no timer.
 */

import type { Logger } from './logger.ts';
import { messageOf } from './message-of.ts';
import type { Time } from './time.ts';

/** What is down fails each attempt: one line in this time says it. */
const LOG_INTERVAL_MS = 10_000;
/** Without a further attempt nobody knows whether it still fails: it is given another try after this time. */
const REMEMBERED_MS = 30_000;

export interface OutageOptions {
  readonly time: Time;
  readonly logger: Logger;
  /** What fails, as the log's lines begin: `segment upload`. */
  readonly what: string;
}

export class Outage {
  readonly #options: OutageOptions;
  #error: unknown;
  #failedMs = Number.NEGATIVE_INFINITY;
  #loggedMs = Number.NEGATIVE_INFINITY;
  #isLogged = false;
  /** Since the last line. */
  #failures = 0;

  constructor(options: OutageOptions) {
    this.#options = options;
  }

  /** Why the last attempt failed; undefined when it succeeded, or was made too long ago to mean anything. */
  get reason(): string | undefined {
    if (this.#options.time.monotonicMs() - this.#failedMs >= REMEMBERED_MS) return undefined;
    return `${this.#options.what} failed: ${messageOf(this.#error)}`;
  }

  failed(error: unknown, fields: object): void {
    const { time, logger, what } = this.#options;
    this.#error = error;
    this.#failedMs = time.monotonicMs();
    this.#failures += 1;
    if (this.#failedMs - this.#loggedMs < LOG_INTERVAL_MS) return;
    logger.warn({ ...fields, failures: this.#failures, error: String(error) }, `${what} failed`);
    this.#loggedMs = this.#failedMs;
    this.#isLogged = true;
    this.#failures = 0;
  }

  succeeded(): void {
    if (this.#failedMs === Number.NEGATIVE_INFINITY) return;
    this.#failedMs = Number.NEGATIVE_INFINITY;
    this.#error = undefined;
    // One that is over before it was told is counted in the next line.
    if (this.#isLogged) this.#options.logger.info({}, `${this.#options.what} works again`);
    this.#isLogged = false;
  }
}
