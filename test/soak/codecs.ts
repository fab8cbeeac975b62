/** The five codecs as Kafka's clients write them, from libraries: for kafkajs, which has only gzip, and for the verifier. */
import { gunzipSync, gzipSync } from 'node:zlib';
import * as zstd from '@bokuweb/zstd-wasm';
import * as lz4 from 'lz4-napi';
import * as snappy from 'snappy';
import { snappyDecode } from '../support/snappy-frames.ts';
import type { Codec } from './journal.ts';

export interface CodecFunctions {
  readonly compress: (plain: Buffer) => Buffer;
  readonly decompress: (compressed: Buffer) => Buffer;
}

export type Codecs = Readonly<Record<Codec, CodecFunctions>>;

/** Xerial's header: magic, version 1, compatible with version 1. Blocks follow, each with its length in front. */
const XERIAL = Buffer.from('82534e4150505900' + '00000001' + '00000001', 'hex');
const XERIAL_BLOCK_BYTES = 32 * 1024;

function snappyCompress(plain: Buffer): Buffer {
  const parts: Buffer[] = [XERIAL];
  for (let at = 0; at < plain.length; at += XERIAL_BLOCK_BYTES) {
    const block = snappy.compressSync(plain.subarray(at, at + XERIAL_BLOCK_BYTES));
    const size = Buffer.alloc(4);
    size.writeInt32BE(block.length);
    parts.push(size, block);
  }
  return Buffer.concat(parts);
}

/** To be opened once: the zstd library does not survive a second initialisation. */
export async function openCodecs(): Promise<Codecs> {
  await zstd.init();
  const same = (bytes: Buffer): Buffer => bytes;
  return {
    none: { compress: same, decompress: same },
    gzip: { compress: (plain) => gzipSync(plain), decompress: (compressed) => gunzipSync(compressed) },
    snappy: { compress: snappyCompress, decompress: snappyDecode },
    lz4: {
      compress: (plain) => lz4.compressFrameSync(plain),
      decompress: (compressed) => lz4.decompressFrameSync(compressed),
    },
    zstd: {
      compress: (plain) => Buffer.from(zstd.compress(plain, 3)),
      decompress: (compressed) => Buffer.from(zstd.decompress(compressed)),
    },
  };
}
