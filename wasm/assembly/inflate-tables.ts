// The code tables of a DEFLATE block (RFC 1951, 3.2) and the scratch they lie in.
import { BAD_TABLE, TRUNCATED } from '../../src/record/compression/decompression-status';
import { DECOMPRESSION_BYTES } from '../../src/record/kernel-layout';

// An entry: all bits that the symbol takes in bits 0-7, those of its code alone in 8-12, a kind in 13-15, the value in
// 16-31: literal, base of the length or distance. In a subtable the main table's bits do not count any more.
export const KIND_LITERAL: u32 = 1 << 15;
export const KIND_END: u32 = 1 << 14;
/**
 * Leads to a subtable: the main table's bits in bits 0-7, its own in 8-12, its index above. With a value of 0 to nothing:
 * a code that nobody has.
 */
export const KIND_SUBTABLE: u32 = 1 << 13;

const LITERAL_TABLE_BITS: u32 = 11;
const DISTANCE_TABLE_BITS: u32 = 8;
const LONGEST_CODE: u32 = 15;
const CODE_LENGTH_TABLE_BITS: u32 = 7;

// Scratch layout: bytes from its start. Sizes of tables with subtables are those of libdeflate's enough(288, 11, 15) and
// enough(32, 8, 15), rounded up.
/** Bytes that the member's blocks took. */
export const INFLATE_CONSUMED: usize = 0;
const LENGTH_COUNTS: usize = 64;
const LENGTH_OFFSETS: usize = 128;
const CODE_LENGTHS: usize = 192;
const SORTED_SYMBOLS: usize = 512;
const CODE_LENGTH_TABLE: usize = 1152;
export const DISTANCE_TABLE: usize = 1664;
export const LITERAL_TABLE: usize = 3776;
export const INFLATE_SCRATCH_BYTES: usize = LITERAL_TABLE + 4 * 2400;
/**
 * A second such scratch, which no other decompressor touches: the tables of the fixed code stay there once they are built.
 * A block of that code can be ten bits long, so that building them for each would cost 4 s for a megabyte of blocks.
 */
export const FIXED_SCRATCH: usize = <usize>DECOMPRESSION_BYTES - INFLATE_SCRATCH_BYTES;
/** Says that they are built; memory begins as zeros. */
const FIXED_BUILT: usize = 16;

// Which alphabet a table is for.
const LITERALS: u32 = 0;
const DISTANCES: u32 = 1;
const CODE_LENGTH_CODES: u32 = 2;

/** The order in which code lengths of the code length alphabet come, five bits each. */
const ORDER_LOW: u64 =
  16 | (17 << 5) | (18 << 10) | (0 << 15) | (8 << 20) | (7 << 25) | (9 << 30) | (6 << 35) | (10 << 40) | (5 << 45) |
  (11 << 50) | (4 << 55);
const ORDER_HIGH: u64 = 12 | (3 << 5) | (13 << 10) | (2 << 15) | (14 << 20) | (1 << 25) | (15 << 30);

/** The entry of a symbol with a code of `length` bits. */
function entryOf(alphabet: u32, symbol: u32, length: u32): u32 {
  const fields = meaning(alphabet, symbol);
  return (fields & ~0x1fff) | (length << 8) | (length + ((fields >> 8) & 31));
}

/** Kind and value of a symbol's entry, and its extra bits in bits 8-12. */
function meaning(alphabet: u32, symbol: u32): u32 {
  if (alphabet == CODE_LENGTH_CODES) return symbol << 16;
  if (alphabet == DISTANCES) {
    if (symbol > 29) return KIND_SUBTABLE;
    if (symbol < 4) return (symbol + 1) << 16;
    const extra = (symbol >> 1) - 1;
    return ((((2 | (symbol & 1)) << extra) + 1) << 16) | (extra << 8);
  }
  if (symbol < 256) return KIND_LITERAL | (symbol << 16);
  if (symbol == 256) return KIND_END;
  if (symbol < 265) return (symbol - 254) << 16;
  if (symbol < 285) {
    const extra = (symbol - 261) >> 2;
    return ((((4 | ((symbol - 1) & 3)) << extra) + 3) << 16) | (extra << 8);
  }
  return symbol == 285 ? 258 << 16 : KIND_SUBTABLE;
}

