/**
 * Work that ends when its caller gives it up or when the group as a whole is ended. Like AbortSignal.any with a signal
 * that lives as long as the storage, but leaving nothing behind: on Node 20 every signal made that way stays referenced.
 */
export class AbortGroup {
  readonly #running = new Set<AbortController>();
  #ended: { readonly reason: unknown } | undefined;

  /** Runs `operate` with a signal that follows both. @throws the reason at once when either is aborted already */
  async run<T>(signal: AbortSignal | undefined, operate: (signal: AbortSignal) => Promise<T>): Promise<T> {
    signal?.throwIfAborted();
    if (this.#ended) throw this.#ended.reason;
    const controller = new AbortController();
    const onAbort = (): void => controller.abort(signal!.reason);
    signal?.addEventListener('abort', onAbort, { once: true });
    this.#running.add(controller);
    try {
      return await operate(controller.signal);
    } finally {
      this.#running.delete(controller);
      signal?.removeEventListener('abort', onAbort);
    }
  }

  /** Aborts what runs with `reason`, and what would begin later. */
  end(reason: unknown): void {
    this.#ended ??= { reason };
    for (const controller of this.#running) controller.abort(reason);
  }
}
