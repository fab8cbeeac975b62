import { defineApi } from '../api.ts';
import { array, int16, int32, string, uuid } from '../schema.ts';

export const deleteShareGroupOffsets = defineApi({
  key: 92,
  name: 'DeleteShareGroupOffsets',
  versions: '0',
  flexibleFrom: 0,
  request: { groupId: string('0+'), topics: array('0+', { topicName: string('0+') }) },
  response: {
    throttleTimeMs: int32('0+', { default: 0 }),
    errorCode: int16('0+'),
    errorMessage: string('0+', { nullable: '0+', default: null }),
    responses: array('0+', {
      topicName: string('0+'),
      topicId: uuid('0+'),
      errorCode: int16('0+'),
      errorMessage: string('0+', { nullable: '0+', default: null }),
    }),
  },
});
