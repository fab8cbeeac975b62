/**
 * Between the share APIs' requests by topic and the engine's by partition. A partition that stands twice in a request
 * counts once, as in Kafka, where they are keys of a map.
 */
import { type ErrorCode, Errors, errorName } from '../../common/errors.ts';
import { partitionKey } from '../../common/topic-id-partition.ts';
import type { Uuid } from '../../common/uuid.ts';
import type { ShareAcknowledgementBatch, SharePartitionRequest } from '../../engine/diskless-engine.ts';
import type { Broker } from '../broker.ts';
import { LEADER_EPOCH } from '../leader-epoch.ts';

interface RequestedTopic {
  readonly topicId: Uuid;
  readonly partitions: readonly {
    readonly partitionIndex: number;
    readonly acknowledgementBatches: readonly ShareAcknowledgementBatch[];
  }[];
}

export function requestedPartitions(topics: readonly RequestedTopic[]): SharePartitionRequest[] {
  const byKey = new Map<string, SharePartitionRequest>();
  for (const { topicId, partitions } of topics) {
    for (const { partitionIndex, acknowledgementBatches } of partitions) {
      const topicIdPartition = { topicId, partition: partitionIndex };
      const key = partitionKey(topicIdPartition);
      if (!byKey.has(key)) byKey.set(key, { topicIdPartition, acknowledgements: acknowledgementBatches });
    }
  }
  return [...byKey.values()];
}

const UNKNOWN_LEADER = { leaderId: -1, leaderEpoch: -1 };
/** Where a partition is led, for a client that is told that it is not here (any more): it has been loaded anew meanwhile. */
export function leaderHint(broker: Broker, errors: readonly ErrorCode[]) {
  if (!errors.includes(Errors.NOT_LEADER_OR_FOLLOWER)) return UNKNOWN_LEADER;
  return { leaderId: broker.nodeId, leaderEpoch: LEADER_EPOCH };
}

/** The brokers that hints name. */
export function leaderEndpoints(
  broker: Broker,
  responses: readonly { readonly partitions: readonly { readonly currentLeader: { readonly leaderId?: number } }[] }[],
) {
  const named = responses.some(({ partitions }) =>
    partitions.some(({ currentLeader }) => currentLeader.leaderId !== -1),
  );
  if (!named) return [];
  const { nodeId, rack, advertisedListener } = broker;
  return [{ nodeId, host: advertisedListener.host, port: advertisedListener.port, rack }];
}

/** What stands beside an error code; null without one. */
export function errorText(error: ErrorCode, message = ''): string | null {
  if (error === Errors.NONE) return null;
  return message === '' ? errorName(error) : message;
}

/** The same for an error of a whole group. */
export function groupErrorText(error: ErrorCode): string | null {
  return errorText(error, error === Errors.NON_EMPTY_GROUP ? 'The group has members; stop them first.' : '');
}
