/**
 * Files and pipes opened alike for the commands that read positions. What a pipe brings goes through a file without a name
 * first: a segment's footer lies behind its batches and must be read before them, and a pipe may be larger than memory.
 * The caller closes the handle; nothing is left behind, whatever ends the process.
 */
import { createReadStream } from 'node:fs';
import { type FileHandle, mkdtemp, open, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { CliError } from './command.ts';

const STANDARD_INPUT = '-';

/** How messages call it. */
export const inputName = (path: string): string => (path === STANDARD_INPUT ? 'standard input' : path);

/** A handle on all bytes of a file, of a pipe (`<(…)` of a shell), or for `-` of standard input. @throws CliError */
export async function openFileOrPipe(path: string): Promise<FileHandle> {
  if (path === STANDARD_INPUT) return spool(process.stdin, inputName(path));
  try {
    const found = await stat(path);
    if (found.isFile()) return await open(path, 'r');
    if (found.isFIFO() || found.isSocket() || found.isCharacterDevice())
      return await spool(createReadStream(path), path);
  } catch (error) {
    throw error instanceof CliError ? error : unreadable(path, error);
  }
  throw new CliError(`cannot read ${path}: it is neither a file nor a pipe`);
}

function unreadable(path: string, error: unknown): CliError {
  return new CliError(`cannot read ${path}: ${reasonOf(error as NodeJS.ErrnoException)}`);
}

function reasonOf({ code, message }: NodeJS.ErrnoException): string {
  if (code === 'ENOENT') return 'there is no such file';
  return code === 'EACCES' ? 'permission denied' : (code ?? message);
}

async function spool(source: Readable, name: string): Promise<FileHandle> {
  const file = await openNameless();
  try {
    for await (const chunk of source) await writeAll(file, chunk as Buffer);
    return file;
  } catch (error) {
    await file.close();
    throw error instanceof CliError ? error : unreadable(name, error);
  }
}

async function writeAll(file: FileHandle, bytes: Buffer): Promise<void> {
  try {
    for (let at = 0; at < bytes.length; ) at += (await file.write(bytes, at)).bytesWritten;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new CliError(
      `cannot keep what is piped in ${tmpdir()}: ${code ?? message}; write it to a file and dump that`,
    );
  }
}

/** Its name goes before its first byte comes. */
async function openNameless(): Promise<FileHandle> {
  const folder = await mkdtemp(join(tmpdir(), 'shoal-piped-'));
  try {
    return await open(join(folder, 'bytes'), 'wx+');
  } finally {
    await rm(folder, { recursive: true });
  }
}
