// CRC-32C (Castagnoli) of a range of memory.
import { REGIONS } from '../../src/record/kernel-layout';
import { foldCrc } from './crc-fold';
import { shiftBytes } from './polynomial';

/** CRC-32C of n bytes at p, continued from `crc`, the CRC-32C of what comes before (0 for nothing). */
export function crc32c(region: usize, p: usize, n: usize, crc: u32): u32 {
  assert(region >= <usize>REGIONS && p >= <usize>REGIONS, 'a range lies in a region or a slab');
  return ~foldCrc(region, ~crc, p, n);
}

/** CRC-32C of two runs one after the other, from theirs and the second one's length. */
export function crc32cCombine(first: u32, second: u32, secondBytes: u32): u32 {
  return shiftBytes(first, secondBytes) ^ second;
}
