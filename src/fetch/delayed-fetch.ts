/**
 * Fetches parked until enough bytes are there (`minBytes`, `maxWaitMs`): Kafka's fetch purgatory without its polling.
 *
 * A parked fetch is a link in the list of every partition it waits for, and one timer. A commit touches only those who
 * wait for its partitions; wake-ups of one turn are gathered, so that a commit over many partitions makes a fetch look
 * once. A fetch registers before its last look at the coordinator, so no commit falls between. Main thread; owned by the
 * fetch service.
 */
import type { PartitionKey } from '../common/topic-id-partition.ts';

/** Who waits. */
export interface ParkedFetch {
  /** Something may have changed for its partition `index`; called during the event, must only take note. */
  noteChange(index: number): void;
  /** Something may have changed for all of its partitions. */
  noteChangeOfAll(): void;
  /** Look again now. */
  resume(): void;
}

interface Link {
  readonly fetch: ParkedFetch;
  readonly index: number;
  readonly key: PartitionKey;
  before: Link | undefined;
  after: Link | undefined;
}

/** A registration; ending it twice does nothing. */
export interface Parking {
  end(): void;
}

export class DelayedFetches {
  readonly #first = new Map<PartitionKey, Link>();
  readonly #parked = new Set<ParkedFetch>();
  readonly #outOfMemory = new Set<ParkedFetch>();
  readonly #woken = new Set<ParkedFetch>();

  get size(): number {
    return this.#parked.size;
  }

  /** From now on `fetch` hears of changes of its partitions; `keys[i]` is its partition i. */
  park(fetch: ParkedFetch, keys: readonly PartitionKey[]): Parking {
    const links = keys.map((key, index) => this.#link(fetch, key, index));
    this.#parked.add(fetch);
    return {
      end: () => {
        if (!this.#parked.delete(fetch)) return;
        this.#woken.delete(fetch);
        for (const link of links) this.#unlink(link);
      },
    };
  }

  /** `fetch` has data that it found no memory for, and wants to hear when some is freed. */
  awaitMemory(fetch: ParkedFetch): Parking {
    this.#outOfMemory.add(fetch);
    return { end: () => void this.#outOfMemory.delete(fetch) };
  }

  hasWaiter(key: PartitionKey): boolean {
    return this.#first.has(key);
  }

  wake(key: PartitionKey): void {
    for (let link = this.#first.get(key); link; link = link.after) {
      link.fetch.noteChange(link.index);
      this.#resumeSoon(link.fetch);
    }
  }

  wakeAll(): void {
    for (const fetch of this.#parked) {
      fetch.noteChangeOfAll();
      this.#resumeSoon(fetch);
    }
  }

  memoryFreed(): void {
    for (const fetch of this.#outOfMemory) this.#resumeSoon(fetch);
  }

  /** Lets everyone answer with what there is. */
  close(): void {
    for (const fetch of [...this.#parked, ...this.#outOfMemory]) fetch.resume();
  }

  #resumeSoon(fetch: ParkedFetch): void {
    if (this.#woken.size === 0) setImmediate(() => this.#resumeWoken());
    this.#woken.add(fetch);
  }

  #resumeWoken(): void {
    const woken = [...this.#woken];
    this.#woken.clear();
    for (const fetch of woken) fetch.resume();
  }

  #link(fetch: ParkedFetch, key: PartitionKey, index: number): Link {
    const after = this.#first.get(key);
    const link: Link = { fetch, index, key, before: undefined, after };
    if (after) after.before = link;
    this.#first.set(key, link);
    return link;
  }

  #unlink({ key, before, after }: Link): void {
    if (after) after.before = before;
    if (before) before.after = after;
    else if (after) this.#first.set(key, after);
    else this.#first.delete(key);
  }
}
