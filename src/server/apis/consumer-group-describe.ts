/** ConsumerGroupDescribe: groups of the consumer protocol, with what their members have and are to have. */
import { type ErrorCode, Errors } from '../../common/errors.ts';
import type { ConsumerGroupDescription, ConsumerMemberDescription } from '../../group/group-admin.ts';
import type { GroupCoordinator } from '../../group/group-coordinator.ts';
import type { ResponseOf } from '../../protocol/api.ts';
import { consumerGroupDescribe } from '../../protocol/messages/consumer-group-describe.ts';
import { type ApiHandler, apiHandler } from '../api-handler.ts';
import { authorizedOperations } from '../authorized-operations.ts';

type DescribedGroup = ResponseOf<typeof consumerGroupDescribe>['groups'][number];

const MemberType = { classic: 0, consumer: 1 } as const;

function describedMember(member: ConsumerMemberDescription): DescribedGroup['members'][number] {
  const { assignment, targetAssignment, usesClassicProtocol, ...rest } = member;
  return {
    ...rest,
    assignment: { topicPartitions: assignment },
    targetAssignment: { topicPartitions: targetAssignment },
    memberType: usesClassicProtocol ? MemberType.classic : MemberType.consumer,
  };
}

function described({ state, members, ...group }: ConsumerGroupDescription, asked: boolean): DescribedGroup {
  return {
    ...group,
    errorCode: Errors.NONE,
    groupState: state,
    members: members.map(describedMember),
    authorizedOperations: authorizedOperations('group', asked),
  };
}

function refused(groupId: string, errorCode: ErrorCode, errorMessage: string | null): DescribedGroup {
  const nothing = { groupState: '', groupEpoch: 0, assignmentEpoch: 0, assignorName: '', members: [] };
  return { ...nothing, groupId, errorCode, errorMessage };
}

export function consumerGroupDescribeHandler(groups: GroupCoordinator): ApiHandler {
  return apiHandler({
    api: consumerGroupDescribe,
    async handle({ groupIds, includeAuthorizedOperations }) {
      const results = groupIds.map((groupId) => {
        const description = groups.admin.describeConsumer(groupId);
        if (description) return described(description, includeAuthorizedOperations);
        return refused(groupId, Errors.GROUP_ID_NOT_FOUND, `Group ${groupId} is not a consumer group of this broker.`);
      });
      return { groups: results };
    },
    errorResponse: (error, { groupIds }) => ({ groups: groupIds.map((groupId) => refused(groupId, error, null)) }),
  });
}
