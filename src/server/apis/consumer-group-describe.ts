/** ConsumerGroupDescribe: groups of the consumer protocol, with what their members have and are to have. */
import { Errors } from '../../common/errors.ts';
import type { ConsumerMemberDescription } from '../../group/group-admin.ts';
import type { GroupCoordinator } from '../../group/group-coordinator.ts';
import { consumerGroupDescribe } from '../../protocol/messages/consumer-group-describe.ts';
import { type ApiHandler, apiHandler } from '../api-handler.ts';
import { describedGroup, refusedGroup } from '../group-answers.ts';

const MemberType = { classic: 0, consumer: 1 } as const;

function describedMember(member: ConsumerMemberDescription) {
  const { assignment, targetAssignment, usesClassicProtocol, ...rest } = member;
  return {
    ...rest,
    assignment: { topicPartitions: assignment },
    targetAssignment: { topicPartitions: targetAssignment },
    memberType: usesClassicProtocol ? MemberType.classic : MemberType.consumer,
  };
}

export function consumerGroupDescribeHandler(groups: GroupCoordinator): ApiHandler {
  return apiHandler({
    api: consumerGroupDescribe,
    async handle({ groupIds, includeAuthorizedOperations }) {
      const results = groupIds.map((groupId) => {
        const description = groups.admin.describeConsumer(groupId);
        if (description) return describedGroup(description, includeAuthorizedOperations, describedMember);
        return refusedGroup(
          groupId,
          Errors.GROUP_ID_NOT_FOUND,
          `Group ${groupId} is not a consumer group of this broker.`,
        );
      });
      return { groups: results };
    },
    errorResponse: (error, { groupIds }) => ({ groups: groupIds.map((groupId) => refusedGroup(groupId, error, null)) }),
  });
}
