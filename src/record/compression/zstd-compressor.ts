/**
 * zstd frames: by node:zlib where the running Node has zstd (22.15 and newer), else by the zstd that @bokuweb/zstd-wasm
 * carries. Its own entry initialises asynchronously; its parts let the module be instantiated at once. One instance a
 * thread, replaced when a large input has blown up its memory.
 */
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import * as zlib from 'node:zlib';
import { compileLibrary, instantiateLibrary, type LibraryInstance, type LibraryModule } from './library-instance.ts';

/** zstd's parameter 100: the compression level. */
const ZSTD_C_COMPRESSION_LEVEL = 100;
/** A WebAssembly memory never shrinks; an instance that has grown beyond this is not kept. */
const KEPT_MEMORY_BYTES = 32 * 1024 * 1024;

interface ZlibWithZstd {
  zstdCompressSync(plain: Uint8Array, options: { params: Record<number, number> }): Uint8Array;
}

/** What is used of the library's emscripten module. */
interface ZstdModule {
  instantiateWasm?: (imports: object, receive: (instance: LibraryInstance) => void) => object;
  init(): void;
  readonly HEAPU8: Uint8Array;
  _malloc(size: number): number;
  _free(address: number): void;
  _ZSTD_compressBound(size: number): number;
  _ZSTD_compress(target: number, targetSize: number, source: number, sourceSize: number, level: number): number;
  _ZSTD_isError(code: number): number;
}

const require = createRequire(import.meta.url);
let compiled: LibraryModule | undefined;
let library: ZstdModule | undefined;

/** A fresh module object with an instance of its own. */
function load(): ZstdModule {
  const folder = dirname(require.resolve('@bokuweb/zstd-wasm'));
  const entry = join(folder, 'zstd.js');
  delete require.cache[entry];
  const { Module } = require(entry) as { Module: ZstdModule };
  compiled ??= compileLibrary(join(folder, 'zstd.wasm'));
  const module = compiled;
  Module.instantiateWasm = (imports, receive) => {
    const instance = instantiateLibrary(module, imports);
    receive(instance);
    return instance.exports;
  };
  Module.init();
  return Module;
}

/** One frame over `plain`. @throws Error when the library has no memory left for an input and level as large as these */
export function compressZstd(plain: Uint8Array, level: number): Uint8Array {
  if ('zstdCompressSync' in zlib) {
    const withZstd = zlib as unknown as ZlibWithZstd;
    return withZstd.zstdCompressSync(plain, { params: { [ZSTD_C_COMPRESSION_LEVEL]: level } });
  }
  return compressInLibrary(plain, level);
}

function compressInLibrary(plain: Uint8Array, level: number): Uint8Array {
  library ??= load();
  const bound = library._ZSTD_compressBound(plain.length);
  const target = library._malloc(bound + plain.length);
  try {
    const source = target + bound;
    library.HEAPU8.set(plain, source);
    const size = library._ZSTD_compress(target, bound, source, plain.length, level);
    if (target === 0 || library._ZSTD_isError(size) !== 0) {
      throw new Error(`zstd cannot compress ${plain.length} bytes at level ${level}; lower compression.zstd.level`);
    }
    return library.HEAPU8.slice(target, target + size);
  } finally {
    library._free(target);
    if (library.HEAPU8.length > KEPT_MEMORY_BYTES) library = undefined;
  }
}
