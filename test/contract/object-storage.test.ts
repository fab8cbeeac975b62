/** The storage contract over the storages that need no server but the S3 double. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { S3ObjectStorage } from '../../src/s3.ts';
import { InMemoryObjectStorage } from '../../src/storage/in-memory-object-storage.ts';
import { LocalDirectoryObjectStorage } from '../../src/storage/local-directory-object-storage.ts';
import { S3Double } from '../support/s3/s3-double.ts';
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

const MiB = 1024 * 1024;
const doubles: S3Double[] = [];
afterAll(() => Promise.all(doubles.map((double) => double.stop())));

objectStorageContract('S3 double', {
  open: async () => {
    const double = await S3Double.start({ pageSize: 500 });
    doubles.push(double);
    const multipart = { thresholdBytes: 8 * MiB, partBytes: 5 * MiB, concurrency: 3 };
    return S3ObjectStorage.open({ ...double.config, prefix: 'pre/fix', multipart });
  },
  propertyRuns: 15,
  ...limits,
});
