import { defineApi } from '../api.ts';
import { array, int8, int16, int32, int64, string, uuid } from '../schema.ts';

/**
 * Not one of Kafka's: what a share-partition leader tracks of a group, for `shoal share describe`. Its key is far from
 * Kafka's, and ApiVersions does not name it, so no other client will ask.
 */
export const describeInFlightRecords = defineApi({
  key: 30_000,
  name: 'DescribeInFlightRecords',
  versions: '0',
  isAdvertised: false,
  flexibleFrom: 0,
  request: {
    groupId: string('0+'),
    /** How many runs to describe of each partition. */
    maxRuns: int32('0+'),
  },
  response: {
    errorCode: int16('0+'),
    /** Those that are loaded, which are those that somebody has fetched from. */
    partitions: array('0+', {
      topicId: uuid('0+'),
      partitionIndex: int32('0+'),
      startOffset: int64('0+'),
      nextOffset: int64('0+'),
      acquired: int32('0+'),
      available: int32('0+'),
      complete: int32('0+'),
      deliveries: array('0+', { deliveryCount: int16('0+'), records: int32('0+') }),
      runs: array('0+', {
        firstOffset: int64('0+'),
        lastOffset: int64('0+'),
        /** 0 available, 1 acquired, 2 acknowledged, 3 archiving, 4 archived. */
        state: int8('0+'),
        deliveryCount: int16('0+'),
        memberId: string('0+'),
        /** −1: no lock. */
        lockRemainingMs: int32('0+'),
      }),
      runsLeftOut: int32('0+'),
    }),
  },
});
