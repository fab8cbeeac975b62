/**
 * The fetch sessions of a broker, bounded as in Kafka (`max.incremental.fetch.session.cache.slots`, KIP-227): a session
 * belongs to whoever knows its id, outlives its connection, and goes when its slot is wanted. A client that gets no slot is
 * answered in full with session id 0, which every client understands. Main thread; owned by the Fetch handler.
 *
 * Kafka's brokers have privileged sessions for their followers. There are none here, and whoever claims to be one is a
 * client like any other.
 */
import { type Random, randomInt } from '../../common/random.ts';
import type { Time } from '../../common/time.ts';
import type { DisklessEngine } from '../../engine/diskless-engine.ts';
import { FetchSession } from './fetch-session.ts';

/** How long a session is safe from larger ones after it was made, and after which it counts as left (Kafka's 2 minutes). */
const MIN_EVICTION_MS = 120_000;
const MAX_SESSION_ID = 2 ** 31 - 1;

export interface FetchSessionCacheOptions {
  readonly engine: DisklessEngine;
  readonly time: Time;
  readonly random: Random;
  readonly maxSessions: number;
  /** Partitions of all sessions together: what bounds their memory, at some 400 bytes each. */
  readonly maxPartitions: number;
}

export interface FetchSessionStats {
  readonly sessions: number;
  readonly partitions: number;
  /** Sessions that lost their slot to another. */
  readonly evictions: number;
  /** Sessions with a request that waits for a change. */
  readonly waiting: number;
}

export class FetchSessionCache {
  readonly #options: FetchSessionCacheOptions;
  /** By id, the one used longest ago first. */
  readonly #sessions = new Map<number, FetchSession>();
  #partitions = 0;
  #evictions = 0;

  constructor(options: FetchSessionCacheOptions) {
    this.#options = options;
  }

  get(id: number): FetchSession | undefined {
    return this.#sessions.get(id);
  }

  /** An empty session with a slot and an id, for `size` partitions; undefined when there is no room. */
  create(size: number, usesTopicIds: boolean): FetchSession | undefined {
    if (size === 0 || !this.#makeRoom(size)) return undefined;
    const { engine, time } = this.#options;
    const session = new FetchSession({ id: this.#newId(), usesTopicIds, engine, time });
    this.#sessions.set(session.id, session);
    return session;
  }

  /** Changes a session; false when it grew beyond what there is room for, and was closed. */
  update(session: FetchSession, change: (session: FetchSession) => void): boolean {
    const before = session.size;
    change(session);
    this.#partitions += session.size - before;
    if (this.#partitions > this.#options.maxPartitions) this.#evictLeft();
    if (this.#partitions <= this.#options.maxPartitions) return true;
    this.remove(session.id);
    return false;
  }

  touch(session: FetchSession): void {
    session.lastUsedMs = this.#options.time.monotonicMs();
    if (this.#sessions.delete(session.id)) this.#sessions.set(session.id, session);
  }

  remove(id: number): void {
    const session = this.#sessions.get(id);
    if (!session) return;
    this.#sessions.delete(id);
    this.#partitions -= session.size;
    session.close();
  }

  stats(): FetchSessionStats {
    let waiting = 0;
    for (const { isWaiting } of this.#sessions.values()) if (isWaiting) waiting++;
    return { sessions: this.#sessions.size, partitions: this.#partitions, evictions: this.#evictions, waiting };
  }

  close(): void {
    for (const id of [...this.#sessions.keys()]) this.remove(id);
  }

  #makeRoom(size: number): boolean {
    const { maxSessions, maxPartitions } = this.#options;
    if (maxSessions === 0) return false;
    if (this.#partitions + size > maxPartitions) this.#evictLeft();
    if (this.#partitions + size > maxPartitions) return false;
    return this.#sessions.size < maxSessions || this.#evictOldest() || this.#evictSmaller(size);
  }

  /** Everything that nobody used for long. */
  #evictLeft(): void {
    for (let evicted = true; evicted; ) evicted = this.#evictOldest();
  }

  #evictOldest(): boolean {
    const [oldest] = this.#sessions.values();
    if (!oldest || this.#options.time.monotonicMs() - oldest.lastUsedMs <= MIN_EVICTION_MS) return false;
    return this.#evict(oldest);
  }

  /** The smallest of those that had their two minutes, when the new one is larger: it saves more. */
  #evictSmaller(size: number): boolean {
    const madeBefore = this.#options.time.monotonicMs() - MIN_EVICTION_MS;
    let smallest: FetchSession | undefined;
    for (const session of this.#sessions.values()) {
      if (session.createdMs < madeBefore && session.size < (smallest?.size ?? size)) smallest = session;
    }
    return smallest !== undefined && this.#evict(smallest);
  }

  #evict(session: FetchSession): true {
    this.#evictions++;
    this.remove(session.id);
    return true;
  }

  /** Random, since who knows it may use it. */
  #newId(): number {
    for (;;) {
      const id = randomInt(this.#options.random, 1, MAX_SESSION_ID);
      if (!this.#sessions.has(id)) return id;
    }
  }
}
