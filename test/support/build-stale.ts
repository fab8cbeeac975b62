/**
 * Vitest's global setup: rebuilds dist/ when a source file is newer, because worker threads, the wasm kernel and the
 * command line are run from dist/ even by tests that import the source.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

function newestMs(folder: string): number {
  let newest = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    if (entry.isFile()) newest = Math.max(newest, statSync(join(entry.parentPath, entry.name)).mtimeMs);
  }
  return newest;
}

function build(script: string): void {
  const { status } = spawnSync('npm', ['run', '--silent', script], { cwd: root, stdio: 'inherit' });
  if (status !== 0) throw new Error(`npm run ${script} failed; mend the build before running tests`);
}

export default function buildStale(): void {
  const stamp = join(root, 'dist', 'cli.js');
  const kernel = join(root, 'dist', 'record-kernel.wasm');
  const builtMs = existsSync(stamp) ? statSync(stamp).mtimeMs : 0;
  const kernelMs = existsSync(kernel) ? statSync(kernel).mtimeMs : 0;
  const debug = process.env.SHOAL_KERNEL === 'debug';
  // Only a debug build has a source map beside it; anything else must not test, or time, that kernel.
  const leftFromDebug = !debug && existsSync(`${kernel}.map`);
  const stale = newestMs(join(root, 'src')) > builtMs || newestMs(join(root, 'wasm')) > kernelMs;
  if (stale || leftFromDebug) build('build');
  if (debug) build('build:debug');
}
