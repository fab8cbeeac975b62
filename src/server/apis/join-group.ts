/** JoinGroup: takes part in the rebalance of a classic group; answered when that has gathered its members. */
import type { ErrorCode } from '../../common/errors.ts';
import { type JoinGroupResult, joinRefused } from '../../group/classic/classic-requests.ts';
import type { GroupCoordinator } from '../../group/group-coordinator.ts';
import type { ResponseOf } from '../../protocol/api.ts';
import { joinGroup } from '../../protocol/messages/join-group.ts';
import { type ApiHandler, apiHandler } from '../api-handler.ts';

/** From here on a member without an id is given one and told to come back with it (KIP-394). */
const MEMBER_ID_REQUIRED_FROM = 4;
/** From here on a leader can be told to keep the assignment (KIP-814). */
const SKIP_ASSIGNMENT_FROM = 9;
/** Below this the protocol's name must not be null. */
const NULLABLE_PROTOCOL_FROM = 7;

function response(result: JoinGroupResult, apiVersion: number): ResponseOf<typeof joinGroup> {
  const { error, protocolName, ...rest } = result;
  return {
    ...rest,
    errorCode: error,
    protocolName: apiVersion < NULLABLE_PROTOCOL_FROM ? (protocolName ?? '') : protocolName,
  };
}

export function joinGroupHandler(groups: GroupCoordinator): ApiHandler {
  return apiHandler({
    api: joinGroup,
    async handle(request, { apiVersion, clientId, clientHost }) {
      const { rebalanceTimeoutMs, sessionTimeoutMs, protocols } = request;
      const result = await groups.joinGroup({
        ...request,
        clientId,
        clientHost,
        rebalanceTimeoutMs: rebalanceTimeoutMs < 0 ? sessionTimeoutMs : rebalanceTimeoutMs,
        // The group keeps them, and these are views of the frame.
        protocols: protocols.map(({ name, metadata }) => ({ name, metadata: metadata.slice() })),
        requireKnownMemberId: apiVersion >= MEMBER_ID_REQUIRED_FROM,
        supportSkippingAssignment: apiVersion >= SKIP_ASSIGNMENT_FROM,
      });
      return response(result, apiVersion);
    },
    errorResponse: (error: ErrorCode, { memberId }, { apiVersion }) =>
      response(joinRefused(memberId, error), apiVersion),
  });
}
