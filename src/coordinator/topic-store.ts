/** The coordinator's part that keeps topics: names, ids, partition counts, configs. Durable when a call resolves. */
import type { ErrorCode } from '../common/errors.ts';
import type { Uuid } from '../common/uuid.ts';

export interface TopicDescription {
  readonly topicId: Uuid;
  readonly name: string;
  readonly partitions: number;
  /** What was set, by Kafka's names; a config that is absent has its default. Validated by whoever sets it. */
  readonly configs: Readonly<Record<string, string>>;
}

export interface CreateTopicRequest {
  readonly topicId: Uuid;
  readonly name: string;
  /** 1 to 50,000. */
  readonly partitions: number;
  readonly configs: Readonly<Record<string, string>>;
}

export interface TopicStore {
  /** NONE or TOPIC_ALREADY_EXISTS per topic, in request order. Each is created whole or not at all. */
  createTopics(requests: readonly CreateTopicRequest[]): Promise<{ readonly error: ErrorCode }[]>;

  /** Raises partition counts. NONE, UNKNOWN_TOPIC_OR_PARTITION, or INVALID_PARTITIONS when it would not grow. */
  createPartitions(
    requests: readonly { readonly topicId: Uuid; readonly partitions: number }[],
  ): Promise<{ readonly error: ErrorCode }[]>;

  /**
   * Forgets topics with their partitions, producer states and group offsets; their objects become deletable once nothing
   * else is in them. NONE or UNKNOWN_TOPIC_ID. The name is free at once; coordinates go in bounded steps afterwards.
   */
  deleteTopics(topicIds: readonly Uuid[]): Promise<{ readonly error: ErrorCode }[]>;

  /** Replaces configs: a value sets, null removes. NONE or UNKNOWN_TOPIC_ID. */
  alterTopicConfigs(
    requests: readonly { readonly topicId: Uuid; readonly changes: Readonly<Record<string, string | null>> }[],
  ): Promise<{ readonly error: ErrorCode }[]>;

  /** All topics by name. Answered from memory kept current by change notifications; cheap enough for every Metadata. */
  listTopics(): Promise<readonly TopicDescription[]>;

  /** Settings of the cluster and of groups, by scope (`broker`, `group:<id>`): a value sets, null removes. */
  alterConfigs(scope: string, changes: Readonly<Record<string, string | null>>): Promise<void>;
  readConfigs(scope: string): Promise<Readonly<Record<string, string>>>;
  /** The scopes that begin with `prefix` and have something set, in no order. */
  listConfigScopes(prefix: string): Promise<string[]>;
}
