import { defineApi } from '../api.ts';
import { array, arrayOf, int16, int32, int64, string } from '../schema.ts';

export const describeProducers = defineApi({
  key: 61,
  name: 'DescribeProducers',
  versions: '0',
  flexibleFrom: 0,
  request: {
    topics: array('0+', { name: string('0+'), partitionIndexes: arrayOf(int32, '0+') }),
  },
  response: {
    throttleTimeMs: int32('0+', { default: 0 }),
    topics: array('0+', {
      name: string('0+'),
      partitions: array('0+', {
        partitionIndex: int32('0+'),
        errorCode: int16('0+'),
        errorMessage: string('0+', { nullable: '0+', default: null }),
        activeProducers: array('0+', {
          producerId: int64('0+'),
          producerEpoch: int32('0+'),
          lastSequence: int32('0+', { default: -1 }),
          lastTimestamp: int64('0+', { default: -1n }),
          /** −1 without a transaction. */
          coordinatorEpoch: int32('0+'),
          currentTxnStartOffset: int64('0+', { default: -1n }),
        }),
      }),
    }),
  },
});
