/** What happens to one process or topic of a soak, one thing at a time. */
export class Turns {
  #last: Promise<void> = Promise.resolve();

  /** Begins when what was asked for before is over, however that ended. */
  take(disturb: () => Promise<void>): Promise<void> {
    const turn = this.#last.then(disturb);
    this.#last = turn.catch(() => {});
    return turn;
  }

  /** Resolves when what was asked for so far is over. */
  get over(): Promise<void> {
    return this.#last;
  }
}
