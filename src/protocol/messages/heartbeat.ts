import { defineApi } from '../api.ts';
import { int16, int32, string } from '../schema.ts';

export const heartbeat = defineApi({
  key: 12,
  name: 'Heartbeat',
  versions: '0-4',
  flexibleFrom: 4,
  request: {
    groupId: string('0+'),
    generationId: int32('0+'),
    memberId: string('0+'),
    groupInstanceId: string('3+', { nullable: '3+', default: null }),
  },
  response: {
    throttleTimeMs: int32('1+', { ignorable: true }),
    errorCode: int16('0+'),
  },
});
