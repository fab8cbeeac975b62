/** The embedded default, a local directory and SQLite: what is appended is there after everything was closed and opened. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ListOffsetsTimestamp } from '../../src/coordinator/diskless-coordinator.ts';
import { openSqliteCoordinator } from '../../src/coordinator/sqlite-diskless-coordinator.ts';
import { LocalDirectoryObjectStorage } from '../../src/storage/local-directory-object-storage.ts';
import { EngineFixture, idempotent, valuesOf } from '../support/engine-fixture.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'shoal-engine-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function openParts() {
  const objects = await LocalDirectoryObjectStorage.open(join(folder, 'objects'));
  const metadata = await openSqliteCoordinator({ path: join(folder, 'coordinator.db') });
  return {
    over: { objects, metadata },
    close: async () => {
      await metadata.close();
      await objects.close();
    },
  };
}

it('keeps what was acknowledged, with its offsets and producer state', async () => {
  const first = await openParts();
  const before = await EngineFixture.open({ over: first.over });
  const topicId = await before.createTopic('orders', 3);
  const partitions = [0, 1, 2].map((partition) => ({ topicId, partition }));
  for (let round = 0; round < 5; round++) {
    const results = await Promise.all(
      partitions.map((to) => before.append(to, idempotent(BigInt(to.partition), round * 2, `${round}a`, `${round}b`))),
    );
    expect(results.map(({ baseOffset }) => baseOffset)).toEqual([0, 1, 2].map(() => BigInt(round * 2)));
  }
  await before.engine.close();
  await first.close();

  const second = await openParts();
  const after = await EngineFixture.open({ over: second.over });
  for (const to of partitions) {
    expect(valuesOf(await after.readAll(to))).toEqual([0, 1, 2, 3, 4].flatMap((round) => [`${round}a`, `${round}b`]));
    const retried = await after.append(to, idempotent(BigInt(to.partition), 8, '4a', '4b'));
    expect(retried).toMatchObject({ error: 0, baseOffset: 8n });
  }
  const latest = await after.engine.listOffsets([
    { topicIdPartition: partitions[0]!, timestamp: ListOffsetsTimestamp.latest },
  ]);
  expect(latest[0]!.offset).toBe(10n);
  await after.engine.close();
  await second.close();
});
