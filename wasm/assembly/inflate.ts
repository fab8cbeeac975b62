// DEFLATE (RFC 1951), for the members of gzip streams. Codes are decoded by tables in the scratch
// (inflate-tables.ts); their entries hold what the symbol means, so that nothing is looked up twice.
import {
  BAD_BLOCK_TYPE,
  BAD_DISTANCE,
  BAD_SYMBOL,
  OUTPUT_LIMIT,
  SIZE_MISMATCH,
  TRUNCATED,
} from '../../src/record/compression/decompression-status';
import {
  DISTANCE_TABLE,
  fixedTables,
  INFLATE_CONSUMED,
  KIND_END,
  KIND_LITERAL,
  KIND_SUBTABLE,
  LITERAL_TABLE,
  loadUpTo,
  readTables,
} from './inflate-tables';
import { copyMatchExactly, WILD, wildCopyMatch } from './wild-copy';

/**
 * Inflates the blocks at [src, srcEnd) to [dst, dstEnd), up to the final one: the bytes written or a status. The bytes
 * read are left in the scratch's first word.
 */
export function inflate(src: usize, srcEnd: usize, dst: usize, dstEnd: usize, scratch: usize): i32 {
  let at: u64 = 0;
  const sourceBits = <u64>(srcEnd - src) << 3;
  let op = dst;
  for (;;) {
    const header = loadUpTo(src + <usize>(at >> 3), srcEnd) >> (at & 7);
    if (at + 3 > sourceBits) return TRUNCATED;
    const last = (header & 1) != 0;
    const kind = <u32>(header >> 1) & 3;
    at += 3;
    if (kind == 0) {
      const ip = src + <usize>((at + 7) >> 3);
      if (ip + 4 > srcEnd) return TRUNCATED;
      const size = <usize>load<u16>(ip);
      if (size != (<usize>load<u16>(ip, 2) ^ 0xffff)) return SIZE_MISMATCH;
      if (size > srcEnd - ip - 4) return TRUNCATED;
      if (size > dstEnd - op) return OUTPUT_LIMIT;
      memory.copy(op, ip + 4, size);
      op += size;
      at = <u64>(ip + 4 + size - src) << 3;
    } else {
      if (kind == 3) return BAD_BLOCK_TYPE;
      let tables = scratch;
      if (kind == 1) {
        tables = fixedTables(scratch);
      } else {
        const read = readTables(src, srcEnd, at, scratch);
        if (read < 0) return read;
        at += <u64>read;
      }
      store<u64>(tables, at, 8);
      const written = inflateBlock(src, srcEnd, dst, op, dstEnd, tables);
      if (written < 0) return written;
      op += <usize>written;
      at = load<u64>(tables, 8);
    }
    if (last) break;
  }
  store<u32>(scratch, <u32>((at + 7) >> 3), INFLATE_CONSUMED);
  return <i32>(op - dst);
}

/** The value of an entry with its extra bits, which stand in `bits` above its code's. */
// @ts-ignore: decorator
@inline
function valueOf(entry: u32, bits: u64): usize {
  const all = <u32>bits & ((<u32>1 << (entry & 0xff)) - 1);
  return (entry >> 16) + (all >> ((entry >> 8) & 31));
}

// @ts-ignore: decorator
@inline
function literalEntry(scratch: usize, bits: u64): u32 {
  return load<u32>(scratch + (<usize>(bits & 0x7ff) << 2), LITERAL_TABLE);
}

// @ts-ignore: decorator
@inline
function distanceEntry(scratch: usize, bits: u64): u32 {
  return load<u32>(scratch + (<usize>(bits & 0xff) << 2), DISTANCE_TABLE);
}

/** The entry in the subtable that `entry` leads to; `bits` without the main table's. */
// @ts-ignore: decorator
@inline
function subtableEntry(table: usize, entry: u32, bits: u64): u32 {
  const index = (entry >> 16) + (<u32>bits & ((<u32>1 << ((entry >> 8) & 31)) - 1));
  return load<u32>(table + (<usize>index << 2));
}

/** Bytes that the fast loop reads and writes at most between two looks at the ends. */
const FAST_SOURCE: usize = 32;
const FAST_TARGET: usize = 3 + 258 + WILD;

/**
 * Decodes a block's symbols from the bit that the scratch's second word pair names (and leaves the bit after them there):
 * the bytes written or a status. `start` is the member's first byte.
 *
 * `bits` holds what is loaded; its low `have` bits count, and those above them are bits of the same bytes, so that loading
 * these again changes nothing. A load leaves at least 56.
 */
