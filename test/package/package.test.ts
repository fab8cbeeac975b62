/**
 * The package as others get it: packed, installed into an empty project, the README's example run there under Node 20
 * and 24, under vitest and through `require()`, its types compiled without `skipLibCheck`, its manifest linted.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const project = mkdtempSync(join(tmpdir(), 'shoal-package-'));
const bin = (name: string): string => join(root, 'node_modules', '.bin', name);
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  exports: Record<string, unknown>;
  devDependencies: Record<string, string>;
};
const entryPoints = Object.keys(manifest.exports).filter((path) => path !== './package.json');
let tarball = '';

function run(command: string, args: string[], cwd = project): string {
  return execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

beforeAll(() => {
  run('npm', ['pack', '--pack-destination', project], root);
  tarball = run('sh', ['-c', 'ls *.tgz']).trim();
  writeFileSync(join(project, 'package.json'), JSON.stringify({ name: 'consumer', type: 'module', private: true }));
  const tools = ['typescript', 'vitest', 'vite'].map((name) => `${name}@${manifest.devDependencies[name]}`);
  run('npm', ['install', '--no-audit', '--no-fund', `./${tarball}`, 'node@24', ...tools]);
  cpSync(join(root, 'test/examples/embed.ts'), join(project, 'embed.ts'));
}, 240_000);
afterAll(() => rmSync(project, { recursive: true, force: true }));

const runtimes = { 'this Node': process.execPath, 'Node 24': join(project, 'node_modules/node/bin/node') };

describe('the packed package', { timeout: 120_000 }, () => {
  it('holds what is needed and nothing else', () => {
    const files = run('tar', ['tzf', tarball]).split('\n');
    expect(files).toContain('package/dist/index.js');
    expect(files).toContain('package/dist/record-kernel.wasm');
    expect(files.filter((file) => /^package\/(test|bench|wasm|\.ci)\//.test(file))).toEqual([]);
  });

  it('compiles with skipLibCheck off', () => {
    const options = {
      module: 'nodenext',
      target: 'es2022',
      strict: true,
      skipLibCheck: false,
      outDir: 'out',
      // As new projects have it: the package's declarations bring Node's types themselves.
      types: [],
    };
    const imports = entryPoints.map((path, i) => `export * as e${i} from 'shoal${path.slice(1)}';`).join('\n');
    writeFileSync(join(project, 'all.ts'), imports);
    writeFileSync(
      join(project, 'tsconfig.json'),
      JSON.stringify({ compilerOptions: options, files: ['embed.ts', 'all.ts'] }),
    );
    expect(run('npx', ['tsc', '-p', '.'])).toBe('');
  });

  it.for(Object.entries(runtimes))('runs the example of the README under %s', ([, node]) => {
    expect(run(node, ['out/embed.js'])).toContain('hello');
  });

  it.for(Object.entries(runtimes))('loads by import and require() under %s', ([, node]) => {
    for (const path of entryPoints) {
      const name = `shoal${path.slice(1)}`;
      expect(run(node, ['--input-type=module', '-e', `import * as m from '${name}'; console.log(typeof m)`])).toBe(
        'object\n',
      );
      expect(
        run(node, ['--no-warnings', '--input-type=commonjs', '-e', `console.log(typeof require('${name}'))`]),
      ).toBe('object\n');
    }
  });

  it('loads neither the AWS SDK nor a database client by itself', () => {
    const script = `import 'shoal'; const { default: m } = await import('node:module');
      console.log(Object.keys(m._cache ?? {}).filter((f) => /client-s3|node_modules.pg.|sqlite/.test(f)).length)`;
    expect(run(process.execPath, ['--input-type=module', '-e', script])).toBe('0\n');
  });

  it('runs under vitest', () => {
    writeFileSync(
      join(project, 'embed.test.js'),
      `import { it } from 'vitest';\nit('runs', () => import('./out/embed.js'));\n`,
    );
    expect(run('npx', ['vitest', 'run'])).toContain('1 passed');
  });

  it('has a command', () => {
    expect(run('npx', ['shoal', '--help'])).toContain('serve');
  });

  it('passes publint and attw', () => {
    expect(run(bin('publint'), [tarball, '--strict'])).toContain('All good');
    run(bin('attw'), [tarball, '--profile', 'esm-only']);
  });
});
