import { defineApi } from '../api.ts';
import { array, int16, int32, int64, string } from '../schema.ts';

export const offsetForLeaderEpoch = defineApi({
  key: 23,
  name: 'OffsetForLeaderEpoch',
  versions: '2-4',
  flexibleFrom: 4,
  request: {
    /** −1 for a consumer, −2 for a debug consumer. */
    replicaId: int32('3+', { default: -2, ignorable: true }),
    topics: array('0+', {
      topic: string('0+'),
      partitions: array('0+', {
        partition: int32('0+'),
        currentLeaderEpoch: int32('2+', { default: -1, ignorable: true }),
        /** The epoch whose end is asked for. */
        leaderEpoch: int32('0+'),
      }),
    }),
  },
  response: {
    throttleTimeMs: int32('2+', { ignorable: true }),
    topics: array('0+', {
      topic: string('0+'),
      partitions: array('0+', {
        errorCode: int16('0+'),
        partition: int32('0+'),
        leaderEpoch: int32('1+', { default: -1, ignorable: true }),
        endOffset: int64('0+', { default: -1n }),
      }),
    }),
  },
});
