/**
 * One incremental fetch session (KIP-227): the partitions that a client fetches, what it was last told of each, and which
 * of them are worth a look. Main thread; made and closed by the session cache.
 *
 * A partition is *due* when a look may bring something that the client does not know: it was added or asked for anew,
 * something changed in it, there was more than an answer could hold, or it has an error. All others are at the end of
 * their log, and the engine's watch says when that ends; so a fetch costs by what is due, not by the partitions of the
 * session. A partition is under watch before it is looked at, so no commit falls between.
 */
import { Errors } from '../../common/errors.ts';
import { type Deferred, deferred } from '../../common/lifecycle.ts';
import type { Time } from '../../common/time.ts';
import type { Uuid } from '../../common/uuid.ts';
import type { ChangeListener, DisklessEngine, PartitionWatch, WatchedPartition } from '../../engine/diskless-engine.ts';
import type { RequestOf } from '../../protocol/api.ts';
import type { fetch } from '../../protocol/messages/fetch.ts';
import {
  type FetchLook,
  type FetchPlan,
  type FetchTarget,
  type PartitionResponse,
  recordBytesOf,
} from './fetch-look.ts';

type FetchRequest = RequestOf<typeof fetch>;
type RequestedPartition = FetchRequest['topics'][number]['partitions'][number];

/** KIP-227's special session epochs: a new session, and none. */
export const INITIAL_EPOCH = 0;
export const FINAL_EPOCH = -1;
const MAX_EPOCH = 2 ** 31 - 1;

/** A partition as asked for, and as last answered. */
class SessionPartition implements FetchTarget {
  readonly topic: string;
  readonly topicId: Uuid;
  readonly partition: number;
  fetchOffset = 0n;
  partitionMaxBytes = 0;
  currentLeaderEpoch = -1;
  lastFetchedEpoch = -1;
  /** What the client was told; −1 before, and after an error. */
  toldHighWatermark = -1n;
  toldLogStartOffset = -1n;
  /** Where it stands in the rotation: lower goes first. */
  place: number;
  watched: WatchedPartition | undefined;

  constructor(topic: string, topicId: Uuid, partition: number, place: number) {
    this.topic = topic;
    this.topicId = topicId;
    this.partition = partition;
    this.place = place;
  }

  ask({ fetchOffset, partitionMaxBytes, currentLeaderEpoch, lastFetchedEpoch }: RequestedPartition): void {
    this.fetchOffset = fetchOffset;
    this.partitionMaxBytes = partitionMaxBytes;
    this.currentLeaderEpoch = currentLeaderEpoch;
    this.lastFetchedEpoch = lastFetchedEpoch;
  }

  /** Whether an answer is owed: records, an error, or bounds that the client does not know. */
  isNews(response: PartitionResponse): boolean {
    return (
      response.errorCode !== Errors.NONE ||
      response.divergingEpoch !== undefined ||
      response.highWatermark !== this.toldHighWatermark ||
      response.logStartOffset !== this.toldLogStartOffset ||
      recordBytesOf(response) > 0
    );
  }

  isAtEnd(response: PartitionResponse): boolean {
    return response.errorCode === Errors.NONE && this.fetchOffset === response.highWatermark;
  }

  tell({ errorCode, highWatermark, logStartOffset }: PartitionResponse): void {
    this.toldHighWatermark = errorCode === Errors.NONE ? highWatermark : -1n;
    this.toldLogStartOffset = logStartOffset ?? -1n;
  }
}

export interface FetchSessionOptions {
  readonly id: number;
  /** Fixed for its life: a client that changes how it names topics has to open another. */
  readonly usesTopicIds: boolean;
  readonly engine: DisklessEngine;
  readonly time: Time;
}

export class FetchSession implements ChangeListener<SessionPartition> {
  readonly id: number;
  readonly usesTopicIds: boolean;
  /** The epoch that the next request must carry. */
  epoch = INITIAL_EPOCH + 1;
  readonly createdMs: number;
  /** Kept by the cache. */
  lastUsedMs: number;
  readonly #time: Time;
  readonly #topics = new Map<string, Map<number, SessionPartition>>();
  readonly #due = new Set<SessionPartition>();
  readonly #watch: PartitionWatch<SessionPartition>;
  #size = 0;
  #nextPlace = 0;
  #hasChanged = false;
  #isClosed = false;
  #waiting: Deferred<void> | undefined;

  constructor({ id, usesTopicIds, engine, time }: FetchSessionOptions) {
    this.id = id;
    this.usesTopicIds = usesTopicIds;
    this.#time = time;
    this.createdMs = time.monotonicMs();
    this.lastUsedMs = this.createdMs;
    this.#watch = engine.watchPartitions(this);
  }

  /** Partitions in it. */
  get size(): number {
    return this.#size;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  get hasDue(): boolean {
    return this.#due.size > 0;
  }

  /** Whether a request waits for a change. */
  get isWaiting(): boolean {
    return this.#waiting !== undefined;
  }

  advanceEpoch(): void {
    this.epoch = this.epoch === MAX_EPOCH ? INITIAL_EPOCH + 1 : this.epoch + 1;
  }

  /** Takes over what a request adds, asks for anew and forgets. */
  update({ topics, forgottenTopicsData }: Pick<FetchRequest, 'topics' | 'forgottenTopicsData'>): void {
    for (const { topic, topicId, partitions } of topics) {
      for (const requested of partitions) this.#ask(topic, topicId, requested);
    }
    for (const { topic, topicId, partitions } of forgottenTopicsData) {
      for (const partition of partitions) this.#forget(this.#nameOf(topic, topicId), partition);
    }
  }

