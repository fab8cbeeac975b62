/**
 * A decorator that measures an object storage: how long operations take, what they move, how they fail. As the caller sees
 * them: with the retries inside. The storage stays its opener's to close.
 */
import { type Counter, type Histogram, type Meter, type Observed, observeCounters } from '../common/metrics.ts';
import type { Time } from '../common/time.ts';
import { type ObjectStorage, StorageError, type StorageStats } from './object-storage.ts';

type Operation = 'put' | 'get' | 'head' | 'list' | 'delete';
type OperationAttributes = { readonly operation: Operation };

/** One object each, so that a meter may know them again without looking inside. */
const ATTRIBUTES: Readonly<Record<Operation, OperationAttributes>> = Object.freeze({
  put: Object.freeze({ operation: 'put' }),
  get: Object.freeze({ operation: 'get' }),
  head: Object.freeze({ operation: 'head' }),
  list: Object.freeze({ operation: 'list' }),
  delete: Object.freeze({ operation: 'delete' }),
});

const BELOW: readonly Observed<StorageStats>[] = [
  ['diskless.object_storage.retries', '{request}', 'Attempts after a failed one.', (stats) => stats.retries],
  [
    'diskless.object_storage.hedges',
    '{request}',
    'Attempts beside one that was slow to answer.',
    (stats) => stats.hedges,
  ],
];

export function measuredObjectStorage(storage: ObjectStorage, meter: Meter, time: Time): ObjectStorage {
  const measure = new StorageMeasure(meter, time);
  if (storage.stats) observeCounters(meter, BELOW, () => storage.stats!);
  return {
    description: storage.description,
    async put(key, body, options) {
      await measure.run('put', () => storage.put(key, body, options));
      measure.moved(
        'put',
        body.reduce((sum, { byteLength }) => sum + byteLength, 0),
      );
    },
    async getRange(key, range, options) {
      const bytes = await measure.run('get', () => storage.getRange(key, range, options));
      measure.moved('get', range.size);
      return bytes;
    },
    head: (key, options) => measure.run('head', () => storage.head(key, options)),
    list: (options) => measure.list(() => storage.list(options)),
    delete: (keys, options) => measure.run('delete', () => storage.delete(keys, options)),
    close: () => storage.close(),
    [Symbol.asyncDispose]: () => storage.close(),
  };
}

class StorageMeasure {
  readonly #time: Time;
  readonly #duration: Histogram;
  readonly #bytes: Counter;
  readonly #errors: Counter;

  constructor(meter: Meter, time: Time) {
    this.#time = time;
    this.#duration = meter.createHistogram('diskless.object_storage.request.duration', {
      unit: 's',
      description: 'How long requests to the object storage take, retries included.',
    });
    this.#bytes = meter.createCounter('diskless.object_storage.io', {
      unit: 'By',
      description: 'Bytes put into and got from the object storage.',
    });
    this.#errors = meter.createCounter('diskless.object_storage.errors', {
      unit: '{request}',
      description: 'Requests to the object storage that failed for good, by kind.',
    });
  }

  async run<T>(operation: Operation, request: () => Promise<T>): Promise<T> {
    const startMs = this.#time.monotonicMs();
    try {
      return await request();
    } catch (error) {
      this.#failed(operation, error);
      throw error;
    } finally {
      this.#duration.record((this.#time.monotonicMs() - startMs) / 1e3, ATTRIBUTES[operation]);
    }
  }

  /** A listing takes as long as its reader; only how it ends is measured. */
  async *list<T>(open: () => AsyncIterable<T>): AsyncIterable<T> {
    try {
      yield* open();
    } catch (error) {
      this.#failed('list', error);
      throw error;
    }
  }

  moved(operation: Operation, bytes: number): void {
    this.#bytes.add(bytes, ATTRIBUTES[operation]);
  }

  #failed(operation: Operation, error: unknown): void {
    const kind = error instanceof StorageError ? error.kind : 'aborted';
    this.#errors.add(1, { operation, 'error.type': kind });
  }
}
