/**
 * Acquisition locks of one share partition by deadline, so that one timer serves thousands of locks. Pure; the owner asks
 * for the next deadline and hands in the clock.
 *
 * An entry says "some unit of this batch has a lock that ends then". Entries are not removed when a record is
 * acknowledged; a stale one is found empty when its time comes, and the queue is rebuilt when stale ones outnumber the
 * live batches.
 */
import type { InFlightBatch } from './in-flight-batch.ts';
import { NO_LOCK } from './in-flight-batch.ts';

interface Entry {
  readonly deadlineMs: number;
  /** Ties go to the older grant. */
  readonly age: number;
  readonly batch: InFlightBatch;
}

function before(a: Entry, b: Entry): boolean {
  return a.deadlineMs < b.deadlineMs || (a.deadlineMs === b.deadlineMs && a.age < b.age);
}

/** Rebuilding a small queue is not worth its while. */
const REBUILD_ABOVE = 256;

export class LockQueue {
  /** A binary heap; the earliest entry first. */
  #heap: Entry[] = [];
  #nextAge = 0;

  /** The earliest deadline there may be, or NO_LOCK. Never later than a lock's true end. */
  get nextDeadlineMs(): number {
    return this.#heap[0]?.deadlineMs ?? NO_LOCK;
  }

  /** Notes a lock granted or renewed on some units of a batch. `live` are the batches tracked now. */
  add(batch: InFlightBatch, deadlineMs: number, live: Iterable<InFlightBatch> & { readonly length: number }): void {
    if (this.#heap.length > REBUILD_ABOVE && this.#heap.length > 4 * live.length) this.#rebuild(live);
    this.#push({ deadlineMs, age: this.#nextAge++, batch });
  }

  /** Removes and returns the batch whose lock ends first, when that is at or before `nowMs`. */
  takeExpired(nowMs: number): InFlightBatch | undefined {
    const top = this.#heap[0];
    if (!top || top.deadlineMs > nowMs) return undefined;
    const last = this.#heap.pop()!;
    if (this.#heap.length > 0) {
      this.#heap[0] = last;
      this.#sink();
    }
    return top.batch;
  }

  /** One entry for each distinct deadline of each live batch. */
  #rebuild(live: Iterable<InFlightBatch>): void {
    this.#heap = [];
    for (const batch of live) {
      const deadlines = new Set<number>();
      batch.visit(batch.first, batch.last, (unit) => deadlines.add(unit.lockDeadlineMs));
      deadlines.delete(NO_LOCK);
      for (const deadlineMs of deadlines) this.#push({ deadlineMs, age: this.#nextAge++, batch });
    }
  }

  #push(entry: Entry): void {
    const heap = this.#heap;
    let index = heap.length;
    heap.push(entry);
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (!before(entry, heap[parent]!)) break;
      heap[index] = heap[parent]!;
      index = parent;
    }
    heap[index] = entry;
  }

  #sink(): void {
    const heap = this.#heap;
    const entry = heap[0]!;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && before(heap[child + 1]!, heap[child]!)) child++;
      if (!before(heap[child]!, entry)) break;
      heap[index] = heap[child]!;
      index = child;
    }
    heap[index] = entry;
  }
}