/** Reverses the low `width` bits. */
// @ts-ignore: decorator
@inline
function reverseBits(value: u32, width: u32): u32 {
  value = ((value >> 1) & 0x5555) | ((value & 0x5555) << 1);
  value = ((value >> 2) & 0x3333) | ((value & 0x3333) << 2);
  value = ((value >> 4) & 0x0f0f) | ((value & 0x0f0f) << 4);
  value = ((value >> 8) & 0x00ff) | ((value & 0x00ff) << 8);
  return value >> (16 - width);
}

/**
 * Builds the table of a canonical code from `count` code lengths (u8) at `lengths`: 0 or BAD_TABLE. An incomplete code is
 * allowed only where RFC 1951 has it: one distance code, or none.
 */
function buildTable(table: usize, tableBits: u32, lengths: usize, count: u32, alphabet: u32, scratch: usize): i32 {
  const counts = scratch + LENGTH_COUNTS;
  const offsets = scratch + LENGTH_OFFSETS;
  memory.fill(counts, 0, 4 * (LONGEST_CODE + 1));
  for (let i: u32 = 0; i < count; i++) {
    const slot = counts + (<usize>load<u8>(lengths + i) << 2);
    store<u32>(slot, load<u32>(slot) + 1);
  }
  const used = count - load<u32>(counts);
  let space: i32 = 1;
  let offset: u32 = 0;
  for (let length: u32 = 1; length <= LONGEST_CODE; length++) {
    const ofLength = load<u32>(counts + (length << 2));
    space = (space << 1) - <i32>ofLength;
    if (space < 0) return BAD_TABLE;
    store<u32>(offsets + (length << 2), offset);
    offset += ofLength;
  }
  if (space > 0) {
    const oneBit = load<u32>(counts, 4);
    if (alphabet == CODE_LENGTH_CODES || used > 1 || used != oneBit) return BAD_TABLE;
    if (alphabet == LITERALS && used == 0) return BAD_TABLE;
    const bytes: usize = 4 << tableBits;
    for (let at: usize = 0; at < bytes; at += 4) store<u32>(table + at, KIND_SUBTABLE | 1);
  }
  const sorted = scratch + SORTED_SYMBOLS;
  for (let symbol: u32 = 0; symbol < count; symbol++) {
    const length = <usize>load<u8>(lengths + symbol);
    if (length == 0) continue;
    const slot = offsets + (length << 2);
    const at = load<u32>(slot);
    store<u16>(sorted + (at << 1), <u16>symbol);
    store<u32>(slot, at + 1);
  }
  fillTable(table, tableBits, sorted, counts, alphabet);
  return 0;
}

/** Gives every code its entries, in canonical order. */
function fillTable(table: usize, tableBits: u32, sorted: usize, counts: usize, alphabet: u32): void {
  let code: u32 = 0;
  let at = sorted;
  const mainSize = <u32>1 << tableBits;
  let subtable = mainSize;
  let subtableBits: u32 = 0;
  let prefix: u32 = 0xffffffff;
  for (let length: u32 = 1; length <= LONGEST_CODE; length++) {
    for (let left = load<u32>(counts + (length << 2)); left > 0; left--) {
      const symbol = <u32>load<u16>(at);
      at += 2;
      const reversed = reverseBits(code, length);
      if (length <= tableBits) {
        const entry = entryOf(alphabet, symbol, length);
        const step = <u32>1 << length;
        for (let i = reversed; i < mainSize; i += step) store<u32>(table + (i << 2), entry);
      } else {
        const low = reversed & (mainSize - 1);
        if (low != prefix) {
          // Codes with the same low bits are neighbours: a new prefix begins a new subtable, wide enough for its codes.
          if (prefix != 0xffffffff) subtable += <u32>1 << subtableBits;
          prefix = low;
          subtableBits = length - tableBits;
          let room = <i32>1 << subtableBits;
          let width = length;
          let ofLength = left;
          while (width < LONGEST_CODE && (room -= <i32>ofLength) > 0) {
            width++;
            room <<= 1;
            ofLength = load<u32>(counts + (width << 2));
          }
          subtableBits = width - tableBits;
          store<u32>(table + (low << 2), KIND_SUBTABLE | (subtable << 16) | (subtableBits << 8) | tableBits);
        }
        const bits = length - tableBits;
        const entry = entryOf(alphabet, symbol, bits);
        const step = <u32>1 << bits;
        const size = <u32>1 << subtableBits;
        for (let i = reversed >> tableBits; i < size; i += step) store<u32>(table + ((subtable + i) << 2), entry);
      }
      code++;
    }
    code <<= 1;
  }
}

