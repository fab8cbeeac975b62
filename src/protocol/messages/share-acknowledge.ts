import { defineApi } from '../api.ts';
import { array, bool, int16, int32, string, uuid } from '../schema.ts';
import { acknowledgementBatches, currentLeader, nodeEndpoints } from './share-fields.ts';

/** KIP-932: acknowledges records without fetching; version 2 adds renewal (KIP-1222). */
export const shareAcknowledge = defineApi({
  key: 79,
  name: 'ShareAcknowledge',
  versions: '1-2',
  flexibleFrom: 0,
  request: {
    groupId: string('0+', { nullable: '0+', default: null }),
    memberId: string('0+', { nullable: '0+' }),
    /** −1 closes the share session, else counting. */
    shareSessionEpoch: int32('0+'),
    isRenewAck: bool('2+', { default: false }),
    topics: array('0+', {
      topicId: uuid('0+'),
      partitions: array('0+', { partitionIndex: int32('0+'), acknowledgementBatches }),
    }),
  },
  response: {
    throttleTimeMs: int32('0+', { default: 0 }),
    errorCode: int16('0+'),
    errorMessage: string('0+', { nullable: '0+', default: null }),
    acquisitionLockTimeoutMs: int32('2+', { ignorable: true }),
    responses: array('0+', {
      topicId: uuid('0+'),
      partitions: array('0+', {
        partitionIndex: int32('0+'),
        errorCode: int16('0+'),
        errorMessage: string('0+', { nullable: '0+', default: null }),
        currentLeader,
      }),
    }),
    nodeEndpoints,
  },
});
