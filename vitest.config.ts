import { defineConfig } from 'vitest/config';

/**
 * `npm test` runs the fast suites: everything under test/ but the folders that need an outside server or client.
 * Those have scripts of their own (`test:clients`, `test:s3`, `test:postgres`, `test:package`), which name their folder.
 */
const slowSuites = ['test/clients/**', 'test/s3/**', 'test/postgres/**', 'test/package/**'];
const slow = process.env.SHOAL_SLOW_SUITE;

export default defineConfig({
  test: {
    include: slow ? [`test/${slow}/**/*.test.ts`] : ['test/**/*.test.ts'],
    exclude: slow ? [] : slowSuites,
    globalSetup: ['test/support/build-stale.ts', ...(slow === 'clients' ? ['test/clients/install.ts'] : [])],
    passWithNoTests: false,
    testTimeout: 20_000,
    hookTimeout: 30_000,
    teardownTimeout: 10_000,
    pool: 'forks',
    // Many suites wait for processes and sockets rather than for the processor.
    maxWorkers: '100%',
  },
});
