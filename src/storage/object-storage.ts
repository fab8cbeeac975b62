/**
 * The object storage that segments live in.
 *
 * One interface; `local-directory-`, `in-memory-` and `s3-object-storage.ts` implement it, and decorators (retry,
 * metrics, faults in tests) nest around any of them. The contract suite in test/contract/ runs over all. Everything runs
 * on the main thread; the process that constructs a storage closes it.
 */
import type { ByteRange } from '../common/byte-range.ts';

/**
 * The name of an object below the storage's own prefix. `isObjectKey` is checked by every operation: at most 512
 * characters of `A-Za-z0-9._-` in segments of at most 255 joined by `/`; no empty segment, none that begins with a dot.
 */
export type ObjectKey = string;

export function isObjectKey(key: string): boolean {
  return key.length <= 512 && /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,254}(\/[A-Za-z0-9_-][A-Za-z0-9._-]{0,254})*$/.test(key);
}

export interface PutOptions {
  /**
   * Refuse to replace an object that exists (`If-None-Match: *`). An object that turns out to be an earlier attempt of
   * this storage counts as success: an attempt of this put, or of an earlier put of the same key and bytes that failed
   * with an unknown outcome. @default true
   */
  readonly ifNoneMatch?: boolean;
  /** CRC-32C of the whole body as an unsigned 32-bit number, when the caller has derived it; sent as a checksum. */
  readonly crc32c?: number;
  /** Gives the put up. Its outcome is then unknown: the object may exist. The body is not read any more once it settled. */
  readonly signal?: AbortSignal;
}

export interface GetOptions {
  /** Where the bytes go; exactly `range.size` long. Without it the storage allocates. Not written once the get settled. */
  readonly into?: Uint8Array;
  readonly signal?: AbortSignal;
}

export interface ObjectSummary {
  readonly key: ObjectKey;
  readonly sizeBytes: number;
  /** When the object was last written, by the storage's clock, milliseconds since the epoch. */
  readonly lastModifiedMs: number;
}

export interface ListOptions {
  /** Only keys that start with it; any text, not only whole segments. */
  readonly prefix?: string;
  /** Only keys after this one, in UTF-16 order. */
  readonly after?: ObjectKey;
  readonly signal?: AbortSignal;
}

export interface DeleteResult {
  /** Keys that are gone now, whether or not they had existed. */
  readonly deleted: ObjectKey[];
  /** Keys that may still be there, with the reason. */
  readonly failed: { readonly key: ObjectKey; readonly error: StorageError }[];
}

/**
 * Every failure is a `StorageError`; nothing else is thrown but a TypeError for a key that is none, and an aborted
 * signal's reason. All operations may be called concurrently.
 */
export interface ObjectStorage extends AsyncDisposable {
  /** What it is and where, for logs and `shoal serve`'s greeting; never holds a secret. */
  readonly description: string;

  /**
   * Stores an object durably: when it resolves, the bytes survive kill −9 and power loss. `body` is read, never
   * modified; the caller leaves it unchanged until the promise settles, and may reuse it from then on, whatever the
   * outcome. A put that failed with a retriable error or was aborted may still have stored the object; repeat it with
   * the same bytes, or abandon the key.
   * @throws StorageError `already-exists` (another object has that key), or one of the other kinds
   */
  put(key: ObjectKey, body: readonly Uint8Array[], options?: PutOptions): Promise<void>;

  /**
   * Reads exactly `range.size` bytes (at least 1) and returns them: `options.into` where that was given, else an array
   * of their own.
   * @throws StorageError `not-found`; `range-not-satisfiable` when the object ends before the range does
   */
  getRange(key: ObjectKey, range: ByteRange, options?: GetOptions): Promise<Uint8Array>;

  /** The object's size and time, or undefined when there is none. */
  head(key: ObjectKey, options?: { signal?: AbortSignal }): Promise<ObjectSummary | undefined>;

  /**
   * All objects in UTF-16 order of their keys, paged behind the scenes. An object put or deleted meanwhile may be seen or
   * not. Leaving the loop early frees what the listing holds.
   */
  list(options?: ListOptions): AsyncIterable<ObjectSummary>;

  /**
   * Deletes objects, durably, in any number; one that does not exist counts as deleted. What happens to one key never
   * throws: every key of the call is in exactly one of the two lists.
   */
  delete(keys: readonly ObjectKey[], options?: { signal?: AbortSignal }): Promise<DeleteResult>;

  /** Counts since it was opened of what happens below this interface, where there is such a thing. */
  readonly stats?: StorageStats;

  /** Settles or aborts what is in flight and frees sockets and handles. A second call returns the first one's promise. */
  close(): Promise<void>;
}

export interface StorageStats {
  /** Attempts after a failed one. */
  readonly retries: number;
  /** Attempts beside one that was slow to answer. */
  readonly hedges: number;
}

/**
 * What went wrong, in the terms that a caller acts on:
 * - `not-found`, `already-exists`, `range-not-satisfiable`: the storage answered; repeating gives the same.
 * - `corrupt`: the storage answered with bytes that cannot be right (short body, wrong range); worth one more attempt.
 * - `throttled`, `unavailable`, `timeout`: it did not answer usefully; a put's outcome is unknown.
 * - `no-space`: the disk or quota is full; retriable after someone made room.
 * - `denied`: credentials, bucket or permissions are wrong; needs a person.
 * - `closed`: `close()` was called.
 */
export type StorageErrorKind =
  | 'not-found'
  | 'already-exists'
  | 'range-not-satisfiable'
  | 'corrupt'
  | 'throttled'
  | 'unavailable'
  | 'timeout'
  | 'no-space'
  | 'denied'
  | 'closed';

const RETRIABLE: ReadonlySet<StorageErrorKind> = new Set([
  'corrupt',
  'throttled',
  'unavailable',
  'timeout',
  'no-space',
]);

export class StorageError extends Error {
  override readonly name = 'StorageError';
  readonly kind: StorageErrorKind;

  constructor(kind: StorageErrorKind, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.kind = kind;
  }

  /** Whether the same call may succeed later without anyone changing anything. */
  get retriable(): boolean {
    return RETRIABLE.has(this.kind);
  }
}
