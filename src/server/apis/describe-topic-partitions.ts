/** DescribeTopicPartitions (KIP-966): topics by name, in pages. */
import { ApiError, Errors } from '../../common/errors.ts';
import { topicNameProblem } from '../../common/topic-name.ts';
import { ZERO_UUID } from '../../common/uuid.ts';
import type { TopicDescription } from '../../coordinator/topic-store.ts';
import type { TopicIndex } from '../../group/topic-index.ts';
import type { RequestOf, ResponseOf } from '../../protocol/api.ts';
import { describeTopicPartitions } from '../../protocol/messages/describe-topic-partitions.ts';
import { type ApiHandler, apiHandler } from '../api-handler.ts';
import { authorizedOperations } from '../authorized-operations.ts';
import type { Broker } from '../broker.ts';
import { ledPartitions } from '../led-partitions.ts';
import { isInternalTopic } from '../topic-names.ts';

type Request = RequestOf<typeof describeTopicPartitions>;
type Response = ResponseOf<typeof describeTopicPartitions>;
type Topic = Response['topics'][number];

/** Kafka's `max.request.partition.size.limit`. */
const MAX_PARTITIONS_PER_PAGE = 2_000;

export function describeTopicPartitionsHandler(broker: Broker): ApiHandler {
  return apiHandler<typeof describeTopicPartitions>({
    api: describeTopicPartitions,
    handle: async (request) => page(broker, await broker.topics.view(), request),
    errorResponse: (errorCode, { topics }) => ({ topics: topics.map(({ name }) => unknown(name, errorCode)) }),
  });
}

/** A topic that has gone since the cursor was given out ends nothing: the page begins with the next one. */
function page(broker: Broker, index: TopicIndex, { topics, responsePartitionLimit, cursor }: Request): Response {
  if (cursor && cursor.partitionIndex < 0) {
    throw new ApiError('INVALID_REQUEST', `the cursor points to partition ${cursor.partitionIndex}`);
  }
  const asked = topics.length === 0 ? index.names : topics.map(({ name }) => name);
  const names = [...new Set(asked)].sort().filter((name) => !cursor || name >= cursor.topicName);
  let left = Math.max(1, Math.min(responsePartitionLimit, MAX_PARTITIONS_PER_PAGE));
  const described: Topic[] = [];
  for (const name of names) {
    const first = name === cursor?.topicName ? cursor.partitionIndex : 0;
    if (left === 0) return { topics: described, nextCursor: { topicName: name, partitionIndex: first } };
    const topic = describe(broker, index, name, first, left);
    described.push(topic);
    // What there is not counts, too, so that no list of names makes a page endless.
    left -= Math.max(1, topic.partitions.length);
    const next = first + topic.partitions.length;
    if (next < (index.byName(name)?.partitions ?? 0)) {
      return { topics: described, nextCursor: { topicName: name, partitionIndex: next } };
    }
  }
  return { topics: described };
}

function describe(broker: Broker, index: TopicIndex, name: string, first: number, limit: number): Topic {
  if (topicNameProblem(name) !== undefined) return unknown(name, Errors.INVALID_TOPIC_EXCEPTION);
  const topic = index.byName(name);
  return topic ? known(broker, topic, first, limit) : unknown(name, Errors.UNKNOWN_TOPIC_OR_PARTITION);
}

function known(
  { nodeId }: Broker,
  { name, topicId, partitions }: TopicDescription,
  first: number,
  limit: number,
): Topic {
  const noOthers = { eligibleLeaderReplicas: [], lastKnownElr: [], offlineReplicas: [] };
  const count = Math.max(0, Math.min(limit, partitions - first));
  return {
    errorCode: Errors.NONE,
    name,
    topicId,
    isInternal: isInternalTopic(name),
    partitions: ledPartitions(nodeId, first, count).map((partition) => ({ ...partition, ...noOthers })),
    topicAuthorizedOperations: authorizedOperations('topic', true),
  };
}

function unknown(name: string, errorCode: number): Topic {
  return { errorCode, name, topicId: ZERO_UUID, partitions: [] };
}
