/** ConsumerGroupHeartbeat and its answer as the state machine sees them: Kafka's fields, free of versions. */
import type { ErrorCode } from '../../common/errors.ts';
import type { TopicPartitions } from './partition-set.ts';

export interface ConsumerHeartbeatRequest {
  readonly groupId: string;
  /** "" asks for one (version 0). */
  readonly memberId: string;
  /** 0 joins, −1 leaves, −2 leaves for a while (static members). */
  readonly memberEpoch: number;
  readonly instanceId: string | null;
  readonly rackId: string | null;
  /** −1, or null in what follows: as in the last heartbeat. */
  readonly rebalanceTimeoutMs: number;
  readonly subscribedTopicNames: readonly string[] | null;
  readonly subscribedTopicRegex: string | null;
  readonly serverAssignor: string | null;
  readonly topicPartitions: readonly TopicPartitions[] | null;
  readonly clientId: string;
  readonly clientHost: string;
}

export interface ConsumerHeartbeatResult {
  readonly error: ErrorCode;
  /** What went wrong and what to do; null without an error. */
  readonly message: string | null;
  readonly memberId: string | null;
  readonly memberEpoch: number;
  readonly heartbeatIntervalMs: number;
  /** null when it is as the member was last told. */
  readonly assignment: readonly TopicPartitions[] | null;
}

export function heartbeatRefused(error: ErrorCode, message: string | null): ConsumerHeartbeatResult {
  return { error, message, memberId: null, memberEpoch: 0, heartbeatIntervalMs: 0, assignment: null };
}
