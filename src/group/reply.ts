/**
 * Answers that a state machine owes. A machine never calls back while it changes: it puts answers into its outbox, and
 * whoever drives it sends them once the change they tell of is durable, or fails them all when it could not be made so.
 */
import { type ErrorCode, Errors } from '../common/errors.ts';
import { deferred } from '../common/lifecycle.ts';

/** One request that waits for its answer. */
export interface Reply<T> {
  send(response: T): void;
  fail(error: ErrorCode): void;
}

/** A reply whose answer settles a promise; `failed` shapes an answer out of an error code. */
export function replyPromise<T>(failed: (error: ErrorCode) => T): { reply: Reply<T>; promise: Promise<T> } {
  const answer = deferred<T>();
  return {
    reply: { send: (response) => answer.resolve(response), fail: (error) => answer.resolve(failed(error)) },
    promise: answer.promise,
  };
}

export class Outbox {
  #entries: { send: () => void; fail: (error: ErrorCode) => void }[] = [];

  add<T>(reply: Reply<T>, response: T): void {
    this.#entries.push({ send: () => reply.send(response), fail: (error) => reply.fail(error) });
  }

  /** Takes over what another outbox holds. */
  adopt(other: Outbox): void {
    this.#entries = [...other.#entries, ...this.#entries];
    other.#entries = [];
  }

  /** Empties the outbox and sends everything; with an error code, every answer is replaced by that error. */
  deliver(error: ErrorCode = Errors.NONE): void {
    const entries = this.#entries;
    this.#entries = [];
    for (const entry of entries) {
      if (error === Errors.NONE) entry.send();
      else entry.fail(error);
    }
  }
}
