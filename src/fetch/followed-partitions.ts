/**
 * The background fetcher: keeps the local view of followed partitions in sync with what other brokers commit, so that
 * their tail readers are served from memory. It reads what a fetch would read, through the same reader, when a
 * notification says that there is something; it never polls.
 *
 * A partition that has fallen further behind than `MAX_LAG_BYTES` in one step is not caught up record by record: the view
 * starts again at the log's end, and what lies between is for direct reads. Main thread; owned by the fetch service.
 */
import { Errors } from '../common/errors.ts';
import type { Logger } from '../common/logger.ts';
import type { Time, Timer } from '../common/time.ts';
import { type PartitionKey, partitionKey, type TopicIdPartition } from '../common/topic-id-partition.ts';
import {
  type DisklessCoordinator,
  type FindBatchesResult,
  ListOffsetsTimestamp,
} from '../coordinator/diskless-coordinator.ts';
import { type CoordinateReader, type RunOutcome, releaseRuns } from './coordinate-reader.ts';
import type { LocalLog } from './local-log.ts';

const MAX_LAG_BYTES = 16 * 1024 * 1024;
const RETRY_MS = 500;

export interface FollowedPartitionsOptions {
  readonly coordinator: DisklessCoordinator;
  readonly reader: CoordinateReader;
  readonly localLog: LocalLog;
  readonly time: Time;
  readonly logger: Logger;
}

interface Followed {
  readonly topicIdPartition: TopicIdPartition;
  readonly key: PartitionKey;
  /** How often `follow` was called for it and not ended. */
  followers: number;
  /** The next offset to bring into the view; undefined until the log's end is known. */
  nextOffset: bigint | undefined;
}

export class FollowedPartitions {
  readonly #options: FollowedPartitionsOptions;
  readonly #followed = new Map<PartitionKey, Followed>();
  readonly #behind = new Set<Followed>();
  #isCatchingUp = false;
  #retry: Timer | undefined;
  #isClosed = false;
  #done: Promise<void> = Promise.resolve();

  constructor(options: FollowedPartitionsOptions) {
    this.#options = options;
  }

  /** Follows partitions from their log's end on, until the function returned is called. */
  follow(partitions: readonly TopicIdPartition[]): () => void {
    const keys = partitions.map((topicIdPartition) => this.#add(topicIdPartition));
    this.#catchUpSoon();
    let isFollowing = true;
    return () => {
      if (isFollowing) for (const key of keys) this.#remove(key);
      isFollowing = false;
    };
  }

  /** Somebody committed to a partition. */
  onCommit(key: PartitionKey): void {
    const followed = this.#followed.get(key);
    if (!followed) return;
    this.#behind.add(followed);
    this.#catchUpSoon();
  }

  /** Notifications may have been missed. */
  probe(): void {
    for (const followed of this.#followed.values()) this.#behind.add(followed);
    this.#catchUpSoon();
  }

  /** Resolves when what is under way has ended. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#retry?.cancel();
    await this.#done;
  }

  #add(topicIdPartition: TopicIdPartition): PartitionKey {
    const key = partitionKey(topicIdPartition);
    const followed = this.#followed.get(key) ?? { topicIdPartition, key, followers: 0, nextOffset: undefined };
    followed.followers++;
    this.#followed.set(key, followed);
    this.#behind.add(followed);
    return key;
  }

  #remove(key: PartitionKey): void {
    const followed = this.#followed.get(key)!;
    if (--followed.followers > 0) return;
    this.#followed.delete(key);
    this.#behind.delete(followed);
  }

  #catchUpSoon(): void {
    if (this.#isCatchingUp || this.#isClosed || this.#behind.size === 0) return;
    this.#isCatchingUp = true;
    this.#done = this.#catchUp();
  }

  async #catchUp(): Promise<void> {
    try {
      while (this.#behind.size > 0 && !this.#isClosed) {
        const behind = [...this.#behind];
        this.#behind.clear();
        try {
          await this.#findEnds(behind.filter(({ nextOffset }) => nextOffset === undefined));
          await this.#advance(behind.filter(({ nextOffset }) => nextOffset !== undefined));
        } catch (error) {
          this.#options.logger.warn(
            { error: String(error), partitions: behind.length },
            'followed partitions could not be caught up',
          );
          for (const followed of behind) this.#behind.add(followed);
          this.#retry = this.#options.time.setTimer(RETRY_MS, () => this.#catchUpSoon());
          return;
        }
      }
    } finally {
      this.#isCatchingUp = false;
    }
  }

  async #findEnds(partitions: readonly Followed[]): Promise<void> {
    if (partitions.length === 0) return;
    const ends = await this.#options.coordinator.listOffsets(
      partitions.map(({ topicIdPartition }) => ({ topicIdPartition, timestamp: ListOffsetsTimestamp.latest })),
    );
    for (const [i, followed] of partitions.entries()) {
      if (ends[i]!.error === Errors.NONE) followed.nextOffset = ends[i]!.offset;
    }
  }

  async #advance(partitions: readonly Followed[]): Promise<void> {
    for (const followed of partitions) this.#skipWhatIsLocal(followed);
    if (partitions.length === 0) return;
    const results = await this.#options.coordinator.findBatches({
      partitions: partitions.map(({ topicIdPartition, nextOffset }) => ({
        topicIdPartition,
        fetchOffset: nextOffset!,
        maxBytes: MAX_LAG_BYTES,
      })),
      maxBytes: MAX_LAG_BYTES,
    });
    await Promise.all(partitions.map((followed, i) => this.#bringIn(followed, results[i]!)));
  }

  /** Own commits arrive without being asked for. */
  #skipWhatIsLocal(followed: Followed): void {
    const runs = this.#options.localLog.read(followed.key, followed.nextOffset!, Number.MAX_SAFE_INTEGER);
    if (runs.length > 0) followed.nextOffset = runs.at(-1)!.lastOffset + 1n;
  }

  async #bringIn(followed: Followed, result: FindBatchesResult): Promise<void> {
    const { coordinates, highWatermark, logStartOffset, error } = result;
    if (error !== Errors.NONE) {
      followed.nextOffset = undefined; // deleted, or its log start has passed us: begin at the end again
      return;
    }
    this.#options.localLog.noteBounds(followed.key, logStartOffset, highWatermark);
    const found = (coordinates.at(-1)?.lastOffset ?? followed.nextOffset! - 1n) + 1n;
    const bytes = coordinates.reduce((sum, { size }) => sum + size, 0);
    if (found < highWatermark && bytes >= MAX_LAG_BYTES) {
      followed.nextOffset = highWatermark;
      return;
    }
    const reads = coordinates.map((coordinate) =>
      this.#options.reader.read(followed.topicIdPartition, coordinate, 'hot', 'tail'),
    );
    const outcomes = await Promise.all(reads.map((read) => read.outcome));
    for (const { runs } of outcomes) releaseRuns(runs); // the local view keeps it
    const failed = outcomes.find((outcome: RunOutcome) => outcome.error !== Errors.NONE);
    if (failed)
      this.#options.logger.warn({ reason: failed.message }, 'a followed partition has a hole in its local view');
    followed.nextOffset = found;
    if (found < highWatermark) this.#behind.add(followed); // the request's budget went to others
  }
}
