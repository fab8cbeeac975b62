import { defineApi } from '../api.ts';
import { array, bytes, int16, int32, string } from '../schema.ts';

export const syncGroup = defineApi({
  key: 14,
  name: 'SyncGroup',
  versions: '0-5',
  flexibleFrom: 4,
  request: {
    groupId: string('0+'),
    generationId: int32('0+'),
    memberId: string('0+'),
    groupInstanceId: string('3+', { nullable: '3+', default: null }),
    protocolType: string('5+', { nullable: '5+', default: null, ignorable: true }),
    protocolName: string('5+', { nullable: '5+', default: null, ignorable: true }),
    assignments: array('0+', { memberId: string('0+'), assignment: bytes('0+') }),
  },
  response: {
    throttleTimeMs: int32('1+', { ignorable: true }),
    errorCode: int16('0+'),
    protocolType: string('5+', { nullable: '5+', default: null, ignorable: true }),
    protocolName: string('5+', { nullable: '5+', default: null, ignorable: true }),
    assignment: bytes('0+'),
  },
});
