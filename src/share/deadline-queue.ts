/** Things by deadline, the earliest first: a binary heap. Ties go to what was added first. Pure. */

interface Entry<T> {
  readonly deadlineMs: number;
  readonly age: number;
  readonly item: T;
}

function before<T>(a: Entry<T>, b: Entry<T>): boolean {
  return a.deadlineMs < b.deadlineMs || (a.deadlineMs === b.deadlineMs && a.age < b.age);
}

export class DeadlineQueue<T> {
  readonly #heap: Entry<T>[] = [];
  #nextAge = 0;

  get length(): number {
    return this.#heap.length;
  }

  /** The earliest deadline; Infinity when the queue is empty. */
  get nextDeadlineMs(): number {
    return this.#heap[0]?.deadlineMs ?? Number.POSITIVE_INFINITY;
  }

  clear(): void {
    this.#heap.length = 0;
  }

  add(item: T, deadlineMs: number): void {
    const entry = { deadlineMs, age: this.#nextAge++, item };
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

  /** Removes and returns the first item, when its deadline is at or before `nowMs`. */
  takeExpired(nowMs: number): T | undefined {
    const top = this.#heap[0];
    if (!top || top.deadlineMs > nowMs) return undefined;
    const last = this.#heap.pop()!;
    if (this.#heap.length > 0) {
      this.#heap[0] = last;
      this.#sink();
    }
    return top.item;
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
