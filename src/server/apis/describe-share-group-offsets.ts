/** DescribeShareGroupOffsets: where share groups stand in their partitions, and from version 1 how far behind they are. */
import { type ErrorCode, Errors } from '../../common/errors.ts';
import { ZERO_UUID } from '../../common/uuid.ts';
import type { GroupCoordinator } from '../../group/group-coordinator.ts';
import type { ShareOffset } from '../../group/share/share-states.ts';
import type { TopicIndex } from '../../group/topic-index.ts';
import type { RequestOf, ResponseOf } from '../../protocol/api.ts';
import { describeShareGroupOffsets } from '../../protocol/messages/describe-share-group-offsets.ts';
import { type ApiHandler, apiHandler } from '../api-handler.ts';
import type { Broker } from '../broker.ts';
import { byTopic } from '../by-topic.ts';
import { errorText } from './share-partitions.ts';

type RequestGroup = RequestOf<typeof describeShareGroupOffsets>['groups'][number];
type RequestTopic = NonNullable<RequestGroup['topics']>[number];
type Group = ResponseOf<typeof describeShareGroupOffsets>['groups'][number];
type Topic = Group['topics'][number];
type Partition = Topic['partitions'][number];

export function describeShareGroupOffsetsHandler(broker: Broker, groups: GroupCoordinator): ApiHandler {
  return apiHandler<typeof describeShareGroupOffsets>({
    api: describeShareGroupOffsets,
    async handle(request) {
      const topics = await broker.topics.view();
      const describe = (group: RequestGroup): Promise<Group> =>
        group.topics
          ? describeSome(groups, topics, group.groupId, group.topics)
          : describeAll(groups, topics, group.groupId);
      return { groups: await Promise.all(request.groups.map(describe)) };
    },
    errorResponse: (error, request) => ({ groups: request.groups.map(({ groupId }) => refused(groupId, error)) }),
  });
}

/** What the group has; states of topics that were deleted a moment ago have no name any more. */
async function describeAll(groups: GroupCoordinator, topics: TopicIndex, groupId: string): Promise<Group> {
  const { error, offsets } = await groups.shareOffsets.describe(groupId);
  if (error !== Errors.NONE) return refused(groupId, error);
  const named = byTopic(offsets, described).flatMap(({ topicId, partitions }) => {
    const topicName = topics.byId(topicId)?.name;
    return topicName === undefined ? [] : [{ topicName, topicId, partitions }];
  });
  return { groupId, topics: named, errorCode: error };
}

async function describeSome(
  groups: GroupCoordinator,
  topics: TopicIndex,
  groupId: string,
  asked: readonly RequestTopic[],
): Promise<Group> {
  const wanted = asked.flatMap(({ topicName, partitions }) => {
    const topic = topics.byName(topicName);
    return partitions.flatMap((partition) => topics.partition(topic, partition) ?? []);
  });
  const { error, offsets } = await groups.shareOffsets.describe(groupId, wanted);
  if (error !== Errors.NONE) return refused(groupId, error);
  let next = 0;
  const describe = ({ topicName, partitions }: RequestTopic): Topic => {
    const topic = topics.byName(topicName);
    const partition = (index: number): Partition =>
      topics.partition(topic, index) ? described(offsets[next++]!) : unknown(index);
    return { topicName, topicId: topic?.topicId ?? ZERO_UUID, partitions: partitions.map(partition) };
  };
  return { groupId, topics: asked.map(describe), errorCode: error };
}

function described({ topicIdPartition, error, ...offset }: ShareOffset): Partition {
  return { partitionIndex: topicIdPartition.partition, errorCode: error, errorMessage: errorText(error), ...offset };
}

function unknown(partitionIndex: number): Partition {
  const errorCode = Errors.UNKNOWN_TOPIC_OR_PARTITION;
  return { partitionIndex, startOffset: -1n, leaderEpoch: 0, lag: -1n, errorCode, errorMessage: errorText(errorCode) };
}

function refused(groupId: string, errorCode: ErrorCode): Group {
  return { groupId, topics: [], errorCode, errorMessage: errorText(errorCode) };
}
