/**
 * Opens the database file: checks what it is before SQLite touches it, sets and asserts the durability it needs, and
 * brings its schema up to date. Every refusal is one line that says what to do. Runs in the SQLite worker.
 */
import { accessSync, chmodSync, closeSync, constants, existsSync, openSync, statSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { SqlDatabase, sqliteResultCode } from './driver.ts';
import { APPLICATION_ID, MIGRATIONS } from './schema.ts';

/** The reason, as one line for a person; nothing was changed. */
export class DatabaseRefused extends Error {
  override readonly name = 'DatabaseRefused';
}

export interface OpenDatabaseOptions {
  readonly path: string;
  readonly cacheBytes: number;
  readonly maxSizeBytes?: number | undefined;
  readonly mayMigrate: boolean;
}

const SQLITE_NOTADB = 26;
/** The database and what a crash may leave beside it; SQLite gives new ones the mode of the database. */
const FILES = ['', '-wal', '-shm', '-journal'];
const PAGE_BYTES = 4096;
/** A checkpoint costs an fsync of its own; at this many pages it stays rare and its stall short. */
const CHECKPOINT_PAGES = 4096;

interface FileHeader {
  readonly schemaVersion: number;
  readonly applicationId: number;
  /** Tables, indexes and the like. */
  readonly objects: number;
}

/** A missing file is created for the owner only, where it may be, and an existing one is made so. */
function makePrivate({ path, mayMigrate }: OpenDatabaseOptions): void {
  if (!mayMigrate && !existsSync(path)) throw new DatabaseRefused(`${path} does not exist`);
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    accessSync(path, constants.R_OK | constants.W_OK);
    for (const suffix of FILES) closeToOthers(`${path}${suffix}`);
  }
}

function closeToOthers(path: string): void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found && (found.mode & 0o077) !== 0) chmodSync(path, 0o600);
}

/**
 * What the file says it is. Read by SQLite, as a file that does not change: that takes no lock and leaves its log alone.
 * Never through a descriptor of our own: closing that would end every lock that this process has on the file (POSIX), also
 * that of a coordinator which has it open, and let a second process in.
 *
 * Without its log the file may make no sense: a crash can leave a checkpoint half done. Then only `migrate` can tell.
 */
function readHeader(path: string): FileHeader {
  const database = new SqlDatabase(`${pathToFileURL(path).href}?immutable=1`, { readOnly: true });
  try {
    return header(database);
  } catch (error) {
    if (sqliteResultCode(error) === SQLITE_NOTADB) throw error;
    return { schemaVersion: 0, applicationId: 0, objects: 0 };
  } finally {
    database.close();
  }
}

function header(database: SqlDatabase): FileHeader {
  const { count } = database.sql('SELECT count(*) AS count FROM sqlite_schema').get()!;
  return {
    schemaVersion: Number(pragma(database, 'user_version')),
    applicationId: Number(pragma(database, 'application_id')),
    objects: Number(count),
  };
}

/** @throws DatabaseRefused for a database that is another program's or a newer Shoal's */
function checkHeader(path: string, { schemaVersion, applicationId, objects }: FileHeader): void {
  // A new file, or a database of which the write-ahead log has all that matters.
  if (schemaVersion === 0 && applicationId === 0 && objects === 0) return;
  if (applicationId !== APPLICATION_ID) {
    throw new DatabaseRefused(`${path} is a SQLite database of another program; point --data elsewhere`);
  }
  refuseNewer(path, schemaVersion);
}

function refuseNewer(path: string, version: number): void {
  if (version <= MIGRATIONS.length) return;
  throw new DatabaseRefused(
    `${path} has schema version ${version}, this Shoal knows up to ${MIGRATIONS.length}; run the newer Shoal that wrote it`,
  );
}

function pragma(database: SqlDatabase, name: string): string {
  return String(Object.values(database.sql(`PRAGMA ${name}`).get() ?? {})[0]);
}

