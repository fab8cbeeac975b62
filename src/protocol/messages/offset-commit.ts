import { defineApi } from '../api.ts';
import { array, int16, int32, int64, string, uuid } from '../schema.ts';

export const offsetCommit = defineApi({
  key: 8,
  name: 'OffsetCommit',
  versions: '2-10',
  flexibleFrom: 8,
  request: {
    groupId: string('0+'),
    /** −1 with an empty member id: a commit from outside the group. */
    generationIdOrMemberEpoch: int32('0+', { default: -1 }),
    memberId: string('0+', { default: '' }),
    groupInstanceId: string('7+', { nullable: '7+', default: null }),
    retentionTimeMs: int64('2-4', { default: -1n, ignorable: true }),
    topics: array('0+', {
      name: string('0-9', { ignorable: true }),
      topicId: uuid('10+', { ignorable: true }),
      partitions: array('0+', {
        partitionIndex: int32('0+'),
        committedOffset: int64('0+'),
        committedLeaderEpoch: int32('6+', { default: -1, ignorable: true }),
        committedMetadata: string('0+', { nullable: '0+' }),
      }),
    }),
  },
  response: {
    throttleTimeMs: int32('3+', { ignorable: true }),
    topics: array('0+', {
      name: string('0-9', { ignorable: true }),
      topicId: uuid('10+', { ignorable: true }),
      partitions: array('0+', { partitionIndex: int32('0+'), errorCode: int16('0+') }),
    }),
  },
});
