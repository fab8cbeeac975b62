import { defineApi } from '../api.ts';
import { arrayOf, int16, string } from '../schema.ts';

/** Never flexible. */
export const saslHandshake = defineApi({
  key: 17,
  name: 'SaslHandshake',
  versions: '0-1',
  flexibleFrom: 2,
  request: { mechanism: string('0+') },
  response: { errorCode: int16('0+'), mechanisms: arrayOf(string, '0+') },
});
