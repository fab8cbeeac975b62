import { defineApi } from '../api.ts';
import { array, arrayOf, bool, int16, int32, string, struct, uuid } from '../schema.ts';

/** Where a page begins. */
const cursor = { topicName: string('0+'), partitionIndex: int32('0+') };

export const describeTopicPartitions = defineApi({
  key: 75,
  name: 'DescribeTopicPartitions',
  versions: '0',
  flexibleFrom: 0,
  request: {
    /** None for all topics. */
    topics: array('0+', { name: string('0+') }),
    responsePartitionLimit: int32('0+', { default: 2000 }),
    cursor: struct('0+', cursor, { nullable: '0+', default: null }),
  },
  response: {
    throttleTimeMs: int32('0+', { default: 0 }),
    topics: array('0+', {
      errorCode: int16('0+'),
      name: string('0+', { nullable: '0+' }),
      topicId: uuid('0+'),
      isInternal: bool('0+', { default: false }),
      partitions: array('0+', {
        errorCode: int16('0+'),
        partitionIndex: int32('0+'),
        leaderId: int32('0+'),
        leaderEpoch: int32('0+', { default: -1 }),
        replicaNodes: arrayOf(int32, '0+'),
        isrNodes: arrayOf(int32, '0+'),
        eligibleLeaderReplicas: arrayOf(int32, '0+', { nullable: '0+', default: null }),
        lastKnownElr: arrayOf(int32, '0+', { nullable: '0+', default: null }),
        offlineReplicas: arrayOf(int32, '0+'),
      }),
      topicAuthorizedOperations: int32('0+', { default: -2147483648 }),
    }),
    /** Null when there is no further page. */
    nextCursor: struct('0+', cursor, { nullable: '0+', default: null }),
  },
});
