/** ListOffsets: the offset of a time, or one of Kafka's special timestamps. */
import { standingTwice } from '../../common/duplicates.ts';
import { type ErrorCode, Errors } from '../../common/errors.ts';
import type { ListOffsetsPartition, ListOffsetsPartitionResult } from '../../engine/diskless-engine.ts';
import type { TopicIndex } from '../../group/topic-index.ts';
import type { RequestOf, ResponseOf } from '../../protocol/api.ts';
import { listOffsets } from '../../protocol/messages/list-offsets.ts';
import { answerPartitions, type PartitionLook } from '../answer-partitions.ts';
import { type ApiHandler, apiHandler } from '../api-handler.ts';
import type { Broker } from '../broker.ts';
import { checkLeaderEpoch } from '../leader-epoch.ts';

type Topic = RequestOf<typeof listOffsets>['topics'][number];
type Partition = Topic['partitions'][number];
type Answer = ResponseOf<typeof listOffsets>['topics'][number]['partitions'][number];

/** The version that brought each special timestamp; earlier ones answer UNSUPPORTED_VERSION. */
const SPECIAL_SINCE: ReadonlyMap<bigint, number> = new Map([
  [-1n, 1],
  [-2n, 1],
  [-3n, 7],
  [-4n, 8],
  [-5n, 9],
  [-6n, 11],
]);

/** Where the upload to tiered storage stands (KIP-1023): there is none, so that nothing is pending. */
const EARLIEST_PENDING_UPLOAD = -6n;

export function listOffsetsHandler(broker: Broker): ApiHandler {
  return apiHandler<typeof listOffsets>({
    api: listOffsets,

    async handle({ topics }, { apiVersion }) {
      const index = await broker.topics.view();
      const keys = topics.flatMap(({ name, partitions }) => partitions.map((partition) => keyOf(name, partition)));
      const twice = standingTwice(keys);
      const answers = await answerPartitions({
        topics,
        partitionsOf: ({ partitions }) => partitions,
        // Each of the answers of a partition that stands twice is an error, as in Kafka.
        look: ({ name }, partition) =>
          twice.has(keyOf(name, partition))
            ? { answer: failed(partition, Errors.INVALID_REQUEST) }
            : look(index, name, partition, apiVersion),
        ask: (partitions) => broker.engine.listOffsets(partitions),
        answer: found,
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

function keyOf(name: string, { partitionIndex }: Partition): string {
  return `${name}-${partitionIndex}`;
}

function look(
  index: TopicIndex,
  name: string,
  partition: Partition,
  apiVersion: number,
): PartitionLook<ListOffsetsPartition, Answer> {
  const { partitionIndex, timestamp, currentLeaderEpoch } = partition;
  const topicIdPartition = index.partition(index.byName(name), partitionIndex);
  if (!topicIdPartition) return { answer: failed(partition, Errors.UNKNOWN_TOPIC_OR_PARTITION) };
  const since = timestamp >= 0n ? 1 : SPECIAL_SINCE.get(timestamp);
  if (since === undefined || since > apiVersion) return { answer: failed(partition, Errors.UNSUPPORTED_VERSION) };
  const fenced = checkLeaderEpoch(currentLeaderEpoch);
  if (fenced !== Errors.NONE) return { answer: failed(partition, fenced) };
  if (timestamp === EARLIEST_PENDING_UPLOAD) return { answer: { partitionIndex, errorCode: Errors.NONE } };
  return { ask: { topicIdPartition, timestamp } };
}

function failed({ partitionIndex }: Partition, errorCode: ErrorCode): Answer {
  return { partitionIndex, errorCode };
}

function found({ partitionIndex }: Partition, result: ListOffsetsPartitionResult): Answer {
  const { error, timestamp, offset, leaderEpoch } = result;
  return { partitionIndex, errorCode: error, timestamp, offset, leaderEpoch };
}
