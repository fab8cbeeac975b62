/**
 * In which order segments commit: per partition, not per broker. A segment waits only for earlier segments that share a
 * partition with it. Main thread.
 */
import { type Deferred, deferred } from '../common/lifecycle.ts';
import type { PartitionKey } from '../common/topic-id-partition.ts';

/** A segment's place in the order of its partitions. */
export interface CommitTurn {
  /** Resolves when every earlier segment that shares a partition has left. */
  readonly ready: Promise<void>;
  /** Leaves: its batches are committed or have failed for good. Called exactly once. */
  leave(): void;
}

export class CommitOrder {
  /** The last segment that entered, per partition; gone when it left and nobody came after. */
  readonly #last = new Map<PartitionKey, Deferred<void>>();

  /** Enters a segment behind all that hold one of its partitions. Called in the order in which segments close. */
  enter(partitions: ReadonlySet<PartitionKey>): CommitTurn {
    const left = deferred<void>();
    const before = new Set<Promise<void>>();
    for (const key of partitions) {
      const last = this.#last.get(key);
      if (last) before.add(last.promise);
      this.#last.set(key, left);
    }
    const ready = Promise.all(before).then(() => {});
    // Whoever comes next waits for this segment only, so it must not be gone before those that it waits for.
    const gone = (): void => {
      left.resolve();
      for (const key of partitions) if (this.#last.get(key) === left) this.#last.delete(key);
    };
    return { ready, leave: () => void ready.then(gone) };
  }

  /** Partitions with a segment that has not left. */
  get size(): number {
    return this.#last.size;
  }
}
