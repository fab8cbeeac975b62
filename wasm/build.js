// Builds the record kernel, wasm/assembly/*.ts → dist/record-kernel.wasm.
//
//   node wasm/build.js release   -O3, no assertions, stub runtime (the default, what is published)
//   node wasm/build.js debug     assertions, names and a source map; the same file name, so every suite runs on either
//
// The kernel imports its memory (shared, so that all threads see the same slabs) and owns no mutable statics: every
// instance is given a scratch region of its own. The memory's size is chosen by whoever instantiates it.
import { mkdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import asc from 'assemblyscript/asc';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const mode = process.argv[2] ?? 'release';
if (mode !== 'release' && mode !== 'debug') {
  process.stderr.write(`unknown build "${mode}"; use "release" or "debug"\n`);
  process.exit(2);
}

const shared = [
  '--importMemory',
  '--sharedMemory',
  '--initialMemory',
  '1',
  '--maximumMemory',
  '65536',
  '--runtime',
  'stub',
];
const features = ['--enable', 'simd', '--enable', 'threads', '--enable', 'bulk-memory'];
const byMode = mode === 'release' ? ['-O3', '--noAssert', '--converge'] : ['--debug', '--sourceMap'];

mkdirSync(join(root, 'dist'), { recursive: true });
if (mode === 'release') rmSync(join(root, 'dist', 'record-kernel.wasm.map'), { force: true });
const { error, stderr } = await asc.main(
  [
    'wasm/assembly/index.ts',
    '--outFile',
    'dist/record-kernel.wasm',
    '--baseDir',
    root,
    ...shared,
    ...features,
    ...byMode,
  ],
  {},
);
if (error) {
  process.stderr.write(`${stderr}\n${error.message}\n`);
  process.exit(1);
}
