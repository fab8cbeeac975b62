import { defineApi } from '../api.ts';
import { array, arrayOf, int16, int32, string } from '../schema.ts';

export const listGroups = defineApi({
  key: 16,
  name: 'ListGroups',
  versions: '0-5',
  flexibleFrom: 3,
  request: {
    /** Empty: every state. */
    statesFilter: arrayOf(string, '4+'),
    /** Empty: every type. */
    typesFilter: arrayOf(string, '5+'),
  },
  response: {
    throttleTimeMs: int32('1+', { ignorable: true }),
    errorCode: int16('0+'),
    groups: array('0+', {
      groupId: string('0+'),
      protocolType: string('0+'),
      groupState: string('4+', { ignorable: true }),
      groupType: string('5+', { ignorable: true }),
    }),
  },
});
