/** What the local directory does beyond the contract: crash leftovers, foreign files, and disks that refuse. */
import { execFileSync, spawnSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fromErrno } from '../../src/storage/errno.ts';
import { LocalDirectoryObjectStorage } from '../../src/storage/local-directory-object-storage.ts';
import { StorageError } from '../../src/storage/object-storage.ts';

let base: string;
beforeAll(async () => {
  base = await mkdtemp(join(tmpdir(), 'shoal-local-'));
});
afterAll(() => rm(base, { recursive: true, force: true }));

let counter = 0;
const newPath = (): string => join(base, `root-${counter++}`);

async function failure(failing: Promise<unknown>): Promise<StorageError> {
  const error = await failing.catch((reason) => reason);
  expect(error).toBeInstanceOf(StorageError);
  return error as StorageError;
}

async function listed(storage: LocalDirectoryObjectStorage): Promise<string[]> {
  const keys: string[] = [];
  for await (const { key } of storage.list()) keys.push(key);
  return keys;
}

describe('LocalDirectoryObjectStorage', () => {
  it('keeps objects across openings and removes stray temp files', async () => {
    const root = join(newPath(), 'deep', 'er');
    const first = await LocalDirectoryObjectStorage.open(root);
    await first.put('p/k', [Uint8Array.of(1, 2, 3)]);
    await first.close();
    expect(await readdir(join(root, '.tmp'))).toEqual([]);
    await writeFile(join(root, '.tmp', 'stray'), 'half an object');
    const second = await LocalDirectoryObjectStorage.open(root);
    expect(await second.getRange('p/k', { position: 0, size: 3 })).toEqual(Uint8Array.of(1, 2, 3));
    expect(await readdir(join(root, '.tmp'))).toEqual([]);
    expect(await listed(second)).toEqual(['p/k']);
  });

  it('is opened by several brokers at once', async () => {
    for (let round = 0; round < 10; round += 1) {
      const root = newPath();
      const all = await Promise.all(Array.from({ length: 4 }, () => LocalDirectoryObjectStorage.open(root)));
      await all[0]!.put('k', [Uint8Array.of(1)]);
      expect(await listed(all[3]!)).toEqual(['k']);
    }
  });

  it('leaves no temp file behind a put that was refused or aborted', async () => {
    const root = newPath();
    const storage = await LocalDirectoryObjectStorage.open(root);
    await storage.put('k', [Uint8Array.of(1)]);
    await failure(storage.put('k', [Uint8Array.of(2)]));
    const abort = new AbortController();
    const body = Array.from({ length: 200 }, () => new Uint8Array(4096));
    const aborted = storage.put('big', body, { signal: abort.signal });
    setImmediate(() => abort.abort(new Error('enough')));
    await expect(aborted).rejects.toThrow('enough');
    expect(await readdir(join(root, '.tmp'))).toEqual([]);
    expect(await storage.head('big')).toBeUndefined();
  });

  it('does not list what is no object', async () => {
    const root = newPath();
    const storage = await LocalDirectoryObjectStorage.open(root);
    await mkdir(join(root, 'empty-folder'));
    await writeFile(join(root, '.hidden'), '');
    await writeFile(join(root, 'not a key'), '');
    await storage.put('k', []);
    expect(await listed(storage)).toEqual(['k']);
    expect(await storage.head('empty-folder')).toBeUndefined();
    expect((await failure(storage.getRange('empty-folder', { position: 0, size: 1 }))).kind).toBe('not-found');
  });

  it('says that an object stands where a folder is needed', async () => {
    const storage = await LocalDirectoryObjectStorage.open(newPath());
    await storage.put('a', []);
    const error = await failure(storage.put('a/b', []));
    expect(error.kind).toBe('denied');
    expect(error.message).toMatch(
      /put of object a\/b in folder .*: a file stands where a folder is needed \(ENOTDIR\)/,
    );
  });

  it('reports a put whose temp file somebody removed as unavailable, and the next one works', async () => {
    const root = newPath();
    const storage = await LocalDirectoryObjectStorage.open(root);
    await rm(join(root, '.tmp'), { recursive: true });
    const error = await failure(storage.put('k', []));
    expect([error.kind, error.retriable]).toEqual(['unavailable', true]);
    await LocalDirectoryObjectStorage.open(root);
    await storage.put('k', []);
    expect(await listed(storage)).toEqual(['k']);
  });

  it('cannot open a folder whose path is a file', async () => {
    const path = newPath();
    await writeFile(path, '');
    for (const folder of [path, join(path, 'x')]) {
      const error = await failure(LocalDirectoryObjectStorage.open(folder));
      expect(error.kind).toBe('denied');
      expect(error.message).toMatch(/^cannot use folder \S+ as object storage: a file stands .*$/);
    }
  });

  it('maps every file system error to a kind, in one line', () => {
    const kinds = {
      ENOSPC: 'no-space',
      EDQUOT: 'no-space',
      EFBIG: 'no-space',
      EACCES: 'denied',
      EPERM: 'denied',
      EROFS: 'denied',
      ENOTSUP: 'denied',
      EXDEV: 'denied',
      EIO: 'unavailable',
      EMFILE: 'unavailable',
      ENOENT: 'not-found',
      EEXIST: 'already-exists',
    };
    for (const [code, kind] of Object.entries(kinds)) {
      const error = fromErrno(Object.assign(new Error(`${code}: it went wrong`), { code }), 'put of object k');
      expect([code, error.kind]).toEqual([code, kind]);
      expect(error.message).toMatch(/^put of object k: [^\n]+$/);
      expect(error.message).toContain(code);
    }
    const mapped = fromErrno(new StorageError('corrupt', 'odd'), 'get of object k');
    expect([mapped.kind, mapped.message]).toEqual(['corrupt', 'get of object k: odd']);
  });
});

