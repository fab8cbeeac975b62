import { defineApi } from '../api.ts';
import { array, bool, int8, int16, int32, string } from '../schema.ts';

export const describeCluster = defineApi({
  key: 60,
  name: 'DescribeCluster',
  versions: '0-2',
  flexibleFrom: 0,
  request: {
    includeClusterAuthorizedOperations: bool('0+'),
    /** 1 brokers, 2 controllers. */
    endpointType: int8('1+', { default: 1 }),
    includeFencedBrokers: bool('2+'),
  },
  response: {
    throttleTimeMs: int32('0+', { default: 0 }),
    errorCode: int16('0+'),
    errorMessage: string('0+', { nullable: '0+', default: null }),
    endpointType: int8('1+', { default: 1 }),
    clusterId: string('0+'),
    controllerId: int32('0+', { default: -1 }),
    brokers: array('0+', {
      brokerId: int32('0+'),
      host: string('0+'),
      port: int32('0+'),
      rack: string('0+', { nullable: '0+', default: null }),
      isFenced: bool('2+', { ignorable: true }),
    }),
    clusterAuthorizedOperations: int32('0+', { default: -2147483648 }),
  },
});
