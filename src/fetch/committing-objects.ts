/**
 * The objects that this process is committing and still holds in memory.
 *
 * The coordinator tells everyone of a commit at once, before the writer has rewritten its batches and put them into the
 * local view. In between, whoever is told to read such an object waits for the writer instead. Main thread.
 */
import { type Deferred, deferred } from '../common/lifecycle.ts';

export class CommittingObjects {
  readonly #settled = new Map<string, Deferred<void>>();

  get size(): number {
    return this.#settled.size;
  }

  begin(objectKey: string): void {
    if (!this.#settled.has(objectKey)) this.#settled.set(objectKey, deferred());
  }

  settle(objectKey: string): void {
    this.#settled.get(objectKey)?.resolve();
    this.#settled.delete(objectKey);
  }

  /** Resolves when the object's runs are in the local view, or will not come; undefined when nobody is committing it. */
  whenSettled(objectKey: string): Promise<void> | undefined {
    return this.#settled.get(objectKey)?.promise;
  }

  close(): void {
    for (const objectKey of [...this.#settled.keys()]) this.settle(objectKey);
  }
}
