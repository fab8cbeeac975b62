import { defineApi } from '../api.ts';
import { array, bool, bytes, int16, int32, string } from '../schema.ts';

export const joinGroup = defineApi({
  key: 11,
  name: 'JoinGroup',
  versions: '0-9',
  flexibleFrom: 6,
  request: {
    groupId: string('0+'),
    sessionTimeoutMs: int32('0+'),
    /** −1 in version 0: the session timeout stands in for it. */
    rebalanceTimeoutMs: int32('1+', { default: -1, ignorable: true }),
    memberId: string('0+'),
    groupInstanceId: string('5+', { nullable: '5+', default: null }),
    protocolType: string('0+'),
    protocols: array('0+', { name: string('0+'), metadata: bytes('0+') }),
    reason: string('8+', { nullable: '8+', default: null, ignorable: true }),
  },
  response: {
    throttleTimeMs: int32('2+', { ignorable: true }),
    errorCode: int16('0+'),
    generationId: int32('0+', { default: -1 }),
    protocolType: string('7+', { nullable: '7+', default: null, ignorable: true }),
    protocolName: string('0+', { nullable: '7+' }),
    leader: string('0+'),
    skipAssignment: bool('9+'),
    memberId: string('0+'),
    members: array('0+', {
      memberId: string('0+'),
      groupInstanceId: string('5+', { nullable: '5+', default: null, ignorable: true }),
      metadata: bytes('0+'),
    }),
  },
});
