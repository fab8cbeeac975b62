// gzip streams (RFC 1952): members one after the other, their CRC-32 and size verified. As in Kafka's own reader, bytes
// after a member that are not a sound header of another one are ignored.
import {
  BAD_CONTENT_CHECKSUM,
  BAD_HEADER,
  BAD_HEADER_CHECKSUM,
  BAD_MAGIC,
  SIZE_MISMATCH,
  TRUNCATED,
} from '../../src/record/compression/decompression-status';
import { CRC32_WORK_BYTES, crc32 } from './crc32';
import { inflate } from './inflate';
import { INFLATE_CONSUMED, INFLATE_SCRATCH_BYTES } from './inflate-tables';

const MAGIC: u16 = 0x8b1f;
const DEFLATE: u8 = 8;
const FLAG_HEADER_CRC: u32 = 2;
const FLAG_EXTRA: u32 = 4;
const FLAG_NAME: u32 = 8;
const FLAG_COMMENT: u32 = 16;
const FLAGS_RESERVED: u32 = 0xe0;

const CRC32_WORK: usize = (INFLATE_SCRATCH_BYTES + 15) & ~15;
export const GZIP_SCRATCH_BYTES: usize = CRC32_WORK + CRC32_WORK_BYTES;

/** Decodes all members of [src, srcEnd) to [dst, dstEnd): the bytes written or a status. */
export function gunzip(src: usize, srcEnd: usize, dst: usize, dstEnd: usize, scratch: usize): i32 {
  let ip = src;
  let op = dst;
  while (true) {
    const header = headerBytes(ip, srcEnd, scratch);
    if (header < 0) return ip == src ? header : <i32>(op - dst);
    ip += <usize>header;
    const written = inflate(ip, srcEnd, op, dstEnd, scratch);
    if (written < 0) return written;
    ip += <usize>load<u32>(scratch, INFLATE_CONSUMED);
    if (srcEnd - ip < 8) return TRUNCATED;
    const begin = op;
    op += <usize>written;
    if (crc32(begin, op, scratch + CRC32_WORK) != load<u32>(ip)) return BAD_CONTENT_CHECKSUM;
    if (load<u32>(ip, 4) != <u32>written) return SIZE_MISMATCH;
    ip += 8;
  }
}

/** Length of a member's header, or a status. */
function headerBytes(src: usize, srcEnd: usize, scratch: usize): i32 {
  if (srcEnd - src < 10) return TRUNCATED;
  if (load<u16>(src) != MAGIC) return BAD_MAGIC;
  const flags = <u32>load<u8>(src, 3);
  if (load<u8>(src, 2) != DEFLATE || (flags & FLAGS_RESERVED) != 0) return BAD_HEADER;
  let ip = src + 10;
  if ((flags & FLAG_EXTRA) != 0) {
    if (srcEnd - ip < 2) return TRUNCATED;
    const size = <usize>load<u16>(ip);
    if (size > srcEnd - ip - 2) return TRUNCATED;
    ip += 2 + size;
  }
  if ((flags & FLAG_NAME) != 0) ip = afterZero(ip, srcEnd);
  if ((flags & FLAG_COMMENT) != 0) ip = afterZero(ip, srcEnd);
  if (ip > srcEnd) return TRUNCATED;
  if ((flags & FLAG_HEADER_CRC) != 0) {
    if (srcEnd - ip < 2) return TRUNCATED;
    if (<u16>crc32(src, ip, scratch + CRC32_WORK) != load<u16>(ip)) return BAD_HEADER_CHECKSUM;
    ip += 2;
  }
  return <i32>(ip - src);
}

/** Behind the next zero byte; beyond `end` when there is none. */
function afterZero(at: usize, end: usize): usize {
  while (at < end) if (load<u8>(at++) == 0) return at;
  return end + 1;
}
