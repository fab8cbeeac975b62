import { defineApi } from '../api.ts';
import { array, arrayOf, int8, int16, int32, string } from '../schema.ts';

export const electLeaders = defineApi({
  key: 43,
  name: 'ElectLeaders',
  versions: '0-2',
  flexibleFrom: 2,
  request: {
    /** 0 the preferred replica, 1 any that lives. */
    electionType: int8('1+'),
    /** Null for all. */
    topicPartitions: array('0+', { topic: string('0+'), partitions: arrayOf(int32, '0+') }, { nullable: '0+' }),
    timeoutMs: int32('0+', { default: 60_000 }),
  },
  response: {
    throttleTimeMs: int32('0+', { default: 0 }),
    errorCode: int16('1+', { ignorable: true }),
    replicaElectionResults: array('0+', {
      topic: string('0+'),
      partitionResult: array('0+', {
        partitionId: int32('0+'),
        errorCode: int16('0+'),
        errorMessage: string('0+', { nullable: '0+', default: null }),
      }),
    }),
  },
});
