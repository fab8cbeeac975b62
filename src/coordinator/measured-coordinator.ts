/**
 * A coordinator that is measured: how long its operations take, how they fail, how many batches a commit has; and whose
 * failures are logged, since clients are answered with an error code alone. The coordinator stays its opener's to close.
 */
import type { Logger } from '../common/logger.ts';
import type { Counter, Histogram, Meter } from '../common/metrics.ts';
import { Outage } from '../common/outage.ts';
import type { Time } from '../common/time.ts';
import { type CommitFileRequest, CoordinatorError, type DisklessCoordinator } from './diskless-coordinator.ts';

/** What asks nothing of the store: subscriptions, the list that every coordinator keeps in memory, the end. */
const NOT_MEASURED: ReadonlySet<string | symbol> = new Set(['onChange', 'listTopics', 'close', Symbol.asyncDispose]);

/** What tells of its failures itself: whoever commits segments. */
const NOT_LOGGED: ReadonlySet<string> = new Set(['commitFile']);

/** What an operator can do something about; other kinds are answers to who asked. */
const OUTAGES: ReadonlySet<string> = new Set(['unavailable', 'no-space', 'unexpected']);

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
    const outage = this.#outageOf(operation);
    return async (...args) => {
      const startMs = this.#time.monotonicMs();
      if (operation === 'commitFile') this.#commitBatches.record((args[0] as CommitFileRequest).batches.length);
      try {
        const result = await method(...args);
        outage?.succeeded();
        return result;
      } catch (error) {
        const kind = error instanceof CoordinatorError ? error.kind : 'unexpected';
        this.#errors.add(1, { operation, 'error.type': kind });
        if (OUTAGES.has(kind)) outage?.failed(error, { operation });
        throw error;
      } finally {
        this.#duration.record((this.#time.monotonicMs() - startMs) / 1e3, attributes);
      }
    };
  }

  #outageOf(operation: string): Outage | undefined {
    if (NOT_LOGGED.has(operation)) return undefined;
    return new Outage({ time: this.#time, logger: this.#logger, what: `coordinator operation ${operation}` });
  }
}
