/** The storage contract, the start-up probe, and a short stress run, over real S3 servers. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openS3ObjectStorage, S3ObjectStorage, type S3StorageConfig } from '../../src/s3.ts';
import { StorageError } from '../../src/storage/object-storage.ts';
import { objectStorageContract } from '../contract/object-storage-contract.ts';
import { runStress } from '../stress/run-stress.ts';
import { createBucket, freshPrefix, startS3Servers } from './servers.ts';

const servers = await startS3Servers();
afterAll(() => Promise.all(servers.map((server) => server.stop())));

const MiB = 1024 * 1024;

async function refusal(config: S3StorageConfig): Promise<StorageError> {
  const error = await openS3ObjectStorage(config).then(
    () => expect.unreachable('opening should have failed'),
    (reason) => reason,
  );
  expect(error).toBeInstanceOf(StorageError);
  return error;
}

for (const { name, config, quirks, env } of servers) {
  describe(name, () => {
    beforeAll(() => createBucket(config));

    objectStorageContract(name, {
      open: () =>
        S3ObjectStorage.open({
          ...config,
          prefix: freshPrefix(),
          multipart: { thresholdBytes: 8 * MiB, partBytes: 5 * MiB, concurrency: 3 },
        }),
      manyObjects: 1100,
      largeBytes: 18 * MiB + 7,
      propertyRuns: 8,
      clockToleranceMs: 60_000,
      listsByFolder: quirks.listsByFolder,
    });

    it('carries a short stress run through the engine, with faults', { timeout: 180_000 }, async () => {
      const { status, output } = await runStress(['--minutes', '0.1', '--faults', '0.1'], env);
      expect([status, output.at(-1)]).toEqual([
        0,
        expect.stringMatching(/^7 passed, 0 failed: \d+ records through s3:/),
      ]);
    });

    it('passes the start-up probe, which leaves nothing behind', async () => {
      const storage = await openS3ObjectStorage({ ...config, prefix: freshPrefix() });
      const left: string[] = [];
      for await (const { key } of storage.list()) left.push(key);
      expect(left).toEqual([]);
      expect(storage.description).toContain(config.bucket);
      await storage.close();
    });

    it.skipIf(quirks.createsBuckets)('says that the bucket does not exist', async () => {
      const bucket = await refusal({ ...config, bucket: 'shoal-no-such-bucket' });
      expect(bucket.kind).toBe('denied');
      expect(bucket.message).toContain('bucket shoal-no-such-bucket does not exist');
    });

    it('says which of secret and access key is wrong, and never shows a secret', async () => {
      if (!config.credentials) return;
      const { accessKeyId, secretAccessKey } = config.credentials as { accessKeyId: string; secretAccessKey: string };
      const secret = await refusal({ ...config, credentials: { accessKeyId, secretAccessKey: 'not-the-secret' } });
      expect([secret.kind, secret.message]).toEqual(['denied', expect.stringContaining('secret access key')]);
      const key = await refusal({ ...config, credentials: { accessKeyId: 'NOBODY', secretAccessKey } });
      expect([key.kind, key.message]).toEqual(['denied', expect.stringContaining('access key id is unknown')]);
      for (const error of [secret, key]) {
        expect(error.message).not.toMatch(/\n/);
        expect(`${error.message} ${error.stack} ${JSON.stringify(error)}`).not.toMatch(
          /not-the-secret|shoal-test-secret/,
        );
      }
    });
  });
}
