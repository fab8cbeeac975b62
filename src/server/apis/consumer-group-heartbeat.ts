/** ConsumerGroupHeartbeat (KIP-848): joins, reports, hears of the assignment, leaves. */
import { Errors } from '../../common/errors.ts';
import { heartbeatRefused } from '../../group/consumer/consumer-requests.ts';
import type { GroupCoordinator } from '../../group/group-coordinator.ts';
import { consumerGroupHeartbeat } from '../../protocol/messages/consumer-group-heartbeat.ts';
import { type ApiHandler, apiHandler } from '../api-handler.ts';
import { heartbeatAnswer } from '../group-answers.ts';

/** From here on members make their own ids (KIP-1082). */
const MEMBER_ID_REQUIRED_FROM = 1;

export function consumerGroupHeartbeatHandler(groups: GroupCoordinator): ApiHandler {
  return apiHandler({
    api: consumerGroupHeartbeat,
    async handle(request, { apiVersion, clientId, clientHost }) {
      if (apiVersion >= MEMBER_ID_REQUIRED_FROM && request.memberId === '') {
        return heartbeatAnswer(heartbeatRefused(Errors.INVALID_REQUEST, "MemberId can't be empty."));
      }
      return heartbeatAnswer(await groups.consumerGroupHeartbeat({ ...request, clientId, clientHost }));
    },
    errorResponse: (error) => heartbeatAnswer(heartbeatRefused(error, null)),
  });
}
