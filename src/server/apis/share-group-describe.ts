/** ShareGroupDescribe: share groups, with what their members have. */
import { Errors } from '../../common/errors.ts';
import type { MemberDescription } from '../../group/group-admin.ts';
import type { GroupCoordinator } from '../../group/group-coordinator.ts';
import { shareGroupDescribe } from '../../protocol/messages/share-group-describe.ts';
import { type ApiHandler, apiHandler } from '../api-handler.ts';
import { describedGroup, refusedGroup } from '../group-answers.ts';

function describedMember({ assignment, ...member }: MemberDescription) {
  return { ...member, assignment: { topicPartitions: assignment } };
}

export function shareGroupDescribeHandler(groups: GroupCoordinator): ApiHandler {
  return apiHandler({
    api: shareGroupDescribe,
    async handle({ groupIds, includeAuthorizedOperations }) {
      const results = groupIds.map((groupId) => {
        const description = groups.admin.describeShare(groupId);
        if (description) return describedGroup(description, includeAuthorizedOperations, describedMember);
        return refusedGroup(
          groupId,
          Errors.GROUP_ID_NOT_FOUND,
          `Group ${groupId} is not a share group of this broker.`,
        );
      });
      return { groups: results };
    },
    errorResponse: (error, { groupIds }) => ({ groups: groupIds.map((groupId) => refusedGroup(groupId, error, null)) }),
  });
}
