/** ShareAcknowledge (KIP-932): acknowledges without fetching; each partition is answered once the change is durable. */
import type { ErrorCode } from '../../common/errors.ts';
import type { ShareAcknowledgeResult } from '../../engine/diskless-engine.ts';
import type { ResponseOf } from '../../protocol/api.ts';
import { shareAcknowledge } from '../../protocol/messages/share-acknowledge.ts';
import { type ApiHandler, apiHandler } from '../api-handler.ts';
import type { Broker } from '../broker.ts';
import { byTopic } from '../by-topic.ts';
import type { ShareConnections } from '../share-connections.ts';
import { errorText, leaderEndpoints, leaderHint, requestedPartitions } from './share-partitions.ts';

type Response = ResponseOf<typeof shareAcknowledge>;

export function shareAcknowledgeHandler(broker: Broker, connections: ShareConnections): ApiHandler {
  return apiHandler<typeof shareAcknowledge>({
    api: shareAcknowledge,

    async handle(request, context) {
      const asked = {
        groupId: request.groupId ?? '',
        memberId: request.memberId ?? '',
        sessionEpoch: request.shareSessionEpoch,
        apiVersion: context.apiVersion,
        isRenewAck: request.isRenewAck,
        partitions: requestedPartitions(request.topics),
      };
      const result = await connections.run(context, asked, () => broker.engine.shareAcknowledge(asked));
      return respond(broker, result);
    },

    errorResponse: (errorCode) => refused(errorCode),
  });
}

function respond(broker: Broker, result: ShareAcknowledgeResult): Response {
  const responses = byTopic(result.partitions, ({ topicIdPartition, error }) => ({
    partitionIndex: topicIdPartition.partition,
    errorCode: error,
    errorMessage: errorText(error),
    currentLeader: leaderHint(broker, [error]),
  }));
  return {
    errorCode: result.error,
    errorMessage: errorText(result.error, result.message),
    acquisitionLockTimeoutMs: result.acquisitionLockTimeoutMs,
    responses,
    nodeEndpoints: leaderEndpoints(broker, responses),
  };
}

function refused(errorCode: ErrorCode): Response {
  return { errorCode, errorMessage: errorText(errorCode), responses: [], nodeEndpoints: [] };
}
