/** SyncGroup: the leader brings the assignments of a generation, every member gets its own. */
import type { SyncGroupResult } from '../../group/classic/classic-requests.ts';
import { syncRefused } from '../../group/classic/classic-requests.ts';
import type { GroupCoordinator } from '../../group/group-coordinator.ts';
import type { ResponseOf } from '../../protocol/api.ts';
import { syncGroup } from '../../protocol/messages/sync-group.ts';
import { type ApiHandler, apiHandler } from '../api-handler.ts';

function response({ error, ...rest }: SyncGroupResult): ResponseOf<typeof syncGroup> {
  return { errorCode: error, ...rest };
}

export function syncGroupHandler(groups: GroupCoordinator): ApiHandler {
  return apiHandler({
    api: syncGroup,
    async handle(request) {
      // The group keeps the assignments, and these are views of the frame.
      const assignments = request.assignments.map(({ memberId, assignment }) => ({
        memberId,
        assignment: assignment.slice(),
      }));
      return response(await groups.syncGroup({ ...request, assignments }));
    },
    errorResponse: (error) => response(syncRefused(error)),
  });
}
