/** Random histories: PostgreSQL and SQLite answer everything as the in-memory reference does. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { DisklessCoordinator } from '../../src/coordinator/diskless-coordinator.ts';
import { InMemoryDisklessCoordinator } from '../../src/coordinator/in-memory-diskless-coordinator.ts';
import { checkPostgresDatabase } from '../../src/coordinator/postgres/check-database.ts';
import { checkSqliteIntegrity } from '../../src/coordinator/sqlite/integrity.ts';
import { openPostgresCoordinator } from '../../src/postgres.ts';
import { openSqliteCoordinator } from '../../src/sqlite.ts';
import { SettableTime } from '../coordinator/fixture.ts';
import { HistoryRunner, history, PRODUCER_ID_EXPIRATION_MS, type Reopenable } from '../coordinator/history.ts';
import { tellsSeed } from '../support/tells-seed.ts';
import { untilCovered } from '../support/until-covered.ts';
import { newSchema, usePostgres } from './postgres-harness.ts';

const OUTCOMES = ['error 0', 'error 3', 'error 45', 'error 47', 'duplicate'];
const RUNS = Number(process.env.SHOAL_HISTORIES ?? 15);
const TIMEOUT_MS = 300_000 + RUNS * 15_000;
const { url } = usePostgres();

async function reopenable(open: () => Promise<DisklessCoordinator>): Promise<Reopenable> {
  const coordinator: Reopenable = {
    current: await open(),
    async reopen() {
      await coordinator.current.close();
      coordinator.current = await open();
    },
  };
  return coordinator;
}

it('PostgreSQL, SQLite and memory agree on random histories', { timeout: TIMEOUT_MS }, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'shoal-histories-'));
  const time = new SettableTime();
  const settings = { time, maxCoordinateBytes: 600, producerIdExpirationMs: PRODUCER_ID_EXPIRATION_MS };
  const schema = newSchema();
  const memory = { current: new InMemoryDisklessCoordinator(settings), reopen: async () => {} };
  const sqlite = await reopenable(() => openSqliteCoordinator({ ...settings, path: join(folder, 'c.db') }));
  const postgres = await reopenable(() => openPostgresCoordinator({ ...settings, connectionString: url(), schema }));
  const counts: Record<string, number> = {};
  const property = fc.asyncProperty(history, async (steps) => {
    const runner = new HistoryRunner([memory, sqlite, postgres], time);
    await runner.play(steps);
    for (const [name, count] of Object.entries(runner.counts)) counts[name] = (counts[name] ?? 0) + count;
  });
  const isCovered = (): boolean => OUTCOMES.every((outcome) => counts[outcome]);
  await untilCovered(isCovered, () =>
    fc.assert(property, { ...tellsSeed(TIMEOUT_MS), numRuns: RUNS, endOnFailure: true }),
  );
  await sqlite.current.close();
  expect(await checkSqliteIntegrity(join(folder, 'c.db'))).toEqual([]);
  expect(await checkPostgresDatabase(url(), schema)).toEqual([]);
  await postgres.current.close();
  await rm(folder, { recursive: true });
  for (const outcome of OUTCOMES) {
    expect(counts[outcome], `batches with outcome ${outcome} in ${JSON.stringify(counts)}`).toBeGreaterThan(0);
  }
});
