/** ListGroups: all groups of this broker, by state and type. */
import { Errors } from '../../common/errors.ts';
import type { GroupCoordinator } from '../../group/group-coordinator.ts';
import { listGroups } from '../../protocol/messages/list-groups.ts';
import { type ApiHandler, apiHandler } from '../api-handler.ts';

/** Filters compare without case; an empty one lets everything through. */
function filter(wanted: readonly string[]): (value: string) => boolean {
  const lower = new Set(wanted.map((value) => value.toLowerCase()));
  return (value) => lower.size === 0 || lower.has(value.toLowerCase());
}

export function listGroupsHandler(groups: GroupCoordinator): ApiHandler {
  return apiHandler({
    api: listGroups,
    async handle(request) {
      const hasState = filter(request.statesFilter);
      const hasType = filter(request.typesFilter);
      const listed = groups.admin.list().filter(({ state, type }) => hasState(state) && hasType(type));
      return {
        errorCode: Errors.NONE,
        groups: listed.map(({ groupId, protocolType, state, type }) => ({
          groupId,
          protocolType,
          groupState: state,
          groupType: type,
        })),
      };
    },
    errorResponse: (errorCode) => ({ errorCode, groups: [] }),
  });
}
