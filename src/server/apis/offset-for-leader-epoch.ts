/**
 * OffsetForLeaderEpoch: where an epoch ends, by which a consumer finds out whether its position was truncated (KIP-320).
 * Nothing is ever truncated here and every log has one epoch, which ends at the high watermark.
 */
import { type ErrorCode, Errors } from '../../common/errors.ts';
import type { ListOffsetsPartition } from '../../engine/diskless-engine.ts';
import type { TopicIndex } from '../../group/topic-index.ts';
import type { RequestOf, ResponseOf } from '../../protocol/api.ts';
import { offsetForLeaderEpoch } from '../../protocol/messages/offset-for-leader-epoch.ts';
import { answerPartitions, type PartitionLook } from '../answer-partitions.ts';
import { type ApiHandler, apiHandler } from '../api-handler.ts';
import type { Broker } from '../broker.ts';
import { checkLeaderEpoch, LEADER_EPOCH } from '../leader-epoch.ts';

type Topic = RequestOf<typeof offsetForLeaderEpoch>['topics'][number];
type Partition = Topic['partitions'][number];
type Answer = ResponseOf<typeof offsetForLeaderEpoch>['topics'][number]['partitions'][number];

const LATEST = -1n;

export function offsetForLeaderEpochHandler(broker: Broker): ApiHandler {
  return apiHandler<typeof offsetForLeaderEpoch>({
    api: offsetForLeaderEpoch,

    async handle({ topics }) {
      const index = await broker.topics.view();
      const answers = await answerPartitions({
        topics,
        partitionsOf: ({ partitions }) => partitions,
        look: ({ topic }, partition) => look(index, topic, partition),
        ask: (logs) => broker.engine.listOffsets(logs),
        answer: ({ partition }, result) => endOfEpoch(partition, result),
      });
      return { topics: topics.map(({ topic }, i) => ({ topic, partitions: answers[i]! })) };
    },

    errorResponse: (errorCode, { topics }) => ({
      topics: topics.map(({ topic, partitions }) => ({
        topic,
        partitions: partitions.map(({ partition }) => ({ partition, errorCode })),
      })),
    }),
  });
}

function look(
  index: TopicIndex,
  topic: string,
  { partition, currentLeaderEpoch, leaderEpoch }: Partition,
): PartitionLook<ListOffsetsPartition, Answer> {
  const topicIdPartition = index.partition(index.byName(topic), partition);
  if (!topicIdPartition) return { answer: { partition, errorCode: Errors.UNKNOWN_TOPIC_OR_PARTITION } };
  const errorCode = checkLeaderEpoch(currentLeaderEpoch);
  // An epoch that never was has neither epoch nor end: the defaults.
  if (errorCode !== Errors.NONE || leaderEpoch !== LEADER_EPOCH) return { answer: { partition, errorCode } };
  return { ask: { topicIdPartition, timestamp: LATEST } };
}

function endOfEpoch(partition: number, { error, offset }: { error: ErrorCode; offset: bigint }): Answer {
  if (error !== Errors.NONE) return { partition, errorCode: error };
  return { partition, errorCode: Errors.NONE, leaderEpoch: LEADER_EPOCH, endOffset: offset };
}
