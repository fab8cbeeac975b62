/** ShareGroupHeartbeat (KIP-932): joins, reports, hears of the assignment, leaves. */
import { heartbeatRefused } from '../../group/consumer/consumer-requests.ts';
import type { GroupCoordinator } from '../../group/group-coordinator.ts';
import { shareGroupHeartbeat } from '../../protocol/messages/share-group-heartbeat.ts';
import { type ApiHandler, apiHandler } from '../api-handler.ts';
import { heartbeatAnswer } from '../group-answers.ts';

export function shareGroupHeartbeatHandler(groups: GroupCoordinator): ApiHandler {
  return apiHandler({
    api: shareGroupHeartbeat,
    handle: async (request, { clientId, clientHost }) =>
      heartbeatAnswer(await groups.shareGroupHeartbeat({ ...request, clientId, clientHost })),
    errorResponse: (error) => heartbeatAnswer(heartbeatRefused(error, null)),
  });
}
