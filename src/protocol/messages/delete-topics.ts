import { defineApi } from '../api.ts';
import { array, arrayOf, int16, int32, string, uuid } from '../schema.ts';

/** By name up to version 5, by name or id from version 6. */
export const deleteTopics = defineApi({
  key: 20,
  name: 'DeleteTopics',
  versions: '1-6',
  flexibleFrom: 4,
  request: {
    topics: array('6+', { name: string('0+', { nullable: '0+', default: null }), topicId: uuid('0+') }),
    topicNames: arrayOf(string, '0-5', { ignorable: true }),
    timeoutMs: int32('0+'),
  },
  response: {
    throttleTimeMs: int32('0+', { default: 0 }),
    responses: array('0+', {
      name: string('0+', { nullable: '6+' }),
      topicId: uuid('6+', { ignorable: true }),
      errorCode: int16('0+'),
      errorMessage: string('5+', { nullable: '5+', default: null, ignorable: true }),
    }),
  },
});
