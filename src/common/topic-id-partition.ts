/** Kafka's TopicIdPartition, and the string key under which maps hold one. */
import type { Uuid } from './uuid.ts';

export interface TopicIdPartition {
  readonly topicId: Uuid;
  readonly partition: number;
}

/** A map key, `<topicId>-<partition>`: topic ids have a fixed length, so it is unambiguous. */
export type PartitionKey = string;

export function partitionKey(of: TopicIdPartition): PartitionKey {
  return `${of.topicId}-${of.partition}`;
}

export function parsePartitionKey(key: PartitionKey): TopicIdPartition {
  return { topicId: key.slice(0, 22), partition: Number(key.slice(23)) };
}

/** Order inside a shared log segment: topic id (as text), then partition. */
export function comparePartitions(a: TopicIdPartition, b: TopicIdPartition): number {
  if (a.topicId !== b.topicId) return a.topicId < b.topicId ? -1 : 1;
  return a.partition - b.partition;
}
