import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

/**
 * `npm test` runs the fast suites: everything under test/ but the folders that need an outside server or client.
 * Those have scripts of their own (`test:clients`, `test:s3`, `test:postgres`, `test:package`), which name their folder.
 */
const slowSuites = ['test/clients/**', 'test/s3/**', 'test/postgres/**', 'test/package/**'];
const slow = process.env.SHOAL_SLOW_SUITE;

/**
 * What tests run from dist/ is in no test's imports: these are run again, while `npm run dev` watches, once it is rebuilt.
 * Folders of test/ by what is rebuilt.
 */
const runFromDist: readonly (readonly [RegExp, readonly string[]])[] = [
  [/\/dist\/record-kernel\.wasm$/, ['record', 'worker']],
  [/\/dist\/worker\/[^/]+\.js$/, ['worker']],
  [/\/dist\/coordinator\/.+\.js$/, ['coordinator']],
  [/\/dist\/cli(\/[^/]+)?\.js$/, ['cli']],
];

function testsIn(folders: readonly string[]): string[] {
  return folders.flatMap((folder) => {
    const entries = readdirSync(join(import.meta.dirname, 'test', folder), { recursive: true, encoding: 'utf8' });
    return entries.filter((file) => file.endsWith('.test.ts')).map((file) => join('test', folder, file));
  });
}

export default defineConfig({
  test: {
    include: slow ? [`test/${slow}/**/*.test.ts`] : ['test/**/*.test.ts'],
    exclude: slow ? [] : slowSuites,
    globalSetup: ['test/support/build-stale.ts', ...(slow === 'clients' ? ['test/clients/install.ts'] : [])],
    passWithNoTests: false,
    watchTriggerPatterns: runFromDist.map(([pattern, folders]) => ({ pattern, testsToRun: () => testsIn(folders) })),
    testTimeout: 120_000,
    hookTimeout: 120_000,
    teardownTimeout: 10_000,
    // Vitest's own second is too short for a busy machine.
    expect: { poll: { timeout: 30_000, interval: 20 } },
    pool: 'forks',
    // Many suites wait for processes and sockets rather than for the processor.
    maxWorkers: '100%',
  },
});
