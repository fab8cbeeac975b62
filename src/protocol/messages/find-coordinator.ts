import { defineApi } from '../api.ts';
import { array, arrayOf, int8, int16, int32, string } from '../schema.ts';

/** One key per request up to version 3, several from version 4. */
export const findCoordinator = defineApi({
  key: 10,
  name: 'FindCoordinator',
  versions: '0-6',
  flexibleFrom: 3,
  request: {
    key: string('0-3'),
    /** 0 group, 1 transaction, 2 share (`groupId:topicId:partition`). */
    keyType: int8('1+', { default: 0 }),
    coordinatorKeys: arrayOf(string, '4+'),
  },
  response: {
    throttleTimeMs: int32('1+', { ignorable: true }),
    errorCode: int16('0-3'),
    errorMessage: string('1-3', { nullable: '1-3', default: null, ignorable: true }),
    nodeId: int32('0-3'),
    host: string('0-3'),
    port: int32('0-3'),
    coordinators: array('4+', {
      key: string('0+'),
      nodeId: int32('0+'),
      host: string('0+'),
      port: int32('0+'),
      errorCode: int16('0+'),
      errorMessage: string('0+', { nullable: '0+', default: null }),
    }),
  },
});
