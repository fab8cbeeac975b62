/**
 * The order of one connection's requests. Answers go out in the order in which requests came.
 * Requests that overlap (Produce) run beside each other; every other request starts when all before it are answered and
 * their answers were taken by the socket, so that a client that does not read holds one answer, not many.
 *
 * Pure bookkeeping; the connection adds entries, runs what `start` names and writes what `write` hands out.
 */
export interface QueueEntry<A> {
  readonly overlaps: boolean;
  /** Set once it ran: what goes out. */
  answer: A | undefined;
}

/** Entries stand in order of arrival: first those being written, then those running or answered, then those waiting. */
export class RequestQueue<A, E extends QueueEntry<A>> {
  readonly #entries: E[] = [];
  readonly #written = new Set<E>();
  #writing = 0;
  #started = 0;

  get length(): number {
    return this.#entries.length;
  }

  /** Whether an answer is on its way out. */
  get isWriting(): boolean {
    return this.#writing > 0;
  }

  add(entry: E): void {
    this.#entries.push(entry);
  }

  /** The next entry that may start now. */
  start(): E | undefined {
    const entry = this.#entries[this.#started];
    // What does not overlap only ever starts as the first, and alone; so the first speaks for all that have started.
    if (!entry || (this.#started > 0 && !(entry.overlaps && this.#entries[0]!.overlaps))) return undefined;
    this.#started++;
    return entry;
  }

  /** The next entry whose answer may go out now. */
  write(): E | undefined {
    const entry = this.#entries[this.#writing];
    if (entry?.answer === undefined) return undefined;
    this.#writing++;
    return entry;
  }

  /** An answer has gone out, or there was nothing to send. */
  written(entry: E): void {
    this.#written.add(entry);
    while (this.#entries[0] && this.#written.delete(this.#entries[0])) {
      this.#entries.shift();
      this.#writing--;
      this.#started--;
    }
  }

  /** Drops what has not started and returns it. */
  dropWaiting(): E[] {
    return this.#entries.splice(this.#started);
  }

  /** What has started and was not written. */
  get unwritten(): readonly E[] {
    return this.#entries.slice(0, this.#started);
  }
}
