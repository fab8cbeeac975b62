/** ListOffsets: the offset of a time, or one of Kafka's special timestamps. */
import { type ErrorCode, Errors } from '../../common/errors.ts';
import type { ListOffsetsPartition, ListOffsetsPartitionResult } from '../../engine/diskless-engine.ts';
import type { TopicIndex } from '../../group/topic-index.ts';
import type { RequestOf, ResponseOf } from '../../protocol/api.ts';
import { listOffsets } from '../../protocol/messages/list-offsets.ts';
import { type ApiHandler, apiHandler } from '../api-handler.ts';
import type { Broker } from '../broker.ts';
import { checkLeaderEpoch } from '../leader-epoch.ts';

type ListOffsetsRequest = RequestOf<typeof listOffsets>;
type ListOffsetsResponse = ResponseOf<typeof listOffsets>;
type PartitionRequest = ListOffsetsRequest['topics'][number]['partitions'][number];
type PartitionResponse = ListOffsetsResponse['topics'][number]['partitions'][number];

/** The version that brought each special timestamp; earlier ones answer UNSUPPORTED_VERSION. */
const SPECIAL_SINCE: ReadonlyMap<bigint, number> = new Map([
  [-1n, 1],
  [-2n, 1],
  [-3n, 7],
  [-4n, 8],
  [-5n, 9],
  [-6n, 11],
]);

/** Where the upload to tiered storage stands (KIP-1023): there is none, so that nothing is pending. */
const EARLIEST_PENDING_UPLOAD = -6n;

export function listOffsetsHandler(broker: Broker): ApiHandler {
  return apiHandler<typeof listOffsets>({
    api: listOffsets,

    async handle(request, { apiVersion }) {
      const lookup = new OffsetLookup(request, apiVersion, await broker.topics.view());
      const results = lookup.partitions.length === 0 ? [] : await broker.engine.listOffsets(lookup.partitions);
      return lookup.response(results);
    },

    errorResponse: (error, { topics }) => ({
      topics: topics.map(({ name, partitions }) => ({
        name,
        partitions: partitions.map(({ partitionIndex }) => ({ partitionIndex, errorCode: error })),
      })),
    }),
  });
}

/** Sorts a request into what the engine looks up and what is answered here, and the results back into its order. */
class OffsetLookup {
  readonly #request: ListOffsetsRequest;
  readonly #apiVersion: number;
  readonly #topics: TopicIndex;
  readonly #duplicates: ReadonlySet<string>;
  /** Per partition in request order: an answer, or undefined for what the engine was asked. */
  readonly #answers: (PartitionResponse | undefined)[] = [];
  readonly partitions: ListOffsetsPartition[] = [];

  constructor(request: ListOffsetsRequest, apiVersion: number, topics: TopicIndex) {
    this.#request = request;
    this.#apiVersion = apiVersion;
    this.#topics = topics;
    this.#duplicates = duplicatesOf(request);
    for (const { name, partitions } of request.topics) {
      for (const partition of partitions) this.#add(name, partition);
    }
  }

  /** `results` belong to `partitions`. */
  response(results: readonly ListOffsetsPartitionResult[]): ListOffsetsResponse {
    let next = 0;
    let nextResult = 0;
    const respond = (partitionIndex: number): PartitionResponse =>
      this.#answers[next++] ?? found(partitionIndex, results[nextResult++]!);
    return {
      topics: this.#request.topics.map(({ name, partitions }) => ({
        name,
        partitions: partitions.map(({ partitionIndex }) => respond(partitionIndex)),
      })),
    };
  }

  #add(name: string, partition: PartitionRequest): void {
    const { partitionIndex, timestamp } = partition;
    const topic = this.#topics.byName(name);
    const error = this.#refusal(name, partition, topic?.partitions ?? 0);
    if (error !== Errors.NONE) this.#answers.push({ partitionIndex, errorCode: error });
    else if (timestamp === EARLIEST_PENDING_UPLOAD) this.#answers.push({ partitionIndex, errorCode: Errors.NONE });
    else {
      this.#answers.push(undefined);
      const topicIdPartition = { topicId: topic!.topicId, partition: partitionIndex };
      this.partitions.push({ topicIdPartition, timestamp });
    }
  }

  #refusal(name: string, partition: PartitionRequest, partitions: number): ErrorCode {
    const { partitionIndex, timestamp, currentLeaderEpoch } = partition;
    if (this.#duplicates.has(`${name}-${partitionIndex}`)) return Errors.INVALID_REQUEST;
    if (partitionIndex < 0 || partitionIndex >= partitions) return Errors.UNKNOWN_TOPIC_OR_PARTITION;
    const since = timestamp >= 0n ? 1 : SPECIAL_SINCE.get(timestamp);
    if (since === undefined || since > this.#apiVersion) return Errors.UNSUPPORTED_VERSION;
    return checkLeaderEpoch(currentLeaderEpoch);
  }
}

/** Partitions that stand in the request more than once: each of their answers is an error, as in Kafka. */
function duplicatesOf({ topics }: ListOffsetsRequest): ReadonlySet<string> {
  const seen = new Set<string>();
  const twice = new Set<string>();
  for (const { name, partitions } of topics) {
    for (const { partitionIndex } of partitions) {
      const key = `${name}-${partitionIndex}`;
      if (seen.has(key)) twice.add(key);
      seen.add(key);
    }
  }
  return twice;
}

function found(partitionIndex: number, result: ListOffsetsPartitionResult): PartitionResponse {
  const { error, timestamp, offset, leaderEpoch } = result;
  return { partitionIndex, errorCode: error, timestamp, offset, leaderEpoch };
}
