import { defineApi } from '../api.ts';
import { array, arrayOf, int16, int32, string, struct } from '../schema.ts';
import { topicPartitions } from './topic-partitions.ts';

/** KIP-932: the one request by which a member of a share group joins, reports, hears of its assignment and leaves. */
export const shareGroupHeartbeat = defineApi({
  key: 76,
  name: 'ShareGroupHeartbeat',
  versions: '1',
  flexibleFrom: 0,
  request: {
    groupId: string('0+'),
    /** Made by the member. */
    memberId: string('0+'),
    /** 0 joins, −1 leaves. */
    memberEpoch: int32('0+'),
    /** Null, as in what follows: as it was in the last heartbeat. */
    rackId: string('0+', { nullable: '0+', default: null }),
    subscribedTopicNames: arrayOf(string, '0+', { nullable: '0+', default: null }),
  },
  response: {
    throttleTimeMs: int32('0+', { default: 0 }),
    errorCode: int16('0+'),
    errorMessage: string('0+', { nullable: '0+', default: null }),
    memberId: string('0+', { nullable: '0+', default: null }),
    memberEpoch: int32('0+'),
    heartbeatIntervalMs: int32('0+'),
    /** Null when nothing has changed. */
    assignment: struct('0+', { topicPartitions: array('0+', topicPartitions) }, { nullable: '0+', default: null }),
  },
});
