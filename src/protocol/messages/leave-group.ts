import { defineApi } from '../api.ts';
import { array, int16, int32, string } from '../schema.ts';

/** One member per request up to version 2, several from version 3. */
export const leaveGroup = defineApi({
  key: 13,
  name: 'LeaveGroup',
  versions: '0-5',
  flexibleFrom: 4,
  request: {
    groupId: string('0+'),
    memberId: string('0-2'),
    members: array('3+', {
      memberId: string('0+'),
      groupInstanceId: string('0+', { nullable: '0+', default: null }),
      reason: string('5+', { nullable: '5+', default: null, ignorable: true }),
    }),
  },
  response: {
    throttleTimeMs: int32('1+', { ignorable: true }),
    errorCode: int16('0+'),
    members: array('3+', {
      memberId: string('0+'),
      groupInstanceId: string('0+', { nullable: '0+' }),
      errorCode: int16('0+'),
    }),
  },
});
