// Table steps of the CRC: one byte, eight bytes, sixteen bytes at a time. Raw values: neither end is inverted.
import { SLICING } from '../../src/record/kernel-layout';

// @ts-ignore: decorator
@inline
export function step(crc: u32, byte: u32): u32 {
  return (crc >> 8) ^ load<u32>(((crc ^ byte) & 0xff) << 2, SLICING);
}

// The four bytes of a little-endian word, moved over 12, 8, 4 and 0 bytes that follow it. Offsets of loads must be
// constants, hence one function for each.

// @ts-ignore: decorator
@inline
function wordBeforeTwelve(word: u32): u32 {
  return (
    load<u32>((word & 0xff) << 2, SLICING + 15360) ^
    load<u32>(((word >> 8) & 0xff) << 2, SLICING + 14336) ^
    load<u32>(((word >> 16) & 0xff) << 2, SLICING + 13312) ^
    load<u32>((word >> 24) << 2, SLICING + 12288)
  );
}

// @ts-ignore: decorator
@inline
function wordBeforeEight(word: u32): u32 {
  return (
    load<u32>((word & 0xff) << 2, SLICING + 11264) ^
    load<u32>(((word >> 8) & 0xff) << 2, SLICING + 10240) ^
    load<u32>(((word >> 16) & 0xff) << 2, SLICING + 9216) ^
    load<u32>((word >> 24) << 2, SLICING + 8192)
  );
}

// @ts-ignore: decorator
@inline
function wordBeforeFour(word: u32): u32 {
  return (
    load<u32>((word & 0xff) << 2, SLICING + 7168) ^
    load<u32>(((word >> 8) & 0xff) << 2, SLICING + 6144) ^
    load<u32>(((word >> 16) & 0xff) << 2, SLICING + 5120) ^
    load<u32>((word >> 24) << 2, SLICING + 4096)
  );
}

// @ts-ignore: decorator
@inline
export function lastWord(word: u32): u32 {
  return (
    load<u32>((word & 0xff) << 2, SLICING + 3072) ^
    load<u32>(((word >> 8) & 0xff) << 2, SLICING + 2048) ^
    load<u32>(((word >> 16) & 0xff) << 2, SLICING + 1024) ^
    load<u32>((word >> 24) << 2, SLICING)
  );
}

/** Over the eight bytes of `bytes`, lowest first. */
// @ts-ignore: decorator
@inline
export function stepEight(crc: u32, bytes: u64): u32 {
  return wordBeforeFour(<u32>bytes ^ crc) ^ lastWord(<u32>(bytes >> 32));
}

/** Over the sixteen bytes at p. */
// @ts-ignore: decorator
@inline
export function stepSixteen(crc: u32, p: usize): u32 {
  return (
    wordBeforeTwelve(load<u32>(p) ^ crc) ^
    wordBeforeEight(load<u32>(p, 4)) ^
    wordBeforeFour(load<u32>(p, 8)) ^
    lastWord(load<u32>(p, 12))
  );
}

/** Over n bytes at p: slicing-by-16. */
export function stepBytes(crc: u32, p: usize, n: usize): u32 {
  const end = p + n;
  const end16 = p + (n & ~15);
  while (p < end16) {
    crc = stepSixteen(crc, p);
    p += 16;
  }
  if (n & 8) {
    crc = stepEight(crc, load<u64>(p));
    p += 8;
  }
  while (p < end) crc = step(crc, load<u8>(p++));
  return crc;
}
