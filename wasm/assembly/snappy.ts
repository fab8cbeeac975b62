// Snappy as Kafka frames it: xerial's stream (a 16-byte header, then chunks of a big-endian length and a raw block; the
// header may come again between chunks), or one raw block without any frame.
import { BAD_DISTANCE, BAD_HEADER, OUTPUT_LIMIT, SIZE_MISMATCH, TRUNCATED } from '../../src/record/compression/decompression-status';
import { copyMatchExactly, WILD, wildCopyLiterals, wildCopyMatch } from './wild-copy';

/** The bytes 82 'SNAPPY' 00, little-endian. */
const MAGIC: u64 = 0x00595050414e5382;
const HEADER_BYTES: usize = 16;
/** The oldest stream format, in the header's first number. */
const OLDEST_VERSION: i32 = 1;

/**
 * Decodes one raw block to [dst, dstEnd): the bytes written or a status. The length the block claims is checked before
 * anything is written, and must come out exactly.
 */
export function snappyDecodeBlock(src: usize, srcEnd: usize, dst: usize, dstEnd: usize): i32 {
  let ip = src;
  let claimed: u64 = 0;
  let shift: u64 = 0;
  for (;;) {
    if (ip >= srcEnd) return TRUNCATED;
    const byte = <u64>load<u8>(ip++);
    claimed |= (byte & 0x7f) << shift;
    if (byte < 0x80) break;
    shift += 7;
    if (shift > 28) return BAD_HEADER;
  }
  // No element gives more than 64 bytes for 3: a claim beyond that is false, not merely large.
  if (claimed * 3 > <u64>(srcEnd - ip) * 64) return SIZE_MISMATCH;
  if (claimed > <u64>(dstEnd - dst)) return OUTPUT_LIMIT;
  return decodeElements(ip, srcEnd, dst, dst + <usize>claimed, dstEnd);
}

/** The block's elements: literals and copies, until `end`. Wild copies may reach into [end, dstEnd). */
function decodeElements(src: usize, srcEnd: usize, dst: usize, end: usize, dstEnd: usize): i32 {
  let ip = src;
  let op = dst;
  while (ip < srcEnd) {
    const tag = <usize>load<u8>(ip++);
    let length: usize;
    let distance: usize;
    const kind = tag & 3;
    if (kind == 0) {
      length = (tag >> 2) + 1;
      if (length <= 16 && srcEnd - ip >= 16 && dstEnd - op >= 16) {
        if (length > end - op) return SIZE_MISMATCH;
        v128.store(op, v128.load(ip));
      } else {
        if (length > 60) {
          const bytes = length - 60;
          if (srcEnd - ip < bytes) return TRUNCATED;
          length = 0;
          for (let i: usize = 0; i < bytes; i++) length |= <usize>load<u8>(ip + i) << (i << 3);
          ip += bytes;
          // 2^32 wraps to nothing: no block is that long.
          if (++length == 0) return SIZE_MISMATCH;
        }
        if (length > srcEnd - ip) return TRUNCATED;
        if (length > end - op) return SIZE_MISMATCH;
        if (srcEnd - ip - length >= WILD && dstEnd - op - length >= WILD) wildCopyLiterals(op, ip, op + length);
        else memory.copy(op, ip, length);
      }
      ip += length;
      op += length;
      continue;
    }
    if (kind == 2) {
      if (srcEnd - ip < 2) return TRUNCATED;
      length = (tag >> 2) + 1;
      distance = <usize>load<u16>(ip);
      ip += 2;
    } else if (kind == 1) {
      if (ip >= srcEnd) return TRUNCATED;
      length = ((tag >> 2) & 7) + 4;
      distance = ((tag >> 5) << 8) | <usize>load<u8>(ip++);
    } else {
      if (srcEnd - ip < 4) return TRUNCATED;
      length = (tag >> 2) + 1;
      distance = <usize>load<u32>(ip);
      ip += 4;
    }
    if (distance - 1 >= op - dst) return BAD_DISTANCE;
    if (length > end - op) return SIZE_MISMATCH;
    if (dstEnd - op >= length + WILD) wildCopyMatch(op, distance, op + length);
    else copyMatchExactly(op, distance, op + length);
    op += length;
  }
  return op == end ? <i32>(op - dst) : SIZE_MISMATCH;
}

/** Decodes a payload with either framing from [src, srcEnd) to [dst, dstEnd): the bytes written or a status. */
export function snappyDecode(src: usize, srcEnd: usize, dst: usize, dstEnd: usize): i32 {
  if (srcEnd - src < HEADER_BYTES || load<u64>(src) != MAGIC) return snappyDecodeBlock(src, srcEnd, dst, dstEnd);
  let ip = src;
  let op = dst;
  while (ip < srcEnd) {
    if (srcEnd - ip >= HEADER_BYTES && load<u64>(ip) == MAGIC) {
      if (bswap<i32>(load<i32>(ip, 8)) < OLDEST_VERSION) return BAD_HEADER;
      ip += HEADER_BYTES;
      continue;
    }
    if (srcEnd - ip < 4) return TRUNCATED;
    const size = <usize>bswap<u32>(load<u32>(ip));
    ip += 4;
    if (size > srcEnd - ip) return TRUNCATED;
    const written = snappyDecodeBlock(ip, ip + size, op, dstEnd);
    if (written < 0) return written;
    ip += size;
    op += <usize>written;
  }
  return <i32>(op - dst);
}
