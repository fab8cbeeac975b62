/** The examples of the README run as they stand, against the package's own exports. */
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));

it('embeds an engine', { timeout: 30_000 }, () => {
  const args = ['--import', 'tsx', '--no-warnings', 'test/examples/embed.ts'];
  const output = execFileSync(process.execPath, args, { cwd: root, encoding: 'utf8' });
  expect(output).toContain('appended at offset 0n');
  expect(output).toContain('hello');
});
