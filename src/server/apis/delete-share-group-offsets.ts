/** DeleteShareGroupOffsets: forgets where a share group without members stood in whole topics. */
import { type ErrorCode, Errors } from '../../common/errors.ts';
import { ZERO_UUID } from '../../common/uuid.ts';
import type { GroupCoordinator } from '../../group/group-coordinator.ts';
import type { ResponseOf } from '../../protocol/api.ts';
import { deleteShareGroupOffsets } from '../../protocol/messages/delete-share-group-offsets.ts';
import { type ApiHandler, apiHandler } from '../api-handler.ts';
import type { Broker } from '../broker.ts';
import { errorText, groupErrorText } from './share-partitions.ts';

type Response = ResponseOf<typeof deleteShareGroupOffsets>;

export function deleteShareGroupOffsetsHandler(broker: Broker, groups: GroupCoordinator): ApiHandler {
  return apiHandler<typeof deleteShareGroupOffsets>({
    api: deleteShareGroupOffsets,
    async handle({ groupId, topics: asked }) {
      const topics = await broker.topics.view();
      const idOf = (topicName: string) => topics.byName(topicName)?.topicId;
      const known = asked.flatMap(({ topicName }) => idOf(topicName) ?? []);
      const { error, errors } = await groups.shareOffsets.deleteTopics(groupId, known);
      if (error !== Errors.NONE) return refused(error);
      let next = 0;
      const responses = asked.map(({ topicName }) => {
        const topicId = idOf(topicName);
        const errorCode = topicId === undefined ? Errors.UNKNOWN_TOPIC_OR_PARTITION : errors[next++]!;
        const message = topicId === undefined ? '' : 'The group has no offsets of this topic.';
        return { topicName, topicId: topicId ?? ZERO_UUID, errorCode, errorMessage: errorText(errorCode, message) };
      });
      return { errorCode: Errors.NONE, responses };
    },
    errorResponse: (error) => refused(error),
  });
}

function refused(errorCode: ErrorCode): Response {
  return { errorCode, errorMessage: groupErrorText(errorCode), responses: [] };
}
