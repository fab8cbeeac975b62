/**
 * Compression of a batch's records, for topics whose `compression.type` is not the producer's, and for batches that had to
 * be rebuilt. Synchronous; runs on whichever thread calls it. Libraries are loaded at the first use in a thread and live
 * as long as it does.
 */
import { gzipSync } from 'node:zlib';
import type { CompressionCodec } from '../validation.ts';
import { compressLz4 } from './lz4-compressor.ts';
import { compressSnappy } from './snappy-compressor.ts';
import { compressZstd } from './zstd-compressor.ts';

/** Kafka's defaults of `compression.gzip.level` and `compression.zstd.level`. */
const GZIP_LEVEL = -1;
const ZSTD_LEVEL = 3;

/**
 * Compresses `plain` into a payload as Kafka's clients frame it. `level` is Kafka's `compression.<codec>.level` for gzip
 * (−1, 1–9) and zstd (−131072–22); snappy has none, and lz4's encoder has one only.
 */
export function compress(
  codec: Exclude<CompressionCodec, 'none'>,
  plain: Uint8Array,
  level?: number | undefined,
): Uint8Array {
  switch (codec) {
    case 'gzip':
      return gzipSync(plain, { level: level ?? GZIP_LEVEL });
    case 'snappy':
      return compressSnappy(plain);
    case 'lz4':
      return compressLz4(plain);
    case 'zstd':
      return compressZstd(plain, level ?? ZSTD_LEVEL);
  }
}
