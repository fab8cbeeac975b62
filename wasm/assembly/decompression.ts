// The decompressors as the kernel exports them. Each reads [src, srcEnd), writes nothing outside [dst, dstEnd), and
// returns the bytes written or a status of src/record/compression/decompression-status.ts. `scratch` is the region's
// DECOMPRESSION.
import { DECOMPRESSION_BYTES } from '../../src/record/kernel-layout';
import { GZIP_SCRATCH_BYTES } from './gzip';
import { ZSTD_SCRATCH_BYTES } from './zstd-tables';

export { gunzip } from './gzip';
export { lz4DecodeFrame } from './lz4';
export { snappyDecode } from './snappy';
export { zstdDecode } from './zstd';

if (GZIP_SCRATCH_BYTES > <usize>DECOMPRESSION_BYTES || ZSTD_SCRATCH_BYTES > <usize>DECOMPRESSION_BYTES) {
  ERROR('DECOMPRESSION_BYTES is too small for the decompressors');
}
