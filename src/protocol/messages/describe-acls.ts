import { defineApi } from '../api.ts';
import { array, int8, int16, int32, string } from '../schema.ts';

export const describeAcls = defineApi({
  key: 29,
  name: 'DescribeAcls',
  versions: '1-3',
  flexibleFrom: 2,
  request: {
    resourceTypeFilter: int8('0+'),
    resourceNameFilter: string('0+', { nullable: '0+' }),
    patternTypeFilter: int8('1+', { default: 3 }),
    principalFilter: string('0+', { nullable: '0+' }),
    hostFilter: string('0+', { nullable: '0+' }),
    operation: int8('0+'),
    permissionType: int8('0+'),
  },
  response: {
    throttleTimeMs: int32('0+', { default: 0 }),
    errorCode: int16('0+'),
    errorMessage: string('0+', { nullable: '0+', default: null }),
    resources: array('0+', {
      resourceType: int8('0+'),
      resourceName: string('0+'),
      patternType: int8('1+', { default: 3 }),
      acls: array('0+', {
        principal: string('0+'),
        host: string('0+'),
        operation: int8('0+'),
        permissionType: int8('0+'),
      }),
    }),
  },
});
