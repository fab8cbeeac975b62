/** The parts of the README that are made from the code: the tests compare them, `npm run readme` writes them. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { topicConfigDefinitions } from '../../src/common/topic-config.ts';

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

/** The example without its header comment. */
export function embedSection(): string {
  const code = read('test/examples/embed.ts');
  return `\`\`\`ts\n${code.slice(code.indexOf('import '))}\`\`\`\n`;
}

export function configsSection(): string {
  const rows = [...topicConfigDefinitions.values()]
    .filter(({ effect }) => effect)
    .map(({ name, defaultValue }) => `| \`${name}\` | ${defaultValue} |`);
  return `\n| config | default |\n| --- | --- |\n${rows.join('\n')}\n\n`;
}
