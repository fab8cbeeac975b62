/**
 * A coordinator that is measured: how long its operations take, how they fail, how many batches a commit has. The
 * coordinator stays its opener's to close.
 */
import type { Meter } from '../common/metrics.ts';
import type { Time } from '../common/time.ts';
import { type CommitFileRequest, CoordinatorError, type DisklessCoordinator } from './diskless-coordinator.ts';

/** What asks nothing of the store: subscriptions, the list that every coordinator keeps in memory, the end. */
const NOT_MEASURED: ReadonlySet<string | symbol> = new Set(['onChange', 'listTopics', 'close', Symbol.asyncDispose]);

type Method = (...args: unknown[]) => unknown;

export function measuredCoordinator(coordinator: DisklessCoordinator, meter: Meter, time: Time): DisklessCoordinator {
  const measure = new CoordinatorMeasure(meter, time);
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
  readonly #meter: Meter;
  readonly #time: Time;

  constructor(meter: Meter, time: Time) {
    this.#meter = meter;
    this.#time = time;
  }

  method(operation: string, method: Method): Method {
    const attributes = Object.freeze({ operation });
    const duration = this.#meter.createHistogram('diskless.coordinator.operation.duration', {
      unit: 's',
      description: 'How long operations of the Diskless Coordinator take.',
    });
    const errors = this.#meter.createCounter('diskless.coordinator.errors', {
      unit: '{operation}',
      description: 'Operations of the Diskless Coordinator that failed as a whole, by kind.',
    });
    const noteRequest = operation === 'commitFile' ? this.#commits() : () => {};
    return async (...args) => {
      const startMs = this.#time.monotonicMs();
      noteRequest(args[0]);
      try {
        return await method(...args);
      } catch (error) {
        const kind = error instanceof CoordinatorError ? error.kind : 'unexpected';
        errors.add(1, { operation, 'error.type': kind });
        throw error;
      } finally {
        duration.record((this.#time.monotonicMs() - startMs) / 1e3, attributes);
      }
    };
  }

  #commits(): (request: unknown) => void {
    const batches = this.#meter.createHistogram('diskless.coordinator.commit.batches', {
      unit: '{batch}',
      description: 'Batches that one commit brings.',
    });
    return (request) => batches.record((request as CommitFileRequest).batches.length);
  }
}
