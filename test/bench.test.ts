/** Every bench runs small inside the test run, so that none can rot; what its figures say is for a quiet machine. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { type BenchRow, benchContext, quantile } from '../bench/harness.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'shoal-bench-'));
afterAll(() => rmSync(folder, { recursive: true }));

const names = readdirSync(join(root, 'bench'))
  .filter((file) => file.endsWith('.ts') && file !== 'main.ts' && file !== 'harness.ts')
  .map((file) => file.slice(0, -'.ts'.length));

/** kafkajs waits for negative times, of which Node 24 warns. */
const nodeArgs = ['--disable-warning=TimeoutNegativeWarning', '--import', 'tsx'];

function runBench(...args: string[]) {
  const env = { ...process.env, TSX_TSCONFIG_PATH: 'bench/tsconfig.json' };
  return spawnSync(process.execPath, [...nodeArgs, 'bench/main.ts', ...args], {
    cwd: root,
    env,
    encoding: 'utf8',
  });
}

describe('benches', () => {
  it.for(names)('%s runs small and reports finite rows', (name) => {
    const file = join(folder, `${name}.json`);
    const run = runBench(name, '--smoke', '--json', file);
    expect(run.stderr).toBe('');
    expect(run.status).toBe(0);
    const rows = JSON.parse(readFileSync(file, 'utf8')) as BenchRow[];
    expect(rows.length).toBeGreaterThan(0);
    for (const row of rows) {
      expect(row.value, row.name).toBeGreaterThanOrEqual(0);
      if (row.baseline !== null) expect(row.ratio, `${row.name} against ${row.baseline}`).toBeGreaterThan(0);
    }
    const ids = rows.map((row) => `${row.name} ${row.baseline}`);
    expect(new Set(ids).size, 'rows are identified by name and baseline').toBe(ids.length);
  });

  it('says in --help what each is about, and lists them when a name is wrong', () => {
    const { stdout } = runBench('--help');
    for (const name of names) expect(stdout).toMatch(new RegExp(`^  ${name} +\\w`, 'm'));
    const run = runBench('no-such-bench');
    expect(run.status).toBe(2);
    expect(run.stderr).toBe(`no bench is called no-such-bench; there are: ${names.sort().join(', ')}\n`);
  });

  it('says before it measures that it cannot write the rows', () => {
    const run = runBench('record-kernel', '--json', join(folder, 'missing', 'rows.json'));
    expect([run.status, run.stderr]).toEqual([2, expect.stringContaining('--json: cannot write')]);
    expect(run.stdout).toBe('');
  });

  it('names an option that there is not', () => {
    expect(runBench('--smok')).toMatchObject({
      status: 2,
      stderr: "Unknown option '--smok'; --help lists the options\n",
    });
  });
});

describe('bench harness', () => {
  it('refuses to compare sides that did different work', async () => {
    const contest = { name: 'x', unit: 'calls/s', amount: 1, subject: () => 1, baselines: { other: () => 2 } };
    await expect(benchContext({ smoke: true }).contest(contest)).rejects.toThrow('subject and baseline other disagree');
  });

  it('interpolates quantiles', () => {
    expect(quantile([4, 1, 3, 2], 0.5)).toBe(2.5);
    expect(quantile([5], 0.25)).toBe(5);
  });
});
