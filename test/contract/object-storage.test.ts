/** The storage contract over the storages that need no server. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { InMemoryObjectStorage } from '../../src/storage/in-memory-object-storage.ts';
import { LocalDirectoryObjectStorage } from '../../src/storage/local-directory-object-storage.ts';
import { objectStorageContract } from './object-storage-contract.ts';

const folders: string[] = [];
afterAll(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true }))));

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'shoal-storage-'));
  folders.push(folder);
  return folder;
}

const limits = { manyObjects: 1100, largeBytes: 20_000_003, clockToleranceMs: 5_000 };

objectStorageContract('memory', { open: async () => new InMemoryObjectStorage(), propertyRuns: 100, ...limits });
objectStorageContract('local directory', {
  open: async () => LocalDirectoryObjectStorage.open(await newFolder()),
  propertyRuns: 25,
  ...limits,
});
