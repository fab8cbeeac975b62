/**
 * Keeps a broker from segments that its coordinator knows nothing of: an hour later it would delete them as never
 * committed.
 */
import { StorageError } from '../storage/object-storage.ts';
import { CliError } from './command.ts';
import type { Components } from './components.ts';
import { SEGMENTS } from './lost-segments.ts';

/** One upload that died with its broker must not look like another cluster's. */
const OBJECTS_LOOKED_AT = 100;
const LOOK_TIMEOUT_MS = 10_000;

/**
 * A coordinator without topics beside objects of which it knows none: its database was lost, or the storage is another
 * cluster's.
 * @throws CliError with one line that says what to do
 */
export async function refuseForeignSegments({ coordinator, objectStorage }: Components): Promise<void> {
  if ((await coordinator.listTopics()).length > 0) return;
  const keys = await firstObjects(objectStorage);
  const known = await coordinator.describeFiles(keys);
  if (keys.length === 0 || known.some((file) => file !== undefined)) return;
  throw new CliError(
    `the storage holds segments (${keys[0]} among them), but ${coordinator.description} knows neither them nor any topic, ` +
      'and they would be deleted as never committed; restore the database that knows them, name another place with --storage, or delete them if nobody needs them',
  );
}

async function firstObjects(objectStorage: Components['objectStorage']): Promise<string[]> {
  const keys: string[] = [];
  try {
    for await (const { key } of objectStorage.list({
      prefix: SEGMENTS,
      signal: AbortSignal.timeout(LOOK_TIMEOUT_MS),
    })) {
      if (keys.push(key) === OBJECTS_LOOKED_AT) break;
    }
  } catch (error) {
    // A storage that does not answer now is waited for by everything else, too.
    if (!(error instanceof StorageError)) throw error;
  }
  return keys;
}