/** Exclusive, so that a second process cannot give out the same offsets; durable at every COMMIT, and asserted so. */
function configure(database: SqlDatabase, options: OpenDatabaseOptions): void {
  database.exec('PRAGMA locking_mode = EXCLUSIVE');
  database.exec(`PRAGMA page_size = ${PAGE_BYTES}`);
  database.exec('PRAGMA journal_mode = WAL');
  database.exec('PRAGMA synchronous = FULL');
  database.exec(`PRAGMA cache_size = ${-Math.ceil(options.cacheBytes / 1024)}`);
  database.exec(`PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
  database.exec('PRAGMA foreign_keys = OFF');
  const journalMode = pragma(database, 'journal_mode');
  const synchronous = pragma(database, 'synchronous');
  if (journalMode !== 'wal' || synchronous !== '2') {
    throw new DatabaseRefused(
      `${options.path}: journal_mode is ${journalMode} and synchronous ${synchronous}, not wal and 2; use a local disk`,
    );
  }
  if (options.maxSizeBytes !== undefined) {
    database.exec(`PRAGMA max_page_count = ${Math.max(1, Math.floor(options.maxSizeBytes / PAGE_BYTES))}`);
  }
}

/** @throws DatabaseRefused for what only the write-ahead log shows: another program's tables, a newer schema */
function migrate({ path, mayMigrate }: OpenDatabaseOptions, database: SqlDatabase): void {
  const now = header(database);
  checkHeader(path, now);
  const found = now.schemaVersion;
  if (found < MIGRATIONS.length && !mayMigrate) throw older(path, found);
  for (let version = found; version < MIGRATIONS.length; version += 1) {
    database.exec('BEGIN IMMEDIATE');
    database.exec(MIGRATIONS[version]!);
    database.exec(`PRAGMA application_id = ${APPLICATION_ID}`);
    database.exec(`PRAGMA user_version = ${version + 1}`);
    database.exec('COMMIT');
  }
  // So that the file's header tells the version to whoever looks before opening it.
  if (found < MIGRATIONS.length) database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
}

function older(path: string, found: number): DatabaseRefused {
  return new DatabaseRefused(
    found === 0
      ? `${path} is empty; name the file that a broker works on`
      : `${path} has schema version ${found}; a broker of this Shoal brings it to ${MIGRATIONS.length} when it starts`,
  );
}

/** An error of SQLite, or of the file system, as one line for a person. */
export function asRefusal(path: string, error: unknown): unknown {
  if (error instanceof DatabaseRefused) return error;
  const { message, code } = error as NodeJS.ErrnoException;
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS') return notWritable(path, message);
  switch (sqliteResultCode(error)) {
    case 5:
      return new DatabaseRefused(`${path} is in use by another process; stop it first`);
    case 10:
      return new DatabaseRefused(`${path}: ${message}; see whether the disk is full or failing, and start again`);
    case 8:
    case 14:
      return notWritable(path, message);
    case 13:
      return new DatabaseRefused(`${path}: the disk is full; make room and start again`);
    case 26:
      return new DatabaseRefused(
        `${path} is not a SQLite database, or one damaged in its first bytes; restore it from a backup, or point --data elsewhere`,
      );
    case 11:
      return new DatabaseRefused(
        `${path} is damaged (${message}); restore it from a backup, or point --data elsewhere`,
      );
    default:
      return new DatabaseRefused(`${path} cannot be opened: ${message}`);
  }
}

/** A write-ahead log is written to even by who only reads. */
function notWritable(path: string, message: string): DatabaseRefused {
  return new DatabaseRefused(
    `${path} cannot be opened for writing (${message}); make the file and its folder writable, or use a copy that is`,
  );
}

/** @throws DatabaseRefused; the file is untouched then, but for being created where there was none */
export function openDatabase(options: OpenDatabaseOptions): SqlDatabase {
  let database: SqlDatabase | undefined;
  try {
    makePrivate(options);
    checkHeader(options.path, readHeader(options.path));
    database = new SqlDatabase(options.path);
    configure(database, options);
    migrate(options, database);
    return database;
  } catch (error) {
    try {
      database?.close();
    } catch {
      // The first failure is the one to tell.
    }
    throw asRefusal(options.path, error);
  }
}
