import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { InMemoryDisklessCoordinator } from '../../src/coordinator/in-memory-diskless-coordinator.ts';
import { openSqliteCoordinator } from '../../src/sqlite.ts';
import { testDisklessCoordinator } from './diskless-coordinator.ts';

testDisklessCoordinator({
  name: 'memory',
  survivesReopening: false,
  create: async () => ({
    open: async (options) => new InMemoryDisklessCoordinator(options),
    remove: async () => {},
  }),
});

testDisklessCoordinator({
  name: 'sqlite',
  survivesReopening: true,
  create: async () => {
    const folder = await mkdtemp(join(tmpdir(), 'shoal-coordinator-'));
    return {
      open: (options) => openSqliteCoordinator({ ...options, path: join(folder, 'coordinator.db') }),
      remove: () => rm(folder, { recursive: true }),
    };
  },
});
