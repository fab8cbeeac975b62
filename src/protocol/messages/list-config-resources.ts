import { defineApi } from '../api.ts';
import { array, arrayOf, int8, int16, int32, string } from '../schema.ts';

/** Version 0 lists client metrics only. */
export const listConfigResources = defineApi({
  key: 74,
  name: 'ListConfigResources',
  versions: '0-1',
  flexibleFrom: 0,
  request: {
    /** None for all. */
    resourceTypes: arrayOf(int8, '1+'),
  },
  response: {
    throttleTimeMs: int32('0+', { default: 0 }),
    errorCode: int16('0+'),
    configResources: array('0+', {
      resourceName: string('0+'),
      resourceType: int8('1+', { default: 16, ignorable: true }),
    }),
  },
});
