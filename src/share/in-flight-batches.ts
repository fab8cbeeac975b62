/** The tracked batches of a share partition by rising offset, never overlapping. Pure. */
import { assert } from '../common/assert.ts';
import type { InFlightBatch } from './in-flight-batch.ts';

/**
 * A sorted array: almost every insertion is at the end, removals are at the front, and a lookup is a binary search over
 * at most a few thousand entries (the lock limit is 10,000).
 */
export class InFlightBatches {
  #list: InFlightBatch[] = [];

  get isEmpty(): boolean {
    return this.#list.length === 0;
  }

  get length(): number {
    return this.#list.length;
  }

  get firstBatch(): InFlightBatch | undefined {
    return this.#list[0];
  }

  get lastBatch(): InFlightBatch | undefined {
    return this.#list[this.#list.length - 1];
  }

  /** The batch at an index; callers stay inside [0, length). */
  at(index: number): InFlightBatch {
    return this.#list[index]!;
  }

  /** Index of the first batch that begins at or after `offset`; `length` when none does. */
  indexFrom(offset: number): number {
    let low = 0;
    let high = this.#list.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#list[middle]!.first < offset) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** The batch with the greatest start at or below `offset`. */
  floor(offset: number): InFlightBatch | undefined {
    return this.#list[this.indexFrom(offset + 1) - 1];
  }

  insert(batch: InFlightBatch): void {
    const index = this.indexFrom(batch.first);
    const before = this.#list[index - 1];
    const after = this.#list[index];
    assert(!before || before.last < batch.first, `batch ${batch.first}-${batch.last} overlaps the one before it`);
    assert(!after || batch.last < after.first, `batch ${batch.first}-${batch.last} overlaps the one after it`);
    if (index === this.#list.length) this.#list.push(batch);
    else this.#list.splice(index, 0, batch);
  }

  /** Drops the first `count` batches. */
  dropFirst(count: number): void {
    this.#list.splice(0, count);
  }

  [Symbol.iterator](): IterableIterator<InFlightBatch> {
    return this.#list[Symbol.iterator]();
  }
}
