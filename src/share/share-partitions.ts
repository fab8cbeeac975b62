/**
 * The share partitions that this broker leads: loads each from the persister once, keeps their locks on one timer, and
 * tells waiting fetches when something may have become available. Main thread; closed by the share service.
 */
import { type ErrorCode, Errors } from '../common/errors.ts';
import type { Time, Timer } from '../common/time.ts';
import { type PartitionKey, partitionKey, type TopicIdPartition } from '../common/topic-id-partition.ts';
import { DeadlineQueue } from './deadline-queue.ts';
import type { Persister } from './persister.ts';
import { joinUpdates } from './share-coordinator-state.ts';
import {
  type DeadLetter,
  SharePartition,
  type SharePartitionConfig,
  type SharePartitionHost,
  type StateWrite,
} from './share-partition.ts';

/** What a loaded partition and its guard look like from outside. */
export interface LedPartition {
  readonly groupId: string;
  readonly topicIdPartition: TopicIdPartition;
  readonly partition: SharePartition;
}

export type LoadResult =
  | { readonly error: ErrorCode; readonly led?: undefined }
  | { readonly error: 0; readonly led: LedPartition };

export interface SharePartitionsOptions {
  readonly persister: Persister;
  readonly time: Time;
  /** The group's settings now. */
  configOf(groupId: string): SharePartitionConfig;
  /** NONE for a partition that exists, UNKNOWN_TOPIC_ID or UNKNOWN_TOPIC_OR_PARTITION for one that does not. */
  checkPartition(topicIdPartition: TopicIdPartition): Promise<ErrorCode>;
  /** Where a group begins in a partition that it has no start offset for (`share.auto.offset.reset`). */
  resetOffset(
    groupId: string,
    topicIdPartition: TopicIdPartition,
  ): Promise<{ readonly error: ErrorCode; readonly offset: number }>;
  /**
   * Copies records to the group's dead-letter queue. Resolves with true once they are there, or will never be; with false
   * when that must be left to the next leader. Never rejects.
   */
  copyDeadLetters(
    groupId: string,
    topicIdPartition: TopicIdPartition,
    letters: readonly DeadLetter[],
  ): Promise<boolean>;
}

interface Entry {
  readonly groupId: string;
  readonly topicIdPartition: TopicIdPartition;
  readonly loading: Promise<LoadResult>;
  led: LedPartition | undefined;
  /** Of this turn, on their way to the persister. */
  writes: { readonly write: StateWrite; readonly done: (error: ErrorCode) => void }[] | undefined;
  stateEpoch: number;
  /** Under which it was taken over. */
  leaderEpoch: number;
  /** The deadline that the queue holds for this partition. */
  queuedDeadlineMs: number;
  /** Absent until somebody waits: ten thousand share partitions at rest need no sets. */
  waiters: Set<() => void> | undefined;
  /** Fetches that found the fetch lock taken; woken once, when it is free again. */
  lockWaiters: Set<() => void> | undefined;
}

/** Errors after which this broker no longer leads: the partition is dropped and loaded anew when somebody asks. */
const DROPPING: ReadonlySet<ErrorCode> = new Set([
  Errors.NOT_LEADER_OR_FOLLOWER,
  Errors.GROUP_ID_NOT_FOUND,
  Errors.UNKNOWN_TOPIC_OR_PARTITION,
]);

/** Share partitions whose locks are ended in one turn of the event loop: a millisecond or two. */
const EXPIRED_A_TURN = 200;

/** A persister's error as share consumers see it. */
function asSeenByConsumers(error: ErrorCode): ErrorCode {
  switch (error) {
    case Errors.FENCED_LEADER_EPOCH:
    case Errors.FENCED_STATE_EPOCH:
      return Errors.NOT_LEADER_OR_FOLLOWER;
    case Errors.NONE:
    case Errors.GROUP_ID_NOT_FOUND:
    case Errors.UNKNOWN_TOPIC_OR_PARTITION:
      return error;
    case Errors.COORDINATOR_NOT_AVAILABLE:
    case Errors.COORDINATOR_LOAD_IN_PROGRESS:
    case Errors.NOT_COORDINATOR:
      return Errors.COORDINATOR_NOT_AVAILABLE;
    default:
      return Errors.UNKNOWN_SERVER_ERROR;
  }
}

