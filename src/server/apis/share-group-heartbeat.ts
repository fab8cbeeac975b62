/** ShareGroupHeartbeat (KIP-932): joins, reports, hears of the assignment, leaves. */
import { heartbeatRefused } from '../../group/consumer/consumer-requests.ts';
import type { GroupCoordinator } from '../../group/group-coordinator.ts';
import type { ShareHeartbeatResult } from '../../group/share/share-requests.ts';
import type { ResponseOf } from '../../protocol/api.ts';
import { shareGroupHeartbeat } from '../../protocol/messages/share-group-heartbeat.ts';
import { type ApiHandler, apiHandler } from '../api-handler.ts';

function response(result: ShareHeartbeatResult): ResponseOf<typeof shareGroupHeartbeat> {
  const { error, message, assignment, ...rest } = result;
  return {
    ...rest,
    errorCode: error,
    errorMessage: message,
    assignment: assignment && { topicPartitions: assignment },
  };
}

export function shareGroupHeartbeatHandler(groups: GroupCoordinator): ApiHandler {
  return apiHandler({
    api: shareGroupHeartbeat,
    handle: async (request, { clientId, clientHost }) =>
      response(await groups.shareGroupHeartbeat({ ...request, clientId, clientHost })),
    errorResponse: (error) => response(heartbeatRefused(error, null)),
  });
}
