/** ShareGroupDescribe: share groups, with what their members have. */
import { type ErrorCode, Errors } from '../../common/errors.ts';
import type { ShareGroupDescription } from '../../group/group-admin.ts';
import type { GroupCoordinator } from '../../group/group-coordinator.ts';
import type { ResponseOf } from '../../protocol/api.ts';
import { shareGroupDescribe } from '../../protocol/messages/share-group-describe.ts';
import { type ApiHandler, apiHandler } from '../api-handler.ts';
import { authorizedOperations } from '../authorized-operations.ts';

type DescribedGroup = ResponseOf<typeof shareGroupDescribe>['groups'][number];

function described({ state, members, ...group }: ShareGroupDescription, asked: boolean): DescribedGroup {
  return {
    ...group,
    errorCode: Errors.NONE,
    groupState: state,
    members: members.map(({ assignment, ...member }) => ({ ...member, assignment: { topicPartitions: assignment } })),
    authorizedOperations: authorizedOperations('group', asked),
  };
}

function refused(groupId: string, errorCode: ErrorCode, errorMessage: string | null): DescribedGroup {
  const nothing = { groupState: '', groupEpoch: 0, assignmentEpoch: 0, assignorName: '', members: [] };
  return { ...nothing, groupId, errorCode, errorMessage };
}

export function shareGroupDescribeHandler(groups: GroupCoordinator): ApiHandler {
  return apiHandler({
    api: shareGroupDescribe,
    async handle({ groupIds, includeAuthorizedOperations }) {
      const results = groupIds.map((groupId) => {
        const description = groups.admin.describeShare(groupId);
        if (description) return described(description, includeAuthorizedOperations);
        return refused(groupId, Errors.GROUP_ID_NOT_FOUND, `Group ${groupId} is not a share group of this broker.`);
      });
      return { groups: results };
    },
    errorResponse: (error, { groupIds }) => ({ groups: groupIds.map((groupId) => refused(groupId, error, null)) }),
  });
}
