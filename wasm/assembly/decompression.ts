// The decompressors as the kernel exports them. Each reads [src, srcEnd), writes nothing outside [dst, dstEnd), and
// returns the bytes written or a status of src/record/compression/decompression-status.ts. `scratch` is the region's
// DECOMPRESSION.
import { GZIP_SCRATCH_BYTES } from './gzip';
import { FIXED_SCRATCH } from './inflate-tables';
import { ZSTD_SCRATCH_BYTES } from './zstd-tables';

export { gunzip } from './gzip';
export { lz4DecodeFrame } from './lz4';
export { snappyDecode } from './snappy';
export { zstdDecode } from './zstd';

if (GZIP_SCRATCH_BYTES > FIXED_SCRATCH || ZSTD_SCRATCH_BYTES > FIXED_SCRATCH) {
  ERROR('DECOMPRESSION_BYTES is too small for the decompressors');
}
