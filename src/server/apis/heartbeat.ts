/** Heartbeat: keeps a member's session alive and tells it when to rejoin. */
import type { GroupCoordinator } from '../../group/group-coordinator.ts';
import { heartbeat } from '../../protocol/messages/heartbeat.ts';
import { type ApiHandler, apiHandler } from '../api-handler.ts';

export function heartbeatHandler(groups: GroupCoordinator): ApiHandler {
  return apiHandler({
    api: heartbeat,
    handle: async (request) => ({ errorCode: await groups.heartbeat(request) }),
    errorResponse: (errorCode) => ({ errorCode }),
  });
}
