/** DescribeProducers (KIP-664): what the coordinator remembers of the idempotent producers of partitions. */
import { type ErrorCode, Errors } from '../../common/errors.ts';
import type { TopicIdPartition } from '../../common/topic-id-partition.ts';
import type { ProducerStateDescription } from '../../coordinator/diskless-coordinator.ts';
import { answered } from '../../engine/coordinator-failure.ts';
import type { TopicIndex } from '../../group/topic-index.ts';
import type { ResponseOf } from '../../protocol/api.ts';
import { describeProducers } from '../../protocol/messages/describe-producers.ts';
import { answerPartitions, type PartitionLook, refuseTooMany } from '../answer-partitions.ts';
import { type ApiHandler, apiHandler } from '../api-handler.ts';
import type { Broker } from '../broker.ts';

type Answer = ResponseOf<typeof describeProducers>['topics'][number]['partitions'][number];

/** What Kafka has for a producer that is in no transaction. */
const NO_COORDINATOR_EPOCH = -1;

export function describeProducersHandler(broker: Broker): ApiHandler {
  return apiHandler<typeof describeProducers>({
    api: describeProducers,

    async handle({ topics }) {
      const index = await broker.topics.view();
      refuseTooMany(topics.map(({ partitionIndexes }) => partitionIndexes));
      const answers = await answerPartitions({
        topics,
        partitionsOf: ({ partitionIndexes }) => partitionIndexes,
        look: ({ name }, partition) => look(index, name, partition),
        ask: (partitions) => answered(broker.coordinator.describeProducers(partitions)),
        answer: (partitionIndex, producers) => ({
          partitionIndex,
          errorCode: Errors.NONE,
          activeProducers: producers.map(activeProducer),
        }),
      });
      return { topics: topics.map(({ name }, i) => ({ name, partitions: answers[i]! })) };
    },

    errorResponse: (error, { topics }) => ({
      topics: topics.map(({ name, partitionIndexes }) => ({
        name,
        partitions: partitionIndexes.map((partition) => failed(partition, error)),
      })),
    }),
  });
}

function look(index: TopicIndex, name: string, partition: number): PartitionLook<TopicIdPartition, Answer> {
  const topicIdPartition = index.partition(index.byName(name), partition);
  return topicIdPartition
    ? { ask: topicIdPartition }
    : { answer: failed(partition, Errors.UNKNOWN_TOPIC_OR_PARTITION) };
}

function activeProducer({ producerId, producerEpoch, lastSequence, lastTimestampMs }: ProducerStateDescription) {
  return {
    producerId,
    producerEpoch,
    lastSequence,
    lastTimestamp: lastTimestampMs,
    coordinatorEpoch: NO_COORDINATOR_EPOCH,
  };
}

function failed(partitionIndex: number, errorCode: ErrorCode): Answer {
  return { partitionIndex, errorCode, activeProducers: [] };
}
