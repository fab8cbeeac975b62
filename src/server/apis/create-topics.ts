/** CreateTopics: what Kafka's controller checks about placement, then the engine's checks of name, count and configs. */
import type { Configs } from '../../common/config-definition.ts';
import { standingTwice } from '../../common/duplicates.ts';
import { ApiError, type ErrorCode, Errors } from '../../common/errors.ts';
import { ZERO_UUID } from '../../common/uuid.ts';
import type { NewTopic } from '../../engine/diskless-engine.ts';
import type { RequestOf, ResponseOf } from '../../protocol/api.ts';
import { createTopics } from '../../protocol/messages/create-topics.ts';
import { withinTimeout } from '../admin-timeout.ts';
import { type ApiHandler, apiHandler } from '../api-handler.ts';
import type { Broker } from '../broker.ts';
import { readBrokerDefaults } from '../configs/broker-configs.ts';
import { describeTarget } from '../configs/describe-target.ts';
import { configsOfNewTopic, topicTarget } from '../configs/topic-configs.ts';
import { errorMessage } from '../error-message.ts';
import { tooManyPartitions } from '../partition-limits.ts';
import { assignmentProblem } from '../replica-assignment.ts';
import { isInternalTopic } from '../topic-names.ts';

type CreateTopicsRequest = RequestOf<typeof createTopics>;
type CreateTopicsResponse = ResponseOf<typeof createTopics>;
type CreatableTopic = CreateTopicsRequest['topics'][number];
type CreatableTopicResult = CreateTopicsResponse['topics'][number];

interface Refusal {
  readonly error: ErrorCode;
  readonly message: string;
}

/** "As the broker is configured", or as the assignments say. */
const DEFAULT = -1;

export function createTopicsHandler(broker: Broker): ApiHandler {
  return apiHandler<typeof createTopics>({
    api: createTopics,

    async handle(request) {
      const { topics, validateOnly, timeoutMs } = request;
      const tooMany = tooManyPartitions(topics.map((topic) => partitionsOf(broker, topic)));
      if (tooMany !== undefined) return everywhere(request, { error: Errors.POLICY_VIOLATION, message: tooMany });
      const brokerDefaults = await readBrokerDefaults(broker);
      const twice = standingTwice(topics.map(({ name }) => name));
      const checked = topics.map((topic) => check(broker, topic, twice));
      const accepted = checked.filter((one) => 'name' in one);
      const work = broker.engine.createTopics(accepted, { validateOnly });
      const created = (await withinTimeout(broker.time, timeoutMs, work)).values();
      const answer = (one: NewTopic | Refusal, { name }: CreatableTopic): CreatableTopicResult => {
        if (!('name' in one)) return failed(name, one);
        const { error, message, topicId } = created.next().value!;
        return error === Errors.NONE ? succeeded(one, topicId, brokerDefaults) : failed(name, { error, message });
      };
      return { topics: checked.map((one, index) => answer(one, topics[index]!)) };
    },

    errorResponse: (error, request) => everywhere(request, { error, message: '' }),
  });
}

function everywhere({ topics }: CreateTopicsRequest, refusal: Refusal): CreateTopicsResponse {
  return { topics: topics.map(({ name }) => failed(name, refusal)) };
}

function partitionsOf({ settings }: Broker, { numPartitions, assignments }: CreatableTopic): number {
  if (numPartitions !== DEFAULT) return numPartitions;
  return assignments.length > 0 ? assignments.length : settings.numPartitions;
}

/** The topic as the engine takes it, or why not. */
function check(broker: Broker, topic: CreatableTopic, twice: ReadonlySet<string>): NewTopic | Refusal {
  const { name, configs } = topic;
  try {
    if (twice.has(name)) throw new ApiError('INVALID_REQUEST', `topic ${name} stands twice in the request`);
    if (isInternalTopic(name)) throw new ApiError('INVALID_TOPIC_EXCEPTION', `${name} is an internal topic`);
    if (topic.assignments.length > 0) checkAssignments(broker, topic);
    else checkCounts(topic);
    const kept = configsOfNewTopic(configs);
    logLeftOut(broker, topic, kept);
    return { name, partitions: partitionsOf(broker, topic), configs: kept };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { error: error.errorCode, message: error.message };
  }
}

/** The client is not told, for it must not fail; whoever runs the broker can look it up. */
function logLeftOut({ logger }: Broker, { name, configs }: CreatableTopic, kept: Configs): void {
  const leftOut = configs.map((config) => config.name).filter((config) => !Object.hasOwn(kept, config));
  if (leftOut.length > 0) logger.info({ topic: name, configs: leftOut }, 'topic configs without effect were left out');
}

function checkCounts({ numPartitions, replicationFactor }: CreatableTopic): void {
  if (replicationFactor !== DEFAULT && replicationFactor !== 1) {
    const message = `replication factor ${replicationFactor}: the object storage keeps the copies; use 1 or -1`;
    throw new ApiError('INVALID_REPLICATION_FACTOR', message);
  }
  if (numPartitions === DEFAULT || numPartitions >= 1) return;
  const message = `${numPartitions} partitions asked for; at least 1 is needed, or -1 for the default`;
  throw new ApiError('INVALID_PARTITIONS', message);
}

function checkAssignments({ nodeId }: Broker, { numPartitions, replicationFactor, assignments }: CreatableTopic): void {
  if (numPartitions !== DEFAULT || replicationFactor !== DEFAULT) {
    const message = 'with assignments, the number of partitions and the replication factor must be -1';
    throw new ApiError('INVALID_REQUEST', message);
  }
  const indexes = assignments.map(({ partitionIndex }) => partitionIndex).sort((a, b) => a - b);
  if (indexes.some((partition, index) => partition !== index)) {
    throw new ApiError('INVALID_REPLICA_ASSIGNMENT', 'the partitions assigned must be 0, 1, 2 and so on, each once');
  }
  const problem = assignments.map(({ brokerIds }) => assignmentProblem(nodeId, brokerIds)).find((one) => one);
  if (problem !== undefined) throw new ApiError('INVALID_REPLICA_ASSIGNMENT', problem);
}

function failed(name: string, { error, message }: Refusal): CreatableTopicResult {
  return { name, topicId: ZERO_UUID, errorCode: error, errorMessage: errorMessage(message) };
}

function succeeded({ name, partitions, configs = {} }: NewTopic, topicId: string, brokers: Configs) {
  const target = topicTarget(configs, brokers, async () => {});
  return {
    name,
    topicId,
    errorCode: Errors.NONE,
    numPartitions: partitions,
    replicationFactor: 1,
    configs: describeTarget(target, null),
  };
}
