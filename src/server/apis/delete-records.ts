/** DeleteRecords: moves log start offsets, also into the middle of a batch. */
import { type ErrorCode, Errors } from '../../common/errors.ts';
import type { DeleteRecordsRequest } from '../../coordinator/diskless-coordinator.ts';
import type { TopicIndex } from '../../group/topic-index.ts';
import type { RequestOf, ResponseOf } from '../../protocol/api.ts';
import { deleteRecords } from '../../protocol/messages/delete-records.ts';
import { withinTimeout } from '../admin-timeout.ts';
import { answerPartitions, type PartitionLook, refuseTooMany } from '../answer-partitions.ts';
import { type ApiHandler, apiHandler } from '../api-handler.ts';
import type { Broker } from '../broker.ts';

type Topic = RequestOf<typeof deleteRecords>['topics'][number];
type Partition = Topic['partitions'][number];
type Answer = ResponseOf<typeof deleteRecords>['topics'][number]['partitions'][number];

export function deleteRecordsHandler(broker: Broker): ApiHandler {
  return apiHandler<typeof deleteRecords>({
    api: deleteRecords,

    async handle({ topics, timeoutMs }) {
      const index = await broker.topics.view();
      refuseTooMany(topics.map(({ partitions }) => partitions));
      const answers = await answerPartitions({
        topics,
        partitionsOf: ({ partitions }) => partitions,
        look: ({ name }, partition) => look(index, name, partition),
        ask: (requests) => withinTimeout(broker.time, timeoutMs, broker.engine.deleteRecords(requests)),
        answer: ({ partitionIndex }, { error, lowWatermark }) => ({ partitionIndex, lowWatermark, errorCode: error }),
      });
      return { topics: topics.map(({ name }, i) => ({ name, partitions: answers[i]! })) };
    },

    errorResponse: (error, { topics }) => ({
      topics: topics.map(({ name, partitions }) => ({
        name,
        partitions: partitions.map((partition) => failed(partition, error)),
      })),
    }),
  });
}

function look(index: TopicIndex, name: string, partition: Partition): PartitionLook<DeleteRecordsRequest, Answer> {
  const topicIdPartition = index.partition(index.byName(name), partition.partitionIndex);
  return topicIdPartition
    ? { ask: { topicIdPartition, beforeOffset: partition.offset } }
    : { answer: failed(partition, Errors.UNKNOWN_TOPIC_OR_PARTITION) };
}

function failed({ partitionIndex }: Partition, errorCode: ErrorCode): Answer {
  return { partitionIndex, lowWatermark: -1n, errorCode };
}
