/** The README tells the truth: its example, its tables, and the commands it names. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { configsSection, exampleSection, groupConfigsSection, readme, section } from './support/readme-tables.ts';

const text = readme();
const manifest = JSON.parse(readFileSync(fileURLToPath(new URL('../package.json', import.meta.url)), 'utf8')) as {
  scripts: Record<string, string>;
  exports: Record<string, unknown>;
};

describe('README', () => {
  it.each(['embed', 'test-broker'])('shows the example %s as the tests run it (npm run readme)', (name) =>
    expect(section(text, name)).toBe(exampleSection(name)),
  );
  it('lists the topic configs that can be set (npm run readme)', () =>
    expect(section(text, 'configs')).toBe(configsSection()));
  it('lists the group configs that can be set (npm run readme)', () =>
    expect(section(text, 'group-configs')).toBe(groupConfigsSection()));

  it('names only scripts that there are', () => {
    const named = [...text.matchAll(/npm run ([a-z0-9:]+)/g)].map((match) => match[1]!);
    expect(named.length).toBeGreaterThan(5);
    expect(named.filter((name) => !(name in manifest.scripts))).toEqual([]);
  });

  it('names every entry point of the package', () => {
    const entryPoints = Object.keys(manifest.exports).filter((path) => path !== './package.json');
    for (const path of entryPoints) expect(text).toContain(`\`shoal${path.slice(1)}\``);
  });
});
