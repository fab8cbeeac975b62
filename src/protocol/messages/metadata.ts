import { defineApi } from '../api.ts';
import { array, arrayOf, bool, int16, int32, string, uuid } from '../schema.ts';

/** What an "authorized operations" field says when it was not asked for. */
const NOT_ASKED = -2147483648;

export const metadata = defineApi({
  key: 3,
  name: 'Metadata',
  versions: '0-13',
  flexibleFrom: 9,
  request: {
    /** Null asks for all topics, as an empty array does in version 0. */
    topics: array(
      '0+',
      { topicId: uuid('10+', { ignorable: true }), name: string('0+', { nullable: '10+' }) },
      { nullable: '1+' },
    ),
    allowAutoTopicCreation: bool('4+', { default: true }),
    includeClusterAuthorizedOperations: bool('8-10'),
    includeTopicAuthorizedOperations: bool('8+'),
  },
  response: {
    throttleTimeMs: int32('3+', { ignorable: true }),
    brokers: array('0+', {
      nodeId: int32('0+'),
      host: string('0+'),
      port: int32('0+'),
      rack: string('1+', { nullable: '1+', default: null, ignorable: true }),
    }),
    clusterId: string('2+', { nullable: '2+', default: null, ignorable: true }),
    controllerId: int32('1+', { default: -1, ignorable: true }),
    topics: array('0+', {
      errorCode: int16('0+'),
      name: string('0+', { nullable: '12+' }),
      topicId: uuid('10+', { ignorable: true }),
      isInternal: bool('1+', { ignorable: true }),
      partitions: array('0+', {
        errorCode: int16('0+'),
        partitionIndex: int32('0+'),
        leaderId: int32('0+'),
        leaderEpoch: int32('7+', { default: -1, ignorable: true }),
        replicaNodes: arrayOf(int32, '0+'),
        isrNodes: arrayOf(int32, '0+'),
        offlineReplicas: arrayOf(int32, '5+', { ignorable: true }),
      }),
      topicAuthorizedOperations: int32('8+', { default: NOT_ASKED }),
    }),
    clusterAuthorizedOperations: int32('8-10', { default: NOT_ASKED }),
    errorCode: int16('13+', { ignorable: true }),
  },
});
