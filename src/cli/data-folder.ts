/**
 * The data folder of the embedded default: `shoal.json` says what it is; the coordinator's database
 * and the segments lie beside it.
 *
 *     shoal.json       format version, cluster id, the versions that made it and last wrote it
 *     shoal.pid        who holds the folder, to name it to others; the lock itself is the database's
 *     coordinator.db   the SQLite coordinator
 *     segments/        the object storage
 *
 * One process per folder: the database is opened with an exclusive lock of the operating system, which ends with its
 * process however that ends. `shoal.json` is written first, whole or not at all (temp file, fsync, rename, fsync of the
 * folder), so that a folder without one is new or not ours.
 */
import { type FileHandle, open, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { isUuid, type Uuid } from '../common/uuid.ts';
import { makeFolder } from '../storage/make-folder.ts';
import { CliError } from './command.ts';

/** Raise it when an older Shoal could no longer use the folder, and migrate older folders in `openDataFolder`. */
const FORMAT_VERSION = 1;

export interface DataFolder {
  readonly path: string;
  readonly clusterId: Uuid;
  readonly databasePath: string;
  readonly segmentsPath: string;
}

interface Manifest {
  readonly formatVersion: number;
  readonly clusterId: Uuid;
  /** The version of Shoal that made the folder. */
  readonly createdBy: string;
  /** The newest version of Shoal that opened it. */
  readonly writtenBy: string;
}

export interface DataFolderOptions {
  readonly version: string;
  /** For a folder that is new. */
  readonly newClusterId: () => Uuid;
  /** Refuses a folder that is none yet, and writes nothing. @default false */
  readonly existing?: boolean;
}

/** Finds or makes the folder. @throws CliError with one line that says what to do; nothing is touched then */
export async function openDataFolder(path: string, options: DataFolderOptions): Promise<DataFolder> {
  const absolute = resolve(path);
  try {
    const manifest = await manifestOf(absolute, options);
    return {
      path: absolute,
      clusterId: manifest.clusterId,
      databasePath: join(absolute, 'coordinator.db'),
      segmentsPath: join(absolute, 'segments'),
    };
  } catch (error) {
    throw error instanceof CliError ? error : new CliError(describe(absolute, error as NodeJS.ErrnoException));
  }
}

async function manifestOf(path: string, { version, newClusterId, existing }: DataFolderOptions): Promise<Manifest> {
  const found = await readManifest(path);
  if (found && (existing || found.writtenBy === version)) return found;
  if (existing) throw new CliError(`${path} is no data folder; name the one of your broker with --data`);
  if (!found) await refuseOthersFolder(path);
  const manifest: Manifest = found
    ? { ...found, writtenBy: version }
    : { formatVersion: FORMAT_VERSION, clusterId: newClusterId(), createdBy: version, writtenBy: version };
  await makeFolder(path);
  await writeDurably(path, 'shoal.json', `${JSON.stringify(manifest, null, 2)}\n`);
  return manifest;
}

/** Undefined when there is none. @throws CliError when it cannot be used */
async function readManifest(path: string): Promise<Manifest | undefined> {
  const file = join(path, 'shoal.json');
  const text = await readFile(file, 'utf8').catch(absent);
  if (text === undefined) return undefined;
  const manifest = parse(text);
  if (!manifest) throw new CliError(`${file} is damaged; restore it from a backup, or point --data elsewhere`);
  const { formatVersion, writtenBy } = manifest;
  if (formatVersion <= FORMAT_VERSION) return manifest;
  throw new CliError(
    `${path} has data format ${formatVersion}, written by Shoal ${writtenBy}; this Shoal knows formats up to ` +
      `${FORMAT_VERSION}: run the newer Shoal, or point --data elsewhere`,
  );
}

function parse(text: string): Manifest | undefined {
  try {
    const manifest = JSON.parse(text) as Partial<Manifest> | null;
    const { formatVersion, clusterId, writtenBy } = manifest ?? {};
    const valid = Number.isSafeInteger(formatVersion) && formatVersion! >= 1 && typeof writtenBy === 'string';
    // A newer format may say things in another way; its number is all that must be understood.
    return valid && (formatVersion! > FORMAT_VERSION || isUuid(String(clusterId))) ? (manifest as Manifest) : undefined;
  } catch {
    return undefined;
  }
}

/** A folder that holds other things was hardly meant; a start that was cut off left at most a temp file. */
async function refuseOthersFolder(path: string): Promise<void> {
  const isFolder = await stat(path).then(
    (stats) => stats.isDirectory(),
    () => undefined,
  );
  if (isFolder === undefined) return;
  if (!isFolder) throw new CliError(`${path} is a file; point --data at a folder`);
  const others = (await readdir(path)).filter((name) => !name.startsWith('shoal.json'));
  if (others.length === 0) return;
  throw new CliError(
    `${path} holds other things (${others[0]}) and no shoal.json; point --data at a new or empty folder`,
  );
}

async function writeDurably(folder: string, name: string, text: string): Promise<void> {
  const temp = join(folder, `${name}.tmp`);
  const file = await open(temp, 'w', 0o600);
  await synced(file, () => file.writeFile(text));
  await rename(temp, join(folder, name));
  const directory = await open(folder, 'r');
  await synced(directory, () => Promise.resolve());
}

async function synced(file: FileHandle, write: () => Promise<void>): Promise<void> {
  try {
    await write();
    await file.sync();
  } finally {
    await file.close();
  }
}

const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'permission denied; make it writable or point --data elsewhere',
  EPERM: 'permission denied; make it writable or point --data elsewhere',
  EROFS: 'the file system is read-only; point --data elsewhere',
  ENOSPC: 'the disk is full; make room and start again',
  ENOENT: 'no folder can be made there; point --data elsewhere',
  ENOTDIR: 'a part of the path is a file; point --data at a folder',
};

