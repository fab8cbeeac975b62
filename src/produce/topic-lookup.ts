/** What the append path asks about topics; the engine's topic catalog answers. */
import type { TopicConfig } from '../common/topic-config.ts';
import type { Uuid } from '../common/uuid.ts';

export interface KnownTopic {
  readonly name: string;
  readonly partitions: number;
  readonly config: TopicConfig;
}

export interface TopicLookup {
  /** From memory. */
  find(topicId: Uuid): KnownTopic | undefined;
  /** Asks the coordinator anew, then as `find`: a topic created by another process may not be known here yet. */
  refreshed(topicId: Uuid): Promise<KnownTopic | undefined>;
}
