/** From results by partition to what responses have: partitions under their topics. */
import type { TopicIdPartition } from '../common/topic-id-partition.ts';
import type { Uuid } from '../common/uuid.ts';

/** Results by topic, in the order in which topics first come up. */
export function byTopic<R extends { readonly topicIdPartition: TopicIdPartition }, P>(
  results: readonly R[],
  respond: (result: R) => P,
): { topicId: Uuid; partitions: P[] }[] {
  const topics = new Map<Uuid, P[]>();
  for (const result of results) {
    const { topicId } = result.topicIdPartition;
    const partitions = topics.get(topicId);
    if (partitions) partitions.push(respond(result));
    else topics.set(topicId, [respond(result)]);
  }
  return [...topics].map(([topicId, partitions]) => ({ topicId, partitions }));
}
