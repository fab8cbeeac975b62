/** LeaveGroup: members leave, or an administrator removes them. */
import { Errors } from '../../common/errors.ts';
import type { GroupCoordinator, LeaveGroupResult } from '../../group/group-coordinator.ts';
import type { ResponseOf } from '../../protocol/api.ts';
import { leaveGroup } from '../../protocol/messages/leave-group.ts';
import { type ApiHandler, apiHandler } from '../api-handler.ts';

/** Versions from which several members are named, each with its own error. */
const BATCHED_FROM = 3;

function response({ error, members }: LeaveGroupResult, apiVersion: number): ResponseOf<typeof leaveGroup> {
  if (apiVersion < BATCHED_FROM) return { errorCode: error === Errors.NONE ? (members[0]?.error ?? error) : error };
  return { errorCode: error, members: members.map(({ error: errorCode, ...member }) => ({ ...member, errorCode })) };
}

export function leaveGroupHandler(groups: GroupCoordinator): ApiHandler {
  return apiHandler({
    api: leaveGroup,
    async handle({ groupId, memberId, members }, { apiVersion }) {
      const leaving = apiVersion < BATCHED_FROM ? [{ memberId, groupInstanceId: null }] : members;
      const identities = leaving.map((member) => ({
        memberId: member.memberId,
        groupInstanceId: member.groupInstanceId,
      }));
      return response(await groups.leaveGroup(groupId, identities), apiVersion);
    },
    errorResponse: (error, _request, { apiVersion }) => response({ error, members: [] }, apiVersion),
  });
}
