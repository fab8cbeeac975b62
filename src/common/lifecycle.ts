/** Closing things once, in the reverse order of opening them. */

/** Undo steps of a construction or a running component, run last first; every step runs even when one before it failed. */
export class DisposalStack {
  readonly #steps: (() => void | Promise<void>)[] = [];

  /** Adds a step and returns the thing it belongs to, so that acquiring and registering are one expression. */
  use<T>(value: T, dispose: (value: T) => void | Promise<void>): T {
    this.#steps.push(() => dispose(value));
    return value;
  }

  /** Runs and forgets all steps. @throws the first failure, after all steps ran. */
  async dispose(): Promise<void> {
    let failure: { error: unknown } | undefined;
    for (let step = this.#steps.pop(); step !== undefined; step = this.#steps.pop()) {
      try {
        await step();
      } catch (error) {
        failure ??= { error };
      }
    }
    if (failure) throw failure.error;
  }
}

/** Makes an operation idempotent: every call after the first gets the first one's promise. */
export function once<A extends unknown[], T>(operation: (...args: A) => Promise<T>): (...args: A) => Promise<T> {
  let pending: Promise<T> | undefined;
  return (...args) => {
    pending ??= operation(...args);
    return pending;
  };
}

/** A promise with its resolvers outside (Node 20 lacks Promise.withResolvers). */
export interface Deferred<T> {
  readonly promise: Promise<T>;
  resolve(value: T): void;
  reject(reason: unknown): void;
}

export function deferred<T>(): Deferred<T> {
  let resolve!: (value: T) => void;
  let reject!: (reason: unknown) => void;
  const promise = new Promise<T>((onResolve, onReject) => {
    resolve = onResolve;
    reject = onReject;
  });
  return { promise, resolve, reject };
}

/**
 * Keeps the process alive until the returned function is called. The timers of `Time` do not, so an owner that has work
 * which only a timer will finish holds the process itself.
 */
export function holdProcess(): () => void {
  const handle = setInterval(() => {}, 2 ** 31 - 1);
  return () => clearInterval(handle);
}
