/**
 * Objects in this process's memory: for tests and simulations, and as the reference that the contract suite is read
 * against. Main thread; holds nothing but its map, which `close` empties.
 */
import type { ByteRange } from '../common/byte-range.ts';
import { endOf } from '../common/byte-range.ts';
import { once } from '../common/lifecycle.ts';
import { systemTime, type Time } from '../common/time.ts';
import { bodySize, checkKey, checkRange } from './arguments.ts';
import {
  type DeleteResult,
  type GetOptions,
  type ListOptions,
  type ObjectKey,
  type ObjectStorage,
  type ObjectSummary,
  type PutOptions,
  StorageError,
} from './object-storage.ts';

interface StoredObject {
  readonly bytes: Uint8Array;
  readonly lastModifiedMs: number;
}

export class InMemoryObjectStorage implements ObjectStorage {
  readonly description = 'memory (objects are gone when the process ends)';
  readonly #objects = new Map<ObjectKey, StoredObject>();
  readonly #time: Time;
  #closed = false;
  readonly close = once(async () => {
    this.#closed = true;
    this.#objects.clear();
  });

  constructor(options: { readonly time?: Time } = {}) {
    this.#time = options.time ?? systemTime;
  }

  async put(key: ObjectKey, body: readonly Uint8Array[], options: PutOptions = {}): Promise<void> {
    this.#begin(key, options.signal);
    if (options.ifNoneMatch !== false && this.#objects.has(key)) {
      throw new StorageError('already-exists', `object ${key} exists`);
    }
    const bytes = new Uint8Array(bodySize(body));
    let position = 0;
    for (const chunk of body) {
      bytes.set(chunk, position);
      position += chunk.byteLength;
    }
    this.#objects.set(key, { bytes, lastModifiedMs: this.#time.nowMs() });
  }

  async getRange(key: ObjectKey, range: ByteRange, options: GetOptions = {}): Promise<Uint8Array> {
    this.#begin(key, options.signal);
    checkRange(range, options.into);
    const object = this.#objects.get(key);
    if (!object) throw new StorageError('not-found', `object ${key} does not exist`);
    if (endOf(range) > object.bytes.byteLength) {
      throw new StorageError(
        'range-not-satisfiable',
        `object ${key} has ${object.bytes.byteLength} bytes, too few for ${range.size} at ${range.position}`,
      );
    }
    const into = options.into ?? new Uint8Array(range.size);
    into.set(object.bytes.subarray(range.position, endOf(range)));
    return into;
  }

  async head(key: ObjectKey, options: { signal?: AbortSignal } = {}): Promise<ObjectSummary | undefined> {
    this.#begin(key, options.signal);
    const object = this.#objects.get(key);
    return object && { key, sizeBytes: object.bytes.byteLength, lastModifiedMs: object.lastModifiedMs };
  }

  async *list(options: ListOptions = {}): AsyncIterable<ObjectSummary> {
    this.#checkOpen();
    const { prefix = '', after = '' } = options;
    const keys = [...this.#objects.keys()].filter((key) => key.startsWith(prefix) && key > after).sort();
    for (const key of keys) {
      options.signal?.throwIfAborted();
      const summary = await this.head(key);
      if (summary) yield summary;
    }
  }

  async delete(keys: readonly ObjectKey[], options: { signal?: AbortSignal } = {}): Promise<DeleteResult> {
    this.#checkOpen();
    options.signal?.throwIfAborted();
    for (const key of keys) checkKey(key);
    for (const key of keys) this.#objects.delete(key);
    return { deleted: [...keys], failed: [] };
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #begin(key: ObjectKey, signal: AbortSignal | undefined): void {
    this.#checkOpen();
    checkKey(key);
    signal?.throwIfAborted();
  }

  #checkOpen(): void {
    if (this.#closed) throw new StorageError('closed', 'the in-memory storage is closed');
  }
}
