import { defineApi } from '../api.ts';
import { array, arrayOf, bool, int16, int32, int64, string } from '../schema.ts';

export const describeLogDirs = defineApi({
  key: 35,
  name: 'DescribeLogDirs',
  versions: '1-5',
  flexibleFrom: 2,
  request: {
    /** Null for all. */
    topics: array('0+', { topic: string('0+'), partitions: arrayOf(int32, '0+') }, { nullable: '0+' }),
  },
  response: {
    throttleTimeMs: int32('0+', { default: 0 }),
    errorCode: int16('3+', { ignorable: true }),
    results: array('0+', {
      errorCode: int16('0+'),
      logDir: string('0+'),
      topics: array('0+', {
        name: string('0+'),
        partitions: array('0+', {
          partitionIndex: int32('0+'),
          partitionSize: int64('0+'),
          offsetLag: int64('0+'),
          isFutureKey: bool('0+'),
        }),
      }),
      /** −1 when it is not known. */
      totalBytes: int64('4+', { default: -1n, ignorable: true }),
      usableBytes: int64('4+', { default: -1n, ignorable: true }),
      isCordoned: bool('5+', { ignorable: true }),
    }),
  },
});
