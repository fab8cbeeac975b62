/** The README's list of APIs is what a running host advertises, and what it advertises it serves. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { apis } from '../../src/protocol/apis.ts';
import { apiVersions } from '../../src/protocol/messages/api-versions.ts';
import type { SupportedApi } from '../../src/server/apis/api-versions.ts';
import { root } from './host-process.ts';
import { ServerFixture } from './server-fixture.ts';

/** A table's cells, without what the formatter pads them with. */
const cells = (text = ''): string[][] =>
  text.split('\n').map((line) => line.split('|').map((cell) => cell.trim().replace(/^-+$/, '---')));

/** The table as it stands in the README. */
function table(supported: readonly SupportedApi[]): string {
  const row = ({ apiKey, name, maxVersion }: SupportedApi): string => {
    const { min } = Object.values(apis).find(({ key }) => key === apiKey)!.versions;
    return `| ${name} | ${apiKey} | ${min} to ${maxVersion} |`;
  };
  return ['| API | Key | Versions |', '| --- | --- | --- |', ...supported.map(row)].join('\n');
}

it('is what the README says', async () => {
  const { server } = await ServerFixture.open();
  const readme = readFileSync(join(root, 'README.md'), 'utf8');
  const listed = /<!-- supported-apis -->\s*([\s\S]*?)\s*<!-- \/supported-apis -->/.exec(readme)?.[1];
  expect(cells(listed)).toEqual(cells(table(server.supportedApis)));
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
