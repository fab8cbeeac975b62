/**
 * Refuses a coordinator whose segments are not where it is told to look: a folder that was removed, a volume that is not
 * mounted, another bucket or prefix. Every fetch would fail, and producers would go on, into two places.
 */
import { opendir } from 'node:fs/promises';
import { type DisklessCoordinator, ListOffsetsTimestamp } from '../coordinator/diskless-coordinator.ts';
import { defaultEngineSettings } from '../engine/settings.ts';
import type { ObjectStorage } from '../storage/object-storage.ts';
import { CliError } from './command.ts';

/** What the keys of all segments begin with. */
export const SEGMENTS = `${defaultEngineSettings.objectKeyPrefix}/`;

type Log = Pick<DisklessCoordinator, 'description' | 'listTopics' | 'listOffsets'>;

const PARTITIONS_PER_LOOK = 1_000;

/** Before the folder is opened, which makes it. @throws CliError with one line that says what to do */
export async function refuseLostFolder(path: string, coordinator: Log): Promise<void> {
  if ((await holdsFiles(path)) || !(await holdsRecords(coordinator))) return;
  throw new CliError(
    `${path} is missing or empty, but ${coordinator.description} knows of records there: mount it or restore it from a ` +
      'backup, or correct --data, --storage or --coordinator',
  );
}

/** @throws CliError with one line that says what to do */
export async function refuseLostBucket(storage: ObjectStorage, coordinator: Log): Promise<void> {
  if ((await holdsObjects(storage)) || !(await holdsRecords(coordinator))) return;
  throw new CliError(
    `${storage.description} holds no segments, but ${coordinator.description} knows of records there: ` +
      'correct bucket and prefix in --storage, or --coordinator',
  );
}

async function holdsFiles(folder: string): Promise<boolean> {
  try {
    for await (const entry of await opendir(folder, { recursive: true })) if (entry.isFile()) return true;
  } catch (error) {
    // Whatever else is wrong with it, opening it as storage tells better.
    return (error as NodeJS.ErrnoException).code !== 'ENOENT';
  }
  return false;
}

async function holdsObjects(storage: ObjectStorage): Promise<boolean> {
  for await (const _ of storage.list({ prefix: SEGMENTS })) return true;
  return false;
}

/** A log without records needs no segments. */
async function holdsRecords(coordinator: Log): Promise<boolean> {
  const partitions = (await coordinator.listTopics()).flatMap(({ topicId, partitions: count }) =>
    Array.from({ length: count }, (_, partition) => ({ topicId, partition })),
  );
  for (let from = 0; from < partitions.length; from += PARTITIONS_PER_LOOK) {
    const some = partitions.slice(from, from + PARTITIONS_PER_LOOK);
    const ends = await coordinator.listOffsets([
      ...some.map((topicIdPartition) => ({ topicIdPartition, timestamp: ListOffsetsTimestamp.earliest })),
      ...some.map((topicIdPartition) => ({ topicIdPartition, timestamp: ListOffsetsTimestamp.latest })),
    ]);
    if (some.some((_, index) => ends[index]!.offset < ends[some.length + index]!.offset)) return true;
  }
  return false;
}
