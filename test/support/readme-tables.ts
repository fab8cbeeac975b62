/** The parts of the README that are made from the code: the tests compare them, `npm run readme` writes them. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { ConfigDefinitions } from '../../src/common/config-definition.ts';
import { groupConfigDefinitions } from '../../src/common/group-config.ts';
import { topicConfigDefinitions } from '../../src/common/topic-config.ts';
import { defaultGroupSettings, groupBounds } from '../../src/group/group-settings.ts';
import { apis } from '../../src/protocol/apis.ts';
import type { SupportedApi } from '../../src/server/apis/api-versions.ts';
import { markdownTable } from './markdown-table.ts';

const read = (path: string): string => readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), 'utf8');

export const readme = (): string => read('README.md');

/** What stands between `<!-- name -->` and `<!-- /name -->`. */
export function section(text: string, name: string): string {
  const from = text.indexOf(`<!-- ${name} -->\n`);
  const to = text.indexOf(`<!-- /${name} -->`);
  if (from < 0 || to < from) throw new Error(`README.md has no section ${name}`);
  return text.slice(from + `<!-- ${name} -->\n`.length, to);
}

export function withSection(text: string, name: string, content: string): string {
  return text.replace(`<!-- ${name} -->\n${section(text, name)}`, () => `<!-- ${name} -->\n${content}`);
}

/** An example of test/examples, without its header comment. */
export function exampleSection(name: string): string {
  const code = read(`test/examples/${name}.ts`);
  return `\`\`\`ts\n${code.slice(code.indexOf('import '))}\`\`\`\n`;
}

export function configsSection(): string {
  return honoured(topicConfigDefinitions);
}

export function groupConfigsSection(): string {
  return honoured(groupConfigDefinitions(groupBounds(defaultGroupSettings)));
}

function honoured(definitions: ConfigDefinitions): string {
  const rows = [...definitions.values()]
    .filter(({ support }) => support === 'honoured')
    .map(({ name, defaultValue }) => `| \`${name}\` | ${defaultValue} |`);
  return `\n| config | default |\n| --- | --- |\n${rows.join('\n')}\n\n`;
}

/** What a host serves, with the versions that it understands. */
export function apisSection(supported: readonly SupportedApi[]): string {
  const rows = supported.map(({ apiKey, name, maxVersion }) => {
    const { min } = Object.values(apis).find(({ key }) => key === apiKey)!.versions;
    return [name, String(apiKey), `${min} to ${maxVersion}`];
  });
  return `${markdownTable(['API', 'Key', 'Versions'], rows)}\n`;
}
