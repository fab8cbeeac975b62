/** The libraries that decode what Kafka's clients compress, one entry a codec: the baselines of compressed validation. */
import { gunzipSync } from 'node:zlib';
import * as zstd from '@bokuweb/zstd-wasm';
import * as lz4 from 'lz4-napi';
import * as snappy from 'snappy';
import type { CompressionCodec } from '../../src/record/validation.ts';

export interface CodecLibraries {
  readonly codec: Exclude<CompressionCodec, 'none'>;
  readonly libraries: Readonly<Record<string, (payload: Buffer) => Uint8Array>>;
}

/** Xerial's frames around raw blocks, which the library does not know. */
function snappyFrames(payload: Buffer): Buffer {
  const blocks: Buffer[] = [];
  for (let at = 16; at < payload.length; ) {
    const size = payload.readInt32BE(at);
    blocks.push(snappy.uncompressSync(payload.subarray(at + 4, at + 4 + size)) as Buffer);
    at += 4 + size;
  }
  return Buffer.concat(blocks);
}

export async function decoders(): Promise<readonly CodecLibraries[]> {
  await zstd.init();
  return [
    { codec: 'gzip', libraries: { 'node:zlib': (payload) => gunzipSync(payload) } },
    { codec: 'snappy', libraries: { snappy: snappyFrames } },
    { codec: 'lz4', libraries: { 'lz4-napi': (payload) => lz4.decompressFrameSync(payload) } },
    { codec: 'zstd', libraries: { '@bokuweb/zstd-wasm': (payload) => zstd.decompress(payload) } },
  ];
}
