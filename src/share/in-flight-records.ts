/**
 * What a share partition looks like from outside: for administrators who want to know who holds which records, how often
 * they were delivered and when their locks end. Pure.
 */
import type { TopicIdPartition } from '../common/topic-id-partition.ts';
import type { InFlightUnit } from './in-flight-batch.ts';
import { isTerminal, RecordState } from './record-state.ts';
import type { LedPartition } from './share-partitions.ts';

/** Adjacent offsets with the same state, count, holder and lock. */
export interface InFlightRun {
  readonly firstOffset: bigint;
  readonly lastOffset: bigint;
  readonly state: RecordState;
  readonly deliveryCount: number;
  /** The member that holds the records; "" unless they are ACQUIRED. */
  readonly memberId: string;
  /** Until the acquisition lock ends, milliseconds; −1 where there is none. */
  readonly lockRemainingMs: number;
}

export interface InFlightRecords {
  readonly topicIdPartition: TopicIdPartition;
  readonly startOffset: bigint;
  /** One past the last offset that is tracked. */
  readonly nextOffset: bigint;
  /** Tracked records by what is to become of them: held, waiting for somebody, done. */
  readonly acquired: number;
  readonly available: number;
  readonly complete: number;
  /** Tracked records that are not done, by how often they were delivered; rising. */
  readonly deliveries: readonly { readonly deliveryCount: number; readonly records: number }[];
  /** By rising offset, as many as were asked for at most. */
  readonly runs: readonly InFlightRun[];
  readonly runsLeftOut: number;
}

/** What is tracked now, from the start offset on: records below it are nobody's concern any more. `nowMs` by the monotonic clock that locks are kept by. */
export function inFlightRecords(
  { topicIdPartition, partition }: LedPartition,
  nowMs: number,
  maxRuns: number,
): InFlightRecords {
  const runs: InFlightRun[] = [];
  const { startOffset } = partition;
  for (const batch of partition.batches) {
    batch.visit(startOffset, batch.last, (unit, first, last) => {
      addRun(runs, unit, Math.max(first, startOffset), last, nowMs);
    });
  }
  const sizeOf = (select: (run: InFlightRun) => boolean): number =>
    runs.filter(select).reduce((sum, run) => sum + size(run), 0);
  return {
    topicIdPartition,
    startOffset: BigInt(startOffset),
    nextOffset: (runs.at(-1)?.lastOffset ?? BigInt(startOffset - 1)) + 1n,
    acquired: sizeOf(({ state }) => state === RecordState.ACQUIRED),
    available: sizeOf(({ state }) => state === RecordState.AVAILABLE),
    complete: sizeOf(({ state }) => isTerminal(state)),
    deliveries: deliveriesOf(runs),
    runs: runs.slice(0, maxRuns),
    runsLeftOut: Math.max(0, runs.length - maxRuns),
  };
}

function addRun(runs: InFlightRun[], unit: InFlightUnit, first: number, last: number, nowMs: number): void {
  const { state, deliveryCount, memberId, lockDeadlineMs } = unit;
  const held = state === RecordState.ACQUIRED;
  const lockRemainingMs = held ? Math.max(0, Math.ceil(lockDeadlineMs - nowMs)) : -1;
  const run = { firstOffset: BigInt(first), lastOffset: BigInt(last), state, deliveryCount, memberId, lockRemainingMs };
  const before = runs.at(-1);
  if (before && continues(before, run)) runs[runs.length - 1] = { ...run, firstOffset: before.firstOffset };
  else runs.push(run);
}

function continues(before: InFlightRun, run: InFlightRun): boolean {
  const adjacent = before.lastOffset + 1n === run.firstOffset && before.state === run.state;
  const alike = before.deliveryCount === run.deliveryCount && before.memberId === run.memberId;
  return adjacent && alike && before.lockRemainingMs === run.lockRemainingMs;
}

function deliveriesOf(runs: readonly InFlightRun[]): InFlightRecords['deliveries'] {
  const byCount = new Map<number, number>();
  for (const run of runs) {
    if (!isTerminal(run.state)) byCount.set(run.deliveryCount, (byCount.get(run.deliveryCount) ?? 0) + size(run));
  }
  return [...byCount].sort(([a], [b]) => a - b).map(([deliveryCount, records]) => ({ deliveryCount, records }));
}

function size({ firstOffset, lastOffset }: InFlightRun): number {
  return Number(lastOffset - firstOffset) + 1;
}
