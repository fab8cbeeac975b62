/** FindCoordinator: every broker coordinates the groups of the clients that ask it. */
import { type ErrorCode, Errors } from '../../common/errors.ts';
import type { RequestOf, ResponseOf } from '../../protocol/api.ts';
import { findCoordinator } from '../../protocol/messages/find-coordinator.ts';
import { type ApiHandler, apiHandler } from '../api-handler.ts';
import type { Broker } from '../broker.ts';

const SHARE_KEY_TYPE = 2;
/** Versions from which several keys are asked for at once. */
const BATCHED_FROM = 4;

type Response = ResponseOf<typeof findCoordinator>;

interface Answer {
  readonly nodeId: number;
  readonly host: string;
  readonly port: number;
  readonly errorCode: ErrorCode;
  readonly errorMessage: string | null;
}

function refusal(errorCode: ErrorCode, errorMessage: string | null): Answer {
  return { nodeId: -1, host: '', port: -1, errorCode, errorMessage };
}

/** A share partition's key: group, topic id, partition. */
const SHARE_KEY = /^.+:[\w-]{22}:\d{1,10}$/s;

/** Groups (0), transactions (1), whose coordinator then refuses them by name, and share partitions (2). */
function find(broker: Broker, keyType: number, key: string): Answer {
  if (keyType < 0 || keyType > SHARE_KEY_TYPE)
    return refusal(Errors.INVALID_REQUEST, `no coordinator has key type ${keyType}`);
  if (keyType === SHARE_KEY_TYPE && !SHARE_KEY.test(key))
    return refusal(Errors.INVALID_REQUEST, 'the key of a share partition is GROUP:TOPIC_ID:PARTITION');
  const { host, port } = broker.advertisedListener;
  return { nodeId: broker.nodeId, host, port, errorCode: Errors.NONE, errorMessage: null };
}

/** One key below version 4. */
function respond(
  request: RequestOf<typeof findCoordinator>,
  version: number,
  answer: (key: string) => Answer,
): Response {
  if (version < BATCHED_FROM) return answer(request.key);
  return { coordinators: request.coordinatorKeys.map((key) => ({ key, ...answer(key) })) };
}

export function findCoordinatorHandler(broker: Broker): ApiHandler {
  return apiHandler<typeof findCoordinator>({
    api: findCoordinator,
    handle: async (request, { apiVersion }) =>
      respond(request, apiVersion, (key) => find(broker, request.keyType, key)),
    errorResponse: (error, request, { apiVersion }) => respond(request, apiVersion, () => refusal(error, null)),
  });
}
