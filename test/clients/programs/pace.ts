/** Tells how far a traffic program is and holds it at its marks (arguments.ts says how). The caller closes it. */
import { createInterface, type Interface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';

/** How far a program goes on, slowly, from a mark until it stands still. */
const SLOW_SHARE = 0.2;
const SLOW_STEP_MS = 50;
const REPORTS = 20;

export class Pace {
  readonly #marks: readonly number[];
  readonly #total: number;
  readonly #input: Interface;
  #reported = 0;
  #reachedMarks = 0;
  #releases = 0;

  constructor(marks: readonly number[], total: number) {
    this.#marks = marks;
    this.#total = total;
    this.#input = createInterface({ input: process.stdin });
    this.#input.on('line', () => this.#releases++);
  }

  async ready(): Promise<void> {
    process.stdout.write('ready\n');
    while (this.#isHeld) await sleep(5);
  }

  get isPastMarks(): boolean {
    return this.#reachedMarks === this.#marks.length && !this.#isHeld;
  }

  /** Call it between steps of at most a few hundred records; `meanwhile` is called while it waits. */
  async step(done: number, meanwhile?: () => Promise<void>): Promise<void> {
    this.#report(done);
    if (!this.#isHeld && done >= (this.#marks[this.#reachedMarks] ?? Number.POSITIVE_INFINITY) * this.#total) {
      process.stdout.write(`mark ${done}\n`);
      this.#reachedMarks++;
    }
    while (this.#isHeld) {
      await sleep(SLOW_STEP_MS);
      await meanwhile?.();
      if (done < (this.#marks[this.#reachedMarks - 1]! + SLOW_SHARE) * this.#total) return;
    }
  }

  /** One line lets it start, one more passes each mark. */
  get #isHeld(): boolean {
    return this.#releases <= this.#reachedMarks;
  }

  #report(done: number): void {
    if (done * REPORTS < (this.#reported + 1) * this.#total) return;
    this.#reported = Math.floor((done * REPORTS) / this.#total);
    process.stdout.write(`at ${done}\n`);
  }

  close(): void {
    this.#input.close();
  }
}
