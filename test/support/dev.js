// `npm run dev -- [FILTER ...]`: keeps dist/ current (TypeScript and the wasm kernel), runs all tests once, or those that the
// filters name, and then the affected ones, until Ctrl-C or q.
import { spawn } from 'node:child_process';
import { watch } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const children = new Set();

/** `isGroup`: with processes of its own, which a signal to it alone would leave behind. */
function run(args, isGroup = false) {
  const child = spawn(process.execPath, args, { cwd: root, stdio: 'inherit', detached: isGroup });
  child.stop = () => (isGroup ? process.kill(-child.pid, 'SIGTERM') : child.kill('SIGTERM'));
  children.add(child);
  child.once('exit', () => children.delete(child));
  return child;
}

let pending;
let building;
// Editors save in bursts; one rebuild after the last event is enough.
watch(`${root}wasm/assembly`, { recursive: true }, () => {
  clearTimeout(pending);
  pending = setTimeout(() => {
    // One that is under way has read what is old now.
    building?.kill();
    building = run(['wasm/build.js', 'release']);
  }, 100);
});

function end(code) {
  for (const child of children) child.stop();
  process.exit(code);
}

// Vitest takes the keyboard: Ctrl-C reaches only it (and cancels a run before it ends vitest), and so does q.
for (const watcher of [
  run(['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json', '--watch', '--preserveWatchOutput'], true),
  run(['node_modules/vitest/vitest.mjs', '--watch', ...process.argv.slice(2)]),
]) {
  watcher.once('exit', (code) => end(code ?? 1));
}
for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM']) process.once(signal, () => end(0));
