import { defineApi } from '../api.ts';
import { array, bool, int8, int16, int32, int64, records, string, uuid } from '../schema.ts';
import { acknowledgementBatches, currentLeader, nodeEndpoints } from './share-fields.ts';
import { topicPartitions } from './topic-partitions.ts';

/** KIP-932: acknowledges records and fetches others; version 2 adds the acquire mode and renewal (KIP-1206, KIP-1222). */
export const shareFetch = defineApi({
  key: 78,
  name: 'ShareFetch',
  versions: '1-2',
  flexibleFrom: 0,
  request: {
    groupId: string('0+', { nullable: '0+', default: null }),
    memberId: string('0+', { nullable: '0+' }),
    /** 0 opens a share session, −1 closes it, else counting. */
    shareSessionEpoch: int32('0+'),
    maxWaitMs: int32('0+'),
    minBytes: int32('0+'),
    maxBytes: int32('0+', { default: 0x7fffffff }),
    maxRecords: int32('1+'),
    batchSize: int32('1+'),
    /** 0 batch_optimized, 1 record_limit. */
    shareAcquireMode: int8('2+', { default: 0, ignorable: true }),
    isRenewAck: bool('2+', { default: false }),
    topics: array('0+', {
      topicId: uuid('0+'),
      partitions: array('0+', { partitionIndex: int32('0+'), acknowledgementBatches }),
    }),
    forgottenTopicsData: array('0+', topicPartitions),
  },
  response: {
    throttleTimeMs: int32('0+', { default: 0 }),
    errorCode: int16('0+'),
    errorMessage: string('0+', { nullable: '0+', default: null }),
    acquisitionLockTimeoutMs: int32('1+'),
    responses: array('0+', {
      topicId: uuid('0+'),
      partitions: array('0+', {
        partitionIndex: int32('0+'),
        errorCode: int16('0+'),
        errorMessage: string('0+', { nullable: '0+', default: null }),
        acknowledgeErrorCode: int16('0+'),
        acknowledgeErrorMessage: string('0+', { nullable: '0+', default: null }),
        currentLeader,
        records: records('0+'),
        acquiredRecords: array('0+', { firstOffset: int64('0+'), lastOffset: int64('0+'), deliveryCount: int16('0+') }),
      }),
    }),
    nodeEndpoints,
  },
});
