/** DeleteGroups: forgets groups without members, with their offsets. */
import type { GroupCoordinator } from '../../group/group-coordinator.ts';
import { deleteGroups } from '../../protocol/messages/delete-groups.ts';
import { type ApiHandler, apiHandler } from '../api-handler.ts';

export function deleteGroupsHandler(groups: GroupCoordinator): ApiHandler {
  return apiHandler({
    api: deleteGroups,
    async handle(request) {
      const results = request.groupsNames.map(async (groupId) => ({
        groupId,
        errorCode: await groups.admin.delete(groupId),
      }));
      return { results: await Promise.all(results) };
    },
    errorResponse: (errorCode, request) => ({
      results: request.groupsNames.map((groupId) => ({ groupId, errorCode })),
    }),
  });
}
