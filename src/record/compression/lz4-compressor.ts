/**
 * LZ4 frames that every Kafka client reads: independent blocks of 64 KiB, no checksums but the header's. The blocks come
 * from lz4-wasm, whose own entry does not load in Node, so its module is instantiated here; one instance a thread, its
 * memory a few blocks large.
 */
import { createRequire } from 'node:module';
import { compileLibrary, instantiateLibrary } from './library-instance.ts';

/** Magic; FLG version 1 with independent blocks; BD 64 KiB; and the second byte of the xxHash32 of these two. */
const HEADER = Buffer.from([0x04, 0x22, 0x4d, 0x18, 0x60, 0x40, 0x82]);
const END_MARK = Buffer.alloc(4);
const BLOCK_BYTES = 65536;
const STORED = 0x80000000;
/** The library writes the plain size before its block; Kafka's frames have none. */
const SIZE_PREFIX_BYTES = 4;

interface Lz4Exports {
  readonly memory: { readonly buffer: ArrayBuffer };
  compress(result: number, address: number, size: number): void;
  __wbindgen_add_to_stack_pointer(bytes: number): number;
  __wbindgen_malloc(size: number): number;
  __wbindgen_free(address: number, size: number): void;
}

let library: Lz4Exports | undefined;

function load(): Lz4Exports {
  const path = createRequire(import.meta.url).resolve('lz4-wasm/lz4_wasm_bg.wasm');
  // Only the library's decompressor reports errors, and it is not used.
  const glue = { './lz4_wasm_bg.js': { __wbindgen_string_new: () => 0 } };
  return instantiateLibrary(compileLibrary(path), glue).exports as Lz4Exports;
}

/** Frames `plain`; a block that does not get smaller is stored. */
export function compressLz4(plain: Uint8Array): Uint8Array {
  const parts: Uint8Array[] = [HEADER];
  for (let at = 0; at < plain.length; at += BLOCK_BYTES) {
    const block = plain.subarray(at, at + BLOCK_BYTES);
    const packed = compressBlock(block);
    const isSmaller = packed.length < block.length;
    const word = Buffer.allocUnsafe(4);
    word.writeUInt32LE(isSmaller ? packed.length : block.length + STORED);
    parts.push(word, isSmaller ? packed : block);
  }
  parts.push(END_MARK);
  return Buffer.concat(parts);
}

/** The result is two words, address and size of what the library allocated, at the top of its stack. */
function compressBlock(block: Uint8Array): Uint8Array {
  library ??= load();
  const result = library.__wbindgen_add_to_stack_pointer(-16);
  try {
    const source = library.__wbindgen_malloc(block.length);
    new Uint8Array(library.memory.buffer).set(block, source);
    library.compress(result, source, block.length);
    const words = new DataView(library.memory.buffer);
    const address = words.getUint32(result, true);
    const size = words.getUint32(result + 4, true);
    const packed = new Uint8Array(library.memory.buffer, address + SIZE_PREFIX_BYTES, size - SIZE_PREFIX_BYTES).slice();
    library.__wbindgen_free(address, size);
    return packed;
  } finally {
    library.__wbindgen_add_to_stack_pointer(16);
  }
}