export class SharePartitions {
  readonly #options: SharePartitionsOptions;
  readonly #entries = new Map<string, Entry>();
  /** Entries by topic partition, for appends and log start movements. */
  readonly #byPartition = new Map<PartitionKey, Set<Entry>>();
  readonly #deadlines = new DeadlineQueue<Entry>();
  #timer: { readonly atMs: number; readonly timer: Timer } | undefined;
  readonly #answers: Answers = {
    write: (entry, write, done) => this.#write(entry, write, done),
    finish: (entry, done) => this.#finish(entry, done),
  };
  #closed = false;

  constructor(options: SharePartitionsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** The share partition, loaded from the persister on first use. A failed load is tried again by the next caller. */
  load(groupId: string, topicIdPartition: TopicIdPartition): Promise<LoadResult> {
    const id = entryId(groupId, topicIdPartition);
    const existing = this.#entries.get(id);
    if (existing) return existing.loading;
    const entry: Entry = {
      groupId,
      topicIdPartition,
      stateEpoch: 0,
      leaderEpoch: 0,
      queuedDeadlineMs: Number.POSITIVE_INFINITY,
      led: undefined,
      writes: undefined,
      waiters: undefined,
      lockWaiters: undefined,
      loading: Promise.resolve().then(() => this.#load(entry)),
    };
    this.#entries.set(id, entry);
    const key = partitionKey(topicIdPartition);
    const siblings = this.#byPartition.get(key) ?? new Set();
    this.#byPartition.set(key, siblings.add(entry));
    return entry.loading;
  }

  /** The share partition, when it is loaded. */
  get(groupId: string, topicIdPartition: TopicIdPartition): LedPartition | undefined {
    return this.#entries.get(entryId(groupId, topicIdPartition))?.led;
  }

  /** Everything loaded, for monitoring. */
  *all(): IterableIterator<LedPartition> {
    for (const { led } of this.#entries.values()) if (led) yield led;
  }

  async #load(entry: Entry): Promise<LoadResult> {
    const result = await this.#read(entry).catch((): LoadResult => ({ error: Errors.COORDINATOR_NOT_AVAILABLE }));
    if (result.led) entry.led = result.led;
    else this.#forget(entry);
    this.#wake(entry);
    return result;
  }

  async #read(entry: Entry): Promise<LoadResult> {
    const { persister } = this.#options;
    const { groupId, topicIdPartition } = entry;
    // Before the persister is asked: it would make a state for a partition that does not exist, and nobody would delete it.
    const unknown = await this.#options.checkPartition(topicIdPartition);
    if (unknown !== Errors.NONE) return { error: unknown };
    let read = await persister.takeOver({ groupId, topicIdPartition });
    if (read.error === Errors.INVALID_REQUEST) {
      // Nobody initialised the state (an embedder without a group coordinator): start as a new group does.
      const made = await persister.initializeNew({ groupId, topicIdPartition }, 0, -1);
      if (made !== Errors.NONE) return { error: asSeenByConsumers(made) };
      read = await persister.takeOver({ groupId, topicIdPartition });
    }
    if (!read.state) return { error: asSeenByConsumers(read.error) };
    const { stateEpoch, leaderEpoch, stateBatches } = read.state;
    entry.stateEpoch = stateEpoch;
    entry.leaderEpoch = leaderEpoch;
    let { startOffset } = read.state;
    if (startOffset < 0) {
      const reset = await this.#options.resetOffset(groupId, topicIdPartition);
      if (reset.error !== Errors.NONE) return { error: reset.error };
      startOffset = reset.offset;
      // Written down at once: after a crash "latest" would be later, and what lies between would never be delivered.
      const update = { stateEpoch, leaderEpoch, startOffset, deliveryCompleteCount: 0, stateBatches: [] };
      const written = await persister.write({ groupId, topicIdPartition }, update);
      if (written !== Errors.NONE) return { error: asSeenByConsumers(written) };
    }
    const partition = SharePartition.load(
      { startOffset, stateBatches },
      new Outside(entry, this.#options, this.#answers),
    );
    return partition
      ? { error: 0, led: { groupId, topicIdPartition, partition } }
      : { error: Errors.UNKNOWN_SERVER_ERROR };
  }

  /** What a share partition writes in one turn goes to the persister as one: a thousand locks that end are one write. */
  #write(entry: Entry, write: StateWrite, done: (error: ErrorCode) => void): void {
    if (entry.writes) {
      entry.writes.push({ write, done });
      return;
    }
    entry.writes = [{ write, done }];
    queueMicrotask(() => void this.#flush(entry));
  }

  async #flush(entry: Entry): Promise<void> {
    const { groupId, topicIdPartition, stateEpoch, leaderEpoch } = entry;
    const { persister } = this.#options;
    const writes = entry.writes!;
    entry.writes = undefined;
    const update = joinUpdates(writes.map(({ write }) => ({ ...write, stateEpoch, leaderEpoch })));
    const error = asSeenByConsumers(await persister.write({ groupId, topicIdPartition }, update));
    this.#finish(entry, () => {
      for (const { done } of writes) done(error);
    });
    if (DROPPING.has(error)) this.#forget(entry);
  }

  /** Runs the end of an operation of a partition, then looks at what it changed. */
  #finish(entry: Entry, done: () => void): void {
    done();
    this.#touched(entry);
  }

  /** To be called after every change of a partition from outside: arms its locks and wakes those who wait for it. */
  touched(led: LedPartition): void {
    const entry = this.#entries.get(entryId(led.groupId, led.topicIdPartition));
    if (entry) this.#touched(entry);
  }

  /**
   * Takes the partition's fetch lock. When another fetch has it, `wake` is called once it is free. Only such fetches are
   * woken by the end of a fetch: were all woken, two that find nothing would wake each other for ever.
   */
  tryFetchLock(led: LedPartition, wake: () => void): boolean {
    if (led.partition.tryFetchLock()) return true;
    const entry = this.#entries.get(entryId(led.groupId, led.topicIdPartition));
    if (entry) entry.lockWaiters = (entry.lockWaiters ?? new Set()).add(wake);
    return false;
  }

  /** Gives the fetch lock back and arms the locks of what was acquired under it. */
  releaseFetchLock(led: LedPartition): void {
    led.partition.releaseFetchLock();
    const entry = this.#entries.get(entryId(led.groupId, led.topicIdPartition));
    if (!entry) return;
    this.#armLocks(entry);
    const waiting = entry.lockWaiters;
    entry.lockWaiters = undefined;
    for (const wake of waiting ?? []) wake();
  }

  #touched(entry: Entry): void {
    this.#armLocks(entry);
    this.#wake(entry);
  }

  #armLocks(entry: Entry): void {
    const deadlineMs = entry.led?.partition.nextLockDeadlineMs ?? Number.POSITIVE_INFINITY;
    if (deadlineMs < entry.queuedDeadlineMs) {
      entry.queuedDeadlineMs = deadlineMs;
      this.#deadlines.add(entry, deadlineMs);
      this.#arm();
    }
  }

  /** One timer for all locks of all partitions. */
  #arm(): void {
    const atMs = this.#deadlines.nextDeadlineMs;
    if (this.#closed || atMs === Number.POSITIVE_INFINITY || (this.#timer && this.#timer.atMs <= atMs)) return;
    this.#timer?.timer.cancel();
    const delayMs = Math.max(0, Math.ceil(atMs - this.#options.time.monotonicMs()));
    this.#timer = { atMs, timer: this.#options.time.setTimer(delayMs, () => this.#expire()) };
  }

  /** What is due, but for so many share partitions a turn that others have theirs; the next turn goes on. */
  #expire(): void {
    this.#timer = undefined;
    const nowMs = this.#options.time.monotonicMs();
    for (let left = EXPIRED_A_TURN; left > 0; left--) {
      const entry = this.#deadlines.takeExpired(nowMs);
      if (!entry) break;
      entry.queuedDeadlineMs = Number.POSITIVE_INFINITY;
      entry.led?.partition.expireLocks();
      this.#touched(entry);
    }
    this.#arm();
  }

  /** Calls `wake` when something about the partition changes, until the returned function is called. */
  watch(groupId: string, topicIdPartition: TopicIdPartition, wake: () => void): () => void {
    const entry = this.#entries.get(entryId(groupId, topicIdPartition));
    if (!entry) return () => {};
    entry.waiters = (entry.waiters ?? new Set()).add(wake);
    return () => {
      entry.waiters?.delete(wake);
      entry.lockWaiters?.delete(wake);
      if (entry.waiters?.size === 0) entry.waiters = undefined;
    };
  }

  #wake(entry: Entry): void {
    for (const wake of [...(entry.waiters ?? [])]) wake();
  }

  /** Records were appended to a partition's log. */
  onAppend(key: PartitionKey): void {
    for (const entry of this.#byPartition.get(key) ?? []) this.#wake(entry);
  }

  /** Something may have been missed: everybody looks again. */
  wakeAll(): void {
    for (const entry of this.#entries.values()) this.#wake(entry);
  }

  /** Forgets one share partition: its state was replaced or deleted. */
  forget(groupId: string, topicIdPartition: TopicIdPartition): void {
    const entry = this.#entries.get(entryId(groupId, topicIdPartition));
    if (entry) this.#forget(entry);
  }

  /** Forgets what a predicate selects: partitions deleted, groups gone. Their waiters are woken and load anew. */
  drop(select: (groupId: string, topicIdPartition: TopicIdPartition) => boolean): void {
    for (const entry of [...this.#entries.values()]) {
      if (select(entry.groupId, entry.topicIdPartition)) this.#forget(entry);
    }
  }

  #forget(entry: Entry): void {
    const id = entryId(entry.groupId, entry.topicIdPartition);
    if (this.#entries.get(id) !== entry) return;
    this.#entries.delete(id);
    const key = partitionKey(entry.topicIdPartition);
    const siblings = this.#byPartition.get(key);
    siblings?.delete(entry);
    if (siblings?.size === 0) this.#byPartition.delete(key);
    this.#wake(entry);
  }

  close(): void {
    this.#closed = true;
    this.#timer?.timer.cancel();
    this.drop(() => true);
  }
}

/** How the outside of a share partition reports back. */
interface Answers {
  write(entry: Entry, write: StateWrite, done: (error: ErrorCode) => void): void;
  finish(entry: Entry, done: () => void): void;
}

/** The outside of one share partition. */
class Outside implements SharePartitionHost {
  readonly #entry: Entry;
  readonly #options: SharePartitionsOptions;
  readonly #answers: Answers;

  constructor(entry: Entry, options: SharePartitionsOptions, answers: Answers) {
    this.#entry = entry;
    this.#options = options;
    this.#answers = answers;
  }

  get config(): SharePartitionConfig {
    return this.#options.configOf(this.#entry.groupId);
  }

  monotonicMs(): number {
    return this.#options.time.monotonicMs();
  }

  write(write: StateWrite, done: (error: ErrorCode) => void): void {
    this.#answers.write(this.#entry, write, done);
  }

  deadLetter(letters: readonly DeadLetter[], done: () => void): void {
    const { groupId, topicIdPartition } = this.#entry;
    void this.#options.copyDeadLetters(groupId, topicIdPartition, letters).then((isOver) => {
      if (isOver) this.#answers.finish(this.#entry, done);
    });
  }
}

function entryId(groupId: string, topicIdPartition: TopicIdPartition): string {
  return `${partitionKey(topicIdPartition)}:${groupId}`;
}
