/**
 * CRC-32C for what a segment adds to its batches: headers and footer, a few bytes each. A kernel instance with a small
 * memory of its own, since these bytes lie in ordinary arrays. Main thread; nothing to close.
 */
import { createKernelMemory, kernelModule, RecordKernel } from '../record/record-kernel.ts';
import type { Crc32c } from './segment-format.ts';

const SCRATCH_BYTES = 64 * 1024;

export function segmentChecksums(): Crc32c {
  const memory = createKernelMemory({ regions: 1, contentBytes: 0, slabsBytes: SCRATCH_BYTES });
  const kernel = new RecordKernel(kernelModule(), memory, 0);
  return {
    crc32c(bytes) {
      let crc = 0;
      for (let at = 0; at < bytes.length; at += SCRATCH_BYTES) {
        const chunk = bytes.subarray(at, at + SCRATCH_BYTES);
        kernel.bytes.set(chunk, memory.slabsAddress);
        crc = kernel.crc32c(memory.slabsAddress, chunk.length, crc);
      }
      return crc;
    },
    crc32cCombine: (a, b, lengthOfB) => kernel.crc32cCombine(a, b, lengthOfB),
  };
}
