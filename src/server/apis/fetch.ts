/**
 * Fetch, in full or as part of an incremental session (KIP-227). Record bytes go to the socket as the engine's views and
 * are given back once it took them.
 *
 * A request says by its session id and epoch what it is: (0, −1) a full fetch without a session; epoch 0 a full fetch that
 * asks for a session; epoch −1 with an id, one that ends it; any other epoch names only what changed since the last.
 */
import { ApiError, type ErrorCode, Errors } from '../../common/errors.ts';
import { MAX_TOPIC_NAME_LENGTH } from '../../common/topic-name.ts';
import type { FetchParams } from '../../engine/diskless-engine.ts';
import type { RequestOf } from '../../protocol/api.ts';
import { fetch } from '../../protocol/messages/fetch.ts';
import { type ApiHandler, apiHandler, type RequestContext } from '../api-handler.ts';
import type { Broker } from '../broker.ts';
import { fetchChanged } from '../fetch/fetch-changed.ts';
import {
  type FetchLook,
  type FetchResponse,
  type FetchTarget,
  failed,
  groupByTopic,
  lookAt,
  planFetch,
} from '../fetch/fetch-look.ts';
import { type FetchSession, FINAL_EPOCH, INITIAL_EPOCH } from '../fetch/fetch-session.ts';
import type { FetchSessionCache } from '../fetch/fetch-session-cache.ts';

type FetchRequest = RequestOf<typeof fetch>;

const FIRST_VERSION_WITH_SESSIONS = 7;
const FIRST_VERSION_WITH_IDS = 13;
const NO_SESSION = 0;

export function fetchHandler(broker: Broker, sessions: FetchSessionCache): ApiHandler {
  return apiHandler<typeof fetch>({
    api: fetch,

    async handle(request, context) {
      const fetching = new Fetching(broker, sessions, request, context);
      const response = await (isFull(request) ? fetching.inFull() : fetching.incrementally());
      return withEndpoints(broker, response, context.apiVersion);
    },

    // Below version 7 there is no place for an error of the whole request.
    errorResponse: (errorCode, request, { apiVersion }) =>
      apiVersion >= FIRST_VERSION_WITH_SESSIONS
        ? { errorCode, sessionId: request.sessionId, responses: [] }
        : everywhere(request, errorCode),
  });
}

function isFull({ sessionEpoch }: FetchRequest): boolean {
  return sessionEpoch === INITIAL_EPOCH || sessionEpoch === FINAL_EPOCH;
}

/** One request on its way. */
class Fetching {
  readonly #broker: Broker;
  readonly #sessions: FetchSessionCache;
  readonly #request: FetchRequest;
  readonly #context: RequestContext;
  readonly #params: FetchParams;
  readonly #byId: boolean;

  constructor(broker: Broker, sessions: FetchSessionCache, request: FetchRequest, context: RequestContext) {
    this.#broker = broker;
    this.#sessions = sessions;
    this.#request = request;
    this.#context = context;
    this.#params = fetchParams(request, broker.settings.fetchMaxBytes);
    this.#byId = context.apiVersion >= FIRST_VERSION_WITH_IDS;
  }

