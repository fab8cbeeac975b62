// The scratch of the zstd decoder and its FSE tables.
//
// A sequence table's entry (8 bytes): base of the next state u16, in bytes of the table; state bits u8, extra bits u8,
// base value u32. A weights table's entry: base of the next state u16, in entries; state bits u8, symbol u8; 4 unused.
import { BAD_TABLE, TRUNCATED } from '../../src/record/compression/decompression-status';

// Scratch layout, in bytes from its start. The first 64 bytes are words:
/** Plain bytes of the frame that ended last. */
export const FRAME_WRITTEN: usize = 0;
/** Where the block's literals lie, and end. */
export const LITERALS_SOURCE: usize = 4;
export const LITERALS_SOURCE_END: usize = 8;
/** Accuracy logs of the tables in force, 0xff for none: the repeat mode uses them. */
export const LITERAL_LENGTHS_LOG: usize = 12;
export const OFFSETS_LOG: usize = 16;
export const MATCH_LENGTHS_LOG: usize = 20;
/** 1 once the frame has had a Huffman table. */
export const HAS_HUFFMAN: usize = 24;
/** Bytes that the last table description took. */
export const TABLE_BYTES: usize = 28;
/** The three repeated offsets. */
export const REPEATED_OFFSETS: usize = 32;
/** Accuracy log of the last description, and its largest symbol. */
export const TABLE_LOG: usize = 44;
export const TABLE_SYMBOLS: usize = 48;
export const NO_TABLE: u32 = 0xff;

// Stand for an address of codes: offsets, with 2^symbol as base and that many extra bits; weights, the symbols themselves.
export const OFFSET_CODES: usize = 0;
export const WEIGHTS_THEMSELVES: usize = 1;

/** Normalised counts, i16 a symbol; −1 for "less than one". */
export const COUNTS: usize = 64;
/** Next state of a symbol while a table is built, u16. */
const NEXT_STATES: usize = 576;
/** Of each code (u64): extra bits in bits 24–31, base value above, as in a table's entry. */
export const LITERAL_LENGTH_CODES: usize = 1088;
export const MATCH_LENGTH_CODES: usize = 1408;
export const LITERAL_LENGTHS_TABLE: usize = 2048;
export const MATCH_LENGTHS_TABLE: usize = 6144;
export const OFFSETS_TABLE: usize = 10240;
/** Huffman: weights, one byte a symbol; their own FSE table; the decoding table of 2048 u16. */
export const WEIGHTS: usize = 12288;
export const WEIGHTS_TABLE: usize = 12544;
export const HUFFMAN_TABLE: usize = 13312;
/** While the decoding table is built: symbols of each weight, then where the next one's entries go. */
export const WEIGHT_STARTS: usize = 1856;
export const LITERALS: usize = 17408;
/** 128 KiB of literals and what wild copies read and write past them. */
export const ZSTD_SCRATCH_BYTES: usize = LITERALS + 131072 + 64;
/** A bit stream shorter than 8 bytes is read from a copy that can be loaded as a whole. */
export const SHORT_STREAM: usize = 56;

export const LITERAL_LENGTHS_MAX_SYMBOL: u32 = 35;
export const OFFSETS_MAX_SYMBOL: u32 = 31;
export const MATCH_LENGTHS_MAX_SYMBOL: u32 = 52;

// The extra bits of the codes from 16 (literal lengths) and 32 (match lengths) up, four bits each; 16 is written 0.
const LITERAL_LENGTH_BITS_LOW: u64 = 0xcba9876433221111;
const LITERAL_LENGTH_BITS_HIGH: u64 = 0x0fed;
const MATCH_LENGTH_BITS_LOW: u64 = 0xba98754433221111;
const MATCH_LENGTH_BITS_HIGH: u64 = 0x0fedc;

/** Writes base values and extra bits of the length codes. Bases follow each other: every code begins where the last ends. */
export function prepareSymbolTables(scratch: usize): void {
  writeCodes(scratch + LITERAL_LENGTH_CODES, 16, 36, 0, LITERAL_LENGTH_BITS_LOW, LITERAL_LENGTH_BITS_HIGH);
  writeCodes(scratch + MATCH_LENGTH_CODES, 32, 53, 3, MATCH_LENGTH_BITS_LOW, MATCH_LENGTH_BITS_HIGH);
}

