/**
 * Objects as files of a folder: the embedded default. Key `a/b` is the file `<root>/a/b`; unfinished files lie in
 * `<root>/.tmp`, a name that no key can have.
 *
 * A put writes a temp file, fsyncs it, links it to its final name (so that an existing one is refused by the kernel),
 * unlinks the temp name, fsyncs the folder, and only then resolves. Crash points: before the link nothing is visible and
 * `open` removes the stray; after the link the object is whole, because its bytes were synced first, and whoever put it
 * was not told so. Two processes may share a root; one that opens it while the other puts makes that put fail with
 * `unavailable`, and its repetition succeeds. Main thread, file calls on libuv's pool; the opener closes it.
 */
import { type FileHandle, link, mkdir, open, readdir, rename, rm, stat, unlink } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { type ByteRange, endOf } from '../common/byte-range.ts';
import { once } from '../common/lifecycle.ts';
import { type Random, systemRandom } from '../common/random.ts';
import { checkKey, checkRange, OperationGate } from './arguments.ts';
import { fromErrno } from './errno.ts';
import { FolderSync } from './folder-sync.ts';
import { listFiles } from './list-files.ts';
import { makeFolder } from './make-folder.ts';
import {
  type DeleteResult,
  type GetOptions,
  type ListOptions,
  type ObjectKey,
  type ObjectStorage,
  type ObjectSummary,
  type PutOptions,
  StorageError,
} from './object-storage.ts';

const TEMP_FOLDER = '.tmp';
/** Brokers that start together on one folder each remove, once, what the others are trying it out with. */
const OPENING_ATTEMPTS = 20;
/** Unlinks that run at a time within one `delete`. */
const DELETE_CONCURRENCY = 16;

export interface LocalDirectoryOptions {
  /** Names temp files. @default the operating system's generator */
  readonly random?: Random;
}

export class LocalDirectoryObjectStorage implements ObjectStorage {
  readonly description: string;
  readonly #root: string;
  readonly #random: Random;
  readonly #folders = new FolderSync();
  readonly #gate: OperationGate;
  readonly close = once(() => this.#gate.drain());

  private constructor(root: string, random: Random) {
    this.#root = root;
    this.#random = random;
    this.description = `folder ${root}`;
    this.#gate = new OperationGate(this.description);
  }

  /**
   * Creates the folder where needed, removes stray temp files and tries out what a put needs.
   * @throws StorageError `denied` or `no-space` with one line that says what to do
   */
  static async open(root: string, options: LocalDirectoryOptions = {}): Promise<LocalDirectoryObjectStorage> {
    const storage = new LocalDirectoryObjectStorage(resolve(root), options.random ?? systemRandom);
    try {
      await storage.#prepare();
    } catch (error) {
      throw fromErrno(error, `cannot use ${storage.description} as object storage`);
    }
    return storage;
  }

  async #prepare(): Promise<void> {
    const firstCreated = await makeFolder(this.#root);
    if (firstCreated) await this.#folders.sync(dirname(firstCreated));
    await mkdir(join(this.#root, TEMP_FOLDER), { recursive: true });
    for (const stray of await readdir(join(this.#root, TEMP_FOLDER))) {
      await rm(join(this.#root, TEMP_FOLDER, stray), { recursive: true, force: true });
    }
    for (let attempt = 1; ; attempt += 1) {
      try {
        await this.#tryOut();
        break;
      } catch (error) {
        if (attempt === OPENING_ATTEMPTS || !isErrno(error, 'ENOENT')) throw error;
      }
    }
    await this.#folders.sync(this.#root);
  }

  async #tryOut(): Promise<void> {
    const probe = this.#tempPath();
    await writeDurably(probe, [new Uint8Array(1)], undefined);
    await link(probe, `${probe}-link`);
    await Promise.all([unlink(probe), unlink(`${probe}-link`)]);
  }

  async put(key: ObjectKey, body: readonly Uint8Array[], options: PutOptions = {}): Promise<void> {
    checkKey(key);
    await this.#run(options.signal, `put of object ${key}`, async () => {
      const temp = this.#tempPath();
      try {
        await writeDurably(temp, body, options.signal);
        await this.#folders.ensure(this.#root, dirname(key));
        await this.#publish(temp, key, options.ifNoneMatch !== false);
      } catch (error) {
        await unlink(temp).catch(() => {});
        // A missing file here is a temp file that somebody removed, never the object asked for.
        if (isErrno(error, 'ENOENT')) throw new StorageError('unavailable', 'its temp file or folder was removed');
        throw error;
      }
    });
  }

  /** Gives a durable temp file its final name, durably. An abort is not looked at any more: it would only be in doubt. */
  async #publish(temp: string, key: ObjectKey, ifNoneMatch: boolean): Promise<void> {
    const path = this.#path(key);
    if (ifNoneMatch) {
      await link(temp, path);
      await unlink(temp).catch(() => {});
    } else {
      await rename(temp, path);
    }
    try {
      await this.#folders.sync(dirname(path));
    } catch (error) {
      // After a failed fsync the kernel may have dropped what it could not write, so a second fsync proves nothing.
      await unlink(path).catch(() => {});
      throw error;
    }
  }

  async getRange(key: ObjectKey, range: ByteRange, options: GetOptions = {}): Promise<Uint8Array> {
    checkKey(key);
    checkRange(range, options.into);
    return this.#run(options.signal, `get of object ${key}`, async () => {
      const file = await open(this.#path(key), 'r').catch(absent);
      if (!file) throw new StorageError('not-found', 'it does not exist');
      try {
        if (!options.into) await checkSize(file, key, range);
        const into = options.into ?? new Uint8Array(range.size);
        await readFully(file, key, range, into, options.signal);
        return into;
      } finally {
        await file.close();
      }
    });
  }

  async head(key: ObjectKey, options: { signal?: AbortSignal } = {}): Promise<ObjectSummary | undefined> {
    checkKey(key);
    return this.#run(options.signal, `head of object ${key}`, async () => {
      const found = await stat(this.#path(key)).catch(absent);
      return found?.isFile() ? { key, sizeBytes: found.size, lastModifiedMs: Math.trunc(found.mtimeMs) } : undefined;
    });
  }

  async *list(options: ListOptions = {}): AsyncIterable<ObjectSummary> {
    try {
      for await (const summary of listFiles(this.#root, options)) {
        this.#gate.check();
        options.signal?.throwIfAborted();
        yield summary;
      }
      this.#gate.check();
    } catch (error) {
      options.signal?.throwIfAborted();
      throw fromErrno(error, `list of ${this.description}`);
    }
  }

  async delete(keys: readonly ObjectKey[], options: { signal?: AbortSignal } = {}): Promise<DeleteResult> {
    for (const key of keys) checkKey(key);
    return this.#run(options.signal, 'delete', async () => {
      const result: DeleteResult = { deleted: [], failed: [] };
      const left = [...new Set(keys)];
      const unlinkNext = async (): Promise<void> => {
        for (let key = left.pop(); key !== undefined; key = left.pop()) {
          try {
            await unlink(this.#path(key)).catch(absent);
            await this.#folders.sync(dirname(this.#path(key))).catch(absent);
            result.deleted.push(key);
          } catch (error) {
            result.failed.push({ key, error: fromErrno(error, `delete of object ${key} in ${this.description}`) });
          }
        }
      };
      await Promise.all(Array.from({ length: DELETE_CONCURRENCY }, unlinkNext));
      return result;
    });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #path(key: ObjectKey): string {
    return join(this.#root, key);
  }

  #tempPath(): string {
    return join(this.#root, TEMP_FOLDER, Buffer.from(this.#random.bytes(12)).toString('hex'));
  }

  #run<T>(signal: AbortSignal | undefined, what: string, operation: () => Promise<T>): Promise<T> {
    return this.#gate.run(signal, async () => {
      try {
        return await operation();
      } catch (error) {
        if (signal?.aborted && error === signal.reason) throw error;
        throw fromErrno(error, `${what} in ${this.description}`);
      }
    });
  }
}