function inflateBlock(src: usize, srcEnd: usize, start: usize, dst: usize, dstEnd: usize, scratch: usize): i32 {
  const begin = load<u64>(scratch, 8);
  let ip = src + <usize>(begin >> 3);
  let op = dst;
  let bits: u64 = 0;
  let have: u64 = 0;
  const fastSource = srcEnd - src > FAST_SOURCE ? srcEnd - FAST_SOURCE : src;
  const fastTarget = dstEnd - dst > FAST_TARGET ? dstEnd - FAST_TARGET : dst;

  if (ip < srcEnd) {
    bits = <u64>load<u8>(ip++) >> (begin & 7);
    have = 8 - (begin & 7);
  }
  // Bits past the source's end that were taken as zeros: more of them used than that means that the stream was cut.
  let over: u64 = 0;
  let entry: u32 = 0;
  for (;;) {
    if (ip < fastSource && op < fastTarget) {
      bits |= load<u64>(ip) << have;
      ip += <usize>((63 - have) >> 3);
      have |= 56;
      entry = literalEntry(scratch, bits);
      do {
        // Up to two literals of at most 11 bits leave 34 for a length; a third one ends the round.
        if ((entry & KIND_LITERAL) != 0) {
          bits >>= <u64>(entry & 0xff);
          have -= <u64>(entry & 0xff);
          store<u8>(op++, <u8>(entry >> 16));
          entry = literalEntry(scratch, bits);
          if ((entry & KIND_LITERAL) != 0) {
            bits >>= <u64>(entry & 0xff);
            have -= <u64>(entry & 0xff);
            store<u8>(op++, <u8>(entry >> 16));
            entry = literalEntry(scratch, bits);
            if ((entry & KIND_LITERAL) != 0) {
              bits >>= <u64>(entry & 0xff);
              have -= <u64>(entry & 0xff);
              store<u8>(op++, <u8>(entry >> 16));
              bits |= load<u64>(ip) << have;
              ip += <usize>((63 - have) >> 3);
              have |= 56;
              entry = literalEntry(scratch, bits);
              continue;
            }
          }
        }
        // Ends and subtables are left to the careful code below, which decodes the symbol again.
        if ((entry & (KIND_END | KIND_SUBTABLE)) != 0) break;
        const length = valueOf(entry, bits);
        bits >>= <u64>(entry & 0xff);
        have -= <u64>(entry & 0xff);
        bits |= load<u64>(ip) << have;
        ip += <usize>((63 - have) >> 3);
        have |= 56;
        entry = distanceEntry(scratch, bits);
        if ((entry & KIND_SUBTABLE) != 0) {
          if (entry >> 16 == 0) return BAD_SYMBOL;
          bits >>= <u64>(entry & 0xff);
          have -= <u64>(entry & 0xff);
          entry = subtableEntry(scratch + DISTANCE_TABLE, entry, bits);
          if ((entry & KIND_SUBTABLE) != 0) return BAD_SYMBOL;
        }
        const distance = valueOf(entry, bits);
        bits >>= <u64>(entry & 0xff);
        have -= <u64>(entry & 0xff);
        if (distance > op - start) return BAD_DISTANCE;
        // The next symbol's entry is on its way while the match is copied.
        bits |= load<u64>(ip) << have;
        ip += <usize>((63 - have) >> 3);
        have |= 56;
        entry = literalEntry(scratch, bits);
        wildCopyMatch(op, distance, op + length);
        op += length;
      } while (ip < fastSource && op < fastTarget);
    }
    while (have <= 55) {
      if (ip < srcEnd) bits |= <u64>load<u8>(ip++) << have;
      else over += 8;
      have += 8;
    }
    if (have < over) return TRUNCATED;
    entry = literalEntry(scratch, bits);
    if ((entry & KIND_SUBTABLE) != 0) {
      if (entry >> 16 == 0) return BAD_SYMBOL;
      bits >>= <u64>(entry & 0xff);
      have -= <u64>(entry & 0xff);
      entry = subtableEntry(scratch + LITERAL_TABLE, entry, bits);
      if ((entry & KIND_SUBTABLE) != 0) return BAD_SYMBOL;
    }
    const value = valueOf(entry, bits);
    bits >>= <u64>(entry & 0xff);
    have -= <u64>(entry & 0xff);
    if ((entry & KIND_LITERAL) != 0) {
      if (op >= dstEnd) return OUTPUT_LIMIT;
      store<u8>(op++, <u8>value);
      continue;
    }
    if ((entry & KIND_END) != 0) break;
    entry = distanceEntry(scratch, bits);
    if ((entry & KIND_SUBTABLE) != 0) {
      if (entry >> 16 == 0) return BAD_SYMBOL;
      bits >>= <u64>(entry & 0xff);
      have -= <u64>(entry & 0xff);
      entry = subtableEntry(scratch + DISTANCE_TABLE, entry, bits);
      if ((entry & KIND_SUBTABLE) != 0) return BAD_SYMBOL;
    }
    const distance = valueOf(entry, bits);
    bits >>= <u64>(entry & 0xff);
    have -= <u64>(entry & 0xff);
    if (distance > op - start) return BAD_DISTANCE;
    const room = dstEnd - op;
    if (value > room) return OUTPUT_LIMIT;
    if (room - value >= WILD) wildCopyMatch(op, distance, op + value);
    else copyMatchExactly(op, distance, op + value);
    op += value;
  }
  if (have < over) return TRUNCATED;
  store<u64>(scratch, (<u64>(ip - src) << 3) + over - have, 8);
  return <i32>(op - dst);
}
