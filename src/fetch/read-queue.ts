/**
 * Reads waiting for a GET, in one first-come queue per priority, and the rule by which they take turns:
 *
 * - A hot read goes first, but after three in a row a cold one has its turn: neither starves.
 * - Cold reads and readahead together never hold more than `coldShare` of the GETs, so that a hot read finds one free.
 * - Readahead goes only while nobody waits; it has no claim to progress, as whoever needs its bytes raises it.
 */
import type { RangeRead, ReadPriority } from './range-read.ts';

const HOT_READS_IN_A_ROW = 3;

/** First in, first out; those that are not queued any more, or moved to another priority, are skipped. */
class Line {
  #reads: RangeRead[] = [];
  #head = 0;
  readonly #priority: ReadPriority;

  constructor(priority: ReadPriority) {
    this.#priority = priority;
  }

  push(read: RangeRead): void {
    this.#forgetServed();
    this.#reads.push(read);
  }

  /** Back to the front: it has waited its turn already. */
  unshift(read: RangeRead): void {
    if (this.#head > 0) this.#reads[--this.#head] = read;
    else this.#reads.unshift(read);
  }

  peek(): RangeRead | undefined {
    while (this.#head < this.#reads.length) {
      const read = this.#reads[this.#head]!;
      if (read.isQueued && read.priority === this.#priority) return read;
      this.#head++;
    }
    this.#reads = [];
    this.#head = 0;
    return undefined;
  }

  /** A line that never runs empty must not keep what has left it. */
  #forgetServed(): void {
    if (this.#head < 1024 || this.#head * 2 < this.#reads.length) return;
    this.#reads = this.#reads.slice(this.#head);
    this.#head = 0;
  }
}

export class ReadQueue {
  readonly #lines = { hot: new Line('hot'), cold: new Line('cold'), readahead: new Line('readahead') };
  #hotInARow = 0;

  push(read: RangeRead): void {
    this.#lines[read.priority].push(read);
  }

  unshift(read: RangeRead): void {
    this.#lines[read.priority].unshift(read);
  }

  /**
   * Whose turn it is. `mayStartCold` says whether cold reads have GETs left; a line in `blocked` is passed over (its head
   * found no room).
   */
  next(mayStartCold: boolean, blocked: ReadonlySet<ReadPriority>): RangeRead | undefined {
    const hot = this.#lines.hot.peek();
    const cold = this.#lines.cold.peek();
    const coldMayGo = cold !== undefined && mayStartCold && !blocked.has('cold');
    const hotMayGo = hot !== undefined && !blocked.has('hot');
    if (hotMayGo && !(coldMayGo && this.#hotInARow >= HOT_READS_IN_A_ROW)) {
      this.#hotInARow++;
      return hot;
    }
    if (coldMayGo) {
      this.#hotInARow = 0;
      return cold;
    }
    const somebodyWaits = hot !== undefined || cold !== undefined;
    return somebodyWaits || !mayStartCold || blocked.has('readahead') ? undefined : this.#lines.readahead.peek();
  }
}
