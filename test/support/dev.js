// `npm run dev -- [FILTER ...]`: keeps dist/ current (TypeScript and the wasm kernel), runs all tests once, or those that the
// filters name, and then the affected ones, until Ctrl-C or q.
import { spawn } from 'node:child_process';
import { watch } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const children = new Set();

function run(command, args) {
  const child = spawn(command, args, { cwd: root, stdio: 'inherit' });
  children.add(child);
  child.once('exit', () => children.delete(child));
  return child;
}

let pending;
// Editors save in bursts; one rebuild after the last event is enough.
watch(`${root}wasm/assembly`, { recursive: true }, () => {
  clearTimeout(pending);
  pending = setTimeout(() => run('node', ['wasm/build.js', 'release']), 100);
});

function end(code) {
  for (const child of children) child.kill('SIGTERM');
  process.exit(code);
}

// Vitest takes the keyboard: Ctrl-C reaches only it (and cancels a run before it ends vitest), and so does q.
for (const watcher of [
  run('npx', ['tsc', '-p', 'tsconfig.build.json', '--watch', '--preserveWatchOutput']),
  run('npx', ['vitest', '--watch', ...process.argv.slice(2)]),
]) {
  watcher.once('exit', (code) => end(code ?? 1));
}
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => end(0));
