/** CreateTopics: what Kafka's controller checks about placement, then the engine's checks of name, count and configs. */
import { type ErrorCode, Errors } from '../../common/errors.ts';
import { ZERO_UUID } from '../../common/uuid.ts';
import type { NewTopic } from '../../engine/diskless-engine.ts';
import type { RequestOf, ResponseOf } from '../../protocol/api.ts';
import { createTopics } from '../../protocol/messages/create-topics.ts';
import { type ApiHandler, apiHandler } from '../api-handler.ts';
import type { Broker } from '../broker.ts';
import { isInternalTopic } from '../topic-names.ts';

type CreateTopicsRequest = RequestOf<typeof createTopics>;
type CreateTopicsResponse = ResponseOf<typeof createTopics>;
type CreatableTopic = CreateTopicsRequest['topics'][number];
type CreatableTopicResult = CreateTopicsResponse['topics'][number];

interface Refusal {
  readonly error: ErrorCode;
  readonly message: string;
}

/** "As the broker is configured." */
const DEFAULT = -1;
/** Kafka's own bound of one request. */
const MAX_PARTITIONS_PER_REQUEST = 10_000;

export function createTopicsHandler(broker: Broker): ApiHandler {
  return apiHandler<typeof createTopics>({
    api: createTopics,

    async handle(request) {
      const { topics, validateOnly } = request;
      const partitionsOf = (topic: CreatableTopic): number =>
        topic.numPartitions === DEFAULT ? broker.settings.numPartitions : topic.numPartitions;
      const asked = topics.reduce((sum, topic) => sum + Math.max(0, partitionsOf(topic)), 0);
      if (asked > MAX_PARTITIONS_PER_REQUEST) return everywhere(request, tooMany(asked));
      const twice = namesStandingTwice(topics);
      const refusals = topics.map((topic) => refusalOf(topic, twice));
      const accepted = topics.filter((_, index) => !refusals[index]);
      const created = await broker.engine.createTopics(
        accepted.map((topic) => newTopic(topic, partitionsOf(topic))),
        { validateOnly },
      );
      let next = 0;
      return {
        topics: topics.map((topic, index) => {
          const refusal = refusals[index];
          if (refusal) return failed(topic, refusal);
          const { error, message, topicId } = created[next++]!;
          if (error !== Errors.NONE) return failed(topic, { error, message });
          return succeeded(topic, topicId, partitionsOf(topic));
        }),
      };
    },

    errorResponse: (error, request) => everywhere(request, { error, message: '' }),
  });
}

function everywhere({ topics }: CreateTopicsRequest, refusal: Refusal): CreateTopicsResponse {
  return { topics: topics.map((topic) => failed(topic, refusal)) };
}

function tooMany(asked: number): Refusal {
  const message = `${asked} partitions asked for in one request; at most ${MAX_PARTITIONS_PER_REQUEST} are allowed`;
  return { error: Errors.POLICY_VIOLATION, message };
}

function namesStandingTwice(topics: readonly CreatableTopic[]): ReadonlySet<string> {
  const seen = new Set<string>();
  return new Set(topics.map(({ name }) => name).filter((name) => seen.has(name) || !seen.add(name)));
}

function refusalOf(topic: CreatableTopic, twice: ReadonlySet<string>): Refusal | undefined {
  const { name, numPartitions, replicationFactor, assignments } = topic;
  if (twice.has(name)) return refuse('INVALID_REQUEST', `topic ${name} stands twice in the request`);
  if (isInternalTopic(name)) return refuse('INVALID_TOPIC_EXCEPTION', `${name} is an internal topic`);
  if (assignments.length > 0) {
    const message =
      'partitions are not assigned to brokers here, any broker serves any partition; leave the assignment out';
    return refuse('INVALID_REPLICA_ASSIGNMENT', message);
  }
  if (replicationFactor !== DEFAULT && replicationFactor !== 1) {
    const message = `replication factor ${replicationFactor}: the object storage keeps the copies; use 1 or -1`;
    return refuse('INVALID_REPLICATION_FACTOR', message);
  }
  if (numPartitions !== DEFAULT && numPartitions < 1) {
    return refuse('INVALID_PARTITIONS', `${numPartitions} partitions asked for; at least 1 is needed, or -1`);
  }
  return configRefusal(topic);
}

/** Compaction is the engine's to check, but nothing compacts yet, so this host does not promise it. */
function configRefusal({ configs }: CreatableTopic): Refusal | undefined {
  const nameless = configs.find(({ value }) => value === null);
  if (nameless) return refuse('INVALID_CONFIG', `${nameless.name}: a value is needed`);
  const policy = configs.find(({ name }) => name === 'cleanup.policy')?.value ?? '';
  if (!policy.split(',').some((part) => part.trim() === 'compact')) return undefined;
  return refuse('INVALID_CONFIG', 'cleanup.policy: compaction is not built yet; use delete');
}

function refuse(name: keyof typeof Errors, message: string): Refusal {
  return { error: Errors[name], message };
}

function newTopic({ name, configs }: CreatableTopic, partitions: number): NewTopic {
  return { name, partitions, configs: Object.fromEntries(configs.map((config) => [config.name, config.value!])) };
}

function failed({ name }: CreatableTopic, { error, message }: Refusal): CreatableTopicResult {
  return { name, topicId: ZERO_UUID, errorCode: error, errorMessage: message === '' ? null : message };
}

function succeeded({ name }: CreatableTopic, topicId: string, numPartitions: number): CreatableTopicResult {
  return { name, topicId, errorCode: Errors.NONE, numPartitions, replicationFactor: 1 };
}
