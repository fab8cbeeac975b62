import { defineApi } from '../api.ts';
import { array, arrayOf, int16, int32, string, struct } from '../schema.ts';
import { topicPartitions } from './topic-partitions.ts';

/** KIP-848: the one request by which a member of a consumer group joins, reports, hears of its assignment and leaves. */
export const consumerGroupHeartbeat = defineApi({
  key: 68,
  name: 'ConsumerGroupHeartbeat',
  versions: '0-1',
  flexibleFrom: 0,
  request: {
    groupId: string('0+'),
    /** From version 1 made by the member; in version 0 "" asks the coordinator for one. */
    memberId: string('0+'),
    /** 0 joins, −1 leaves, −2 leaves for a while (static members). */
    memberEpoch: int32('0+'),
    instanceId: string('0+', { nullable: '0+', default: null }),
    rackId: string('0+', { nullable: '0+', default: null }),
    /** −1, or null in what follows: as it was in the last heartbeat. */
    rebalanceTimeoutMs: int32('0+', { default: -1 }),
    subscribedTopicNames: arrayOf(string, '0+', { nullable: '0+', default: null }),
    subscribedTopicRegex: string('1+', { nullable: '1+', default: null }),
    serverAssignor: string('0+', { nullable: '0+', default: null }),
    topicPartitions: array('0+', topicPartitions, { nullable: '0+', default: null }),
  },
  response: {
    throttleTimeMs: int32('0+', { default: 0 }),
    errorCode: int16('0+'),
    errorMessage: string('0+', { nullable: '0+', default: null }),
    memberId: string('0+', { nullable: '0+', default: null }),
    memberEpoch: int32('0+', { default: 0 }),
    heartbeatIntervalMs: int32('0+', { default: 0 }),
    /** Null when nothing has changed. */
    assignment: struct('0+', { topicPartitions: array('0+', topicPartitions) }, { nullable: '0+', default: null }),
  },
});
