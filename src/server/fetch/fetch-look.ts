/**
 * One look at some partitions for a Fetch request: which of them can be asked of the engine, what it answers, and both as
 * Kafka's response. Holds no state.
 */
import { type ErrorCode, Errors } from '../../common/errors.ts';
import type { Uuid } from '../../common/uuid.ts';
import type { FetchParams, FetchPartition, FetchPartitionData } from '../../engine/diskless-engine.ts';
import type { TopicIndex } from '../../group/topic-index.ts';
import type { ResponseOf } from '../../protocol/api.ts';
import type { fetch } from '../../protocol/messages/fetch.ts';
import type { Broker } from '../broker.ts';
import { checkLeaderEpoch, LEADER_EPOCH, NO_LEADER_EPOCH } from '../leader-epoch.ts';

export type FetchResponse = ResponseOf<typeof fetch>;
type TopicResponse = FetchResponse['responses'][number];
export type PartitionResponse = TopicResponse['partitions'][number];

/** A partition as a client asks for it. */
export interface FetchTarget {
  /** "" in the versions that name topics by id. */
  readonly topic: string;
  /** Zero in the versions that name topics by name. */
  readonly topicId: Uuid;
  readonly partition: number;
  readonly fetchOffset: bigint;
  readonly partitionMaxBytes: number;
  readonly currentLeaderEpoch: number;
  readonly lastFetchedEpoch: number;
}

/** Per target, in order: what the engine is asked, or the error that stands in its place. */
export type FetchPlan = readonly (FetchPartition | ErrorCode)[];

/** `byId`: the request names topics by id. */
export function planFetch(targets: readonly FetchTarget[], topics: TopicIndex, byId: boolean): FetchPlan {
  return targets.map((target) => {
    const { topic: name, topicId, partition, fetchOffset, partitionMaxBytes } = target;
    const topic = byId ? topics.byId(topicId) : topics.byName(name);
    const topicIdPartition = topics.partition(topic, partition);
    if (!topicIdPartition) return byId && !topic ? Errors.UNKNOWN_TOPIC_ID : Errors.UNKNOWN_TOPIC_OR_PARTITION;
    const refusal = checkEpochs(target);
    if (refusal !== Errors.NONE) return refusal;
    return { topicIdPartition, fetchOffset, maxBytes: Math.max(0, partitionMaxBytes) };
  });
}

function checkEpochs({ currentLeaderEpoch, lastFetchedEpoch }: FetchTarget): ErrorCode {
  const fenced = checkLeaderEpoch(currentLeaderEpoch);
  if (fenced !== Errors.NONE || lastFetchedEpoch === NO_LEADER_EPOCH || lastFetchedEpoch === LEADER_EPOCH)
    return fenced;
  return Errors.OFFSET_OUT_OF_RANGE; // read in an epoch that this log never had
}

/** What a look brought. Whoever gets it calls `release` once, when the records are not needed any more. */
export interface FetchLook {
  /** Response i belongs to target i. */
  readonly responses: readonly PartitionResponse[];
  release(): void;
}

/** An error somewhere is told at once, as Kafka does, instead of waiting for bytes elsewhere. */
export async function lookAt(
  broker: Broker,
  targets: readonly FetchTarget[],
  plan: FetchPlan,
  params: FetchParams,
  signal: AbortSignal,
): Promise<FetchLook> {
  const partitions = plan.filter((entry) => typeof entry !== 'number');
  const atOnce = partitions.length < plan.length || partitions.length === 0;
  const result = await broker.engine.fetch(atOnce ? { ...params, minBytes: 0, maxWaitMs: 0 } : params, partitions, {
    signal,
  });
  let next = 0;
  const responses = plan.map((entry, index) =>
    typeof entry === 'number'
      ? failed(targets[index]!.partition, entry, broker)
      : fetched(targets[index]!, result.partitions[next++]!),
  );
  return { responses, release: () => result.release() };
}

export function recordBytesOf({ records }: PartitionResponse): number {
  return records?.reduce((sum, { byteLength }) => sum + byteLength, 0) ?? 0;
}

export function failed(partitionIndex: number, errorCode: ErrorCode, broker?: Broker): PartitionResponse {
  const response = { partitionIndex, errorCode, highWatermark: -1n, records: [] };
  if (errorCode !== Errors.FENCED_LEADER_EPOCH || !broker) return response;
  // KIP-951: who leads now, so that the client need not ask for metadata first.
  return { ...response, currentLeader: { leaderId: broker.nodeId, leaderEpoch: LEADER_EPOCH } };
}

function fetched(target: FetchTarget, data: FetchPartitionData): PartitionResponse {
  const diverging = divergence(target, data);
  return {
    partitionIndex: target.partition,
    errorCode: diverging ? Errors.NONE : data.error,
    highWatermark: data.highWatermark,
    lastStableOffset: data.lastStableOffset,
    logStartOffset: data.logStartOffset,
    ...(diverging && { divergingEpoch: diverging }),
    abortedTransactions: data.abortedTransactions.length === 0 ? null : data.abortedTransactions,
    records: data.records,
  };
}

/** KIP-595: where the log that the client read goes on otherwise. Only a log that ends before its offset can. */
function divergence({ fetchOffset, lastFetchedEpoch }: FetchTarget, { error, highWatermark }: FetchPartitionData) {
  const beyondEnd = error === Errors.OFFSET_OUT_OF_RANGE && highWatermark >= 0n && fetchOffset > highWatermark;
  if (lastFetchedEpoch !== LEADER_EPOCH || !beyondEnd) return undefined;
  return { epoch: LEADER_EPOCH, endOffset: highWatermark };
}

/** Partitions in order, under their topics; a topic stands again where others came between, as in Kafka. */
export function groupByTopic(
  targets: readonly FetchTarget[],
  responses: readonly PartitionResponse[],
): FetchResponse['responses'] {
  const topics: { topic: string; topicId: Uuid; partitions: PartitionResponse[] }[] = [];
  for (const [index, { topic, topicId }] of targets.entries()) {
    const last = topics.at(-1);
    if (last && last.topic === topic && last.topicId === topicId) last.partitions.push(responses[index]!);
    else topics.push({ topic, topicId, partitions: [responses[index]!] });
  }
  return topics;
}
