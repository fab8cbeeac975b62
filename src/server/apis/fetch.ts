/**
 * Fetch without sessions: a request that asks for one gets a full answer with session id 0, which tells the client to
 * send full requests, as Kafka's own brokers do when their session cache is full. Record bytes go to the socket as the
 * engine's views and are given back once it took them.
 */
import { ApiError, type ErrorCode, Errors } from '../../common/errors.ts';
import type { FetchParams, FetchPartition, FetchPartitionData } from '../../engine/diskless-engine.ts';
import type { TopicIndex } from '../../group/topic-index.ts';
import type { RequestOf, ResponseOf } from '../../protocol/api.ts';
import { fetch } from '../../protocol/messages/fetch.ts';
import { type ApiHandler, apiHandler } from '../api-handler.ts';
import type { Broker } from '../broker.ts';

type FetchRequest = RequestOf<typeof fetch>;
type FetchResponse = ResponseOf<typeof fetch>;
type FetchTopic = FetchRequest['topics'][number];
type PartitionResponse = FetchResponse['responses'][number]['partitions'][number];

const FIRST_VERSION_WITH_IDS = 13;
/** KIP-227's special session epochs: a new session, and none. */
const INITIAL_EPOCH = 0;
const FINAL_EPOCH = -1;

export function fetchHandler(broker: Broker): ApiHandler {
  return apiHandler<typeof fetch>({
    api: fetch,

    async handle(request, context) {
      if (request.sessionEpoch !== INITIAL_EPOCH && request.sessionEpoch !== FINAL_EPOCH) {
        return { errorCode: Errors.FETCH_SESSION_ID_NOT_FOUND, responses: [] };
      }
      const plan = new FetchPlan(request, context.apiVersion, await broker.topics.view());
      const params = fetchParams(request, broker.settings.fetchMaxBytes, plan.refusesSome);
      const result = await broker.engine.fetch(params, plan.partitions, { signal: context.signal });
      context.afterWrite(() => result.release());
      return plan.response(result.partitions);
    },

    // Below version 7 there is no place for an error of the whole request.
    errorResponse: (error, request, { apiVersion }) =>
      apiVersion >= 7 ? { errorCode: error, responses: [] } : everywhere(request, error),
  });
}

/** An error somewhere is told at once, as Kafka does, instead of waiting for bytes elsewhere. */
function fetchParams(request: FetchRequest, fetchMaxBytes: number, answerAtOnce: boolean): FetchParams {
  const { isolationLevel } = request;
  if (isolationLevel !== 0 && isolationLevel !== 1) {
    throw new ApiError('INVALID_REQUEST', `isolation level ${isolationLevel} is neither 0 nor 1`);
  }
  const maxBytes = Math.max(0, Math.min(request.maxBytes, fetchMaxBytes));
  return {
    minBytes: answerAtOnce ? 0 : Math.max(0, Math.min(request.minBytes, maxBytes)),
    maxWaitMs: answerAtOnce ? 0 : Math.max(0, request.maxWaitMs),
    maxBytes,
    isolation: isolationLevel === 1 ? 'read_committed' : 'read_uncommitted',
  };
}

/** Sorts a request into what the engine can fetch and what is unknown, and the results back into its order. */
class FetchPlan {
  readonly #request: FetchRequest;
  readonly #apiVersion: number;
  readonly #topics: TopicIndex;
  /** Per partition in request order: an error, or NONE for what the engine was asked. */
  readonly #errors: ErrorCode[] = [];
  readonly partitions: FetchPartition[] = [];

  constructor(request: FetchRequest, apiVersion: number, topics: TopicIndex) {
    this.#request = request;
    this.#apiVersion = apiVersion;
    this.#topics = topics;
    for (const topic of request.topics) this.#add(topic);
  }

  get refusesSome(): boolean {
    return this.partitions.length < this.#errors.length || this.partitions.length === 0;
  }

  /** `results` belong to `partitions`. */
  response(results: readonly FetchPartitionData[]): FetchResponse {
    let next = 0;
    let nextResult = 0;
    const respond = ({ partition }: FetchTopic['partitions'][number]): PartitionResponse => {
      const error = this.#errors[next++]!;
      return error === Errors.NONE ? fetched(partition, results[nextResult++]!) : failed(partition, error);
    };
    return {
      responses: this.#request.topics.map(({ topic, topicId, partitions }) => ({
        topic,
        topicId,
        partitions: partitions.map(respond),
      })),
    };
  }

  #add({ topic: name, topicId, partitions }: FetchTopic): void {
    const byId = this.#apiVersion >= FIRST_VERSION_WITH_IDS;
    const topic = byId ? this.#topics.byId(topicId) : this.#topics.byName(name);
    const unknown = byId && !topic ? Errors.UNKNOWN_TOPIC_ID : Errors.UNKNOWN_TOPIC_OR_PARTITION;
    for (const { partition, fetchOffset, partitionMaxBytes } of partitions) {
      const topicIdPartition = this.#topics.partition(topic, partition);
      this.#errors.push(topicIdPartition ? Errors.NONE : unknown);
      if (topicIdPartition) {
        this.partitions.push({ topicIdPartition, fetchOffset, maxBytes: Math.max(0, partitionMaxBytes) });
      }
    }
  }
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

function failed(partitionIndex: number, errorCode: ErrorCode): PartitionResponse {
  return { partitionIndex, errorCode, highWatermark: -1n, records: [] };
}

function fetched(partitionIndex: number, data: FetchPartitionData): PartitionResponse {
  return {
    partitionIndex,
    errorCode: data.error,
    highWatermark: data.highWatermark,
    lastStableOffset: data.lastStableOffset,
    logStartOffset: data.logStartOffset,
    abortedTransactions: data.abortedTransactions.length === 0 ? null : data.abortedTransactions,
    records: data.records,
  };
}
