/** The SQLite coordinator's thread dies: an engine over it has failed for good, and says so without being asked. */
import { channel } from 'node:diagnostics_channel';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import { expect, it } from 'vitest';
import { openSqliteCoordinator } from '../../src/coordinator/sqlite-diskless-coordinator.ts';
import { openEngine } from '../../src/engine/engine.ts';
import { InMemoryObjectStorage } from '../../src/storage/in-memory-object-storage.ts';

/** Opens a coordinator and catches its thread as it is made. */
async function openWithThread(path: string) {
  const threads: Worker[] = [];
  const onThread = (message: unknown): number => threads.push((message as { worker: Worker }).worker);
  channel('worker_threads').subscribe(onThread);
  try {
    return { coordinator: await openSqliteCoordinator({ path }), thread: threads[0]! };
  } finally {
    channel('worker_threads').unsubscribe(onThread);
  }
}

it('fails the engine when the thread is gone, and not when it is closed', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'shoal-coordinator-death-'));
  const { coordinator, thread } = await openWithThread(join(folder, 'coordinator.db'));
  await using objectStorage = new InMemoryObjectStorage();
  const engine = await openEngine({ objectStorage, coordinator });
  const failed = new Promise((resolve) => engine.failed.addEventListener('abort', resolve));
  await thread.terminate();
  await failed;
  expect(engine.status).toBe('failed');
  expect(engine.failure?.message).toContain("the coordinator's thread has ended");
  expect(engine.failed.reason).toBe(engine.failure);
  await engine.close();
  await coordinator.close();

  const again = await openSqliteCoordinator({ path: join(folder, 'coordinator.db') });
  await again.close();
  expect(again.failed?.aborted).toBe(false);
  await rm(folder, { recursive: true });
});