/** The part of a table's entry that its code gives. */
// @ts-ignore: decorator
@inline
function codeFields(bits: u32, base: u32): u64 {
  return (<u64>base << 32) | (<u64>bits << 24);
}

function writeCodes(at: usize, plain: u32, codes: u32, base: u32, bitsLow: u64, bitsHigh: u64): void {
  for (let code: u32 = 0; code < codes; code++) {
    let bits: u32 = 0;
    if (code >= plain) {
      const step = code - plain;
      bits = <u32>(step < 16 ? bitsLow >> (step << 2) : bitsHigh >> ((step - 16) << 2)) & 15;
      if (bits == 0) bits = 16;
    }
    store<u64>(at + (code << 3), codeFields(bits, base));
    base += <u32>1 << bits;
  }
}

/** A frame begins without tables and with the repeated offsets 1, 4, 8. */
export function startFrameTables(scratch: usize): void {
  store<u32>(scratch, NO_TABLE, LITERAL_LENGTHS_LOG);
  store<u32>(scratch, NO_TABLE, OFFSETS_LOG);
  store<u32>(scratch, NO_TABLE, MATCH_LENGTHS_LOG);
  store<u32>(scratch, 0, HAS_HUFFMAN);
  store<u32>(scratch, 1, REPEATED_OFFSETS);
  store<u32>(scratch, 4, REPEATED_OFFSETS + 4);
  store<u32>(scratch, 8, REPEATED_OFFSETS + 8);
}

// The predefined distributions, four bits a symbol: its count plus one, so that 0 stands for −1.
/** Count of a symbol in a distribution packed into up to four words. */
// @ts-ignore: decorator
@inline
function packedCount(symbol: u32, a: u64, b: u64, c: u64, d: u64): i16 {
  const word = symbol < 16 ? a : symbol < 32 ? b : symbol < 48 ? c : d;
  return <i16>((word >> ((symbol & 15) << 2)) & 15) - 1;
}

/** Writes the counts of the predefined literal lengths. */
export function predefinedLiteralLengths(scratch: usize): void {
  for (let s: u32 = 0; s <= LITERAL_LENGTHS_MAX_SYMBOL; s++) {
    store<i16>(scratch + COUNTS + (s << 1), packedCount(s, 0x2223333333333345, 0x2222234333333333, 0, 0));
  }
}

/** Writes the counts of the predefined match lengths. */
export function predefinedMatchLengths(scratch: usize): void {
  for (let s: u32 = 0; s <= MATCH_LENGTHS_MAX_SYMBOL; s++) {
    const count = packedCount(s, 0x2222222333333452, 0x2222222222222222, 0x0022222222222222, 0);
    store<i16>(scratch + COUNTS + (s << 1), count);
  }
}

/** Writes the counts of the predefined offsets, whose largest symbol is 28. */
export function predefinedOffsets(scratch: usize): void {
  for (let s: u32 = 0; s <= 28; s++) {
    store<i16>(scratch + COUNTS + (s << 1), packedCount(s, 0x2222222333222222, 0x22222222, 0, 0));
  }
}

/**
 * Reads a table description (RFC 8878, 4.1.1) of at most `maxLog` and `maxSymbol` into COUNTS. Leaves bytes taken, log and
 * largest symbol in the scratch; 0 or a status.
 */