/** Creates a file with these bytes and fsyncs it. The abort is honoured between writes, so none runs after the reject. */
async function writeDurably(path: string, body: readonly Uint8Array[], signal: AbortSignal | undefined): Promise<void> {
  const file = await open(path, 'wx', 0o644);
  try {
    await writeFully(file, body, signal);
    signal?.throwIfAborted();
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Chunks in one system call; Linux takes 1024. Each call costs a way to the thread pool and back. */
const CHUNKS_PER_WRITE = 1024;

async function writeFully(
  file: FileHandle,
  body: readonly Uint8Array[],
  signal: AbortSignal | undefined,
): Promise<void> {
  let left = body;
  while (left.length > 0) {
    signal?.throwIfAborted();
    const { bytesWritten } = await file.writev(left.slice(0, CHUNKS_PER_WRITE));
    left = chunksAfter(left, bytesWritten);
  }
}

/** What is left of chunks whose first `bytes` are done with; never an empty chunk at the front. */
function chunksAfter(chunks: readonly Uint8Array[], bytes: number): readonly Uint8Array[] {
  let skipped = bytes;
  const first = chunks.findIndex(({ byteLength }) => {
    if (byteLength > skipped) return true;
    skipped -= byteLength;
    return false;
  });
  return first < 0 ? [] : [chunks[first]!.subarray(skipped), ...chunks.slice(first + 1)];
}

async function checkSize(file: FileHandle, key: ObjectKey, range: ByteRange): Promise<void> {
  const found = await file.stat();
  if (!found.isFile()) throw new StorageError('not-found', `${key} is a folder`);
  if (found.size < endOf(range)) throw tooShort(key, range);
}

async function readFully(
  file: FileHandle,
  key: ObjectKey,
  range: ByteRange,
  into: Uint8Array,
  signal: AbortSignal | undefined,
): Promise<void> {
  for (let read = 0; read < range.size; ) {
    signal?.throwIfAborted();
    const { bytesRead } = await file.read(into, read, range.size - read, range.position + read);
    if (bytesRead === 0) throw tooShort(key, range);
    read += bytesRead;
  }
}

function tooShort(key: ObjectKey, range: ByteRange): StorageError {
  return new StorageError(
    'range-not-satisfiable',
    `object ${key} ends before byte ${endOf(range)}, the end of the range asked for`,
  );
}

/** A missing file, or a folder on its way that is a file, is an answer and not a failure. */
function absent(error: NodeJS.ErrnoException): undefined {
  if (!isErrno(error, 'ENOENT') && !isErrno(error, 'ENOTDIR')) throw error;
  return undefined;
}

function isErrno(error: unknown, code: string): boolean {
  return (error as NodeJS.ErrnoException | undefined)?.code === code;
}
