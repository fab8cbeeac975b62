// The decompressors as the kernel exports them. Each reads [src, srcEnd), writes nothing outside [dst, dstEnd), and
// returns the bytes written or a status of src/record/compression/decompression-status.ts.
import { GZIP_SCRATCH_BYTES } from './gzip';
import { ZSTD_SCRATCH_BYTES } from './zstd-tables';

export { gunzip } from './gzip';
export { lz4DecodeFrame } from './lz4';
export { snappyDecode } from './snappy';
export { zstdDecode } from './zstd';

/** The scratch that gunzip and zstdDecode need; no two calls may share one at a time. */
export function decompressionScratchBytes(): i32 {
  return <i32>max<usize>(GZIP_SCRATCH_BYTES, ZSTD_SCRATCH_BYTES);
}