export function readCounts(src: usize, srcEnd: usize, maxSymbol: u32, maxLog: u32, scratch: usize): i32 {
  const counts = scratch + COUNTS;
  const bits = <u32>(srcEnd - src) << 3;
  let at: u32 = 0;
  if (bits < 8) return TRUNCATED;
  const log = peekBits(src, srcEnd, at, 4) + 5;
  at += 4;
  if (log > maxLog) return BAD_TABLE;
  let remaining: i32 = (1 << log) + 1;
  let threshold: i32 = 1 << log;
  let width: u32 = log + 1;
  let symbol: u32 = 0;
  while (remaining > 1 && symbol <= maxSymbol) {
    // Values below `spared` take one bit less.
    const spared = 2 * threshold - 1 - remaining;
    let value = <i32>peekBits(src, srcEnd, at, width);
    if ((value & (threshold - 1)) < spared) {
      value &= threshold - 1;
      at += width - 1;
    } else {
      if (value >= threshold) value -= spared;
      at += width;
    }
    const count = value - 1;
    store<i16>(counts + (symbol << 1), <i16>count);
    symbol++;
    remaining -= count < 0 ? 1 : count;
    if (remaining < 1) return BAD_TABLE;
    if (count == 0) {
      // Two bits at a time: how many more zeros; 3 goes on.
      for (;;) {
        const zeros = peekBits(src, srcEnd, at, 2);
        at += 2;
        if (symbol + zeros > maxSymbol + 1 || at > bits) return BAD_TABLE;
        for (let i: u32 = 0; i < zeros; i++) store<i16>(counts + (symbol++ << 1), 0);
        if (zeros != 3) break;
      }
    }
    while (remaining < threshold) {
      width--;
      threshold >>= 1;
    }
    if (at > bits) return TRUNCATED;
  }
  if (remaining != 1) return BAD_TABLE;
  store<u32>(scratch, (at + 7) >> 3, TABLE_BYTES);
  store<u32>(scratch, log, TABLE_LOG);
  store<u32>(scratch, symbol - 1, TABLE_SYMBOLS);
  return 0;
}

/** Bits [at, at + width) of a little-endian bit stream, zeros past its end; width at most 16. */
// @ts-ignore: decorator
@inline
function peekBits(src: usize, srcEnd: usize, at: u32, width: u32): u32 {
  let byte = src + (at >> 3);
  let word: u32 = 0;
  for (let shift: u32 = 0; shift < 32 && byte < srcEnd; shift += 8) word |= <u32>load<u8>(byte++) << shift;
  return (word >> (at & 7)) & ((<u32>1 << width) - 1);
}

/**
 * Builds the table of 2^log entries at `table` from COUNTS of `symbols` symbols. `codes` is the address of their codes'
 * fields, or one of OFFSET_CODES and WEIGHTS_THEMSELVES.
 */
export function buildTable(table: usize, log: u32, symbols: u32, codes: usize, scratch: usize): i32 {
  const size: u32 = 1 << log;
  const mask = size - 1;
  const counts = scratch + COUNTS;
  const next = scratch + NEXT_STATES;
  let high = size - 1;
  for (let s: u32 = 0; s < symbols; s++) {
    const count = <i32>load<i16>(counts + (s << 1));
    if (count == -1) {
      store<u32>(table + (high-- << 3), s, 4);
      store<u16>(next + (s << 1), 1);
    } else {
      store<u16>(next + (s << 1), <u16>count);
    }
  }
  const step = (size >> 1) + (size >> 3) + 3;
  let position: u32 = 0;
  for (let s: u32 = 0; s < symbols; s++) {
    const count = <i32>load<i16>(counts + (s << 1));
    for (let i = 0; i < count; i++) {
      store<u32>(table + (position << 3), s, 4);
      do position = (position + step) & mask;
      while (position > high);
    }
  }
  if (position != 0) return BAD_TABLE;
  for (let i: u32 = 0; i < size; i++) {
    const entry = table + (i << 3);
    const s = load<u32>(entry, 4);
    const state = <u32>load<u16>(next + (s << 1));
    store<u16>(next + (s << 1), <u16>(state + 1));
    const bits = log - (31 - clz<u32>(state));
    const base = (state << bits) - size;
    if (codes == WEIGHTS_THEMSELVES) {
      store<u32>(entry, base | (bits << 16) | (s << 24));
    } else {
      const fields = codes == OFFSET_CODES ? codeFields(s, 1 << s) : load<u64>(codes + (s << 3));
      store<u64>(entry, fields | <u64>((base << 3) | (bits << 16)));
    }
  }
  return 0;
}

/** A table of one entry that always gives the same code. */
export function buildSingle(table: usize, symbol: u32, codes: usize): void {
  store<u64>(table, codes == OFFSET_CODES ? codeFields(symbol, 1 << symbol) : load<u64>(codes + (symbol << 3)));
}
