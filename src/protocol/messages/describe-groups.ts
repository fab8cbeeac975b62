import { defineApi } from '../api.ts';
import { array, arrayOf, bool, bytes, int16, int32, string } from '../schema.ts';

/** Describes classic groups; those of the consumer protocol have ConsumerGroupDescribe. */
export const describeGroups = defineApi({
  key: 15,
  name: 'DescribeGroups',
  versions: '0-6',
  flexibleFrom: 5,
  request: {
    groups: arrayOf(string, '0+'),
    includeAuthorizedOperations: bool('3+'),
  },
  response: {
    throttleTimeMs: int32('1+', { ignorable: true }),
    groups: array('0+', {
      errorCode: int16('0+'),
      errorMessage: string('6+', { nullable: '6+', default: null }),
      groupId: string('0+'),
      groupState: string('0+'),
      protocolType: string('0+'),
      protocolData: string('0+'),
      members: array('0+', {
        memberId: string('0+'),
        groupInstanceId: string('4+', { nullable: '4+', default: null, ignorable: true }),
        clientId: string('0+'),
        clientHost: string('0+'),
        memberMetadata: bytes('0+'),
        memberAssignment: bytes('0+'),
      }),
      /** A bit per operation; the least int32 when they were not asked for. */
      authorizedOperations: int32('3+', { default: -(2 ** 31) }),
    }),
  },
});
