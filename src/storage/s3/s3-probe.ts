/**
 * Trying a bucket out before anything depends on it: writes, reads, refuses, lists and deletes one small object. Whatever
 * is set up wrong shows here, as one line, and not at the first produce.
 */
import { randomUUID } from 'node:crypto';
import { StorageError } from '../object-storage.ts';
import type { S3StorageConfig } from './s3-config.ts';
import type { S3ObjectStorage } from './s3-object-storage.ts';

/** @throws StorageError that says which thing is wrong and what to do */
export async function probeS3(storage: S3ObjectStorage, config: S3StorageConfig): Promise<void> {
  const key = `shoal-probe-${randomUUID()}`;
  try {
    await storage.put(key, [Uint8Array.of(115, 104)]);
    if (config.conditionalWrites !== false) await checkConditionalPut(storage, key);
    await checkRangedGet(storage, key);
    for await (const _ of storage.list({ prefix: key })) break;
    await deleteProbe(storage, key);
  } catch (error) {
    await storage.delete([key]).catch(() => {});
    if (!(error instanceof StorageError)) throw error;
    // Which of its own objects the probe could not put is of no interest to the reader.
    const reason = error.message.replace(/^\w+ (of object \S+ )?in s3:\S+ /, '');
    throw new StorageError(error.kind, `cannot use ${storage.description}: ${reason}`);
  }
}

async function checkConditionalPut(storage: S3ObjectStorage, key: string): Promise<void> {
  const refused = await storage.put(key, [Uint8Array.of(0)]).then(
    () => false,
    (error) => {
      if (error instanceof StorageError && error.kind === 'already-exists') return true;
      throw error;
    },
  );
  if (refused) return;
  throw new StorageError(
    'denied',
    'the store ignores If-None-Match, so a delayed write could replace an object; use another store, or accept it with conditional-writes=false',
  );
}

async function checkRangedGet(storage: S3ObjectStorage, key: string): Promise<void> {
  const [byte] = await storage.getRange(key, { position: 1, size: 1 });
  if (byte !== 104) throw new StorageError('corrupt', 'the store gave other bytes back than were put');
}

async function deleteProbe(storage: S3ObjectStorage, key: string): Promise<void> {
  const { failed } = await storage.delete([key]);
  if (failed[0]) throw failed[0].error;
}
