/** Checks of what callers pass to a storage, the same for all implementations: programmer errors, so they throw as such. */
import { type ByteRange, byteRange } from '../common/byte-range.ts';
import { isObjectKey, type ObjectKey, StorageError } from './object-storage.ts';

/** @throws TypeError for a key that is none */
export function checkKey(key: ObjectKey): void {
  if (typeof key === 'string' && isObjectKey(key)) return;
  const shown = JSON.stringify(String(key).slice(0, 80));
  throw new TypeError(
    `${shown} is not an object key: at most 512 characters of A-Za-z0-9._- in segments of at most 255 joined by "/", none empty or beginning with "."`,
  );
}

/** @throws RangeError for an empty or unsafe range; TypeError when `into` has another size */
export function checkRange(range: ByteRange, into: Uint8Array | undefined): void {
  byteRange(range.position, range.size);
  if (range.size < 1) throw new RangeError('a ranged get reads at least 1 byte');
  if (into && into.byteLength !== range.size) {
    throw new TypeError(`into holds ${into.byteLength} bytes where the range has ${range.size}`);
  }
}

/** The length of a body in bytes. */
export function bodySize(body: readonly Uint8Array[]): number {
  return body.reduce((size, chunk) => size + chunk.byteLength, 0);
}

/** Counts the operations in flight, refuses new ones once closing, and says when the last has settled. */
export class OperationGate {
  readonly #description: string;
  readonly #inFlight = new Set<Promise<unknown>>();
  #closing = false;

  constructor(description: string) {
    this.#description = description;
  }

  get closing(): boolean {
    return this.#closing;
  }

  /** @throws StorageError `closed` after `drain` was called */
  check(): void {
    if (this.#closing) throw new StorageError('closed', `${this.#description} is closed`);
  }

  /** Runs an operation under the gate; an aborted signal's reason is thrown before it begins. */
  async run<T>(signal: AbortSignal | undefined, operation: () => Promise<T>): Promise<T> {
    this.check();
    signal?.throwIfAborted();
    const running = operation();
    this.#inFlight.add(running);
    try {
      return await running;
    } finally {
      this.#inFlight.delete(running);
    }
  }

  /** Refuses what comes from now on and resolves when everything in flight has settled, however it did. */
  async drain(): Promise<void> {
    this.#closing = true;
    await Promise.allSettled(this.#inFlight);
  }
}
