/** Fairness between the partitions of one ShareFetch: order, bytes, and which log batches go out. Pure. */
import { type Random, randomInt } from '../common/random.ts';
import type { LogBatch } from './acquire.ts';

/** The session's list rotated left by its epoch, so that each partition comes first in turn. */
export function rotatePartitions<T>(partitions: readonly T[], sessionEpoch: number): T[] {
  const by = sessionEpoch < 1 || partitions.length < 2 ? 0 : sessionEpoch % partitions.length;
  return [...partitions.slice(by), ...partitions.slice(0, by)];
}

/**
 * Bytes for each of `count` partitions out of a budget shared by `acquired` of them; what does not divide goes to a random
 * one. When there are fewer bytes than partitions, partitions in a row from a random one on get one each.
 */
export function partitionMaxBytes(requestMaxBytes: number, count: number, acquired: number, random: Random): number[] {
  if (count === 0) return [];
  const each = Math.floor(requestMaxBytes / acquired);
  const rest = requestMaxBytes - each * acquired;
  const start = randomInt(random, 0, count - 1);
  return Array.from({ length: count }, (_, index) => {
    const distance = (index - start + count) % count;
    if (each === 0) return distance < rest ? 1 : 0;
    return distance === 0 ? each + rest : each;
  });
}

/**
 * The log batches to return with acquired ranges, as indexes: from the last one that begins at or before the first
 * acquired offset to the last one that begins at or before the last acquired offset. The client filters by the ranges.
 */
export function sliceLogBatches(
  batches: readonly LogBatch[],
  acquired: readonly LogBatch[],
): { readonly firstBatch: number; readonly lastBatch: number } | undefined {
  const first = acquired[0];
  const last = acquired[acquired.length - 1];
  if (!first || !last || batches.length === 0) return undefined;
  const holding = (offset: number): number =>
    Math.max(
      0,
      batches.findLastIndex((batch) => batch.first <= offset),
    );
  return { firstBatch: holding(first.first), lastBatch: holding(last.last) };
}
