/**
 * `mkdir -p` that ends. Node's own recursive mkdir tries for ever on a file system where no folder can be made and the
 * answer is ENOENT (`/proc`), which would turn a mistyped path into a process that hangs.
 */
import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Makes a folder and its parents; the first one that was missing, or undefined when all were there.
 * @throws ErrnoException, ENOTDIR when something else has the name
 */
export async function makeFolder(path: string): Promise<string | undefined> {
  try {
    return await makeOne(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || dirname(path) === path) throw error;
  }
  const firstMade = await makeFolder(dirname(path));
  const made = await makeOne(path);
  return firstMade ?? made;
}

async function makeOne(path: string): Promise<string | undefined> {
  try {
    await mkdir(path);
    return path;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    if ((await stat(path)).isDirectory()) return undefined;
    throw Object.assign(new Error(`${path} is no folder`, { cause: error }), { code: 'ENOTDIR' });
  }
}
