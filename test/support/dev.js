// `npm run dev`: keeps dist/ current (TypeScript and the wasm kernel) and runs the affected tests, until Ctrl-C.
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

run('npx', ['tsc', '-p', 'tsconfig.build.json', '--watch', '--preserveWatchOutput']);
run('npx', ['vitest', '--watch']);

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => {
    for (const child of children) child.kill(signal);
    process.exit(0);
  });
}
