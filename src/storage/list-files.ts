/** Walking a local storage's folder in the order of its keys. */
import type { Dirent } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isObjectKey, type ListOptions, type ObjectSummary } from './object-storage.ts';

/** Files looked at together; listing a large folder is bound by the latency of `stat`. */
const STAT_BATCH = 64;

/**
 * Yields the files below `root` whose path is a key, in UTF-16 order of the keys.
 * @throws errno errors of the root; files and folders that vanish meanwhile are left out
 */
export async function* listFiles(root: string, options: ListOptions): AsyncGenerator<ObjectSummary> {
  let keys: string[] = [];
  for await (const key of walk(root, '', options)) {
    keys.push(key);
    if (keys.length < STAT_BATCH) continue;
    yield* await summaries(root, keys);
    keys = [];
  }
  yield* await summaries(root, keys);
}

/** Folder `a` sorts as `a/`, after `a-b` and before `a0`: that is where its keys belong. */
async function* walk(root: string, folder: string, options: ListOptions): AsyncGenerator<string> {
  const { prefix = '', after = '' } = options;
  const entries = await readFolder(join(root, folder), folder === '');
  const names = entries.filter((entry) => isObjectKey(entry.name)).map((entry) => folder + sortName(entry));
  for (const name of names.sort()) {
    const isFolder = name.endsWith('/');
    if (isFolder && mayHold(name, prefix, after)) yield* walk(root, name, options);
    if (!isFolder && name.startsWith(prefix) && name > after && isObjectKey(name)) yield name;
  }
}

function sortName(entry: Dirent): string {
  return entry.isDirectory() ? `${entry.name}/` : entry.name;
}

/** Whether a key below `folder` (which ends with a slash) can match. */
function mayHold(folder: string, prefix: string, after: string): boolean {
  const matchesPrefix = folder.startsWith(prefix) || prefix.startsWith(folder);
  return matchesPrefix && (after < folder || after.startsWith(folder));
}

async function readFolder(path: string, isRoot: boolean): Promise<Dirent[]> {
  try {
    return await readdir(path, { withFileTypes: true });
  } catch (error) {
    if (!isRoot && (error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

async function summaries(root: string, keys: readonly string[]): Promise<ObjectSummary[]> {
  const found = await Promise.all(keys.map((key) => summary(root, key)));
  return found.filter((entry) => entry !== undefined);
}

async function summary(root: string, key: string): Promise<ObjectSummary | undefined> {
  try {
    const found = await stat(join(root, key));
    return found.isFile() ? { key, sizeBytes: found.size, lastModifiedMs: Math.trunc(found.mtimeMs) } : undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
