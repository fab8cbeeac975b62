/** The README's list of APIs (npm run readme) is what a running host advertises. */
import { expect, it } from 'vitest';
import { apiVersions } from '../../src/protocol/messages/api-versions.ts';
import { apisSection, readme, section } from '../support/readme-tables.ts';
import { ServerFixture } from './server-fixture.ts';

it('is what the README says', async () => {
  const { server } = await ServerFixture.open();
  expect(section(readme(), 'supported-apis')).toBe(apisSection(server.supportedApis));
});

it('is what ApiVersions answers, in every version', async () => {
  const fixture = await ServerFixture.open();
  const client = await fixture.client();
  for (let version = 0; version <= apiVersions.versions.max; version++) {
    const { errorCode, apiKeys } = await client.call(apiVersions, version, {
      clientSoftwareName: 'wire',
      clientSoftwareVersion: '1',
    });
    expect(errorCode).toBe(0);
    expect(apiKeys).toEqual(
      fixture.server.supportedApis.map(({ apiKey, minVersion, maxVersion }) => ({ apiKey, minVersion, maxVersion })),
    );
  }
});
