/**
 * The pieces that the fetch scheduler moves: a read that somebody waits for, the GET that carries bytes of it, and the
 * landing (one slab) that one or more adjacent GETs fill. Bookkeeping only; the scheduler decides.
 */
import { assert } from '../common/assert.ts';
import { type Deferred, deferred } from '../common/lifecycle.ts';
import type { Slab } from '../worker/slab-pool.ts';
import type { ObjectRange } from './fetch-planner.ts';

/**
 * `hot`: a reader at the log's end waits. `cold`: a reader of older data waits. `readahead`: nobody waits yet.
 */
export type ReadPriority = 'hot' | 'cold' | 'readahead';

/** The bytes of a read, raw. Nobody else sees them, so the receiver may rewrite them; it owns one reference to `slab`. */
export interface LandedBytes {
  readonly bytes: Uint8Array;
  readonly slab: Slab;
}

/** A run of bytes in an object, end exclusive. */
export interface Interval {
  readonly start: number;
  readonly end: number;
}

/** `from` without `cut`: none, one or two intervals. */
export function subtract(from: Interval, cut: Interval): Interval[] {
  if (cut.end <= from.start || cut.start >= from.end) return [from];
  const rest: Interval[] = [];
  if (cut.start > from.start) rest.push({ start: from.start, end: cut.start });
  if (cut.end < from.end) rest.push({ start: cut.end, end: from.end });
  return rest;
}

/** Somebody's wish for some bytes of an object, until it is settled. */
export class RangeRead implements Interval {
  readonly objectKey: string;
  readonly start: number;
  readonly end: number;
  readonly outcome: Deferred<LandedBytes> = deferred();
  priority: ReadPriority;
  /** Bytes that no GET carries yet. */
  missing: Interval[];
  /** GETs that carry bytes of it and have not settled. */
  readonly gets = new Set<RangedGet>();
  /** Where its bytes are going: the landing of its GET, or a slab of its own into which pieces are copied. */
  landing: Landing | undefined;
  ownSlab: Slab | undefined;
  /** A GET that carried more than this read has failed: from now on it is read apart from all others. */
  isolated = false;
  settled = false;

  constructor(range: ObjectRange, priority: ReadPriority) {
    this.objectKey = range.objectKey;
    this.start = range.position;
    this.end = range.position + range.size;
    this.priority = priority;
    this.missing = [{ start: this.start, end: this.end }];
    this.outcome.promise.catch(() => {}); // a cancelled read has nobody who would hear of its failure
  }

  get size(): number {
    return this.end - this.start;
  }

  get isQueued(): boolean {
    return !this.settled && this.missing.length > 0;
  }

  /** Nothing is missing and nothing is under way. */
  get isComplete(): boolean {
    return !this.settled && this.missing.length === 0 && this.gets.size === 0;
  }

  /** Hands the bytes over, with a reference to their slab. */
  complete(): void {
    assert(this.isComplete, 'a read is complete only when all its bytes have landed');
    this.settled = true;
    if (this.ownSlab) {
      this.outcome.resolve({ bytes: this.ownSlab.bytes.subarray(0, this.size), slab: this.ownSlab });
      return;
    }
    const { slab } = this.landing!;
    slab.retain();
    this.outcome.resolve({ bytes: this.landing!.bytes(this), slab });
  }

  fail(error: unknown): void {
    this.settled = true;
    this.abandonPlace();
    this.outcome.reject(error);
  }

  /** Forgets where its bytes were going; they will be read again, or by nobody. */
  abandonPlace(): void {
    this.landing?.reads.delete(this);
    this.landing = undefined;
    this.ownSlab?.release();
    this.ownSlab = undefined;
    this.missing = [{ start: this.start, end: this.end }];
  }
}

/** One slab for a stretch of an object, filled by adjacent GETs. It holds a reference until the last of them settled. */
export class Landing implements Interval {
  readonly start: number;
  readonly end: number;
  readonly slab: Slab;
  /** Reads whose bytes are views of the slab. They never overlap, since each owner rewrites its bytes in place. */
  readonly reads = new Set<RangeRead>();
  #unsettledGets = 0;

  constructor(interval: Interval, slab: Slab) {
    this.start = interval.start;
    this.end = interval.end;
    this.slab = slab;
  }

  bytes({ start, end }: Interval): Uint8Array {
    return this.slab.bytes.subarray(start - this.start, end - this.start);
  }

  /** Whether a read's bytes can be a view of this slab. */
  canHold(read: Interval): boolean {
    if (read.start < this.start || read.end > this.end) return false;
    for (const other of this.reads) if (other.start < read.end && read.start < other.end) return false;
    return true;
  }

  getStarted(): void {
    this.#unsettledGets++;
  }

  getSettled(): void {
    this.#unsettledGets--;
    if (this.#unsettledGets === 0) this.slab.release();
  }
}

/** One GET, waiting for its turn or in flight. */
export class RangedGet implements Interval {
  readonly objectKey: string;
  readonly start: number;
  readonly end: number;
  readonly landing: Landing;
  readonly priority: ReadPriority;
  readonly reads = new Set<RangeRead>();
  readonly controller = new AbortController();
  running = false;

  constructor(objectKey: string, interval: Interval, landing: Landing, priority: ReadPriority) {
    this.objectKey = objectKey;
    this.start = interval.start;
    this.end = interval.end;
    this.landing = landing;
    this.priority = priority;
    landing.getStarted();
  }

  get size(): number {
    return this.end - this.start;
  }

  /** Whether every byte it reads is wanted by `read`, so that its failure is that read's failure. */
  isWithin(read: Interval): boolean {
    return this.start >= read.start && this.end <= read.end;
  }

  /** Copies what a read with a slab of its own wants of the bytes that have landed. */
  copyTo(read: RangeRead): void {
    const start = Math.max(this.start, read.start);
    const end = Math.min(this.end, read.end);
    read.ownSlab!.bytes.set(this.landing.bytes({ start, end }), start - read.start);
  }
}
