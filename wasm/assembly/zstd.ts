// zstd frames (RFC 8878): frame headers, blocks and limits. Entropy tables are in zstd-tables.ts, literals in
// zstd-literals.ts, sequences in zstd-sequences.ts.
//
// The destination is the history, so a frame's window takes no memory; it is limited all the same, because a Kafka client
// that reads the batch would have to provide it.
import {
  BAD_BLOCK_TYPE,
  BAD_CONTENT_CHECKSUM,
  BAD_HEADER,
  BAD_MAGIC,
  BLOCK_TOO_LARGE,
  NEEDS_DICTIONARY,
  OUTPUT_LIMIT,
  SIZE_MISMATCH,
  TRUNCATED,
  WINDOW_TOO_LARGE,
} from '../../src/record/compression/decompression-status';
import { xxhash64 } from './xxhash64';
import { zstdDecodeLiterals } from './zstd-literals';
import { zstdDecodeSequences } from './zstd-sequences';
import {
  FRAME_WRITTEN,
  LITERALS_SOURCE,
  LITERALS_SOURCE_END,
  prepareSymbolTables,
  startFrameTables,
} from './zstd-tables';

const MAGIC: u32 = 0xfd2fb528;
const SKIPPABLE_MAGIC: u32 = 0x184d2a50;
/** No block is larger, compressed or plain. */
const LARGEST_BLOCK: u64 = 131072;

/**
 * Decodes all frames of [src, srcEnd) to [dst, dstEnd): the bytes written or a status. `windowLimit` in bytes; `scratch`
 * as zstd-tables.ts lays it out.
 */
export function zstdDecode(
  src: usize,
  srcEnd: usize,
  dst: usize,
  dstEnd: usize,
  scratch: usize,
  windowLimit: u32,
): i32 {
  prepareSymbolTables(scratch);
  let ip = src;
  let op = dst;
  do {
    if (srcEnd - ip < 4) return TRUNCATED;
    const magic = load<u32>(ip);
    if ((magic & 0xfffffff0) == SKIPPABLE_MAGIC) {
      if (srcEnd - ip < 8) return TRUNCATED;
      const size = <usize>load<u32>(ip, 4);
      if (size > srcEnd - ip - 8) return TRUNCATED;
      ip += 8 + size;
    } else {
      if (magic != MAGIC) return BAD_MAGIC;
      const consumed = decodeFrame(ip + 4, srcEnd, op, dstEnd, scratch, windowLimit);
      if (consumed < 0) return consumed;
      ip += 4 + <usize>consumed;
      op += <usize>load<u32>(scratch, FRAME_WRITTEN);
    }
  } while (ip < srcEnd);
  return <i32>(op - dst);
}

/**
 * Decodes one frame behind its magic. Returns the bytes read, or a status; the bytes written are left in the first word
 * of the scratch.
 */
function decodeFrame(src: usize, srcEnd: usize, dst: usize, dstEnd: usize, scratch: usize, windowLimit: u32): i32 {
  if (src >= srcEnd) return TRUNCATED;
  const descriptor = <u32>load<u8>(src);
  if ((descriptor & 8) != 0) return BAD_HEADER;
  const singleSegment = (descriptor & 32) != 0;
  const sizeFlag = descriptor >> 6;
  const dictionaryBytes: usize = (1 << (descriptor & 3)) >> 1;
  const sizeBytes: usize = sizeFlag == 0 ? (singleSegment ? 1 : 0) : 1 << sizeFlag;
  const windowBytes: usize = singleSegment ? 0 : 1;
  let ip = src + 1;
  if (srcEnd - ip < windowBytes + dictionaryBytes + sizeBytes) return TRUNCATED;

  let window: u64 = 0;
  if (!singleSegment) {
    const exponent = <u64>load<u8>(ip) >> 3;
    const base: u64 = <u64>1 << (10 + exponent);
    window = base + (base >> 3) * (<u64>load<u8>(ip) & 7);
  }
  ip += windowBytes;
  for (let i: usize = 0; i < dictionaryBytes; i++) if (load<u8>(ip + i) != 0) return NEEDS_DICTIONARY;
  ip += dictionaryBytes;
  let contentSize: u64 = 0;
  if (sizeBytes == 1) contentSize = <u64>load<u8>(ip);
  else if (sizeBytes == 2) contentSize = <u64>load<u16>(ip) + 256;
  else if (sizeBytes == 4) contentSize = <u64>load<u32>(ip);
  else if (sizeBytes == 8) contentSize = load<u64>(ip);
  ip += sizeBytes;
  if (singleSegment) window = contentSize;
  if (window > <u64>windowLimit) return WINDOW_TOO_LARGE;
  if (sizeBytes != 0 && contentSize > <u64>(dstEnd - dst)) return OUTPUT_LIMIT;

  startFrameTables(scratch);
  const blockLimit = <usize>min<u64>(window, LARGEST_BLOCK);
  let op = dst;
  let last = false;
  do {
    if (srcEnd - ip < 3) return TRUNCATED;
    const header = <u32>load<u16>(ip) | (<u32>load<u8>(ip, 2) << 16);
    ip += 3;
    last = (header & 1) != 0;
    const kind = (header >> 1) & 3;
    const size = <usize>(header >> 3);
    if (size > blockLimit) return BLOCK_TOO_LARGE;
    if (kind == 3) return BAD_BLOCK_TYPE;
    const stored: usize = kind == 1 ? 1 : size;
    if (stored > srcEnd - ip) return TRUNCATED;
    if (kind == 2) {
      const written = decodeBlock(ip, ip + size, dst, op, dstEnd, blockLimit, scratch);
      if (written < 0) return written;
      op += <usize>written;
    } else {
      if (size > dstEnd - op) return OUTPUT_LIMIT;
      if (kind == 0) memory.copy(op, ip, size);
      else memory.fill(op, load<u8>(ip), size);
      op += size;
    }
    ip += stored;
  } while (!last);

  if (sizeBytes != 0 && <u64>(op - dst) != contentSize) return SIZE_MISMATCH;
  if ((descriptor & 4) != 0) {
    if (srcEnd - ip < 4) return TRUNCATED;
    if (<u32>xxhash64(dst, op) != load<u32>(ip)) return BAD_CONTENT_CHECKSUM;
    ip += 4;
  }
  store<u32>(scratch, <u32>(op - dst), FRAME_WRITTEN);
  return <i32>(ip - src);
}

/** A compressed block: literals, then the sequences that put them among matches. `start` is the frame's first byte. */
function decodeBlock(
  src: usize,
  srcEnd: usize,
  start: usize,
  dst: usize,
  dstEnd: usize,
  blockLimit: usize,
  scratch: usize,
): i32 {
  const consumed = zstdDecodeLiterals(src, srcEnd, blockLimit, scratch);
  if (consumed < 0) return consumed;
  const narrowed = dstEnd - dst > blockLimit;
  const written = zstdDecodeSequences(
    src + <usize>consumed,
    srcEnd,
    <usize>load<u32>(scratch, LITERALS_SOURCE),
    <usize>load<u32>(scratch, LITERALS_SOURCE_END),
    start,
    dst,
    narrowed ? dst + blockLimit : dstEnd,
    dstEnd,
    scratch,
  );
  return written == OUTPUT_LIMIT && narrowed ? BLOCK_TOO_LARGE : written;
}
