/**
 * ShareFetch (KIP-932): acknowledges, then acquires and returns records. Their bytes go to the socket as the engine's views
 * and are given back once it took them, as with Fetch.
 */
import { type ErrorCode, Errors } from '../../common/errors.ts';
import type { ShareFetchPartitionData, ShareFetchRequest, ShareFetchResult } from '../../engine/diskless-engine.ts';
import type { RequestOf, ResponseOf } from '../../protocol/api.ts';
import { shareFetch } from '../../protocol/messages/share-fetch.ts';
import { type ApiHandler, apiHandler } from '../api-handler.ts';
import type { Broker } from '../broker.ts';
import { byTopic } from '../by-topic.ts';
import type { ShareConnections } from '../share-connections.ts';
import { errorText, leaderEndpoints, leaderHint, requestedPartitions } from './share-partitions.ts';

type Request = RequestOf<typeof shareFetch>;
type Response = ResponseOf<typeof shareFetch>;

const ACQUIRE_MODES = ['batch_optimized', 'record_limit'] as const;

export function shareFetchHandler(broker: Broker, connections: ShareConnections): ApiHandler {
  return apiHandler<typeof shareFetch>({
    api: shareFetch,

    async handle(request, context) {
      const acquireMode = ACQUIRE_MODES[request.shareAcquireMode];
      if (!acquireMode) {
        return refused(Errors.INVALID_REQUEST, `share acquire mode ${request.shareAcquireMode} is neither 0 nor 1`);
      }
      const asked = engineRequest(request, context.apiVersion, acquireMode);
      const { signal } = context;
      const result = await connections.run(context, asked, () => broker.engine.shareFetch(asked, { signal }));
      context.afterWrite(() => result.release());
      return respond(broker, result);
    },

    errorResponse: (error) => refused(error, ''),
  });
}

function engineRequest(
  request: Request,
  apiVersion: number,
  acquireMode: ShareFetchRequest['acquireMode'],
): ShareFetchRequest {
  const { maxWaitMs, minBytes, maxBytes, maxRecords, batchSize, isRenewAck } = request;
  return {
    groupId: request.groupId ?? '',
    memberId: request.memberId ?? '',
    sessionEpoch: request.shareSessionEpoch,
    apiVersion,
    isRenewAck,
    partitions: requestedPartitions(request.topics),
    forgotten: request.forgottenTopicsData.flatMap(({ topicId, partitions }) =>
      partitions.map((partition) => ({ topicId, partition })),
    ),
    maxWaitMs,
    minBytes,
    maxBytes,
    maxRecords,
    batchSize,
    acquireMode,
  };
}

function respond(broker: Broker, result: ShareFetchResult): Response {
  const responses = byTopic(result.partitions, (data) => partitionResponse(broker, data));
  return {
    errorCode: result.error,
    errorMessage: errorText(result.error, result.message),
    acquisitionLockTimeoutMs: result.acquisitionLockTimeoutMs,
    responses,
    nodeEndpoints: leaderEndpoints(broker, responses),
  };
}

function partitionResponse(broker: Broker, data: ShareFetchPartitionData) {
  const { topicIdPartition, error, acknowledgeError, records, acquiredRecords } = data;
  return {
    partitionIndex: topicIdPartition.partition,
    errorCode: error,
    errorMessage: errorText(error),
    acknowledgeErrorCode: acknowledgeError,
    acknowledgeErrorMessage: errorText(acknowledgeError),
    currentLeader: leaderHint(broker, [error, acknowledgeError]),
    records,
    acquiredRecords,
  };
}

function refused(errorCode: ErrorCode, message: string): Response {
  const errorMessage = errorText(errorCode, message);
  return { errorCode, errorMessage, acquisitionLockTimeoutMs: 0, responses: [], nodeEndpoints: [] };
}
