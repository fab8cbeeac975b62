/** `shoal doctor` finds what was changed in the tables behind a coordinator's back, and nothing else, also under load. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openComponents } from '../../src/cli/components.ts';
import { openEngine } from '../../src/engine/engine.ts';
import { shoal } from '../cli/support/run-shoal.ts';
import { plainBatch } from '../support/record-batches.ts';
import { fillForTampering, TAMPERINGS } from '../support/tamperings.ts';
import { query, usePostgres } from './postgres-harness.ts';

const { server } = usePostgres();

describe.skipIf(process.env.SHOAL_POSTGRES_URL)('shoal doctor on PostgreSQL', () => {
  let folder: string;
  const where = (database: string) => server().url.replace(/[^/]*$/, database);
  const flagsFor = (database: string) => ['--storage', folder, '--coordinator', where(database)];

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'shoal-tampering-'));
    await server().query('CREATE DATABASE sound');
    const components = await openComponents({ data: '', storage: folder, coordinator: where('sound') });
    await fillForTampering(components);
    await components.close();
  }, 60_000);
  afterAll(() => rmSync(folder, { recursive: true }));

  it('finds no fault in what was not changed', async () => {
    expect(await shoal('doctor', ...flagsFor('sound'))).toMatchObject({ code: 0, out: /no fault found/ });
  });

  for (const [i, { name, sql, says, only }] of TAMPERINGS.entries()) {
    it.skipIf(only === 'sqlite')(`finds that ${name}`, async () => {
      await server().query(`CREATE DATABASE tampered_${i} TEMPLATE sound`);
      await query(where(`tampered_${i}`), `SET search_path = shoal; ${sql}`);
      const run = await shoal('doctor', ...flagsFor(`tampered_${i}`));
      expect(run.out + run.err).toMatch(says);
      expect(run.code).toBe(1);
    });
  }

  it('finds no fault while brokers append, retain and delete', { timeout: 60_000 }, async () => {
    const busy = mkdtempSync(join(tmpdir(), 'shoal-busy-'));
    await server().query('CREATE DATABASE busy');
    const components = await openComponents({ data: '', storage: busy, coordinator: where('busy') });
    const engine = await openEngine(components, {
      workerThreads: 0,
      produceCommitIntervalMs: 0,
      retentionCheckIntervalMs: 10,
      fileDeletionIntervalMs: 10,
      fileDeletionGraceMs: 500,
    });
    const configs = { 'retention.bytes': '20000' };
    let over = false;
    const work = async (): Promise<void> => {
      for (let turn = 0; !over; turn += 1) {
        const [made] = await engine.createTopics([{ name: `busy-${turn}`, partitions: 2, configs }]);
        const logs = [0, 1].map((partition) => ({ topicId: made!.topicId, partition }));
        for (let i = 0; i < 200 && !over; i += 1) {
          await engine.append(logs.map((topicIdPartition) => ({ topicIdPartition, records: plainBatch(3, 100) })));
          if (i % 20 === 9) await engine.deleteRecords([{ topicIdPartition: logs[0]!, beforeOffset: -1n }]);
        }
        if (turn > 1) await engine.deleteTopics([made!.topicId]);
      }
    };
    const working = work();
    try {
      for (let look = 0; look < 8; look += 1) {
        const run = await shoal('doctor', '--storage', busy, '--coordinator', where('busy'));
        expect(run).toMatchObject({ code: 0, out: /no fault found/ });
      }
    } finally {
      over = true;
      await working;
      await engine.close();
      await components.close();
      rmSync(busy, { recursive: true });
    }
  });
});
