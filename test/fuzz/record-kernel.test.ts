/** The fuzzer runs, exercises every verdict, and replays from a seed. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));

function fuzz(...args: string[]): { status: number | null; output: string } {
  const command = ['--import', 'tsx', 'test/fuzz/record-kernel.ts', ...args];
  const env = { ...process.env, TSX_TSCONFIG_PATH: 'bench/tsconfig.json' };
  const { status, stdout, stderr } = spawnSync(process.execPath, command, { cwd: root, env, encoding: 'utf8' });
  return { status, output: stdout + stderr };
}

describe('fuzzer', () => {
  it('finds nothing in a few hundred iterations of a new seed, and says what it exercised', () => {
    const { status, output } = fuzz('--iterations', '400');
    expect(output).toMatch(/400 iterations from seed \d+ on, no finding\. Verdicts: .*NONE/);
    expect(status).toBe(0);
    expect(fuzz('--seed', '7').output).toMatch(/^1 iterations from seed 7 on, no finding/);
  });

  it('goes on from a seed, the same way every time', () => {
    const [once, again] = [0, 1].map(() => fuzz('--seed', '7', '--minutes', '5', '--iterations', '60').output);
    expect(once).toMatch(/^60 iterations from seed 7 on/);
    expect(again).toBe(once);
  });

  it.each([
    [['--seed', 'seven'], '--seed is a whole number from 0 to 4294967295, not "seven"; see --help'],
    [['--minutes', '1m'], '--minutes is a number from 0 to 100000, not "1m"; see --help'],
    [['--minutes', '0'], 'nothing was exercised'],
    [['--iterations', '0'], 'nothing was exercised'],
    [['--twice'], "Unknown option '--twice'"],
  ])('ends with 1 and one line for %j', (args, message) => {
    const { status, output } = fuzz(...args);
    expect(output).toContain(`fuzz: ${message}`);
    expect([status, output.trim().split('\n').length]).toEqual([1, 1]);
  });
});
