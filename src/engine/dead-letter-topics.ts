/**
 * The dead-letter queues of groups: which topic each has, whether the cluster and the topic allow it, and making the topic
 * where that is allowed. Looked at anew for every round, since all of it may change. Main thread; holds nothing.
 */
import {
  type DeadLetterConfig,
  deadLetterTopicProblem,
  deadLetterTopicRefusal,
  parseDeadLetterConfig,
} from '../common/dead-letter-config.ts';
import { Errors } from '../common/errors.ts';
import type { Random } from '../common/random.ts';
import { parseTopicConfig } from '../common/topic-config.ts';
import type { Uuid } from '../common/uuid.ts';
import type { DisklessCoordinator } from '../coordinator/diskless-coordinator.ts';
import type { TopicDescription } from '../coordinator/topic-store.ts';
import { answered } from './coordinator-failure.ts';
import type { ShareConfigs } from './share-configs.ts';
import { createTopics } from './topic-admin.ts';

export interface DeadLetterTopic {
  readonly topicId: Uuid;
  readonly partitions: number;
  readonly maxMessageBytes: number;
  /** `errors.deadletterqueue.copy.record.enable` of the group. */
  readonly copyRecord: boolean;
}

/** Why a group's records go nowhere. */
export class NoDeadLetterTopic {
  readonly message: string;

  constructor(message: string) {
    this.message = message;
  }
}

export interface DeadLetterTopicsOptions {
  readonly coordinator: DisklessCoordinator;
  readonly configs: ShareConfigs;
  readonly random: Random;
  /** `num.partitions`, for a topic that is made. */
  readonly numPartitions: number;
}

/** As Kafka makes them; a copy's timestamp says when the record was given up. */
const NEW_TOPIC_CONFIGS = { 'errors.deadletterqueue.group.enable': 'true', 'message.timestamp.type': 'CreateTime' };

export class DeadLetterTopics {
  readonly #options: DeadLetterTopicsOptions;

  constructor(options: DeadLetterTopicsOptions) {
    this.#options = options;
  }

  /** By group. @throws ApiError when the coordinator does not answer */
  async of(groupIds: readonly string[]): Promise<ReadonlyMap<string, DeadLetterTopic | NoDeadLetterTopic>> {
    const cluster = parseDeadLetterConfig(await answered(this.#options.coordinator.readConfigs('broker')));
    const topics = new Map<string, DeadLetterTopic | NoDeadLetterTopic>();
    for (const groupId of new Set(groupIds)) topics.set(groupId, await this.#topicOf(groupId, cluster));
    return topics;
  }

  async #topicOf(groupId: string, cluster: DeadLetterConfig): Promise<DeadLetterTopic | NoDeadLetterTopic> {
    const { configs } = this.#options;
    await answered(configs.refresh(groupId));
    const { deadLetterTopic: name, deadLetterCopyRecord: copyRecord } = configs.of(groupId);
    if (name === '') return new NoDeadLetterTopic('the group has no dead-letter queue any more');
    const problem = deadLetterTopicProblem(name) ?? deadLetterTopicRefusal(name, cluster);
    if (problem !== undefined) return new NoDeadLetterTopic(`errors.deadletterqueue.topic.name: ${problem}`);
    const topic = (await this.#find(name)) ?? (cluster.autoCreateTopics ? await this.#create(name) : undefined);
    if (topic instanceof NoDeadLetterTopic) return topic;
    if (!topic) {
      const remedy = 'create it, or set errors.deadletterqueue.auto.create.topics.enable for the cluster';
      return new NoDeadLetterTopic(`topic ${name} does not exist; ${remedy}`);
    }
    const { deadLetterQueueEnabled, maxMessageBytes } = parseTopicConfig(topic.configs);
    if (!deadLetterQueueEnabled) {
      return new NoDeadLetterTopic(`topic ${name} is not set to errors.deadletterqueue.group.enable=true`);
    }
    return { topicId: topic.topicId, partitions: topic.partitions, maxMessageBytes, copyRecord };
  }

  async #find(name: string): Promise<TopicDescription | undefined> {
    return (await answered(this.#options.coordinator.listTopics())).find((topic) => topic.name === name);
  }

  async #create(name: string): Promise<TopicDescription | NoDeadLetterTopic> {
    const { coordinator, random, numPartitions: partitions } = this.#options;
    const wanted = { name, partitions, configs: NEW_TOPIC_CONFIGS };
    const [created] = await createTopics(coordinator, random, [wanted], false);
    // Another broker may have been quicker.
    const isThere = created!.error === Errors.NONE || created!.error === Errors.TOPIC_ALREADY_EXISTS;
    const topic = isThere ? await this.#find(name) : undefined;
    return topic ?? new NoDeadLetterTopic(`topic ${name} could not be created: ${created!.message}`);
  }
}
