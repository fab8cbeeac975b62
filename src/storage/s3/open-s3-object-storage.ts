/** Opens an S3 storage that is known to work. */
import type { S3StorageConfig } from './s3-config.ts';
import { S3ObjectStorage } from './s3-object-storage.ts';
import { probeS3 } from './s3-probe.ts';

/**
 * Opens an S3 storage and tries it out: puts, reads, lists and deletes one small object.
 * @param config settings, or a URL as `parseS3Url` takes it
 * @throws StorageError with one line that says what is wrong (bucket, region, secret, permission, expired credentials,
 *   clock, endpoint) and what to do; TypeError for a setting that cannot be
 */
export async function openS3ObjectStorage(config: S3StorageConfig): Promise<S3ObjectStorage> {
  const storage = await S3ObjectStorage.open(config);
  try {
    await probeS3(storage, config);
    return storage;
  } catch (error) {
    await storage.close();
    throw error;
  }
}
