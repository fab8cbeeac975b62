import { defineApi } from '../api.ts';
import { array, arrayOf, int16, int32, int64, string, uuid } from '../schema.ts';

/** KIP-932; version 1 adds the lag (KIP-1226). */
export const describeShareGroupOffsets = defineApi({
  key: 90,
  name: 'DescribeShareGroupOffsets',
  versions: '0-1',
  flexibleFrom: 0,
  request: {
    groups: array('0+', {
      groupId: string('0+'),
      /** Null asks for all that the group has. */
      topics: array('0+', { topicName: string('0+'), partitions: arrayOf(int32, '0+') }, { nullable: '0+' }),
    }),
  },
  response: {
    throttleTimeMs: int32('0+', { default: 0 }),
    groups: array('0+', {
      groupId: string('0+'),
      topics: array('0+', {
        topicName: string('0+'),
        topicId: uuid('0+'),
        partitions: array('0+', {
          partitionIndex: int32('0+'),
          startOffset: int64('0+'),
          leaderEpoch: int32('0+'),
          /** −1: not known. */
          lag: int64('1+', { default: -1n, ignorable: true }),
          errorCode: int16('0+'),
          errorMessage: string('0+', { nullable: '0+', default: null }),
        }),
      }),
      errorCode: int16('0+'),
      errorMessage: string('0+', { nullable: '0+', default: null }),
    }),
  },
});
