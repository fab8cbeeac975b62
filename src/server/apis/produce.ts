/**
 * Produce: hands each partition's batch to the engine. Requests of one connection overlap; the order in which they
 * reach `engine.append` is the order in which they came, because nothing but the topics view (itself in order) is
 * awaited before.
 */
import { type ErrorCode, Errors, errorName } from '../../common/errors.ts';
import type { TopicIdPartition } from '../../common/topic-id-partition.ts';
import type { AppendPartition, AppendResult } from '../../engine/diskless-engine.ts';
import type { TopicIndex } from '../../group/topic-index.ts';
import type { RequestOf, ResponseOf } from '../../protocol/api.ts';
import { produce } from '../../protocol/messages/produce.ts';
import { type ApiHandler, apiHandler, CloseConnectionError } from '../api-handler.ts';
import type { Broker } from '../broker.ts';
import { isInternalTopic } from '../topic-names.ts';

type ProduceRequest = RequestOf<typeof produce>;
type ProduceResponse = ResponseOf<typeof produce>;
type TopicData = ProduceRequest['topicData'][number];
type PartitionData = TopicData['partitionData'][number];
type PartitionResponse = ProduceResponse['responses'][number]['partitionResponses'][number];

interface Refusal {
  readonly error: ErrorCode;
  readonly message: string | null;
}

export function produceHandler(broker: Broker): ApiHandler {
  return apiHandler<typeof produce>({
    api: produce,
    overlaps: true,

    async handle(request, context) {
      const refusal = refusalOf(request);
      if (refusal) return answer(request, everywhere(request, refusal.error, refusal.message));
      const append = new ProduceAppend(request, context.apiVersion, await broker.topics.view());
      // Only acks=-1 waits for others in Kafka; its timeout means nothing to the rest.
      const options = request.acks === -1 ? { timeoutMs: Math.max(1, request.timeoutMs) } : {};
      const results = append.partitions.length === 0 ? [] : await broker.engine.append(append.partitions, options);
      return answer(request, append.response(results));
    },

    errorResponse(error, request) {
      if (request.acks === 0) throw new CloseConnectionError(`failed with acks=0: ${errorName(error)}`);
      return everywhere(request, error, null);
    },
  });
}

/** acks=0 gets no answer; the only way to tell of an error is to close the connection, as Kafka does. */
function answer({ acks }: ProduceRequest, response: ProduceResponse): ProduceResponse | undefined {
  if (acks !== 0) return response;
  const partitions = response.responses.flatMap(({ partitionResponses }) => partitionResponses);
  const failed = partitions.find(({ errorCode }) => errorCode !== Errors.NONE);
  if (failed) throw new CloseConnectionError(`partition ${failed.index} failed with acks=0: ${describe(failed)}`);
  return undefined;
}

function describe({ errorCode, errorMessage }: PartitionResponse): string {
  return errorMessage ? `code ${errorCode}, ${errorMessage}` : `code ${errorCode}`;
}

function refusalOf(request: ProduceRequest): Refusal | undefined {
  const { acks, transactionalId, topicData } = request;
  if (acks !== 0 && acks !== 1 && acks !== -1) {
    return { error: Errors.INVALID_REQUIRED_ACKS, message: `acks is ${acks}; 0, 1 and -1 are allowed` };
  }
  if (!topicData.some(({ partitionData }) => partitionData.some(isTransactional))) return undefined;
  if (transactionalId === null) {
    const message = 'a transactional batch needs a transactional id';
    return { error: Errors.TRANSACTIONAL_ID_AUTHORIZATION_FAILED, message };
  }
  return {
    error: Errors.INVALID_REQUEST,
    message: 'transactions are not built yet; produce without a transactional id',
  };
}

/** Where a v2 batch has its magic and the low byte of its attributes. */
const MAGIC_AT = 16;
const ATTRIBUTES_AT = 22;
const COMPRESSION_BITS = 0x07;
const ZSTD = 4;
const TRANSACTIONAL_BIT = 0x10;
const FIRST_VERSION_WITH_ZSTD = 7;
const FIRST_VERSION_WITH_TOPIC_IDS = 13;

/** Attributes of the first batch; 0 for anything that is no v2 batch, which the engine will say. */
function attributesOf(records: Uint8Array | null): number {
  return records?.[MAGIC_AT] === 2 ? (records[ATTRIBUTES_AT] ?? 0) : 0;
}