  /** A session that a full request names ends, whatever becomes of the request. */
  async inFull(): Promise<FetchResponse> {
    this.#sessions.remove(this.#request.sessionId);
    const targets = targetsOf(this.#request);
    const plan = planFetch(targets, await this.#broker.topics.view(), this.#byId);
    const look = await lookAt(this.#broker, targets, plan, this.#params, this.#context.signal);
    this.#context.afterWrite(look.release);
    return { sessionId: this.#openSession(targets, look), responses: groupByTopic(targets, look.responses) };
  }

  async incrementally(): Promise<FetchResponse> {
    const { sessionId } = this.#request;
    const session = this.#sessions.get(sessionId);
    const error = this.#refusal(session);
    if (!session || error !== Errors.NONE) return { errorCode: error, sessionId: NO_SESSION, responses: [] };
    this.#sessions.touch(session);
    const hasRoom = this.#isKeepable && this.#sessions.update(session, () => session.update(this.#request));
    // The client then asks in full, and is told that there is no session for it.
    if (!hasRoom) return this.#lost(sessionId);
    if (session.size === 0) return this.inFull();
    session.advanceEpoch();
    const changed = await fetchChanged(this.#broker, session, this.#params, this.#context.signal);
    if (!changed) return { errorCode: Errors.INVALID_FETCH_SESSION_EPOCH, sessionId, responses: [] };
    this.#context.afterWrite(changed.release);
    return { sessionId, responses: groupByTopic(changed.targets, changed.responses) };
  }

  #refusal(session: FetchSession | undefined): ErrorCode {
    if (!session) return Errors.FETCH_SESSION_ID_NOT_FOUND;
    if (session.epoch !== this.#request.sessionEpoch) return Errors.INVALID_FETCH_SESSION_EPOCH;
    return session.usesTopicIds === this.#byId ? Errors.NONE : Errors.FETCH_SESSION_TOPIC_ID_ERROR;
  }

  #lost(sessionId: number): FetchResponse {
    this.#sessions.remove(sessionId);
    return { errorCode: Errors.FETCH_SESSION_ID_NOT_FOUND, sessionId: NO_SESSION, responses: [] };
  }

  /** The id of a session over what was just fetched, or 0: none was asked for, or there is no room for one. */
  #openSession(targets: readonly FetchTarget[], look: FetchLook): number {
    if (this.#request.sessionEpoch !== INITIAL_EPOCH || !this.#isKeepable) return NO_SESSION;
    if (this.#context.apiVersion < FIRST_VERSION_WITH_SESSIONS) return NO_SESSION;
    const session = this.#sessions.create(targets.length, this.#byId);
    if (!session) return NO_SESSION;
    const begin = (): void => {
      session.update({ topics: this.#request.topics, forgottenTopicsData: [] });
      session.told(targets, look.responses);
    };
    return this.#sessions.update(session, begin) ? session.id : NO_SESSION;
  }

  /** A name that no topic can have would let a client keep megabytes in a session. */
  get #isKeepable(): boolean {
    return this.#request.topics.every(({ topic }) => topic.length <= MAX_TOPIC_NAME_LENGTH);
  }
}

function fetchParams(request: FetchRequest, fetchMaxBytes: number): FetchParams {
  const { isolationLevel } = request;
  if (isolationLevel !== 0 && isolationLevel !== 1) {
    throw new ApiError('INVALID_REQUEST', `isolation level ${isolationLevel} is neither 0 nor 1`);
  }
  const maxBytes = Math.max(0, Math.min(request.maxBytes, fetchMaxBytes));
  return {
    minBytes: Math.max(0, Math.min(request.minBytes, maxBytes)),
    maxWaitMs: Math.max(0, request.maxWaitMs),
    maxBytes,
    isolation: isolationLevel === 1 ? 'read_committed' : 'read_uncommitted',
  };
}

function targetsOf({ topics }: FetchRequest): FetchTarget[] {
  return topics.flatMap(({ topic, topicId, partitions }) =>
    partitions.map(({ partition, fetchOffset, partitionMaxBytes, currentLeaderEpoch, lastFetchedEpoch }) => ({
      topic,
      topicId,
      partition,
      fetchOffset,
      partitionMaxBytes,
      currentLeaderEpoch,
      lastFetchedEpoch,
    })),
  );
}

function everywhere({ topics }: FetchRequest, error: ErrorCode): FetchResponse {
  return {
    responses: topics.map(({ topic, topicId, partitions }) => ({
      topic,
      topicId,
      partitions: partitions.map(({ partition }) => failed(partition, error)),
    })),
  };
}

const FIRST_VERSION_WITH_ENDPOINTS = 16;

/** KIP-951: where the leaders are that `currentLeader` names. */
function withEndpoints(broker: Broker, response: FetchResponse, apiVersion: number): FetchResponse {
  if (apiVersion < FIRST_VERSION_WITH_ENDPOINTS) return response;
  const namesLeader = response.responses.some(({ partitions }) =>
    partitions.some(({ currentLeader }) => currentLeader),
  );
  if (!namesLeader) return response;
  const { nodeId, rack, advertisedListener } = broker;
  return { ...response, nodeEndpoints: [{ nodeId, rack, ...advertisedListener }] };
}
