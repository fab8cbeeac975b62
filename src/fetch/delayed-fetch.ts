/**
 * Fetches parked until enough bytes are there (`minBytes`, `maxWaitMs`): Kafka's fetch purgatory without its polling.
 *
 * A parked fetch is a link in the list of every partition it waits for, and one timer. A commit touches only those who
 * wait for its partitions; wake-ups of one turn are gathered, so that a commit over many partitions makes a fetch look
 * once. A fetch registers before its last look at the coordinator, so no commit falls between. Main thread; owned by the
 * fetch service.
 *
 * A watch is the same for somebody who goes on looking for as long as it lives, such as a fetch session.
 */
import { type PartitionKey, partitionKey, type TopicIdPartition } from '../common/topic-id-partition.ts';

/** Who waits; `T` is what it knows a partition by. */
export interface ChangeListener<T> {
  /** Something may have changed for one of its partitions; called during the event, must only take note. */
  noteChange(partition: T): void;
  /** Something may have changed for all of its partitions. */
  noteChangeOfAll(): void;
  /** Look again now: once for all changes of a turn. */
  resume(): void;
}

/** A fetch knows its partitions by their place in the request. */
export type ParkedFetch = ChangeListener<number>;

/** A partition under watch. */
export interface WatchedPartition {
  readonly key: PartitionKey;
}

/** Tells its listener of commits to partitions, of log starts that move and of topics that are deleted, by anyone. */
export interface PartitionWatch<T> {
  /** What changes from now on is told, `partition` being what it is told by. */
  add(topicIdPartition: TopicIdPartition, partition: T): WatchedPartition;
  /** Ends it for one partition; a second time does nothing. */
  remove(watched: WatchedPartition): void;
  /** Ends it for all of them. */
  close(): void;
}

interface Link extends WatchedPartition {
  readonly listener: ChangeListener<unknown>;
  readonly partition: unknown;
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
  readonly #watching = new Set<ChangeListener<unknown>>();
  readonly #outOfMemory = new Set<ParkedFetch>();
  readonly #woken = new Set<ChangeListener<unknown>>();

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

  watch<T>(listener: ChangeListener<T>): PartitionWatch<T> {
    const links = new Set<WatchedPartition>();
    this.#watching.add(listener);
    const remove = (watched: WatchedPartition): void => {
      if (links.delete(watched)) this.#unlink(watched as Link);
    };
    return {
      add: (topicIdPartition, partition) => {
        const link = this.#link(listener, partitionKey(topicIdPartition), partition);
        links.add(link);
        return link;
      },
      remove,
      close: () => {
        this.#watching.delete(listener);
        this.#woken.delete(listener);
        for (const link of [...links]) remove(link);
      },
    };
  }

  wake(key: PartitionKey): void {
    for (let link = this.#first.get(key); link; link = link.after) {
      link.listener.noteChange(link.partition);
      this.#resumeSoon(link.listener);
    }
  }

  /** Wakes those who wait for partitions that `exists` denies. */
  wakeGone(exists: (key: PartitionKey) => boolean): void {
    for (const key of this.#first.keys()) if (!exists(key)) this.wake(key);
  }

  wakeAll(): void {
    for (const listener of [...this.#parked, ...this.#watching]) {
      listener.noteChangeOfAll();
      this.#resumeSoon(listener);
    }
  }

  memoryFreed(): void {
    for (const fetch of this.#outOfMemory) this.#resumeSoon(fetch);
  }

  /** Lets everyone answer with what there is. */
  close(): void {
    for (const listener of [...this.#parked, ...this.#watching, ...this.#outOfMemory]) listener.resume();
  }

  #resumeSoon(listener: ChangeListener<unknown>): void {
    if (this.#woken.size === 0) setImmediate(() => this.#resumeWoken());
    this.#woken.add(listener);
  }

  #resumeWoken(): void {
    const woken = [...this.#woken];
    this.#woken.clear();
    for (const listener of woken) listener.resume();
  }

  #link(listener: ChangeListener<unknown>, key: PartitionKey, partition: unknown): Link {
    const after = this.#first.get(key);
    const link: Link = { listener, partition, key, before: undefined, after };
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
