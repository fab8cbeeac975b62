/** The database file of the embedded coordinator: what it is made like, what is refused, and what a full disk does. */
import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemTime } from '../../src/common/time.ts';
import type { TopicIdPartition } from '../../src/common/topic-id-partition.ts';
import { SqlDatabase } from '../../src/coordinator/sqlite/driver.ts';
import { asRefusal } from '../../src/coordinator/sqlite/open-database.ts';
import { APPLICATION_ID, MIGRATIONS } from '../../src/coordinator/sqlite/schema.ts';
import { MIN_TOMBSTONE_AGE_MS } from '../../src/coordinator/tombstones.ts';
import { openSqliteCoordinator } from '../../src/sqlite.ts';
import { batch, file, findFrom, topic } from './fixture.ts';

const traceable = spawnSync('strace', ['-f', '-e', 'trace=none', 'true']).status === 0;

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'shoal-sqlite-'));
  path = join(folder, 'coordinator.db');
});
afterEach(() => rmSync(folder, { recursive: true }));

const open = (more: { maxSizeBytes?: number } = {}) => openSqliteCoordinator({ path, ...more });
const modeOf = (name: string): number => statSync(name).mode & 0o777;

describe('SQLite database file', () => {
  it('is readable and writable by its owner only, with its log beside it', async () => {
    const coordinator = await open();
    await topic(coordinator);
    expect(modeOf(path)).toBe(0o600);
    expect(modeOf(`${path}-wal`)).toBe(0o600);
    const log = readFileSync(`${path}-wal`);
    await coordinator.close();
    chmodSync(path, 0o644);
    await (await open()).close();
    expect(modeOf(path)).toBe(0o600);
    // As a crash leaves it.
    writeFileSync(`${path}-wal`, log, { mode: 0o644 });
    const again = await open();
    expect(modeOf(`${path}-wal`)).toBe(0o600);
    await again.close();
  });

  it('names the disk when reading or writing it fails', () => {
    const failed = Object.assign(new Error('disk I/O error'), { errcode: 10 | (3 << 8) });
    expect(String(asRefusal(path, failed))).toContain(
      `${path}: disk I/O error; see whether the disk is full or failing`,
    );
  });

  it('is used by one coordinator at a time, and free again after it', async () => {
    const first = await open();
    await expect(open()).rejects.toMatchObject({ kind: 'unavailable', message: expect.stringMatching(/in use/) });
    const [a] = (await topic(first)) as [TopicIdPartition];
    expect((await first.commitFile(file([batch(a, 1)]))).batches[0]!.baseOffset).toBe(0n);
    await first.close();
    await (await open()).close();
  });

  it('is used by one process at a time, also after this one has tried it a second time', async () => {
    const first = await open();
    await expect(open()).rejects.toMatchObject({ message: expect.stringMatching(/in use/) });
    const script = fileURLToPath(new URL('commit-until-killed.ts', import.meta.url));
    const other = spawnSync(process.execPath, ['--import', 'tsx', script, path, '0'], {
      encoding: 'utf8',
      timeout: 45_000,
    });
    expect(other).toMatchObject({ status: 1, stdout: '', stderr: expect.stringMatching(/in use by another process/) });
    await first.close();
  });

  it('of version 1 is brought up to date with what it holds, and works on', async () => {
    const old = new SqlDatabase(path);
    old.exec(MIGRATIONS[0]!);
    old.exec(`PRAGMA application_id = ${APPLICATION_ID}`);
    old.exec('PRAGMA user_version = 1');
    old.exec("INSERT INTO cluster VALUES ('T2xkQ2x1c3RlcklkSXNPbg')");
    old.exec("INSERT INTO topics VALUES ('T2xkVG9waWNJZElzT2xkAA', 't', 1, '{}')");
    old.exec(
      "INSERT INTO logs (log_id, topic_id, partition, high_watermark) VALUES (1, 'T2xkVG9waWNJZElzT2xkAA', 0, 3)",
    );
    old.exec('INSERT INTO coordinates VALUES (1, 2, 0, 1, 1, 100, 0, 5, 5, 0, 0, NULL)');
    const columns =
      '(file_id, object_key, state, size, live_bytes, live_coordinates, since_ms, useless_since_ms, format_version, uploader_id, uploader_epoch, segment_sequence)';
    old.exec(`INSERT INTO files ${columns} VALUES (1, 'used', 0, 200, 100, 1, 5, NULL, 0, 1, 1, 0),
      (2, 'given up', 3, 0, 0, 0, 5, NULL, 0, 0, 0, 0), (3, 'given up lately', 3, 0, 0, 0, 5, 5, 0, 0, 0, 0)`);
    old.close();
    const coordinator = await open();
    expect(coordinator.clusterId).toBe('T2xkQ2x1c3RlcklkSXNPbg');
    const of = { topicId: 'T2xkVG9waWNJZElzT2xkAA', partition: 0 };
    expect(await findFrom(coordinator, of, 0n)).toMatchObject({
      highWatermark: 3n,
      coordinates: [{ objectKey: 'used' }],
    });
    expect((await coordinator.commitFile(file([batch(of, 1)]))).batches[0]!.baseOffset).toBe(3n);
    expect(await coordinator.filesToDelete({ graceMs: 0, limit: 9 })).toEqual(['given up lately']);
    // Its tombstones count from the migration on.
    expect(await coordinator.forgetFiles({ olderThanMs: MIN_TOMBSTONE_AGE_MS, limit: 9 })).toBe(0);
    await coordinator.close();
    const later = await openSqliteCoordinator({
      path,
      time: { ...systemTime, nowMs: () => Date.now() + 2 * MIN_TOMBSTONE_AGE_MS },
    });
    expect(await later.forgetFiles({ olderThanMs: MIN_TOMBSTONE_AGE_MS, limit: 9 })).toBe(1);
    expect(await later.describeFiles(['used', 'given up', 'given up lately'])).toMatchObject([{}, undefined, {}]);
    await later.close();
  });

  it('is left alone where it may not be migrated: missing, empty, or of an older version', async () => {
    const look = () => openSqliteCoordinator({ path, mayMigrate: false });
    await expect(look()).rejects.toThrow(/does not exist/);
    expect(existsSync(path)).toBe(false);
    writeFileSync(path, '');
    await expect(look()).rejects.toThrow(/is empty; name the file that a broker works on/);
    await (await open()).close();
    await (await look()).close();
    const database = new SqlDatabase(path);
    database.exec('PRAGMA user_version = 2');
    database.close();
    await expect(look()).rejects.toThrow(/has schema version 2; a broker of this Shoal brings it to/);
  });

  it('is refused untouched when it is from the future, another program’s, or no database', async () => {
    await (await open()).close();
    const database = new SqlDatabase(path);
    database.exec(`PRAGMA user_version = ${MIGRATIONS.length + 1}`);
    database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    database.close();
    const cases: [RegExp, () => void][] = [
      [/has schema version 4, this Shoal knows up to 3; run the newer Shoal/, () => {}],
      [/database of another program/, () => foreign('CREATE TABLE theirs (x)')],
      [/database of another program/, () => foreign('PRAGMA application_id = 7')],
      [/database of another program/, () => foreign('PRAGMA journal_mode = WAL; PRAGMA user_version = 1')],
      [/not a SQLite database/, () => writeFileSync(path, 'hello, this is not a database at all')],
      [/damaged in its first bytes/, () => writeFileSync(path, `SQLite format 3\0${'?'.repeat(4_080)}`)],
    ];
    for (const [message, prepare] of cases) {
      prepare();
      const before = readFileSync(path);
      const error = await open().then(
        () => undefined,
        (reason: Error) => reason,
      );
      expect(error).toMatchObject({ name: 'CoordinatorError', kind: 'unavailable' });
      expect(error!.message).toMatch(message);
      expect(error!.message).not.toContain('\n');
      expect(readFileSync(path)).toEqual(before);
    }
  });

  it('is refused when it is another program’s with all of it still in the write-ahead log', async () => {
    const elsewhere = join(folder, 'theirs.db');
    const theirs = new SqlDatabase(elsewhere);
    theirs.exec('PRAGMA journal_mode = WAL');
    theirs.exec('CREATE TABLE theirs (x)');
    for (const suffix of ['', '-wal']) copyFileSync(`${elsewhere}${suffix}`, `${path}${suffix}`);
    theirs.close();
    await expect(open()).rejects.toThrow(/database of another program/);
  });

  it('is refused with one line when it cannot be written', () => {
    const causes = [
      Object.assign(new Error('EROFS: read-only file system'), { code: 'EROFS' }),
      Object.assign(new Error('EACCES: permission denied'), { code: 'EACCES' }),
      Object.assign(new Error('attempt to write a readonly database'), { code: 'ERR_SQLITE_ERROR', errcode: 8 }),
      Object.assign(new Error('unable to open database file'), { code: 'ERR_SQLITE_ERROR', errcode: 14 }),
    ];
    for (const cause of causes) {
      expect((asRefusal('/x/coordinator.db', cause) as Error).message).toBe(
        `/x/coordinator.db cannot be opened for writing (${cause.message}); make the file and its folder writable, or use a copy that is`,
      );
    }
  });

  it('is refused with one line when its folder is missing', async () => {
    path = join(folder, 'missing', 'coordinator.db');
    await expect(open()).rejects.toThrow(/ENOENT|cannot be opened/);
    expect(existsSync(join(folder, 'missing'))).toBe(false);
  });

  it('that is full refuses writes as no-space, loses nothing, and goes on when there is room', async () => {
    const limited = await open({ maxSizeBytes: 400 * 1024 });
    const [a] = (await topic(limited)) as [TopicIdPartition];
    const committed = [];
    let refused: ReturnType<typeof file> | undefined;
    while (!refused) {
      // Kept apart by a byte, so that each batch takes a row.
      const request = file(Array.from({ length: 50 }, (_, i) => batch(a, 1, { position: 1 + 101 * i })));
      try {
        committed.push(await limited.commitFile(request));
      } catch (error) {
        expect(error).toMatchObject({ kind: 'no-space' });
        refused = request;
      }
    }
    await expect(limited.commitFile(refused)).rejects.toMatchObject({ kind: 'no-space' });
    const end = BigInt(committed.length * 50);
    expect(await findFrom(limited, a, end)).toMatchObject({ highWatermark: end });
    await limited.close();
    const roomy = await open();
    expect((await roomy.commitFile(refused)).batches[0]!.baseOffset).toBe(end);
    await roomy.close();
  });

  it('is opened with all that it holds after a crash in the middle of a checkpoint', async () => {
    const coordinator = await open();
    const [a] = (await topic(coordinator)) as [TopicIdPartition];
    for (let i = 0; i < 20; i += 1) {
      await coordinator.commitFile(file(Array.from({ length: 50 }, (_, j) => batch(a, 1, { position: 1 + 101 * j }))));
    }
    const log = readFileSync(`${path}-wal`);
    const { size } = statSync(path);
    await coordinator.close();
    // The first pages are new already, and say how many there will be; the last ones are still to be written.
    truncateSync(path, size);
    writeFileSync(`${path}-wal`, log);
    const again = await open();
    expect(await findFrom(again, a, 0n)).toMatchObject({ highWatermark: 1_000n, coordinates: { length: 1_000 } });
    await again.close();
  });

  it('that is full lets what makes room through among what needs some', async () => {
    const limited = await open({ maxSizeBytes: 400 * 1024 });
    const [a] = (await topic(limited)) as [TopicIdPartition];
    const wide = () =>
      limited.commitFile(file(Array.from({ length: 50 }, (_, i) => batch(a, 1, { position: 1 + 101 * i }))));
    let commits = 0;
    while ((await Promise.allSettled([wide()]))[0]!.status === 'fulfilled') commits += 1;
    const outcomes = await Promise.allSettled([
      wide(),
      limited.deleteRecords([{ topicIdPartition: a, beforeOffset: BigInt(50 * commits) }]),
      wide(),
      limited.enforceRetention({ maxCoordinates: 10_000 }),
      wide(),
    ]);
    expect(outcomes).toMatchObject([
      { reason: { kind: 'no-space' } },
      { status: 'fulfilled' },
      { reason: { kind: 'no-space' } },
      { value: { coordinatesDeleted: 50 * commits } },
      { status: 'fulfilled' },
    ]);
    await limited.close();
  });

  it.skipIf(!traceable)('is synced once for each transaction, and transactions are shared (needs strace)', () => {
    const trace = join(folder, 'trace');
    const strace = ['-f', '-yy', '--seccomp-bpf', '-e', 'trace=fdatasync,fsync', '-o', trace];
    const script = [process.execPath, '--import', 'tsx', join(import.meta.dirname, 'count-fsync.ts'), path];
    const env = { ...process.env, TSX_TSCONFIG_PATH: 'bench/tsconfig.json' };
    execFileSync('strace', [...strace, ...script], { env, cwd: join(import.meta.dirname, '../..') });
    const phases = readFileSync(trace, 'utf8')
      .split(/\n.*\.marker>.*/)
      .map((lines) => lines.split('\n').filter((line) => /sync\(\d+<.*coordinator\.db(-wal)?>/.test(line)).length);
    expect(phases).toHaveLength(4);
    expect(phases[1]).toBe(50);
    expect(phases[2]).toBeGreaterThanOrEqual(10);
    expect(phases[2]).toBeLessThanOrEqual(40);
  });
});

/** A database that another program has made. */
function foreign(sql: string): void {
  rmSync(path, { force: true });
  const database = new SqlDatabase(path);
  database.exec(sql);
  database.close();
}
