/**
 * Puts an encoded segment into object storage: bounded retries with the same key until a deadline, a bounded number of
 * uploads at a time. Main thread.
 *
 * Crash points: kill −9 during or after the PUT leaves an object that no coordinator knows; the orphan sweep abandons its
 * key after a grace and deletes it. Nobody was answered.
 */
import { byteRange } from '../common/byte-range.ts';
import type { Outage } from '../common/outage.ts';
import type { Random } from '../common/random.ts';
import type { Time } from '../common/time.ts';
import { randomUuid, uuidToHex } from '../common/uuid.ts';
import { type ObjectKey, type ObjectStorage, StorageError } from '../storage/object-storage.ts';
import { Backoff, type BackoffSettings } from './backoff.ts';
import type { EncodedSegment } from './segment-format.ts';

export interface SegmentUploaderOptions {
  readonly objectStorage: ObjectStorage;
  readonly time: Time;
  readonly random: Random;
  /** Is told of every attempt. */
  readonly outage: Outage;
  /** Keys are `<prefix>/<uuid>`. */
  readonly keyPrefix: string;
  /** From the first attempt on; past it no further attempt is made and a running one is given up. */
  readonly deadlineMs: number;
  readonly backoff: BackoffSettings;
}

export type UploadOutcome =
  | { readonly outcome: 'stored'; readonly objectKey: ObjectKey }
  /** Given up; whether the object exists is not known. */
  | { readonly outcome: 'failed'; readonly objectKey: ObjectKey; readonly reason: string };

export class SegmentUploader {
  readonly #options: SegmentUploaderOptions;

  constructor(options: SegmentUploaderOptions) {
    this.#options = options;
  }

  /**
   * Uploads. The body is not read any more once this settled. `wanted` is asked before a further attempt.
   * Rejects only with the reason of `signal`.
   */
  async upload(segment: EncodedSegment, signal: AbortSignal, wanted: () => boolean): Promise<UploadOutcome> {
    const { time, deadlineMs } = this.#options;
    const attempts = new AbortController();
    const onAbort = (): void => attempts.abort(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    const timer = time.setTimer(deadlineMs, () => attempts.abort(new Error(`not stored within ${deadlineMs} ms`)));
    try {
      signal.throwIfAborted();
      const outcome = await this.#repeat(segment, attempts.signal, wanted);
      signal.throwIfAborted();
      return outcome;
    } finally {
      timer.cancel();
      signal.removeEventListener('abort', onAbort);
    }
  }

  /** Attempts until one succeeds, one shows that more are in vain, or the signal aborts. */
  async #repeat(segment: EncodedSegment, signal: AbortSignal, wanted: () => boolean): Promise<UploadOutcome> {
    const { time, random, backoff, outage } = this.#options;
    const pauses = new Backoff(time, random, backoff);
    let objectKey = this.#freshKey();
    for (;;) {
      const error = await this.#attempt(objectKey, segment, signal);
      // The object may be an earlier attempt's, whose answer was lost; else somebody else's, which must neither be
      // replaced nor given up in the coordinator.
      if (error === undefined || (isExisting(error) && (await this.#isOurs(objectKey, segment, signal)))) {
        outage.succeeded();
        return { outcome: 'stored', objectKey };
      }
      if (isExisting(error)) objectKey = this.#freshKey();
      const goesOn = isWorthRepeating(error) && wanted() && !signal.aborted;
      outage.failed(error, { objectKey });
      if (!goesOn || !(await pauses.pause(signal))) {
        return { outcome: 'failed', objectKey, reason: String(error) };
      }
    }
  }

  async #attempt(objectKey: ObjectKey, segment: EncodedSegment, signal: AbortSignal): Promise<unknown> {
    try {
      await this.#options.objectStorage.put(objectKey, segment.body, { crc32c: segment.crc32c, signal });
      return undefined;
    } catch (error) {
      return error ?? new Error('the storage failed without a reason');
    }
  }

  /** Whether the stored object ends with this segment's footer, which names uploader, epoch and sequence. */
  async #isOurs(objectKey: ObjectKey, segment: EncodedSegment, signal: AbortSignal): Promise<boolean> {
    const footer = segment.body.at(-1)!;
    const range = byteRange(segment.sizeBytes - footer.length, footer.length);
    try {
      const stored = await this.#options.objectStorage.head(objectKey, { signal });
      if (stored?.sizeBytes !== segment.sizeBytes) return false;
      const tail = await this.#options.objectStorage.getRange(objectKey, range, { signal });
      return Buffer.compare(tail, footer) === 0;
    } catch {
      return false;
    }
  }

  #freshKey(): ObjectKey {
    return `${this.#options.keyPrefix}/${uuidToHex(randomUuid(this.#options.random))}`;
  }
}

function isExisting(error: unknown): boolean {
  return error instanceof StorageError && error.kind === 'already-exists';
}

function isWorthRepeating(error: unknown): boolean {
  return error instanceof StorageError && (error.retriable || isExisting(error));
}
