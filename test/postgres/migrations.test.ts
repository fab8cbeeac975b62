/** A schema that an earlier Shoal made and filled is brought up to date with everything in it, and works on. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DisklessCoordinator } from '../../src/coordinator/diskless-coordinator.ts';
import { InMemoryDisklessCoordinator } from '../../src/coordinator/in-memory-diskless-coordinator.ts';
import { openPostgresCoordinator } from '../../src/postgres.ts';
import { batch, by, file, findFrom, SettableTime } from '../coordinator/fixture.ts';
import { newSchema, query, usePostgres } from './postgres-harness.ts';
import { commits, fill, PARTITIONS } from './schema-1-contents.ts';

const { url } = usePostgres();

describe('a schema of version 1', () => {
  const time = new SettableTime();
  const schema = newSchema();
  const reference = new InMemoryDisklessCoordinator({ time });
  let migrated: DisklessCoordinator;

  beforeAll(async () => {
    const dump = readFileSync(join(import.meta.dirname, 'data/schema-1.sql'), 'utf8');
    const restored = dump
      .replaceAll('schema_1.', `${schema}.`)
      .replace('CREATE SCHEMA schema_1', `CREATE SCHEMA ${schema}`);
    // As psql does: functions refer to tables that come after them, and nothing is found by a search path.
    await query(url(), `SET check_function_bodies = off; SET search_path = ''; ${restored}`);
    await fill(reference, time);
    migrated = await openPostgresCoordinator({ connectionString: url(), schema, time });
  });
  afterAll(async () => {
    await migrated?.close();
    await query(url(), `DROP SCHEMA ${schema} CASCADE`);
  });

  /** Asks both the same. */
  async function same<T>(ask: (coordinator: DisklessCoordinator) => Promise<T>): Promise<T> {
    const expected = await ask(reference);
    expect(await ask(migrated)).toEqual(expected);
    return expected;
  }

  it('has the version of this code, and its functions only once', async () => {
    const [row] = await query(url(), `SELECT version FROM ${schema}.schema_version`);
    expect(row!.version).toBe(5);
    const functions = await query(
      url(),
      `SELECT proname FROM pg_proc WHERE pronamespace = '${schema}'::regnamespace AND proname = 'commit_file'`,
    );
    expect(functions).toHaveLength(1);
  });

  it('answers what the code that wrote it would', async () => {
    await same((c) => c.listTopics());
    for (const of of PARTITIONS) {
      const [start] = await reference.listOffsets([{ topicIdPartition: of, timestamp: -2n }]);
      const { coordinates } = await same((c) => findFrom(c, of, start!.offset));
      expect(coordinates.length).toBeGreaterThan(0);
      for (const timestamp of [-1n, -2n, -3n, 0n, 1_040n]) {
        await same((c) => c.listOffsets([{ topicIdPartition: of, timestamp }]));
      }
    }
    const producers = await same((c) => c.describeProducers(PARTITIONS));
    expect(producers.map((one) => one.length)).toEqual([1, 9, 0, 2]);
    const keys = ['migrated/0', 'migrated/70', 'migrated/71', 'migrated/given-up', 'migrated/given-up-and-deleted'];
    const files = await same((c) => c.describeFiles(keys));
    expect(files.map((one) => one?.state)).toEqual(['uploaded', 'uploaded', 'deleted', 'abandoned', 'abandoned']);
    await same((c) => c.fetchOffsets('g'));
    await same((c) => c.loadGroups());
    await same(async (c) => (await c.allocateProducerIdBlock(5)).firstProducerId);
    await same((c) => c.registerUploader(3));
  });

  it('repeats every commit and abandonment with its first answer', async () => {
    for (const request of commits()) await same((c) => c.commitFile(request));
    await same((c) => c.abandonFile('migrated/70'));
    await expect(migrated.commitFile({ ...commits()[0]!, objectKey: 'migrated/given-up' })).rejects.toMatchObject({
      kind: 'abandoned',
    });
  });

  it('goes on: sequences follow, duplicates of what was committed before are known', async () => {
    const [a0, a1, b0, b1] = PARTITIONS;
    const requests = [
      file([batch(a0!, 2, by(7n, 1, 140)), batch(a1!, 1, by(100n, 0, 8)), batch(b0!, 1, { timestampType: 1 })]),
      file([batch(a0!, 2, by(7n, 1, 134)), batch(a0!, 2, by(7n, 1, 142)), batch(b1!, 2, by(8n, 0, 5))]),
    ];
    for (const request of requests) {
      const { batches } = await same((c) => c.commitFile(request));
      expect(batches.every(({ error }) => error === 0)).toBe(true);
    }
    await same((c) => c.describeProducers(PARTITIONS));
    await same((c) => findFrom(c, a0!, 100n));
  });
});
