import { defineApi } from '../api.ts';
import { int16, int32, int64, string } from '../schema.ts';

export const initProducerId = defineApi({
  key: 22,
  name: 'InitProducerId',
  versions: '0-5',
  flexibleFrom: 2,
  request: {
    transactionalId: string('0+', { nullable: '0+' }),
    transactionTimeoutMs: int32('0+'),
    /** −1 for a new id; an id and its epoch to have the epoch bumped. */
    producerId: int64('3+', { default: -1n }),
    producerEpoch: int16('3+', { default: -1 }),
  },
  response: {
    throttleTimeMs: int32('0+', { default: 0 }),
    errorCode: int16('0+'),
    producerId: int64('0+', { default: -1n }),
    producerEpoch: int16('0+', { default: -1 }),
  },
});