/** Up to 8 bytes from `at`, zeros past the end. */
// @ts-ignore: decorator
@inline
export function loadUpTo(at: usize, end: usize): u64 {
  if (at + 8 <= end) return load<u64>(at);
  let word: u64 = 0;
  for (let shift: u64 = 0; at < end; shift += 8) word |= <u64>load<u8>(at++) << shift;
  return word;
}

/** The scratch with the tables of the fixed code. */
export function fixedTables(scratch: usize): usize {
  const fixed = scratch + FIXED_SCRATCH;
  if (load<u32>(fixed, FIXED_BUILT) != 0) return fixed;
  const lengths = fixed + CODE_LENGTHS;
  memory.fill(lengths, 8, 144);
  memory.fill(lengths + 144, 9, 112);
  memory.fill(lengths + 256, 7, 24);
  memory.fill(lengths + 280, 8, 8);
  buildTable(fixed + LITERAL_TABLE, LITERAL_TABLE_BITS, lengths, 288, LITERALS, fixed);
  memory.fill(lengths, 5, 32);
  buildTable(fixed + DISTANCE_TABLE, DISTANCE_TABLE_BITS, lengths, 32, DISTANCES, fixed);
  store<u32>(fixed, 1, FIXED_BUILT);
  return fixed;
}

/** Reads the tables of a dynamic block that begin at bit `at`: bits taken or a status. */
export function readTables(src: usize, srcEnd: usize, at: u64, scratch: usize): i32 {
  const begin = at;
  const sourceBits = <u64>(srcEnd - src) << 3;
  let bits = loadUpTo(src + <usize>(at >> 3), srcEnd) >> (at & 7);
  const literals = (<u32>bits & 31) + 257;
  const distances = (<u32>(bits >> 5) & 31) + 1;
  const codeLengths = (<u32>(bits >> 10) & 15) + 4;
  at += 14;
  if (literals > 286 || distances > 30) return BAD_TABLE;
  const lengths = scratch + CODE_LENGTHS;
  memory.fill(lengths, 0, 19);
  bits = loadUpTo(src + <usize>(at >> 3), srcEnd) >> (at & 7);
  for (let i: u32 = 0; i < codeLengths; i++) {
    const symbol = <usize>((i < 12 ? ORDER_LOW >> (i * 5) : ORDER_HIGH >> ((i - 12) * 5)) & 31);
    store<u8>(lengths + symbol, <u8>(bits & 7));
    bits >>= 3;
  }
  at += codeLengths * 3;
  if (at > sourceBits) return TRUNCATED;
  const table = scratch + CODE_LENGTH_TABLE;
  const built = buildTable(table, CODE_LENGTH_TABLE_BITS, lengths, 19, CODE_LENGTH_CODES, scratch);
  if (built < 0) return built;

  const total = literals + distances;
  let previous: u32 = 0;
  for (let i: u32 = 0; i < total; ) {
    if (at > sourceBits) return TRUNCATED;
    bits = loadUpTo(src + <usize>(at >> 3), srcEnd) >> (at & 7);
    const entry = load<u32>(table + (<usize>(bits & 127) << 2));
    const width = entry & 0xff;
    const symbol = entry >> 16;
    bits >>= <u64>width;
    at += width;
    if (symbol < 16) {
      store<u8>(lengths + i++, <u8>symbol);
      previous = symbol;
      continue;
    }
    let repeat: u32;
    if (symbol == 16) {
      if (i == 0) return BAD_TABLE;
      repeat = 3 + (<u32>bits & 3);
      at += 2;
    } else {
      previous = 0;
      repeat = symbol == 17 ? 3 + (<u32>bits & 7) : 11 + (<u32>bits & 127);
      at += symbol == 17 ? 3 : 7;
    }
    if (repeat > total - i) return BAD_TABLE;
    memory.fill(lengths + i, <u8>previous, repeat);
    i += repeat;
  }
  if (at > sourceBits) return TRUNCATED;
  if (load<u8>(lengths + 256) == 0) return BAD_TABLE;
  const distanceTable = scratch + DISTANCE_TABLE;
  const second = buildTable(distanceTable, DISTANCE_TABLE_BITS, lengths + literals, distances, DISTANCES, scratch);
  if (second < 0) return second;
  const first = buildTable(scratch + LITERAL_TABLE, LITERAL_TABLE_BITS, lengths, literals, LITERALS, scratch);
  return first < 0 ? first : <i32>(at - begin);
}
