/**
 * Turns what the coordinator and the append path tell into updates of the local view and wake-ups of parked fetches.
 *
 * The coordinator tells of a commit as soon as it is durable; the append path brings the rewritten runs a moment later.
 * Waking tail readers in between would send them to the coordinator for what is about to be in memory. So while this
 * process has commits under way, wake-ups wait for the next of them to settle, and no longer than `DEFER_MS`, for the
 * sake of what others commit. Main thread; owned by the fetch service.
 */
import type { Logger } from '../common/logger.ts';
import type { Time, Timer } from '../common/time.ts';
import { type PartitionKey, parsePartitionKey, partitionKey } from '../common/topic-id-partition.ts';
import type { CoordinatorChange, DisklessCoordinator } from '../coordinator/diskless-coordinator.ts';
import type { RewrittenRun } from '../worker/rewritten-run.ts';
import type { CommittingObjects } from './committing-objects.ts';
import type { DelayedFetches } from './delayed-fetch.ts';
import type { FetchMemory } from './fetch-memory.ts';
import type { FollowedPartitions } from './followed-partitions.ts';
import type { LocalLog } from './local-log.ts';
import { packSmallRuns } from './pack-runs.ts';

const DEFER_MS = 20;

export interface ChangeFeedOptions {
  readonly coordinator: DisklessCoordinator;
  readonly localLog: LocalLog;
  readonly delayed: DelayedFetches;
  readonly committing: CommittingObjects;
  readonly memory: FetchMemory;
  readonly time: Time;
  readonly logger: Logger;
  readonly followed: FollowedPartitions;
}

export class ChangeFeed {
  readonly #options: ChangeFeedOptions;
  readonly #deferred = new Map<PartitionKey, bigint>();
  readonly #unsubscribe: () => void;
  #timer: Timer | undefined;

  constructor(options: ChangeFeedOptions) {
    this.#options = options;
    this.#unsubscribe = options.coordinator.onChange((change) => this.#onChange(change));
  }

  /** Runs that this process has committed: into the local view, then to whoever waits for them. */
  onCommitted(committed: readonly RewrittenRun[]): void {
    const { localLog, memory, delayed } = this.#options;
    const runs = packSmallRuns(committed, memory);
    for (const run of runs) {
      if (memory.adopt(run.slab)) localLog.append(run, 'tail');
      else run.slab.release();
    }
    for (const run of runs) {
      const key = partitionKey(run.topicIdPartition);
      const highWatermark = run.lastOffset + 1n;
      localLog.noteHighWatermark(key, highWatermark);
      if ((this.#deferred.get(key) ?? -1n) <= highWatermark) this.#deferred.delete(key);
      delayed.wake(key);
    }
  }

  onCommitSettled(objectKey: string): void {
    this.#options.committing.settle(objectKey);
    this.#flush();
  }

  close(): void {
    this.#unsubscribe();
    this.#timer?.cancel();
    this.#deferred.clear();
  }

  #onChange(change: CoordinatorChange): void {
    const { localLog, delayed } = this.#options;
    switch (change.kind) {
      case 'commit':
        for (const [key, highWatermark] of change.highWatermarks) this.#onCommit(key, highWatermark);
        if (this.#options.committing.size === 0) this.#flush();
        else this.#timer ??= this.#options.time.setTimer(DEFER_MS, () => this.#flush());
        break;
      case 'log-start':
        for (const [key, logStartOffset] of change.logStartOffsets) {
          localLog.noteLogStart(key, logStartOffset);
          delayed.wake(key);
        }
        break;
      case 'topics':
        void this.#forgetDeletedTopics();
        break;
      case 'probe':
        localLog.distrustBounds();
        delayed.wakeAll();
        this.#options.followed.probe();
        break;
    }
  }

  #onCommit(key: PartitionKey, highWatermark: bigint): void {
    this.#options.localLog.noteHighWatermark(key, highWatermark);
    this.#deferred.set(key, highWatermark);
  }

  #flush(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    const waiting = [...this.#deferred.keys()];
    this.#deferred.clear();
    for (const key of waiting) {
      this.#options.delayed.wake(key);
      this.#options.followed.onCommit(key);
    }
  }

  /** Fetches of what is gone get their UNKNOWN_TOPIC_OR_PARTITION from the coordinator, at once. */
  async #forgetDeletedTopics(): Promise<void> {
    const { coordinator, localLog, delayed, logger } = this.#options;
    try {
      const topics = new Map((await coordinator.listTopics()).map((topic) => [topic.topicId, topic.partitions]));
      const exists = (key: PartitionKey): boolean => {
        const { topicId, partition } = parsePartitionKey(key);
        return partition < (topics.get(topicId) ?? 0);
      };
      localLog.retainPartitions(exists);
      delayed.wakeGone(exists);
    } catch (error) {
      // What is held cannot be told from what is gone: until the coordinator answers again, it is asked about everything.
      logger.warn({ error: String(error) }, 'the topics could not be listed');
      localLog.distrustBounds();
      delayed.wakeAll();
    }
  }
}
