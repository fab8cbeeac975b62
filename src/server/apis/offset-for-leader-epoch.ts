/**
 * OffsetForLeaderEpoch: where an epoch ends, by which a consumer finds out whether its position was truncated (KIP-320).
 * Nothing is ever truncated here and every log has one epoch, which ends at the high watermark.
 */
import { type ErrorCode, Errors } from '../../common/errors.ts';
import type { ListOffsetsPartition, ListOffsetsPartitionResult } from '../../engine/diskless-engine.ts';
import type { TopicIndex } from '../../group/topic-index.ts';
import type { RequestOf, ResponseOf } from '../../protocol/api.ts';
import { offsetForLeaderEpoch } from '../../protocol/messages/offset-for-leader-epoch.ts';
import { type ApiHandler, apiHandler } from '../api-handler.ts';
import type { Broker } from '../broker.ts';
import { checkLeaderEpoch, LEADER_EPOCH } from '../leader-epoch.ts';

type EpochRequest = RequestOf<typeof offsetForLeaderEpoch>;
type EpochResponse = ResponseOf<typeof offsetForLeaderEpoch>;
type PartitionResponse = EpochResponse['topics'][number]['partitions'][number];

const LATEST = -1n;

export function offsetForLeaderEpochHandler(broker: Broker): ApiHandler {
  return apiHandler<typeof offsetForLeaderEpoch>({
    api: offsetForLeaderEpoch,

    async handle(request) {
      const lookup = new EpochLookup(request, await broker.topics.view());
      const results = lookup.partitions.length === 0 ? [] : await broker.engine.listOffsets(lookup.partitions);
      return lookup.response(results);
    },

    errorResponse: (errorCode, { topics }) => ({
      topics: topics.map(({ topic, partitions }) => ({
        topic,
        partitions: partitions.map(({ partition }) => ({ partition, errorCode })),
      })),
    }),
  });
}

/** Sorts a request into log ends that the engine looks up and what is answered here. */
class EpochLookup {
  readonly #request: EpochRequest;
  /** Per partition in request order: an answer, or undefined for what the engine was asked. */
  readonly #answers: (PartitionResponse | undefined)[] = [];
  readonly partitions: ListOffsetsPartition[] = [];

  constructor(request: EpochRequest, topics: TopicIndex) {
    this.#request = request;
    for (const { topic, partitions } of request.topics) {
      for (const { partition, currentLeaderEpoch, leaderEpoch } of partitions) {
        const topicIdPartition = topics.partition(topics.byName(topic), partition);
        const errorCode = topicIdPartition ? checkLeaderEpoch(currentLeaderEpoch) : Errors.UNKNOWN_TOPIC_OR_PARTITION;
        // An epoch that never was has neither epoch nor end: the defaults.
        const answered = errorCode !== Errors.NONE || leaderEpoch !== LEADER_EPOCH;
        this.#answers.push(answered ? { partition, errorCode } : undefined);
        if (!answered) this.partitions.push({ topicIdPartition: topicIdPartition!, timestamp: LATEST });
      }
    }
  }

  /** `results` belong to `partitions`. */
  response(results: readonly ListOffsetsPartitionResult[]): EpochResponse {
    let next = 0;
    let nextResult = 0;
    return {
      topics: this.#request.topics.map(({ topic, partitions }) => ({
        topic,
        partitions: partitions.map(
          ({ partition }) => this.#answers[next++] ?? endOfEpoch(partition, results[nextResult++]!),
        ),
      })),
    };
  }
}

function endOfEpoch(partition: number, { error, offset }: { error: ErrorCode; offset: bigint }): PartitionResponse {
  if (error !== Errors.NONE) return { partition, errorCode: error };
  return { partition, errorCode: Errors.NONE, leaderEpoch: LEADER_EPOCH, endOffset: offset };
}
