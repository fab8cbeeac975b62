/**
 * Puts that ended with an unknown outcome, so that their repetition can recognise its own object.
 *
 * Every object carries a content id in its metadata, random for each put. A put that fails in doubt leaves its id here;
 * a later put of the same key and bytes takes the id over, and a 412 about an object with that id is its own success.
 */
import { createHash } from 'node:crypto';
import type { Random } from '../../common/random.ts';
import type { RequestBody } from './request-body.ts';

/** Entries kept; the oldest go first. A put whose entry is gone is told `already-exists` about its own object. */
const MAX_ENTRIES = 10_000;
/** Larger bodies whose caller derived no checksum are not hashed for this: it would hold the main thread up. */
const MAX_HASHED_BYTES = 1024 * 1024;

interface UncertainPut {
  readonly contentId: string;
  readonly fingerprint: string;
}

export class UncertainPuts {
  readonly #random: Random;
  readonly #entries = new Map<string, UncertainPut>();

  constructor(random: Random) {
    this.#random = random;
  }

  /** The content id for a put: that of an earlier one in doubt with the same bytes, else a new one. */
  contentId(key: string, body: RequestBody, crc32c: number | undefined): string {
    const earlier = this.#entries.get(key);
    if (earlier && earlier.fingerprint === fingerprint(body, crc32c)) return earlier.contentId;
    return Buffer.from(this.#random.bytes(16)).toString('hex');
  }

  remember(key: string, contentId: string, body: RequestBody, crc32c: number | undefined): void {
    const print = fingerprint(body, crc32c);
    if (print === undefined) return;
    this.#entries.delete(key);
    if (this.#entries.size >= MAX_ENTRIES) this.#entries.delete(this.#entries.keys().next().value!);
    this.#entries.set(key, { contentId, fingerprint: print });
  }

  forget(key: string): void {
    if (this.#entries.size > 0) this.#entries.delete(key);
  }
}

/** A hash only where the caller has derived none, and only of puts in doubt. */
function fingerprint(body: RequestBody, crc32c: number | undefined): string | undefined {
  if (crc32c !== undefined) return `${body.sizeBytes}-${crc32c}`;
  if (body.sizeBytes > MAX_HASHED_BYTES) return undefined;
  const hash = createHash('sha256');
  for (const chunk of body.chunks) hash.update(chunk);
  return hash.digest('hex');
}
