/** OffsetDelete: forgets committed offsets of topics that the group is not subscribed to. */
import { type ErrorCode, Errors } from '../../common/errors.ts';
import type { GroupCoordinator } from '../../group/group-coordinator.ts';
import { offsetDelete } from '../../protocol/messages/offset-delete.ts';
import { type ApiHandler, apiHandler } from '../api-handler.ts';
import type { Broker } from '../broker.ts';

export function offsetDeleteHandler(broker: Broker, groups: GroupCoordinator): ApiHandler {
  return apiHandler({
    api: offsetDelete,
    async handle(request) {
      const topics = await broker.topics.view();
      const places = request.topics.flatMap(({ name, partitions }) =>
        partitions.map(({ partitionIndex }) => ({
          topic: name,
          topicIdPartition: topics.partition(topics.byName(name), partitionIndex),
        })),
      );
      const known = places.flatMap(({ topic, topicIdPartition }) =>
        topicIdPartition ? [{ topic, topicIdPartition }] : [],
      );
      const { error, partitionErrors } = await groups.offsets.delete(request.groupId, known);
      if (error !== Errors.NONE) return { errorCode: error, topics: [] };
      const results = partitionErrors.values();
      const place = places.values();
      const next = (): ErrorCode =>
        place.next().value!.topicIdPartition ? results.next().value! : Errors.UNKNOWN_TOPIC_OR_PARTITION;
      const answers = request.topics.map(({ name, partitions }) => ({
        name,
        partitions: partitions.map(({ partitionIndex }) => ({ partitionIndex, errorCode: next() })),
      }));
      return { errorCode: error, topics: answers };
    },
    errorResponse: (errorCode) => ({ errorCode, topics: [] }),
  });
}
