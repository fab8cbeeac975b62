/**
 * Where a group stands in its share partitions: made when it first subscribes, seen and set by administrators (KIP-932,
 * KIP-1226). Goes to the persister, and makes the share partitions that are loaded here load anew. Main thread; belongs to
 * the engine, holds no state of its own.
 */
import { ApiError, type ErrorCode, Errors, errorName } from '../common/errors.ts';
import type { Time } from '../common/time.ts';
import { comparePartitions, type TopicIdPartition } from '../common/topic-id-partition.ts';
import type { Uuid } from '../common/uuid.ts';
import type { ShareStateStore } from '../coordinator/share-state-store.ts';
import { type InFlightRecords, inFlightRecords } from './in-flight-records.ts';
import type { Persister } from './persister.ts';
import type { SharePartitions } from './share-partitions.ts';

/** Where a share partition begins; −1 as start offset: by `share.auto.offset.reset` when it is first fetched. */
export interface ShareStartOffset {
  readonly topicIdPartition: TopicIdPartition;
  readonly startOffset: number;
}

export interface ShareOffsetDescription {
  readonly topicIdPartition: TopicIdPartition;
  readonly error: ErrorCode;
  /** −1: nothing was fetched yet, or there is no state. */
  readonly startOffset: bigint;
  readonly leaderEpoch: number;
  /** Log end − start offset − what is complete behind it; −1: not known. */
  readonly lag: bigint;
}

export interface ShareOffsetsComponents {
  readonly persister: Persister;
  readonly store: Pick<ShareStateStore, 'listSharePartitions'>;
  readonly partitions: Pick<SharePartitions, 'all' | 'get' | 'forget'>;
  readonly time: Time;
  /** The log end offsets, in the order of the partitions. */
  logEndOffsets(
    partitions: readonly TopicIdPartition[],
  ): Promise<readonly { readonly error: ErrorCode; readonly offset: bigint }[]>;
}

/** Calls are durable when they resolve. @throws CoordinatorError, ApiError when the coordinator does not answer */
export class ShareOffsets {
  readonly #components: ShareOffsetsComponents;

  constructor(components: ShareOffsetsComponents) {
    this.#components = components;
  }

  /** Makes states where there are none; others stay as they are. Errors in the order of `starts`. */
  initialize(groupId: string, stateEpoch: number, starts: readonly ShareStartOffset[]): Promise<ErrorCode[]> {
    const { persister } = this.#components;
    const make = ({ topicIdPartition, startOffset }: ShareStartOffset): Promise<ErrorCode> =>
      persister.initializeNew({ groupId, topicIdPartition }, stateEpoch, startOffset);
    return Promise.all(starts.map(make));
  }

  /**
   * Makes states anew, with nothing in flight. The state epoch is newer than that of any before, so it fences what a share
   * partition that is still loaded, here or elsewhere, would write of the state before.
   */
  reset(groupId: string, stateEpoch: number, starts: readonly ShareStartOffset[]): Promise<ErrorCode[]> {
    const { persister, partitions } = this.#components;
    const make = async ({ topicIdPartition, startOffset }: ShareStartOffset): Promise<ErrorCode> => {
      const error = await persister.initialize({ groupId, topicIdPartition }, stateEpoch, startOffset);
      partitions.forget(groupId, topicIdPartition);
      return error;
    };
    return Promise.all(starts.map(make));
  }

  /** Deletes states: of some topics, or all of the group. Resolves with the topics that had any. */
  async delete(groupId: string, topicIds?: readonly Uuid[]): Promise<ReadonlySet<Uuid>> {
    const { persister, store, partitions } = this.#components;
    const wanted = topicIds && new Set(topicIds);
    const all = await store.listSharePartitions(groupId);
    const deleted = all.filter(({ topicId }) => !wanted || wanted.has(topicId));
    const errors = await persister.delete(deleted.map((topicIdPartition) => ({ groupId, topicIdPartition })));
    for (const topicIdPartition of deleted) partitions.forget(groupId, topicIdPartition);
    const failed = errors.find((error) => error !== Errors.NONE);
    if (failed !== undefined) throw new ApiError(errorName(failed), `a state of group "${groupId}" was not deleted`);
    return new Set(deleted.map(({ topicId }) => topicId));
  }

  /** Of some partitions, in their order, or all that the group has a state for. */
  async describe(groupId: string, partitions?: readonly TopicIdPartition[]): Promise<ShareOffsetDescription[]> {
    const { persister, store, logEndOffsets } = this.#components;
    const wanted = partitions ?? (await store.listSharePartitions(groupId));
    const [states, ends] = await Promise.all([
      persister.summarize(wanted.map((topicIdPartition) => ({ groupId, topicIdPartition }))),
      logEndOffsets(wanted),
    ]);
    return wanted.map((topicIdPartition, index) => {
      const { startOffset, deliveryCompleteCount, leaderEpoch } = this.#current(
        groupId,
        topicIdPartition,
        states[index]!,
      );
      const { error, offset } = ends[index]!;
      const known = error === Errors.NONE && startOffset >= 0 && deliveryCompleteCount >= 0;
      const behind = offset - BigInt(startOffset) - BigInt(deliveryCompleteCount);
      const lag = known ? (behind < 0n ? 0n : behind) : -1n;
      return { topicIdPartition, error, startOffset: BigInt(startOffset), leaderEpoch, lag };
    });
  }

  /** What is loaded is ahead of what is stored: a start offset is stored with the write after the one that moved it. */
  #current<S extends { readonly startOffset: number; readonly deliveryCompleteCount: number }>(
    groupId: string,
    topicIdPartition: TopicIdPartition,
    stored: S,
  ): S {
    const led = this.#components.partitions.get(groupId, topicIdPartition);
    if (!led || stored.startOffset < 0) return stored;
    const { startOffset, deliveryCompleteCount } = led.partition;
    return { ...stored, startOffset, deliveryCompleteCount };
  }

  /** What is tracked of the group in share partitions that are loaded here, by topic id and partition. */
  inFlight(groupId: string, limits: { maxRuns: number; maxRunsInAll: number }): InFlightRecords[] {
    const nowMs = this.#components.time.monotonicMs();
    let left = limits.maxRunsInAll;
    return [...this.#components.partitions.all()]
      .filter((led) => led.groupId === groupId)
      .sort((a, b) => comparePartitions(a.topicIdPartition, b.topicIdPartition))
      .map((led) => {
        const described = inFlightRecords(led, nowMs, Math.min(limits.maxRuns, left));
        left -= described.runs.length;
        return described;
      });
  }
}
