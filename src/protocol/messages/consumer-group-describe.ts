import { defineApi } from '../api.ts';
import { array, arrayOf, bool, int8, int16, int32, string, struct } from '../schema.ts';
import { namedTopicPartitions } from './topic-partitions.ts';

const assignment = struct('0+', { topicPartitions: array('0+', namedTopicPartitions) });

export const consumerGroupDescribe = defineApi({
  key: 69,
  name: 'ConsumerGroupDescribe',
  versions: '0-1',
  flexibleFrom: 0,
  request: {
    groupIds: arrayOf(string, '0+'),
    includeAuthorizedOperations: bool('0+'),
  },
  response: {
    throttleTimeMs: int32('0+', { default: 0 }),
    groups: array('0+', {
      errorCode: int16('0+'),
      errorMessage: string('0+', { nullable: '0+', default: null }),
      groupId: string('0+'),
      groupState: string('0+'),
      groupEpoch: int32('0+'),
      assignmentEpoch: int32('0+'),
      assignorName: string('0+'),
      members: array('0+', {
        memberId: string('0+'),
        instanceId: string('0+', { nullable: '0+', default: null }),
        rackId: string('0+', { nullable: '0+', default: null }),
        memberEpoch: int32('0+'),
        clientId: string('0+'),
        clientHost: string('0+'),
        subscribedTopicNames: arrayOf(string, '0+'),
        subscribedTopicRegex: string('0+', { nullable: '0+', default: null }),
        assignment,
        targetAssignment: assignment,
        /** −1 not known, 0 classic, 1 consumer. */
        memberType: int8('1+', { default: -1, ignorable: true }),
      }),
      /** A bit per operation; the least int32 when they were not asked for. */
      authorizedOperations: int32('0+', { default: -(2 ** 31) }),
    }),
  },
});
