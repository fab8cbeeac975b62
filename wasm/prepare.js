// npm's `prepare`: builds dist/ after `npm ci` and before `npm pack`. Building needs the development dependencies;
// without them, and without an earlier build, there is nothing to run, so it says what to do in one line.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const canBuild = ['assemblyscript', 'typescript'].every((name) => existsSync(join(root, 'node_modules', name)));
if (!canBuild) {
  if (existsSync(join(root, 'dist', 'cli.js'))) process.exit(0);
  process.stderr.write('shoal: building dist/ needs the development dependencies; run `npm ci --include=dev`\n');
  process.exit(1);
}
const { status } = spawnSync('npm', ['run', '--silent', 'build'], { cwd: root, stdio: 'inherit' });
process.exit(status ?? 1);
