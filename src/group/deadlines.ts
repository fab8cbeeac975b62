/** Deadlines of one state machine by name, with the earliest one known at once. Pure: the clock's reading is passed in. */

export class Deadlines {
  readonly #atMs = new Map<string, number>();
  /** Never later than the earliest deadline; earlier after that one was moved or deleted, until `takeDue` looks again. */
  #earliestMs = Number.POSITIVE_INFINITY;

  /** No later than the earliest deadline, or undefined when there is none. */
  get earliestMs(): number | undefined {
    return this.#atMs.size === 0 ? undefined : this.#earliestMs;
  }

  set(name: string, atMs: number): void {
    this.#atMs.set(name, atMs);
    if (atMs < this.#earliestMs) this.#earliestMs = atMs;
  }

  delete(name: string): void {
    this.#atMs.delete(name);
  }

  has(name: string): boolean {
    return this.#atMs.has(name);
  }

  /** Removes and returns the names whose time has come, in the order in which they were first set. */
  takeDue(nowMs: number): string[] {
    if (nowMs < this.#earliestMs) return [];
    const due: string[] = [];
    this.#earliestMs = Number.POSITIVE_INFINITY;
    for (const [name, atMs] of this.#atMs) {
      if (atMs <= nowMs) due.push(name);
      else if (atMs < this.#earliestMs) this.#earliestMs = atMs;
    }
    for (const name of due) this.#atMs.delete(name);
    return due;
  }
}
