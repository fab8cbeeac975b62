/** DescribeGroups: classic groups with their members. */
import { type ErrorCode, Errors } from '../../common/errors.ts';
import type { ClassicGroupDescription } from '../../group/group-admin.ts';
import type { GroupCoordinator } from '../../group/group-coordinator.ts';
import type { ResponseOf } from '../../protocol/api.ts';
import { describeGroups } from '../../protocol/messages/describe-groups.ts';
import { type ApiHandler, apiHandler } from '../api-handler.ts';
import { authorizedOperations } from '../authorized-operations.ts';

/** From here on a group that does not exist is an error; before, it was one that is dead. */
const GROUP_ID_NOT_FOUND_FROM = 6;

type DescribedGroup = ResponseOf<typeof describeGroups>['groups'][number];

function described({ groupId, state, protocolType, protocol, members }: ClassicGroupDescription): DescribedGroup {
  return {
    errorCode: Errors.NONE,
    groupId,
    groupState: state,
    protocolType,
    protocolData: protocol,
    members: members.map(({ metadata, assignment, ...member }) => ({
      ...member,
      memberMetadata: metadata,
      memberAssignment: assignment,
    })),
  };
}

function refused(groupId: string, errorCode: ErrorCode, errorMessage?: string): DescribedGroup {
  const nothing = { groupState: '', protocolType: '', protocolData: '', members: [] };
  return { ...nothing, groupId, errorCode, ...(errorMessage === undefined ? {} : { errorMessage }) };
}

function notFound(groupId: string, apiVersion: number): DescribedGroup {
  if (apiVersion < GROUP_ID_NOT_FOUND_FROM) return { ...refused(groupId, Errors.NONE), groupState: 'Dead' };
  const message = `Group ${groupId} is not a classic group of this broker.`;
  return { ...refused(groupId, Errors.GROUP_ID_NOT_FOUND, message), groupState: 'Dead' };
}

export function describeGroupsHandler(groups: GroupCoordinator): ApiHandler {
  return apiHandler({
    api: describeGroups,
    async handle(request, { apiVersion }) {
      const operations = authorizedOperations('group', request.includeAuthorizedOperations);
      const results = request.groups.map((groupId) => {
        const description = groups.admin.describeClassic(groupId);
        return description
          ? { ...described(description), authorizedOperations: operations }
          : notFound(groupId, apiVersion);
      });
      return { groups: results };
    },
    errorResponse: (error, request) => ({ groups: request.groups.map((groupId) => refused(groupId, error)) }),
  });
}
