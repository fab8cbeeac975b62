/** AlterShareGroupOffsets: moves where a share group without members begins; what was in flight is forgotten. */
import { type ErrorCode, Errors } from '../../common/errors.ts';
import { ZERO_UUID } from '../../common/uuid.ts';
import type { GroupCoordinator } from '../../group/group-coordinator.ts';
import type { TopicIndex } from '../../group/topic-index.ts';
import type { RequestOf, ResponseOf } from '../../protocol/api.ts';
import { alterShareGroupOffsets } from '../../protocol/messages/alter-share-group-offsets.ts';
import { type ApiHandler, apiHandler } from '../api-handler.ts';
import type { Broker } from '../broker.ts';
import { errorText, groupErrorText } from './share-partitions.ts';

type RequestTopic = RequestOf<typeof alterShareGroupOffsets>['topics'][number];
type RequestPartition = RequestTopic['partitions'][number];
type Response = ResponseOf<typeof alterShareGroupOffsets>;
type Topic = Response['responses'][number];

export function alterShareGroupOffsetsHandler(broker: Broker, groups: GroupCoordinator): ApiHandler {
  return apiHandler<typeof alterShareGroupOffsets>({
    api: alterShareGroupOffsets,
    async handle({ groupId, topics: asked }) {
      const topics = await broker.topics.view();
      const accepted = asked.flatMap(({ topicName, partitions }) =>
        partitions
          .filter((partition) => problemOf(topics, topicName, partition) === Errors.NONE)
          .map(({ partitionIndex, startOffset }) => ({
            topicIdPartition: { topicId: topics.byName(topicName)!.topicId, partition: partitionIndex },
            startOffset: Number(startOffset),
          })),
      );
      const { error, errors } = await groups.shareOffsets.alter(groupId, accepted);
      return error === Errors.NONE ? respond(topics, asked, errors) : refused(error);
    },
    errorResponse: (error) => refused(error),
  });
}

function problemOf(
  topics: TopicIndex,
  topicName: string,
  { partitionIndex, startOffset }: RequestPartition,
): ErrorCode {
  if (!topics.partition(topics.byName(topicName), partitionIndex)) return Errors.UNKNOWN_TOPIC_OR_PARTITION;
  const possible = startOffset >= 0n && startOffset <= Number.MAX_SAFE_INTEGER;
  return possible ? Errors.NONE : Errors.INVALID_REQUEST;
}

/** `errors` belong to the partitions that have no problem of their own. */
function respond(topics: TopicIndex, asked: readonly RequestTopic[], errors: readonly ErrorCode[]): Response {
  let next = 0;
  const topic = ({ topicName, partitions }: RequestTopic): Topic => ({
    topicName,
    topicId: topics.byName(topicName)?.topicId ?? ZERO_UUID,
    partitions: partitions.map((partition) => {
      const problem = problemOf(topics, topicName, partition);
      const errorCode = problem === Errors.NONE ? errors[next++]! : problem;
      return { partitionIndex: partition.partitionIndex, errorCode, errorMessage: errorText(errorCode) };
    }),
  });
  return { errorCode: Errors.NONE, responses: asked.map(topic) };
}

function refused(errorCode: ErrorCode): Response {
  return { errorCode, errorMessage: groupErrorText(errorCode), responses: [] };
}
