import { defineApi } from '../api.ts';
import { array, bool, int16, int32, int64, string } from '../schema.ts';

/** The response header is version 0 always: a client that asked too new a version must be able to read the answer. */
export const apiVersions = defineApi({
  key: 18,
  name: 'ApiVersions',
  versions: '0-5',
  flexibleFrom: 3,
  responseHeaderVersion: 0,
  request: {
    clientSoftwareName: string('3+', { ignorable: true }),
    clientSoftwareVersion: string('3+', { ignorable: true }),
    /** Whom the client means to talk to (KIP-1242), where it knows: null and −1 where it does not. */
    clusterId: string('5+', { nullable: '5+', default: null, ignorable: true }),
    nodeId: int32('5+', { default: -1, ignorable: true }),
  },
  response: {
    errorCode: int16('0+'),
    apiKeys: array('0+', { apiKey: int16('0+'), minVersion: int16('0+'), maxVersion: int16('0+') }),
    throttleTimeMs: int32('1+', { ignorable: true }),
    supportedFeatures: array(
      '3+',
      { name: string('0+'), minVersion: int16('0+'), maxVersion: int16('0+') },
      { tag: 0, ignorable: true },
    ),
    finalizedFeaturesEpoch: int64('3+', { tag: 1, default: -1n, ignorable: true }),
    finalizedFeatures: array(
      '3+',
      { name: string('0+'), maxVersionLevel: int16('0+'), minVersionLevel: int16('0+') },
      { tag: 2, ignorable: true },
    ),
    zkMigrationReady: bool('3+', { tag: 3, default: false, ignorable: true }),
  },
});
