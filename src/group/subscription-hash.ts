/** Whether what a group is subscribed to has changed: topics that came, went or got partitions. */
import { createHash } from 'node:crypto';
import type { Uuid } from '../common/uuid.ts';
import type { TopicIndex } from './topic-index.ts';

/** The same text for the same topics with the same partitions. */
export function subscriptionHash(topicIds: ReadonlySet<Uuid>, topics: TopicIndex): string {
  const lines = [...topicIds].sort().map((topicId) => `${topicId} ${topics.byId(topicId)?.partitions ?? 0}`);
  return createHash('sha256').update(lines.join('\n')).digest('base64');
}