function isTransactional({ records }: PartitionData): boolean {
  return (attributesOf(records) & TRANSACTIONAL_BIT) !== 0;
}

/** Sorts a request into what goes to the engine and what is refused here, and the results back into its order. */
class ProduceAppend {
  readonly #request: ProduceRequest;
  readonly #apiVersion: number;
  readonly #topics: TopicIndex;
  readonly #seen = new Set<string>();
  /** Per partition in request order: a refusal, or undefined for what was handed to the engine. */
  readonly #refusals: (Refusal | undefined)[] = [];
  readonly partitions: AppendPartition[] = [];

  constructor(request: ProduceRequest, apiVersion: number, topics: TopicIndex) {
    this.#request = request;
    this.#apiVersion = apiVersion;
    this.#topics = topics;
    for (const topic of request.topicData) for (const partition of topic.partitionData) this.#add(topic, partition);
  }

  /** `results` belong to `partitions`. */
  response(results: readonly AppendResult[]): ProduceResponse {
    let next = 0;
    let nextResult = 0;
    const respond = ({ index }: PartitionData): PartitionResponse => {
      const refusal = this.#refusals[next++];
      return refusal ? refused(index, refusal) : appended(index, results[nextResult++]!);
    };
    return {
      responses: this.#request.topicData.map(({ name, topicId, partitionData }) => ({
        name,
        topicId,
        partitionResponses: partitionData.map(respond),
      })),
    };
  }

  #add(topic: TopicData, { index, records }: PartitionData): void {
    const found = this.#find(topic, index);
    const refusal = 'error' in found ? found : this.#refuseRecords(found, records);
    this.#refusals.push(refusal);
    if (!refusal) this.partitions.push({ topicIdPartition: found as TopicIdPartition, records: records! });
  }

  #find({ name, topicId }: TopicData, partition: number): TopicIdPartition | Refusal {
    const byId = this.#apiVersion >= FIRST_VERSION_WITH_TOPIC_IDS;
    if (isInternalTopic(name))
      return { error: Errors.INVALID_TOPIC_EXCEPTION, message: `${name} is an internal topic` };
    const topic = byId ? this.#topics.byId(topicId) : this.#topics.byName(name);
    const unknown = byId && !topic ? Errors.UNKNOWN_TOPIC_ID : Errors.UNKNOWN_TOPIC_OR_PARTITION;
    return this.#topics.partition(topic, partition) ?? { error: unknown, message: null };
  }

  #refuseRecords({ topicId, partition }: TopicIdPartition, records: Uint8Array | null): Refusal | undefined {
    const key = `${topicId}-${partition}`;
    if (this.#seen.has(key)) {
      return { error: Errors.INVALID_REQUEST, message: `partition ${partition} stands twice in the request` };
    }
    this.#seen.add(key);
    if (records === null) return { error: Errors.INVALID_RECORD, message: 'there are no records' };
    const zstd = (attributesOf(records) & COMPRESSION_BITS) === ZSTD;
    if (!zstd || this.#apiVersion >= FIRST_VERSION_WITH_ZSTD) return undefined;
    const message = `zstd needs Produce version ${FIRST_VERSION_WITH_ZSTD} or higher`;
    return { error: Errors.UNSUPPORTED_COMPRESSION_TYPE, message };
  }
}

function everywhere({ topicData }: ProduceRequest, error: ErrorCode, message: string | null): ProduceResponse {
  return {
    responses: topicData.map(({ name, topicId, partitionData }) => ({
      name,
      topicId,
      partitionResponses: partitionData.map(({ index }) => refused(index, { error, message })),
    })),
  };
}

function refused(index: number, { error, message }: Refusal): PartitionResponse {
  return { index, errorCode: error, baseOffset: -1n, errorMessage: message };
}

function appended(index: number, result: AppendResult): PartitionResponse {
  return {
    index,
    errorCode: result.error,
    baseOffset: result.baseOffset,
    logAppendTimeMs: result.logAppendTimeMs,
    logStartOffset: result.logStartOffset,
    recordErrors: result.recordErrors.map(({ batchIndex, message }) => ({
      batchIndex,
      batchIndexErrorMessage: message,
    })),
    errorMessage: result.message === '' ? null : result.message,
  };
}
