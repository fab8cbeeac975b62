/**
 * A host in a process of its own whose storage the test can stop and start again: the parent sends `block`, `unblock` or
 * `report`. For measuring what a host holds while its producers are faster than its storage.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Deferred, deferred } from '../../src/common/lifecycle.ts';
import { InMemoryDisklessCoordinator } from '../../src/coordinator/in-memory-diskless-coordinator.ts';
import { openEngine } from '../../src/engine/engine.ts';
import { startKafkaServer } from '../../src/server/kafka-server.ts';
import { LocalDirectoryObjectStorage } from '../../src/storage/local-directory-object-storage.ts';
import { intercept } from '../support/intercept.ts';

const MIB = 1024 * 1024;

export type BlockedHostCommand = 'block' | 'unblock' | 'report';

export interface BlockedHostReport {
  readonly host: string;
  readonly port: number;
  readonly residentBytes: number;
  readonly requestBytes: number;
  readonly connectionsHeldBack: number;
  readonly bufferedBytes: number;
}

async function run(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'shoal-blocked-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  const objects = await LocalDirectoryObjectStorage.open(folder);
  let gate: Deferred<void> | undefined;
  const objectStorage = intercept(objects, {
    put: async (...args) => {
      await gate?.promise;
      return objects.put(...args);
    },
  });
  const coordinator = new InMemoryDisklessCoordinator();
  const engine = await openEngine(
    { objectStorage, coordinator },
    {
      workerThreads: 1,
      produceCommitIntervalMs: 5,
      produceUploadDeadlineMs: 60_000,
      produceMemoryBytes: 8 * MIB,
      produceBufferMaxBytes: MIB,
      fetchMemoryBytes: 16 * MIB,
    },
  );
  const limits = { queuedMaxRequestBytes: 8 * MIB, connectionMaxRequestBytes: 4 * MIB };
  const server = await startKafkaServer(engine, { coordinator, listen: { host: '127.0.0.1', port: 0 }, limits });
  const report = (): void => {
    const message: BlockedHostReport = {
      ...server.listener,
      ...server.stats(),
      residentBytes: process.memoryUsage.rss(),
      bufferedBytes: engine.stats().bufferedBytes,
    };
    process.send!(message);
  };
  process.on('message', (command: BlockedHostCommand) => {
    if (command === 'block') gate ??= deferred<void>();
    if (command === 'unblock') gate = gate?.resolve() as undefined;
    report();
  });
  process.on('disconnect', () => process.exit(0));
  report();
}

void run();
