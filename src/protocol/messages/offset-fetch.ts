import { defineApi } from '../api.ts';
import { array, arrayOf, bool, int16, int32, int64, string, uuid } from '../schema.ts';

/** One group per request up to version 7, several from version 8. */
export const offsetFetch = defineApi({
  key: 9,
  name: 'OffsetFetch',
  versions: '1-10',
  flexibleFrom: 6,
  request: {
    groupId: string('0-7'),
    /** Null asks for all partitions that have an offset. */
    topics: array('0-7', { name: string('0+'), partitionIndexes: arrayOf(int32, '0+') }, { nullable: '2-7' }),
    groups: array('8+', {
      groupId: string('0+'),
      memberId: string('9+', { nullable: '9+', default: null, ignorable: true }),
      memberEpoch: int32('9+', { default: -1, ignorable: true }),
      topics: array(
        '0+',
        {
          name: string('0-9', { ignorable: true }),
          topicId: uuid('10+', { ignorable: true }),
          partitionIndexes: arrayOf(int32, '0+'),
        },
        { nullable: '0+' },
      ),
    }),
    requireStable: bool('7+'),
  },
  response: {
    throttleTimeMs: int32('3+', { ignorable: true }),
    topics: array('0-7', {
      name: string('0+'),
      partitions: array('0+', {
        partitionIndex: int32('0+'),
        committedOffset: int64('0+'),
        committedLeaderEpoch: int32('5+', { default: -1, ignorable: true }),
        metadata: string('0+', { nullable: '0+' }),
        errorCode: int16('0+'),
      }),
    }),
    errorCode: int16('2-7', { ignorable: true }),
    groups: array('8+', {
      groupId: string('0+'),
      topics: array('0+', {
        name: string('0-9', { ignorable: true }),
        topicId: uuid('10+', { ignorable: true }),
        partitions: array('0+', {
          partitionIndex: int32('0+'),
          committedOffset: int64('0+'),
          committedLeaderEpoch: int32('0+', { default: -1 }),
          metadata: string('0+', { nullable: '0+' }),
          errorCode: int16('0+'),
        }),
      }),
      errorCode: int16('0+', { default: 0 }),
    }),
  },
});
