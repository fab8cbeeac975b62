/** Snappy as Java's producer frames it (xerial's stream), with the raw blocks of the `snappy` package. */
import { createRequire } from 'node:module';

const HEADER = Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0, 0, 0, 0, 1, 0, 0, 0, 1]);
/** What Java's stream puts into a block; readers take any size. */
const BLOCK_BYTES = 32768;

let library: typeof import('snappy') | undefined;

/** Frames `plain` as header and blocks, each behind its big-endian length. */
export function compressSnappy(plain: Uint8Array): Uint8Array {
  library ??= createRequire(import.meta.url)('snappy') as typeof import('snappy');
  const parts: Uint8Array[] = [HEADER];
  for (let at = 0; at < plain.length; at += BLOCK_BYTES) {
    const size = Math.min(BLOCK_BYTES, plain.length - at);
    const block = library.compressSync(Buffer.from(plain.buffer, plain.byteOffset + at, size));
    const length = Buffer.allocUnsafe(4);
    length.writeUInt32BE(block.length);
    parts.push(length, block);
  }
  return Buffer.concat(parts);
}
