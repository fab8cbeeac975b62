/** The libraries that decode what Kafka's clients compress, one entry a codec: the baselines of compressed validation. */
import * as zlib from 'node:zlib';
import * as zstd from '@bokuweb/zstd-wasm';
import * as lz4 from 'lz4-napi';
import type { CompressionCodec } from '../../src/record/validation.ts';
import { snappyDecode } from '../../test/support/snappy-frames.ts';

export interface CodecLibraries {
  readonly codec: Exclude<CompressionCodec, 'none'>;
  readonly libraries: Readonly<Record<string, (payload: Buffer) => Uint8Array>>;
}

/** The blocks of an LZ4 frame by the library's block decoder, its fastest, which wants each one's plain size in front. */
function lz4Blocks(payload: Buffer, plainBytes: number): Buffer {
  const blocks: Buffer[] = [];
  let left = plainBytes;
  for (let at = 7; ; ) {
    const word = payload.readUInt32LE(at);
    if (word === 0) return Buffer.concat(blocks);
    const size = word & 0x7fffffff;
    const block = Buffer.allocUnsafe(4 + size);
    block.writeUInt32LE(Math.min(left, 65_536));
    payload.copy(block, 4, at + 4, at + 4 + size);
    blocks.push(word >>> 31 === 0 ? lz4.uncompressSync(block) : block.subarray(4));
    left -= blocks.at(-1)!.length;
    at += 4 + size;
  }
}

interface ZlibWithZstd {
  zstdDecompressSync(payload: Uint8Array): Uint8Array;
}

/** node:zlib's own zstd, where the running Node has it. */
function nodeZstd(): Record<string, (payload: Buffer) => Uint8Array> {
  if (!('zstdDecompressSync' in zlib)) return {};
  const { zstdDecompressSync } = zlib as unknown as ZlibWithZstd;
  return { 'node:zlib': (payload) => zstdDecompressSync(payload) };
}

/** `plainBytes`: what each payload decodes to, for libraries that can be told. */
export async function decoders(plainBytes: number): Promise<readonly CodecLibraries[]> {
  await zstd.init();
  return [
    {
      codec: 'gzip',
      libraries: {
        'node:zlib': (payload) => zlib.gunzipSync(payload),
        'node:zlib, told the size': (payload) => zlib.gunzipSync(payload, { chunkSize: plainBytes }),
      },
    },
    { codec: 'snappy', libraries: { snappy: snappyDecode } },
    {
      codec: 'lz4',
      libraries: {
        'lz4-napi': (payload) => lz4.decompressFrameSync(payload),
        'lz4-napi, block by block': (payload) => lz4Blocks(payload, plainBytes),
      },
    },
    { codec: 'zstd', libraries: { '@bokuweb/zstd-wasm': (payload) => zstd.decompress(payload), ...nodeZstd() } },
  ];
}
