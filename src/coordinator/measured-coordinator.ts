/**
 * A coordinator that is measured: how long its operations take, how they fail, how many batches a commit has; and whose
 * failures are logged, since clients are answered with an error code alone. The coordinator stays its opener's to close.
 */
import type { Logger } from '../common/logger.ts';
import type { Counter, Histogram, Meter } from '../common/metrics.ts';
import type { Time } from '../common/time.ts';
import { type CommitFileRequest, CoordinatorError, type DisklessCoordinator } from './diskless-coordinator.ts';

/** What asks nothing of the store: subscriptions, the list that every coordinator keeps in memory, the end. */
const NOT_MEASURED: ReadonlySet<string | symbol> = new Set(['onChange', 'listTopics', 'close', Symbol.asyncDispose]);

/** A store that is down fails each request: one line an operation in this time says it. */
const LOG_INTERVAL_MS = 10_000;

type Method = (...args: unknown[]) => unknown;

export interface Observers {
  readonly meter: Meter;
  readonly time: Time;
  readonly logger: Logger;
}

export function measuredCoordinator(coordinator: DisklessCoordinator, observers: Observers): DisklessCoordinator {
  const measure = new CoordinatorMeasure(observers);
  const methods = new Map<string | symbol, Method>();
  return new Proxy(coordinator, {
    get(target, name) {
      const known = methods.get(name);
      if (known) return known;
      // Private fields lie on the coordinator itself, so nothing of it may see the proxy as `this`.
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      const method: Method = value.bind(target);
      const measured = typeof name === 'symbol' || NOT_MEASURED.has(name) ? method : measure.method(name, method);
      methods.set(name, measured);
      return measured;
    },
  });
}

class CoordinatorMeasure {
  readonly #time: Time;
  readonly #logger: Logger;
  readonly #duration: Histogram;
  readonly #errors: Counter;
  readonly #commitBatches: Histogram;

  constructor({ meter, time, logger }: Observers) {
    this.#time = time;
    this.#logger = logger;
    this.#duration = meter.createHistogram('diskless.coordinator.operation.duration', {
      unit: 's',
      description: 'How long operations of the Diskless Coordinator take.',
    });
    this.#errors = meter.createCounter('diskless.coordinator.errors', {
      unit: '{operation}',
      description: 'Operations of the Diskless Coordinator that failed as a whole, by kind.',
    });
    this.#commitBatches = meter.createHistogram('diskless.coordinator.commit.batches', {
      unit: '{batch}',
      description: 'Batches that one commit brings.',
    });
  }

  method(operation: string, method: Method): Method {
    const attributes = Object.freeze({ operation });
    const noteFailure = this.#failures(operation);
    return async (...args) => {
      const startMs = this.#time.monotonicMs();
      if (operation === 'commitFile') this.#commitBatches.record((args[0] as CommitFileRequest).batches.length);
      try {
        return await method(...args);
      } catch (error) {
        const kind = error instanceof CoordinatorError ? error.kind : 'unexpected';
        this.#errors.add(1, { operation, 'error.type': kind });
        noteFailure(kind, error);
        throw error;
      } finally {
        this.#duration.record((this.#time.monotonicMs() - startMs) / 1e3, attributes);
      }
    };
  }

  /** Logs what an operator can do something about; other kinds are answers to who asked. */
  #failures(operation: string): (kind: string, error: unknown) => void {
    let loggedMs = Number.NEGATIVE_INFINITY;
    let failures = 0;
    return (kind, error) => {
      if (kind !== 'unavailable' && kind !== 'no-space' && kind !== 'unexpected') return;
      failures += 1;
      const nowMs = this.#time.monotonicMs();
      if (nowMs - loggedMs < LOG_INTERVAL_MS) return;
      this.#logger.warn({ operation, failures, error: String(error) }, `the coordinator failed: ${operation}`);
      loggedMs = nowMs;
      failures = 0;
    };
  }
}
