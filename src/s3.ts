/**
 * `import … from 'shoal/s3'`: segments in S3, or in a store that speaks its protocol. The AWS SDK is loaded when the first
 * storage is opened.
 */

import type { S3StorageConfig } from './storage/s3/s3-config.ts';
import { S3ObjectStorage } from './storage/s3/s3-object-storage.ts';
import { probeS3 } from './storage/s3/s3-probe.ts';

export type { MultipartSettings, S3StorageConfig, ServerSideEncryption } from './storage/s3/s3-config.ts';
export { parseS3Url } from './storage/s3/s3-config.ts';
export { S3ObjectStorage, type S3Stats } from './storage/s3/s3-object-storage.ts';

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