/** Mounting and changing users need root, which a container usually gives; elsewhere the table above stands for them. */
const canMount = process.getuid?.() === 0 && process.platform === 'linux' && tryMount();

function tryMount(): boolean {
  const at = join(tmpdir(), `shoal-mount-${process.pid}`);
  const made = spawnSync('sh', [
    '-c',
    `mkdir ${at} && mount -t tmpfs -o size=1m tmpfs ${at} && umount ${at}; rmdir ${at}`,
  ]);
  return made.status === 0 && made.stderr.length === 0;
}

describe.skipIf(!canMount)('LocalDirectoryObjectStorage on a disk of its own', () => {
  let disk: string;
  beforeAll(async () => {
    disk = newPath();
    await mkdir(disk);
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', disk]);
  });
  afterAll(() => {
    execFileSync('umount', [disk]);
  });

  it('reports a full disk, leaves nothing behind, and goes on when there is room', async () => {
    const storage = await LocalDirectoryObjectStorage.open(disk);
    await storage.put('a', [new Uint8Array(600_000)]);
    const error = await failure(storage.put('b', [new Uint8Array(600_000)]));
    expect([error.kind, error.retriable]).toEqual(['no-space', true]);
    expect(error.message).toMatch(/put of object b in folder .*: the disk is full; make room \(ENOSPC\)/);
    expect(await listed(storage)).toEqual(['a']);
    await storage.delete(['a']);
    await storage.put('b', [new Uint8Array(600_000)]);
    expect(await listed(storage)).toEqual(['b']);
  });

  it('reports a read-only disk, at opening and while running, and still reads', async () => {
    const storage = await LocalDirectoryObjectStorage.open(disk);
    await storage.put('kept', [Uint8Array.of(5)]);
    execFileSync('mount', ['-o', 'remount,ro', disk]);
    try {
      const opening = await failure(LocalDirectoryObjectStorage.open(disk));
      expect(opening.kind).toBe('denied');
      expect(opening.message).toMatch(/mounted read-only; mount it writable \(EROFS\)$/);
      expect((await failure(storage.put('c', []))).kind).toBe('denied');
      const { deleted, failed } = await storage.delete(['kept']);
      expect([deleted, failed.map((each) => each.error.kind)]).toEqual([[], ['denied']]);
      expect(await storage.getRange('kept', { position: 0, size: 1 })).toEqual(Uint8Array.of(5));
    } finally {
      execFileSync('mount', ['-o', 'remount,rw', disk]);
    }
  });
});

describe.skipIf(process.getuid?.() === 0)('LocalDirectoryObjectStorage without permission', () => {
  it('says so at opening', async () => {
    const root = newPath();
    await mkdir(root);
    await chmod(root, 0o500);
    const error = await failure(LocalDirectoryObjectStorage.open(join(root, 'x')));
    expect([error.kind, error.retriable]).toEqual(['denied', false]);
    expect(error.message).toContain('EACCES');
  });
});
