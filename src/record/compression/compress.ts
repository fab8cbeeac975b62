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

const MiB = 1024 * 1024;

/**
 * The highest level for so many plain bytes: beyond it a batch would take seconds, and its worker count as stuck. Where
 * the bytes are chosen for it (two letters in random order), gzip takes 2.3 s for a MiB at level 9 and 0.2 s at 7, zstd
 * 0.8 s at 15 and 0.1 s at 9.
 */
const HIGHEST_GZIP: readonly LevelLimit[] = [{ aboveBytes: MiB, level: 7 }];
const HIGHEST_ZSTD: readonly LevelLimit[] = [
  { aboveBytes: 4 * MiB, level: 3 },
  { aboveBytes: MiB, level: 9 },
  { aboveBytes: MiB / 4, level: 15 },
];

interface LevelLimit {
  readonly aboveBytes: number;
  readonly level: number;
}

function boundedLevel(level: number, plainBytes: number, limits: readonly LevelLimit[]): number {
  const limit = limits.find(({ aboveBytes }) => plainBytes > aboveBytes);
  return limit ? Math.min(level, limit.level) : level;
}

/**
 * Compresses `plain` into a payload as Kafka's clients frame it. `level` is Kafka's `compression.<codec>.level` for gzip
 * (−1, 1–9) and zstd (−131072–22), lowered for large inputs; snappy has none, and lz4's encoder has one only.
 */
export function compress(
  codec: Exclude<CompressionCodec, 'none'>,
  plain: Uint8Array,
  level?: number | undefined,
): Uint8Array {
  switch (codec) {
    case 'gzip':
      return gzipSync(plain, { level: boundedLevel(level ?? GZIP_LEVEL, plain.length, HIGHEST_GZIP) });
    case 'snappy':
      return compressSnappy(plain);
    case 'lz4':
      return compressLz4(plain);
    case 'zstd':
      return compressZstd(plain, boundedLevel(level ?? ZSTD_LEVEL, plain.length, HIGHEST_ZSTD));
  }
}
