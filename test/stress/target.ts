/** Where a stress run keeps its objects: the S3 server that the environment names, else a local directory. */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { LocalDirectoryObjectStorage, type ObjectStorage } from '../../src/index.ts';
import { openS3ObjectStorage, type S3ObjectStorage, type S3StorageConfig } from '../../src/s3.ts';
import { createBucket } from '../s3/servers.ts';

export interface StressTarget {
  /** In words that hold no secret. */
  readonly description: string;
  readonly storage: ObjectStorage;
  /** The same storage when it is S3. */
  readonly s3: S3ObjectStorage | undefined;
  /** What another process needs to open the same objects with `reopenTarget`. */
  readonly location: TargetLocation;
}

export type TargetLocation = { readonly folder: string } | { readonly s3: S3StorageConfig };

export async function openTarget(folder: string, env: NodeJS.ProcessEnv): Promise<StressTarget> {
  if (!env.SHOAL_S3_ENDPOINT) return reopenTarget({ folder: join(folder, 'objects') });
  const config: S3StorageConfig = {
    bucket: env.SHOAL_S3_BUCKET ?? 'shoal-stress',
    prefix: `stress-${randomUUID()}`,
    endpoint: env.SHOAL_S3_ENDPOINT,
    forcePathStyle: env.SHOAL_S3_PATH_STYLE !== 'false',
    ...(env.SHOAL_S3_REGION && { region: env.SHOAL_S3_REGION }),
  };
  await createBucket(config);
  return reopenTarget({ s3: config });
}

/** Credentials come from the environment, which a child process shares. */
export async function reopenTarget(location: TargetLocation): Promise<StressTarget> {
  if ('folder' in location) {
    const storage = await LocalDirectoryObjectStorage.open(location.folder);
    return { description: storage.description, storage, s3: undefined, location };
  }
  const storage = await openS3ObjectStorage(location.s3);
  return { description: storage.description, storage, s3: storage, location };
}

/** Removes what the run stored. @returns how many objects */
export async function emptyTarget({ storage }: StressTarget): Promise<number> {
  const keys: string[] = [];
  for await (const { key } of storage.list()) keys.push(key);
  const { deleted } = await storage.delete(keys);
  return deleted.length;
}
