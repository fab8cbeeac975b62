import { defineApi } from '../api.ts';
import { array, arrayOf, bool, int8, int16, int32, string, uuid } from '../schema.ts';

export const createTopics = defineApi({
  key: 19,
  name: 'CreateTopics',
  versions: '2-7',
  flexibleFrom: 5,
  request: {
    topics: array('0+', {
      name: string('0+'),
      /** −1 for the broker's default, or with assignments. */
      numPartitions: int32('0+'),
      /** −1 for the broker's default, or with assignments. */
      replicationFactor: int16('0+'),
      assignments: array('0+', { partitionIndex: int32('0+'), brokerIds: arrayOf(int32, '0+') }),
      configs: array('0+', { name: string('0+'), value: string('0+', { nullable: '0+' }) }),
    }),
    timeoutMs: int32('0+', { default: 60_000 }),
    validateOnly: bool('0+', { default: false }),
  },
  response: {
    throttleTimeMs: int32('0+', { default: 0 }),
    topics: array('0+', {
      name: string('0+'),
      topicId: uuid('7+', { ignorable: true }),
      errorCode: int16('0+'),
      errorMessage: string('0+', { nullable: '0+', default: null }),
      topicConfigErrorCode: int16('5+', { tag: 0, default: 0, ignorable: true }),
      numPartitions: int32('5+', { default: -1, ignorable: true }),
      replicationFactor: int16('5+', { default: -1, ignorable: true }),
      configs: array(
        '5+',
        {
          name: string('0+'),
          value: string('0+', { nullable: '0+' }),
          readOnly: bool('0+'),
          configSource: int8('0+', { default: -1 }),
          isSensitive: bool('0+'),
        },
        { nullable: '5+', ignorable: true },
      ),
    }),
  },
});
