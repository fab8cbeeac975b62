/** Random histories: SQLite answers everything as the in-memory reference does, also across restarts. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { InMemoryDisklessCoordinator } from '../../src/coordinator/in-memory-diskless-coordinator.ts';
import { checkSqliteIntegrity } from '../../src/coordinator/sqlite/integrity.ts';
import { openSqliteCoordinator } from '../../src/sqlite.ts';
import { tellsSeed } from '../support/tells-seed.ts';
import { untilCovered } from '../support/until-covered.ts';
import { SettableTime } from './fixture.ts';
import { HistoryRunner, history, PRODUCER_ID_EXPIRATION_MS, type Reopenable } from './history.ts';

const OUTCOMES = ['error 0', 'error 3', 'error 45', 'error 47', 'duplicate'];
const RUNS = Number(process.env.SHOAL_HISTORIES ?? 6);
const TIMEOUT_MS = 300_000 + RUNS * 5_000;

it('SQLite agrees with memory on random histories', { timeout: TIMEOUT_MS }, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'shoal-histories-'));
  const time = new SettableTime();
  const settings = { time, maxCoordinateBytes: 600, producerIdExpirationMs: PRODUCER_ID_EXPIRATION_MS };
  const open = () => openSqliteCoordinator({ ...settings, path: join(folder, 'coordinator.db') });
  const memory = { current: new InMemoryDisklessCoordinator(settings), reopen: async () => {} };
  const sqlite: Reopenable = {
    current: await open(),
    async reopen() {
      await this.current.close();
      this.current = await open();
    },
  };
  const counts: Record<string, number> = {};
  const property = fc.asyncProperty(history, async (steps) => {
    const runner = new HistoryRunner([memory, sqlite], time);
    await runner.play(steps);
    for (const [name, count] of Object.entries(runner.counts)) counts[name] = (counts[name] ?? 0) + count;
  });
  // fast-check prints the seed and the shrunk history when it fails.
  const isCovered = (): boolean => OUTCOMES.every((outcome) => counts[outcome]);
  await untilCovered(isCovered, () =>
    fc.assert(property, { ...tellsSeed(TIMEOUT_MS), numRuns: RUNS, endOnFailure: true }),
  );
  await sqlite.current.close();
  expect(await checkSqliteIntegrity(join(folder, 'coordinator.db'))).toEqual([]);
  await rm(folder, { recursive: true });
  for (const outcome of OUTCOMES) {
    expect(counts[outcome], `batches with outcome ${outcome} in ${JSON.stringify(counts)}`).toBeGreaterThan(0);
  }
});
