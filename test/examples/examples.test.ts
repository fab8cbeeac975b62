/** The examples of the README run as they stand, against the package's own exports. */
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));

function outputOf(example: string): string {
  const args = ['--import', 'tsx', '--no-warnings', `test/examples/${example}.ts`];
  return execFileSync(process.execPath, args, { cwd: root, encoding: 'utf8' });
}

it('embeds an engine', () => {
  const output = outputOf('embed');
  expect(output).toContain('appended at offset 0n');
  expect(output).toContain('hello');
});

it('starts a broker inside of a test', () => {
  expect(outputOf('test-broker')).toBe('order 7 is paid\n');
});