  /** Notes what a full fetch told of the partitions with which the session begins. */
  told(targets: readonly FetchTarget[], responses: readonly PartitionResponse[]): void {
    for (const [index, { topic, topicId, partition }] of targets.entries()) {
      this.#topics.get(this.#nameOf(topic, topicId))!.get(partition)!.tell(responses[index]!);
    }
  }

  /** The next partitions to look at, in the order of the rotation; `putBack`, `review` or `answer` must follow. */
  takeDue(limit: number): SessionPartition[] {
    this.#hasChanged = false;
    const due = [...this.#due].sort((a, b) => a.place - b.place);
    if (due.length > limit) due.length = limit;
    for (const partition of due) this.#due.delete(partition);
    return due;
  }

  putBack(partitions: readonly SessionPartition[]): void {
    for (const partition of partitions) this.#makeDue(partition);
  }

  /** Watches what is about to be looked at. A topic that was deleted and made again has another id. */
  watch(partitions: readonly SessionPartition[], plan: FetchPlan): void {
    for (const [index, partition] of partitions.entries()) {
      const entry = plan[index]!;
      if (typeof entry === 'number' || !this.#holds(partition)) continue;
      const { topicIdPartition } = entry;
      if (partition.watched?.key.startsWith(topicIdPartition.topicId)) continue;
      if (partition.watched) this.#watch.remove(partition.watched);
      partition.watched = this.#watch.add(topicIdPartition, partition);
    }
  }

  /** A look that is not answered yet: what brought news stays due, and what is not at its log's end. */
  review(partitions: readonly SessionPartition[], { responses }: FetchLook): void {
    for (const [index, partition] of partitions.entries()) {
      const response = responses[index]!;
      if (partition.isNews(response) || !partition.isAtEnd(response)) this.#makeDue(partition);
    }
  }

  /** A look that is answered: what the client does not know yet. What got records goes to the end of the rotation. */
  answer(partitions: readonly SessionPartition[], { responses }: FetchLook) {
    const news: { targets: FetchTarget[]; responses: PartitionResponse[] } = { targets: [], responses: [] };
    for (const [index, partition] of partitions.entries()) {
      const response = responses[index]!;
      const isEnd = partition.isAtEnd(response);
      if (!isEnd) this.#makeDue(partition);
      if (!partition.isNews(response)) continue;
      news.targets.push(partition);
      news.responses.push(response);
      partition.tell(response);
      if (recordBytesOf(response) > 0) partition.place = this.#nextPlace++;
    }
    return news;
  }

  /** Resolves when something changed since `takeDue`, after `waitMs`, or when the session is closed. */
  async nextChange(waitMs: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#hasChanged || this.#isClosed) return;
    const waiting = deferred<void>();
    const onAbort = (): void => waiting.reject(signal.reason);
    const timer = this.#time.setTimer(waitMs, () => waiting.resolve());
    signal.addEventListener('abort', onAbort, { once: true });
    this.#waiting?.resolve(); // an earlier request of this session; its epoch has passed
    this.#waiting = waiting;
    try {
      await waiting.promise;
    } finally {
      timer.cancel();
      signal.removeEventListener('abort', onAbort);
      if (this.#waiting === waiting) this.#waiting = undefined;
    }
  }

  noteChange(partition: SessionPartition): void {
    this.#hasChanged = true;
    this.#due.add(partition);
  }

  noteChangeOfAll(): void {
    this.#hasChanged = true;
    for (const partitions of this.#topics.values()) {
      for (const partition of partitions.values()) this.#due.add(partition);
    }
  }

  resume(): void {
    this.#waiting?.resolve();
  }

  close(): void {
    this.#isClosed = true;
    this.#watch.close();
    this.#waiting?.resolve();
  }

  #ask(topic: string, topicId: Uuid, requested: RequestedPartition): void {
    const name = this.#nameOf(topic, topicId);
    const partitions = this.#topics.get(name) ?? new Map<number, SessionPartition>();
    let partition = partitions.get(requested.partition);
    if (!partition) {
      partition = new SessionPartition(topic, topicId, requested.partition, this.#nextPlace++);
      this.#topics.set(name, partitions.set(requested.partition, partition));
      this.#size++;
    }
    partition.ask(requested);
    this.#due.add(partition);
  }

  #forget(name: string, index: number): void {
    const partitions = this.#topics.get(name);
    const partition = partitions?.get(index);
    if (!partitions || !partition) return;
    partitions.delete(index);
    if (partitions.size === 0) this.#topics.delete(name);
    this.#due.delete(partition);
    if (partition.watched) this.#watch.remove(partition.watched);
    this.#size--;
  }

  #makeDue(partition: SessionPartition): void {
    if (this.#holds(partition)) this.#due.add(partition);
  }

  /** Not when it was forgotten, or the session closed, while it was looked at. */
  #holds(partition: SessionPartition): boolean {
    const { topic, topicId } = partition;
    return !this.#isClosed && this.#topics.get(this.#nameOf(topic, topicId))?.get(partition.partition) === partition;
  }

  #nameOf(topic: string, topicId: Uuid): string {
    return this.usesTopicIds ? topicId : topic;
  }
}
