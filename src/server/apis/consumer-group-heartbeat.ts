/** ConsumerGroupHeartbeat (KIP-848): joins, reports, hears of the assignment, leaves. */
import { Errors } from '../../common/errors.ts';
import { type ConsumerHeartbeatResult, heartbeatRefused } from '../../group/consumer/consumer-requests.ts';
import type { GroupCoordinator } from '../../group/group-coordinator.ts';
import type { ResponseOf } from '../../protocol/api.ts';
import { consumerGroupHeartbeat } from '../../protocol/messages/consumer-group-heartbeat.ts';
import { type ApiHandler, apiHandler } from '../api-handler.ts';

/** From here on members make their own ids (KIP-1082). */
const MEMBER_ID_REQUIRED_FROM = 1;

function response(result: ConsumerHeartbeatResult): ResponseOf<typeof consumerGroupHeartbeat> {
  const { error, message, assignment, ...rest } = result;
  return {
    ...rest,
    errorCode: error,
    errorMessage: message,
    assignment: assignment && { topicPartitions: assignment },
  };
}

export function consumerGroupHeartbeatHandler(groups: GroupCoordinator): ApiHandler {
  return apiHandler({
    api: consumerGroupHeartbeat,
    async handle(request, { apiVersion, clientId, clientHost }) {
      if (apiVersion >= MEMBER_ID_REQUIRED_FROM && request.memberId === '') {
        return response(heartbeatRefused(Errors.INVALID_REQUEST, "MemberId can't be empty."));
      }
      return response(await groups.consumerGroupHeartbeat({ ...request, clientId, clientHost }));
    },
    errorResponse: (error) => response(heartbeatRefused(error, null)),
  });
}
