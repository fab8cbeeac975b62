import { defineApi } from '../api.ts';
import { array, arrayOf, bool, int8, int16, int32, string } from '../schema.ts';

export const describeConfigs = defineApi({
  key: 32,
  name: 'DescribeConfigs',
  versions: '1-4',
  flexibleFrom: 4,
  request: {
    resources: array('0+', {
      resourceType: int8('0+'),
      resourceName: string('0+'),
      /** Null for all. */
      configurationKeys: arrayOf(string, '0+', { nullable: '0+' }),
    }),
    includeSynonyms: bool('1+'),
    includeDocumentation: bool('3+'),
  },
  response: {
    throttleTimeMs: int32('0+', { default: 0 }),
    results: array('0+', {
      errorCode: int16('0+'),
      errorMessage: string('0+', { nullable: '0+', default: null }),
      resourceType: int8('0+'),
      resourceName: string('0+'),
      configs: array('0+', {
        name: string('0+'),
        value: string('0+', { nullable: '0+' }),
        readOnly: bool('0+'),
        configSource: int8('1+', { default: -1, ignorable: true }),
        isSensitive: bool('0+'),
        synonyms: array(
          '1+',
          { name: string('0+'), value: string('0+', { nullable: '0+' }), source: int8('0+') },
          { ignorable: true },
        ),
        configType: int8('3+', { default: 0, ignorable: true }),
        documentation: string('3+', { nullable: '0+', default: null, ignorable: true }),
      }),
    }),
  },
});