function describe(path: string, error: NodeJS.ErrnoException): string {
  return `cannot use ${path} as data folder: ${REASONS[error.code ?? ''] ?? error.message}`;
}

/**
 * Segments without the database that knows them: a new one would answer every topic as unknown, and the search for
 * orphans would delete every record. A first start that was cut off has no segments yet.
 * @throws CliError with one line that says what to do
 */
export async function refuseLostDatabase({ databasePath, segmentsPath }: DataFolder): Promise<void> {
  const bytes = await stat(databasePath).then(({ size }) => size, absent);
  if (bytes !== undefined && bytes > 0) return;
  const names = (await readdir(segmentsPath).catch(absent)) ?? [];
  if (names.every((name) => name.startsWith('.'))) return;
  throw new CliError(
    `${databasePath} is ${bytes === 0 ? 'empty' : 'missing'}, but there are segments in ${segmentsPath}: without it nobody ` +
      'knows their offsets; restore it from a backup, or point --data at a new folder',
  );
}

function absent(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}

/**
 * Names this process as the folder's holder, once the database's lock is held.
 * @throws CliError with one line that says what to do
 */
export async function writeHolder({ path }: DataFolder): Promise<void> {
  try {
    await writeFile(join(path, 'shoal.pid'), `${process.pid}\n`);
  } catch (error) {
    throw new CliError(describe(path, error as NodeJS.ErrnoException));
  }
}

export async function removeHolder({ path }: DataFolder): Promise<void> {
  await rm(join(path, 'shoal.pid'), { force: true });
}

/** The process that holds the folder, if it said so and is alive. */
export async function holderOf({ path }: Pick<DataFolder, 'path'>): Promise<number | undefined> {
  const text = await readFile(join(path, 'shoal.pid'), 'utf8').catch(() => '');
  const pid = Number(text.trim());
  if (!Number.isSafeInteger(pid) || pid <= 0) return undefined;
  try {
    process.kill(pid, 0);
    return pid;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM' ? pid : undefined;
  }
}

/** Why a database was refused, with the process that has it open when it is this folder's and says so. */
export async function namingHolder(message: string, folder: Pick<DataFolder, 'path'>): Promise<string> {
  const holder = /in use/.test(message) ? await holderOf(folder) : undefined;
  return holder === undefined ? message : `${message} (it is held by process ${holder})`;
}
