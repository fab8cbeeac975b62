/** File system errors in the terms of a storage: which kind, and one line that says what to do. */
import { StorageError, type StorageErrorKind } from './object-storage.ts';

const KINDS: Readonly<Record<string, readonly [kind: StorageErrorKind, advice: string]>> = {
  ENOENT: ['not-found', 'it does not exist'],
  EISDIR: ['not-found', 'a folder has that name'],
  ENOTDIR: ['denied', 'a file stands where a folder is needed'],
  EEXIST: ['already-exists', 'it exists'],
  ENOSPC: ['no-space', 'the disk is full; make room'],
  EDQUOT: ['no-space', 'the disk quota is used up; raise it or make room'],
  EFBIG: ['no-space', "the file would exceed the file system's or the process's size limit; raise it"],
  EACCES: ['denied', 'this process may not; change the owner or the permissions'],
  EPERM: ['denied', 'this process may not, or the file system has no hard links; use another folder'],
  ENOTSUP: ['denied', 'the file system cannot do it (hard links are needed); use another folder'],
  EXDEV: ['denied', 'the folder spans two file systems; use another folder'],
  EROFS: ['denied', 'the file system is mounted read-only; mount it writable'],
  EMFILE: ['unavailable', 'this process has too many open files; raise ulimit -n'],
  ENFILE: ['unavailable', 'the machine has too many open files'],
};

/**
 * The storage error for a failed file system call; a StorageError keeps its kind.
 * @param what the failed thing, e.g. `put of object a/b in folder /data`
 */
export function fromErrno(error: unknown, what: string): StorageError {
  if (error instanceof StorageError) return new StorageError(error.kind, `${what}: ${error.message}`, { cause: error });
  const code = (error as NodeJS.ErrnoException).code ?? '';
  const [kind, advice] = KINDS[code] ?? ['unavailable', (error as Error).message];
  return new StorageError(kind, `${what}: ${advice}${code && ` (${code})`}`, { cause: error });
}
