/** Sets of partitions, by key, and the few operations on them that assignments need. Values are never changed. */
import { type PartitionKey, parsePartitionKey } from '../../common/topic-id-partition.ts';
import type { Uuid } from '../../common/uuid.ts';

export type PartitionSet = ReadonlySet<PartitionKey>;

/** How assignments stand in messages. */
export interface TopicPartitions {
  readonly topicId: Uuid;
  readonly partitions: readonly number[];
}

export const NO_PARTITIONS: PartitionSet = new Set();

export function union(a: PartitionSet, b: PartitionSet): PartitionSet {
  if (a.size === 0) return b;
  return b.size === 0 ? a : new Set([...a, ...b]);
}

export function intersection(a: PartitionSet, b: PartitionSet): PartitionSet {
  return filtered(a, (key) => b.has(key));
}

export function difference(a: PartitionSet, b: PartitionSet): PartitionSet {
  return filtered(a, (key) => !b.has(key));
}

export function intersects(a: PartitionSet, b: PartitionSet): boolean {
  for (const key of a) if (b.has(key)) return true;
  return false;
}

export function isSubset(a: PartitionSet, b: PartitionSet): boolean {
  for (const key of a) if (!b.has(key)) return false;
  return true;
}

export function sameSet(a: PartitionSet, b: PartitionSet): boolean {
  return a === b || (a.size === b.size && isSubset(a, b));
}

/** The set itself when every element passes. */
export function filtered(set: PartitionSet, passes: (key: PartitionKey) => boolean): PartitionSet {
  const kept = [...set].filter(passes);
  return kept.length === set.size ? set : new Set(kept);
}

/** A key begins with its topic's id, which has a fixed length. */
export function topicIdOf(key: PartitionKey): Uuid {
  return key.slice(0, 22);
}

export function ofTopics(set: PartitionSet, topicIds: ReadonlySet<Uuid>): PartitionSet {
  return filtered(set, (key) => topicIds.has(topicIdOf(key)));
}

export function fromTopics(topics: readonly TopicPartitions[]): PartitionSet {
  const keys = new Set<PartitionKey>();
  for (const { topicId, partitions } of topics) for (const partition of partitions) keys.add(`${topicId}-${partition}`);
  return keys;
}

/** Grouped by topic, partitions rising. */
export function toTopics(set: PartitionSet): TopicPartitions[] {
  const byTopic = new Map<Uuid, number[]>();
  for (const key of set) {
    const { topicId, partition } = parsePartitionKey(key);
    const partitions = byTopic.get(topicId);
    if (partitions) partitions.push(partition);
    else byTopic.set(topicId, [partition]);
  }
  return [...byTopic].map(([topicId, partitions]) => ({ topicId, partitions: partitions.sort((a, b) => a - b) }));
}
