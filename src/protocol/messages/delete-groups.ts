import { defineApi } from '../api.ts';
import { array, arrayOf, int16, int32, string } from '../schema.ts';

export const deleteGroups = defineApi({
  key: 42,
  name: 'DeleteGroups',
  versions: '0-2',
  flexibleFrom: 2,
  request: { groupsNames: arrayOf(string, '0+') },
  response: {
    throttleTimeMs: int32('0+', { default: 0 }),
    results: array('0+', { groupId: string('0+'), errorCode: int16('0+') }),
  },
});
