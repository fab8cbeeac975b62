/**
 * A background job made of bounded steps: runs steps while there is more to do, then rests; backs off when a step fails.
 * Main thread; whoever starts it closes it.
 */
import type { Logger } from '../common/logger.ts';
import { type Random, systemRandom } from '../common/random.ts';
import type { Time, Timer } from '../common/time.ts';

export interface PeriodicJobOptions {
  readonly name: string;
  /** Does a bounded amount of work; true when there is more. */
  readonly step: () => Promise<boolean>;
  /** Between two passes; varied by a quarter, so that brokers do not all come at once. */
  readonly intervalMs: number;
  readonly time: Time;
  readonly random?: Random;
  readonly logger: Logger;
}

const FIRST_BACKOFF_MS = 100;
const LONGEST_BACKOFF_MS = 60_000;

export class PeriodicJob {
  readonly #options: PeriodicJobOptions;
  #timer: Timer | undefined;
  #running: Promise<void> | undefined;
  #again = false;
  #closed = false;
  #failures = 0;

  constructor(options: PeriodicJobOptions) {
    this.#options = options;
  }

  /** Arms the first pass. */
  start(): void {
    this.#rest(this.#options.intervalMs);
  }

  /** Begins a pass now, or another one after the pass that runs. */
  wake(): void {
    if (this.#closed) return;
    this.#again = true;
    this.#running ??= this.#pass();
  }

  /** Resolves when no pass runs; none begins after it. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#timer?.cancel();
    await this.#running;
  }

  async #pass(): Promise<void> {
    this.#timer?.cancel();
    try {
      for (let more = true; !this.#closed && (more || this.#again); ) {
        this.#again = false;
        more = await this.#options.step();
      }
      this.#failures = 0;
      this.#rest(this.#options.intervalMs);
    } catch (error) {
      const backoffMs = Math.min(FIRST_BACKOFF_MS * 2 ** this.#failures, LONGEST_BACKOFF_MS);
      this.#failures += 1;
      const { name, logger } = this.#options;
      if (!this.#closed)
        logger.warn({ job: name, error: String(error), retryInMs: backoffMs }, `${name} failed and will be repeated`);
      this.#rest(backoffMs);
    }
  }

  #rest(intervalMs: number): void {
    this.#running = undefined;
    if (this.#closed) return;
    const { time, random = systemRandom } = this.#options;
    this.#timer = time.setTimer(intervalMs * (0.75 + random.next() / 2), () => this.wake());
  }
}
