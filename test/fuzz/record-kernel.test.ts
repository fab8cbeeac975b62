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
  it('finds nothing in a few hundred iterations of a new seed, and says what it exercised', { timeout: 60_000 }, () => {
    const { status, output } = fuzz('--iterations', '400');
    expect(output).toMatch(/400 iterations, no finding\. Verdicts: .*NONE/);
    expect(status).toBe(0);
    expect(fuzz('--seed', '7').output).toMatch(/^seeds 7 to 7: 1 iterations, no finding/);
  });
});
