import { defineApi } from '../api.ts';
import { array, int8, int16, int32, int64, string } from '../schema.ts';

export const listOffsets = defineApi({
  key: 2,
  name: 'ListOffsets',
  versions: '1-11',
  flexibleFrom: 6,
  request: {
    replicaId: int32('0+', { default: -1 }),
    isolationLevel: int8('2+', { default: 0 }),
    topics: array('0+', {
      name: string('0+'),
      partitions: array('0+', {
        partitionIndex: int32('0+'),
        currentLeaderEpoch: int32('4+', { default: -1, ignorable: true }),
        timestamp: int64('0+'),
      }),
    }),
    timeoutMs: int32('10+', { ignorable: true }),
  },
  response: {
    throttleTimeMs: int32('2+', { ignorable: true }),
    topics: array('0+', {
      name: string('0+'),
      partitions: array('0+', {
        partitionIndex: int32('0+'),
        errorCode: int16('0+'),
        timestamp: int64('0+', { default: -1n }),
        offset: int64('0+', { default: -1n }),
        leaderEpoch: int32('4+', { default: -1, ignorable: true }),
      }),
    }),
  },
});
