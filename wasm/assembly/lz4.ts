// LZ4 as Kafka frames it: independent blocks only, header and block checksums verified, content checksum unread but there,
// bytes after it ignored (as in Kafka's own reader). The plain bytes of a block are its only history.
import {
  BAD_BLOCK_CHECKSUM,
  BAD_DISTANCE,
  BAD_HEADER,
  BAD_HEADER_CHECKSUM,
  BAD_MAGIC,
  BLOCK_TOO_LARGE,
  EMPTY_BLOCK,
  LINKED_BLOCKS,
  NEEDS_DICTIONARY,
  OUTPUT_LIMIT,
  TRUNCATED,
} from '../../src/record/compression/decompression-status';
import { copyMatchExactly, WILD, wildCopyLiterals, wildCopyMatch } from './wild-copy';
import { xxhash32 } from './xxhash32';

const MAGIC: u32 = 0x184d2204;
const SMALLEST_MATCH: usize = 4;
/** Block header bit: the block is stored, not compressed. */
const STORED: u32 = 0x80000000;

// Frame descriptor flags (FLG).
const FLG_DICTIONARY: u32 = 0x01;
const FLG_RESERVED: u32 = 0x02;
const FLG_CONTENT_CHECKSUM: u32 = 0x04;
const FLG_CONTENT_SIZE: u32 = 0x08;
const FLG_BLOCK_CHECKSUM: u32 = 0x10;
const FLG_INDEPENDENT: u32 = 0x20;

/** A length nibble that goes on in further bytes. A block's 4 MiB of them stay below 2^32 in sum. */
const LONG_LENGTH: usize = 15;

/**
 * Decodes one block from [src, srcEnd) to [dst, dstEnd). Returns the bytes written or a status; OUTPUT_LIMIT when they
 * do not fit. Writes nothing outside the destination.
 */
export function lz4DecodeBlock(src: usize, srcEnd: usize, dst: usize, dstEnd: usize): i32 {
  let ip = src;
  let op = dst;
  while (ip < srcEnd) {
    const token = <usize>load<u8>(ip++);
    let literals = token >> 4;
    let match = token & 15;
    if (literals < LONG_LENGTH && ip + WILD <= srcEnd && op + 64 <= dstEnd) {
      // Nearly every sequence: at most 14 literals, so one vector holds them.
      v128.store(op, v128.load(ip));
      op += literals;
      ip += literals;
    } else {
      if (literals == LONG_LENGTH) {
        let more: usize;
        do {
          if (ip >= srcEnd) return TRUNCATED;
          more = <usize>load<u8>(ip++);
          literals += more;
        } while (more == 255);
      }
      if (literals > srcEnd - ip) return TRUNCATED;
      if (literals > dstEnd - op) return OUTPUT_LIMIT;
      if (srcEnd - ip - literals >= WILD && dstEnd - op - literals >= WILD) wildCopyLiterals(op, ip, op + literals);
      else memory.copy(op, ip, literals);
      op += literals;
      ip += literals;
      if (ip == srcEnd) break;
    }
    if (srcEnd - ip < 2) return TRUNCATED;
    const distance = <usize>load<u16>(ip);
    ip += 2;
    if (distance - 1 >= op - dst) return BAD_DISTANCE;
    if (match == LONG_LENGTH) {
      let more: usize;
      do {
        if (ip >= srcEnd) return TRUNCATED;
        more = <usize>load<u8>(ip++);
        match += more;
      } while (more == 255);
    }
    match += SMALLEST_MATCH;
    const room = dstEnd - op;
    if (match > room) return OUTPUT_LIMIT;
    if (room - match >= WILD) wildCopyMatch(op, distance, op + match);
    else copyMatchExactly(op, distance, op + match);
    op += match;
  }
  return <i32>(op - dst);
}

/** Length of the frame's header, or a status. */
function headerBytes(src: usize, srcEnd: usize): i32 {
  if (srcEnd - src < 7) return TRUNCATED;
  if (load<u32>(src) != MAGIC) return BAD_MAGIC;
  const flags = <u32>load<u8>(src, 4);
  const descriptor = <u32>load<u8>(src, 5);
  if (flags >> 6 != 1 || (flags & FLG_RESERVED) != 0 || (descriptor & 0x8f) != 0) return BAD_HEADER;
  if (descriptor >> 4 < 4) return BAD_HEADER;
  const length: usize = (flags & FLG_CONTENT_SIZE) != 0 ? 15 : 7;
  if ((flags & FLG_DICTIONARY) != 0) return NEEDS_DICTIONARY;
  if (srcEnd - src < length) return TRUNCATED;
  const checksum = (xxhash32(src + 4, src + length - 1, 0) >> 8) & 0xff;
  if (checksum != <u32>load<u8>(src + length - 1)) return BAD_HEADER_CHECKSUM;
  if ((flags & FLG_INDEPENDENT) == 0) return LINKED_BLOCKS;
  return <i32>length;
}

/** Decodes a whole frame from [src, srcEnd) to [dst, dstEnd): the bytes written or a status. */
export function lz4DecodeFrame(src: usize, srcEnd: usize, dst: usize, dstEnd: usize): i32 {
  const header = headerBytes(src, srcEnd);
  if (header < 0) return header;
  const flags = <u32>load<u8>(src, 4);
  const hasChecksums = (flags & FLG_BLOCK_CHECKSUM) != 0;
  const trailerBytes: usize = (flags & FLG_CONTENT_CHECKSUM) != 0 ? 4 : 0;
  const blockLimit: usize = 1 << (8 + 2 * (<usize>load<u8>(src, 5) >> 4));
  let ip = src + <usize>header;
  let op = dst;
  while (true) {
    if (srcEnd - ip < 4) return TRUNCATED;
    const word = load<u32>(ip);
    ip += 4;
    const size = <usize>(word & ~STORED);
    // A stored block of no bytes is an end mark as well, to Kafka's reader.
    if (size == 0) return srcEnd - ip < trailerBytes ? TRUNCATED : <i32>(op - dst);
    if (size > blockLimit) return BLOCK_TOO_LARGE;
    const checksumBytes: usize = hasChecksums ? 4 : 0;
    if (size + checksumBytes > srcEnd - ip) return TRUNCATED;
    const blockEnd = ip + size;
    if (hasChecksums && xxhash32(ip, blockEnd, 0) != load<u32>(blockEnd)) return BAD_BLOCK_CHECKSUM;
    if ((word & STORED) != 0) {
      if (size > dstEnd - op) return OUTPUT_LIMIT;
      memory.copy(op, ip, size);
      op += size;
    } else {
      const narrowed = dstEnd - op > blockLimit;
      const written = lz4DecodeBlock(ip, blockEnd, op, narrowed ? op + blockLimit : dstEnd);
      if (written < 0) return written == OUTPUT_LIMIT && narrowed ? BLOCK_TOO_LARGE : written;
      // Kafka's reader takes a read of nothing for the end, and loses what follows.
      if (written == 0) return EMPTY_BLOCK;
      op += <usize>written;
    }
    ip = blockEnd + checksumBytes;
  }
}
