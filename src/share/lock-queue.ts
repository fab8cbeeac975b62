/**
 * Acquisition locks of one share partition by deadline, so that one timer serves thousands of locks. Pure; the owner asks
 * for the next deadline and hands in the clock.
 *
 * An entry says "some unit of this batch has a lock that ends then". Entries are not removed when a record is
 * acknowledged; a stale one is found empty when its time comes, and the queue is rebuilt when stale ones outnumber the
 * live batches.
 */
import { DeadlineQueue } from './deadline-queue.ts';
import { type InFlightBatch, NO_LOCK } from './in-flight-batch.ts';

/** Rebuilding a small queue is not worth its while. */
const REBUILD_ABOVE = 256;

export class LockQueue {
  readonly #queue = new DeadlineQueue<InFlightBatch>();

  /** The earliest deadline there may be, or NO_LOCK. Never later than a lock's true end. */
  get nextDeadlineMs(): number {
    return this.#queue.nextDeadlineMs;
  }

  /** Notes a lock granted or renewed on some units of a batch. `live` are the batches tracked now. */
  add(batch: InFlightBatch, deadlineMs: number, live: Iterable<InFlightBatch> & { readonly length: number }): void {
    if (this.#queue.length > REBUILD_ABOVE && this.#queue.length > 4 * live.length) this.#rebuild(live);
    this.#queue.add(batch, deadlineMs);
  }

  /** Removes and returns the batch whose lock ends first, when that is at or before `nowMs`. */
  takeExpired(nowMs: number): InFlightBatch | undefined {
    return this.#queue.takeExpired(nowMs);
  }

  /** One entry for each distinct deadline of each live batch. */
  #rebuild(live: Iterable<InFlightBatch>): void {
    this.#queue.clear();
    for (const batch of live) {
      const deadlines = new Set<number>();
      batch.visit(batch.first, batch.last, (unit) => deadlines.add(unit.lockDeadlineMs));
      deadlines.delete(NO_LOCK);
      for (const deadlineMs of deadlines) this.#queue.add(batch, deadlineMs);
    }
  }
}
