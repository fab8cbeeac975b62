import { defineApi } from '../api.ts';
import { array, arrayOf, bool, int16, int32, string } from '../schema.ts';

export const createPartitions = defineApi({
  key: 37,
  name: 'CreatePartitions',
  versions: '0-3',
  flexibleFrom: 2,
  request: {
    topics: array('0+', {
      name: string('0+'),
      /** How many there shall be, those that exist included. */
      count: int32('0+'),
      /** One for each new partition, or null. */
      assignments: array('0+', { brokerIds: arrayOf(int32, '0+') }, { nullable: '0+' }),
    }),
    timeoutMs: int32('0+'),
    validateOnly: bool('0+'),
  },
  response: {
    throttleTimeMs: int32('0+', { default: 0 }),
    results: array('0+', {
      name: string('0+'),
      errorCode: int16('0+'),
      errorMessage: string('0+', { nullable: '0+', default: null }),
    }),
  },
});
