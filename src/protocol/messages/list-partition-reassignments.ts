import { defineApi } from '../api.ts';
import { array, arrayOf, int16, int32, string } from '../schema.ts';

export const listPartitionReassignments = defineApi({
  key: 46,
  name: 'ListPartitionReassignments',
  versions: '0',
  flexibleFrom: 0,
  request: {
    timeoutMs: int32('0+', { default: 60_000 }),
    /** Null for all. */
    topics: array(
      '0+',
      { name: string('0+'), partitionIndexes: arrayOf(int32, '0+') },
      { nullable: '0+', default: null },
    ),
  },
  response: {
    throttleTimeMs: int32('0+', { default: 0 }),
    errorCode: int16('0+'),
    errorMessage: string('0+', { nullable: '0+', default: null }),
    topics: array('0+', {
      name: string('0+'),
      partitions: array('0+', {
        partitionIndex: int32('0+'),
        replicas: arrayOf(int32, '0+'),
        addingReplicas: arrayOf(int32, '0+'),
        removingReplicas: arrayOf(int32, '0+'),
      }),
    }),
  },
});
