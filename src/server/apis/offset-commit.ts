/** OffsetCommit: durable when answered; a partition that cannot be committed fails alone. */
import { type ErrorCode, Errors } from '../../common/errors.ts';
import type { TopicIdPartition } from '../../common/topic-id-partition.ts';
import type { GroupCoordinator } from '../../group/group-coordinator.ts';
import type { RequestOf, ResponseOf } from '../../protocol/api.ts';
import { offsetCommit } from '../../protocol/messages/offset-commit.ts';
import { type ApiHandler, apiHandler } from '../api-handler.ts';
import type { Broker } from '../broker.ts';

/** From here on an unknown group has an error of its own (KIP-848). */
const GROUP_ID_NOT_FOUND_FROM = 9;
/** From here on topics are named by id (KIP-848). */
const TOPIC_ID_FROM = 10;

type Request = RequestOf<typeof offsetCommit>;
type Response = ResponseOf<typeof offsetCommit>;
type Partition = Request['topics'][number]['partitions'][number];

/** The response's shape with an error code for each partition, asked for in request order. */
function respond(request: Request, errorOf: () => ErrorCode): Response {
  const topics = request.topics.map(({ name, topicId, partitions }) => ({
    name,
    topicId,
    partitions: partitions.map(({ partitionIndex }) => ({ partitionIndex, errorCode: errorOf() })),
  }));
  return { topics };
}

function offsetOf(topicIdPartition: TopicIdPartition, partition: Partition) {
  const { committedOffset: offset, committedLeaderEpoch: leaderEpoch, committedMetadata } = partition;
  return { topicIdPartition, offset, leaderEpoch, metadata: committedMetadata ?? '' };
}

export function offsetCommitHandler(broker: Broker, groups: GroupCoordinator): ApiHandler {
  return apiHandler({
    api: offsetCommit,
    async handle(request, { apiVersion }) {
      const topics = await broker.topics.view();
      const byId = apiVersion >= TOPIC_ID_FROM;
      const unknown = byId ? Errors.UNKNOWN_TOPIC_ID : Errors.UNKNOWN_TOPIC_OR_PARTITION;
      const places = request.topics.flatMap(({ name, topicId, partitions }) => {
        const topic = byId ? topics.byId(topicId) : topics.byName(name);
        const missing = topic ? Errors.UNKNOWN_TOPIC_OR_PARTITION : unknown;
        return partitions.map((partition) => ({
          missing,
          partition,
          topicIdPartition: topics.partition(topic, partition.partitionIndex),
        }));
      });
      const offsets = places.flatMap(({ topicIdPartition, partition }) =>
        topicIdPartition ? [offsetOf(topicIdPartition, partition)] : [],
      );
      const errors = await groups.offsets.commit({
        groupId: request.groupId,
        memberId: request.memberId,
        groupInstanceId: request.groupInstanceId,
        generationIdOrMemberEpoch: request.generationIdOrMemberEpoch,
        unknownGroupError:
          apiVersion >= GROUP_ID_NOT_FOUND_FROM ? Errors.GROUP_ID_NOT_FOUND : Errors.ILLEGAL_GENERATION,
        offsets,
      });
      const results = errors.values();
      const place = places.values();
      return respond(request, () => {
        const { topicIdPartition, missing } = place.next().value!;
        return topicIdPartition ? results.next().value! : missing;
      });
    },
    errorResponse: (error, request) => respond(request, () => error),
  });
}
