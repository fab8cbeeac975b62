import { defineApi } from '../api.ts';
import { array, bool, int8, int16, int32, string } from '../schema.ts';

export const alterConfigs = defineApi({
  key: 33,
  name: 'AlterConfigs',
  versions: '0-2',
  flexibleFrom: 2,
  request: {
    resources: array('0+', {
      resourceType: int8('0+'),
      resourceName: string('0+'),
      configs: array('0+', { name: string('0+'), value: string('0+', { nullable: '0+' }) }),
    }),
    validateOnly: bool('0+'),
  },
  response: {
    throttleTimeMs: int32('0+', { default: 0 }),
    responses: array('0+', {
      errorCode: int16('0+'),
      errorMessage: string('0+', { nullable: '0+', default: null }),
      resourceType: int8('0+'),
      resourceName: string('0+'),
    }),
  },
});
