/**
 * A second request for a GET that is unusually slow to answer: the store's slow tail is mostly one unlucky machine, and
 * another connection seldom meets it too. The wait before it follows the latencies seen; the budget keeps the extra load
 * below a share of all GETs, also when everything is slow. Main thread; holds no resources.
 */
import type { Time } from '../../common/time.ts';

export interface HedgeSettings {
  /** Hedges per GET in the long run; 0 turns them off. */
  readonly budget: number;
  /** Hedges that may come at once after a quiet time. */
  readonly burst: number;
  readonly minDelayMs: number;
  readonly maxDelayMs: number;
}

/** An attempt as the hedger sees it. Its promise always settles; once it has, `abort` does nothing. */
export interface Hedgeable<T> {
  readonly settled: Promise<T>;
  /** Whether its answer has begun: from then on it is the likelier winner. */
  readonly answered: boolean;
  abort(reason: unknown): void;
}

/** The delay is this many times the latency that 95 % of GETs stay under. */
const DELAY_FACTOR = 2;
const QUANTILE = 0.95;
/** Step of the quantile's estimate, relative to itself. */
const STEP = 0.05;

export class Hedger {
  readonly #settings: HedgeSettings;
  readonly #time: Time;
  #tokens: number;
  #quantileMs: number;
  #hedges = 0;
  #wins = 0;

  constructor(settings: HedgeSettings, time: Time) {
    this.#settings = settings;
    this.#time = time;
    this.#tokens = settings.burst;
    this.#quantileMs = settings.maxDelayMs / DELAY_FACTOR;
  }

  get hedges(): number {
    return this.#hedges;
  }

  /** Hedges that answered first. */
  get wins(): number {
    return this.#wins;
  }

  /** How long a GET may be silent before it is hedged. */
  get delayMs(): number {
    const { minDelayMs, maxDelayMs } = this.#settings;
    return Math.min(maxDelayMs, Math.max(minDelayMs, this.#quantileMs * DELAY_FACTOR));
  }

  /**
   * Runs a GET and perhaps its hedge; the first success wins and the other is aborted.
   * @param startHedge returns undefined when there is no room for another request
   * @throws the first attempt's failure when none succeeds
   */
  run<T>(primary: Hedgeable<T>, startHedge: () => Hedgeable<T> | undefined): Promise<T> {
    const startMs = this.#time.monotonicMs();
    this.#tokens = Math.min(this.#settings.burst, this.#tokens + this.#settings.budget);
    return new Promise((resolve, reject) => {
      let hedge: Hedgeable<T> | undefined;
      /** Failures so far; the race is lost when there are as many as attempts. */
      let failures = 0;
      let firstError: unknown;
      let ended = false;
      const end = (): void => {
        ended = true;
        timer.cancel();
        this.#learn(this.#time.monotonicMs() - startMs);
        if (hedge) abortBoth(primary, hedge);
      };
      const onPrimary = (result: T): void => {
        if (!ended) end();
        resolve(result);
      };
      const onHedge = (result: T): void => {
        if (ended) return;
        this.#wins++;
        onPrimary(result);
      };
      const onFailure = (error: unknown): void => {
        failures++;
        if (failures < (hedge ? 2 : 1)) return;
        end();
        reject(firstError ?? error);
      };
      const onPrimaryFailure = (error: unknown): void => {
        firstError = error;
        onFailure(error);
      };
      const timer = this.#time.setTimer(this.delayMs, () => {
        hedge = this.#mayHedge(primary) ? startHedge() : undefined;
        if (!hedge) return;
        this.#hedges++;
        hedge.settled.then(onHedge, onFailure);
      });
      primary.settled.then(onPrimary, onPrimaryFailure);
    });
  }

  #mayHedge(primary: Hedgeable<unknown>): boolean {
    if (primary.answered || this.#tokens < 1) return false;
    this.#tokens--;
    return true;
  }

  /** Frugal estimate of a quantile: up by its share of a step when above, down by the rest when below. */
  #learn(latencyMs: number): void {
    const weight = latencyMs > this.#quantileMs ? QUANTILE : QUANTILE - 1;
    this.#quantileMs = Math.max(0.1, this.#quantileMs * (1 + STEP * weight));
  }
}

/** Whichever has settled takes no notice. */
function abortBoth(primary: Hedgeable<unknown>, hedge: Hedgeable<unknown>): void {
  const over = new Error('the other attempt was faster');
  primary.abort(over);
  hedge.abort(over);
}
