/**
 * What `--data`, `--storage` and `--coordinator` mean: opens the object storage and the coordinator behind a broker.
 * Clients of S3 and PostgreSQL are loaded only when they are asked for.
 */
import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { DisposalStack } from '../common/lifecycle.ts';
import { type Logger, silentLogger } from '../common/logger.ts';
import { systemRandom } from '../common/random.ts';
import { randomUuid } from '../common/uuid.ts';
import { CoordinatorError, type DisklessCoordinator } from '../coordinator/diskless-coordinator.ts';
import { openSqliteCoordinator } from '../coordinator/sqlite-diskless-coordinator.ts';
import { LocalDirectoryObjectStorage } from '../storage/local-directory-object-storage.ts';
import { makeFolder } from '../storage/make-folder.ts';
import { type ObjectStorage, StorageError } from '../storage/object-storage.ts';
import { CliError, UsageError } from './command.ts';
import {
  type DataFolder,
  namingHolder,
  openDataFolder,
  refuseLostDatabase,
  removeHolder,
  writeHolder,
} from './data-folder.ts';
import { refuseLostBucket, refuseLostFolder } from './lost-segments.ts';
import { packageVersion } from './version.ts';

export interface ComponentOptions {
  /** `--data`: where what is not named by the others lies. */
  readonly data: string;
  /** `--storage`: `s3://…` or a folder. */
  readonly storage: string | undefined;
  /** `--coordinator`: `postgres://…` or a file. */
  readonly coordinator: string | undefined;
  /** For what the parts have to say while they run. */
  readonly logger?: Logger;
  /** Only looks: a database that is missing, or has to be migrated first, and a missing data folder are refused. */
  readonly existing?: boolean;
}

export interface Components {
  readonly objectStorage: ObjectStorage;
  readonly coordinator: DisklessCoordinator;
  close(): Promise<void>;
}

/**
 * The coordinator first: its lock keeps a second process out before anything else is touched.
 * @throws CliError with one line that says what to do; what was opened is closed then
 */
export async function openComponents(options: ComponentOptions): Promise<Components> {
  const opened = new DisposalStack();
  try {
    checkScheme(options.storage);
    const folder = needsFolder(options) ? await openFolder(options) : undefined;
    const coordinator = opened.use(await openCoordinator(options, folder), (one) => one.close());
    if (folder) await holdFolder(folder, opened);
    const { storage: where = folder!.segmentsPath } = options;
    const isBucket = /^s3:/i.test(where);
    if (!isBucket) await refuseLostFolder(where, coordinator);
    const openStorage = isBucket ? openS3 : LocalDirectoryObjectStorage.open;
    const objectStorage = opened.use(await openStorage(where), (one) => one.close());
    if (isBucket) await refuseLostBucket(objectStorage, coordinator);
    return { objectStorage, coordinator, close: () => opened.dispose() };
  } catch (error) {
    await opened.dispose();
    throw explained(error);
  }
}

/** Whether a place is named by URL; a folder or file otherwise. */
export function isUrl(where: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(where);
}

/** @throws UsageError for a URL of a storage that there is not */
function checkScheme(storage = ''): void {
  if (isUrl(storage) && !/^s3:/i.test(storage)) throw unknownScheme('--storage', storage);
}

function needsFolder({ storage, coordinator }: ComponentOptions): boolean {
  return storage === undefined || coordinator === undefined;
}

function openFolder({ data, existing = false }: ComponentOptions): Promise<DataFolder> {
  return openDataFolder(data, { version: packageVersion(), newClusterId: () => randomUuid(systemRandom), existing });
}

async function holdFolder(folder: DataFolder, opened: DisposalStack): Promise<void> {
  await writeHolder(folder);
  opened.use(folder, removeHolder);
}

async function openCoordinator(
  { coordinator: where, logger = silentLogger, existing = false }: ComponentOptions,
  folder: DataFolder | undefined,
): Promise<DisklessCoordinator> {
  if (where !== undefined && /^postgres(ql)?:/i.test(where)) return openPostgres(where, logger, existing);
  if (where !== undefined && isUrl(where)) throw unknownScheme('--coordinator', where);
  const path = where ?? folder!.databasePath;
  if (where === undefined) await refuseLostDatabase(folder!);
  await refuseFolder(path);
  if (!existing) await makeFolder(dirname(path));
  try {
    const clusterId = folder && { clusterId: folder.clusterId };
    const coordinator = await openSqliteCoordinator({ path, mayMigrate: !existing, ...clusterId });
    await checkCluster(coordinator, where === undefined ? folder : undefined);
    return coordinator;
  } catch (error) {
    throw await withHolder(error, where === undefined ? folder : undefined);
  }
}

async function refuseFolder(path: string): Promise<void> {
  const found = await stat(path).catch(() => undefined);
  if (found?.isDirectory())
    throw new CliError(`${path} is a folder; --coordinator names a SQLite file, or postgres://…`);
}

async function openPostgres(connectionString: string, logger: Logger, existing: boolean): Promise<DisklessCoordinator> {
  const { openPostgresCoordinator } = await import('../coordinator/postgres-diskless-coordinator.ts');
  try {
    return await openPostgresCoordinator({ connectionString, logger, mayMigrate: !existing });
  } catch (error) {
    if (!(error instanceof CoordinatorError)) throw error;
    if (error.kind === 'invalid') throw new UsageError(`--coordinator: ${error.message}`);
    const { host, pathname } = new URL(connectionString);
    throw new CliError(`cannot use the database ${host}${pathname} as coordinator: ${error.message}`);
  }
}

/** Files of two folders were mixed: their offsets and segments would be, too. */
async function checkCluster(coordinator: DisklessCoordinator, folder: DataFolder | undefined): Promise<void> {
  if (!folder || coordinator.clusterId === folder.clusterId) return;
  await coordinator.close();
  throw new CliError(
    `${folder.databasePath} belongs to cluster ${coordinator.clusterId}, but shoal.json beside it to ${folder.clusterId}; ` +
      'restore both from the same backup',
  );
}

/** Names the process that has the database open, where it is this folder's. */
async function withHolder(error: unknown, folder: DataFolder | undefined): Promise<unknown> {
  if (!(error instanceof CoordinatorError) || !folder) return error;
  return new CliError(await namingHolder(error.message, folder));
}

async function openS3(url: string): Promise<ObjectStorage> {
  const [{ parseS3Url }, { openS3ObjectStorage }] = await Promise.all([
    import('../storage/s3/s3-config.ts'),
    import('../storage/s3/open-s3-object-storage.ts'),
  ]);
  try {
    return await openS3ObjectStorage(parseS3Url(url));
  } catch (error) {
    if (error instanceof TypeError) throw new UsageError(`--storage: ${error.message}`);
    throw error;
  }
}

const KNOWN = { '--storage': 's3://BUCKET/PREFIX or a folder', '--coordinator': 'postgres://… or a file' } as const;

/** Never repeats the whole URL: it may hold a password. */
function unknownScheme(flag: keyof typeof KNOWN, url: string): UsageError {
  return new UsageError(`${flag} ${url.slice(0, url.indexOf(':'))}://…: not known; ${KNOWN[flag]} is`);
}

/** Failures of the parts, each already one line that says what to do. */
function explained(error: unknown): unknown {
  return error instanceof StorageError || error instanceof CoordinatorError ? new CliError(error.message) : error;
}
