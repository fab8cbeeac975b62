// The Huffman code of a zstd block's literals (RFC 8878, 4.2.1): its description and its decoding table.
import { BAD_BITSTREAM, BAD_TABLE, TRUNCATED } from '../../src/record/compression/decompression-status';
import { padding } from './backward-bits';
import {
  buildTable,
  HAS_HUFFMAN,
  HUFFMAN_TABLE,
  readCounts,
  TABLE_BYTES,
  TABLE_LOG,
  TABLE_SYMBOLS,
  WEIGHT_STARTS,
  WEIGHTS,
  WEIGHTS_TABLE,
  WEIGHTS_THEMSELVES,
} from './zstd-tables';

/** No code is longer; the decoding table is always this wide, so that its index is a constant shift. */
export const LONGEST_CODE: u32 = 11;
const MAX_WEIGHTS: u32 = 255;

/** Reads a tree description and builds the decoding table: bytes taken or a status. */
export function readHuffmanTable(src: usize, srcEnd: usize, scratch: usize): i32 {
  if (src >= srcEnd) return TRUNCATED;
  const weights = scratch + WEIGHTS;
  const header = <u32>load<u8>(src);
  const body = src + 1;
  let count: u32;
  let bytes: usize;
  if (header >= 128) {
    count = header - 127;
    bytes = <usize>(count + 1) >> 1;
    if (bytes > srcEnd - body) return TRUNCATED;
    for (let i: u32 = 0; i < count; i++) {
      const pair = load<u8>(body + (i >> 1));
      store<u8>(weights + i, (i & 1) == 0 ? pair >> 4 : pair & 15);
    }
  } else {
    bytes = header;
    if (bytes > srcEnd - body) return TRUNCATED;
    const decoded = decodeWeights(body, body + bytes, scratch);
    if (decoded < 0) return decoded;
    count = <u32>decoded;
  }
  const status = buildHuffmanTable(count, scratch);
  return status < 0 ? status : <i32>bytes + 1;
}

/** Decodes FSE-coded weights with two states that take turns, until the stream is used up: their number or a status. */
function decodeWeights(src: usize, srcEnd: usize, scratch: usize): i32 {
  const status = readCounts(src, srcEnd, 12, 6, scratch);
  if (status < 0) return status;
  const log = load<u32>(scratch, TABLE_LOG);
  const built = buildTable(scratch + WEIGHTS_TABLE, log, load<u32>(scratch, TABLE_SYMBOLS) + 1, WEIGHTS_THEMSELVES, scratch);
  if (built < 0) return built;
  const table = scratch + WEIGHTS_TABLE;
  const weights = scratch + WEIGHTS;
  const start = src + <usize>load<u32>(scratch, TABLE_BYTES);
  if (start >= srcEnd) return TRUNCATED;
  const pad = padding(srcEnd);
  if (pad > 8) return BAD_BITSTREAM;
  let left = (<i32>(srcEnd - start) << 3) - <i32>pad;
  left -= log;
  let even = <usize>bitsAt(start, srcEnd, left, log);
  left -= log;
  let odd = <usize>bitsAt(start, srcEnd, left, log);
  if (left < 0) return BAD_BITSTREAM;
  let count: u32 = 0;
  while (true) {
    if (count + 2 > MAX_WEIGHTS) return BAD_TABLE;
    const entry = load<u32>(table + (even << 3));
    store<u8>(weights + count++, <u8>(entry >> 24));
    const bits = (entry >> 16) & 0xff;
    left -= bits;
    if (left < 0) {
      store<u8>(weights + count++, load<u8>(table + (odd << 3), 3));
      return <i32>count;
    }
    // The states change roles instead of the code being written twice.
    const next = <usize>((entry & 0xffff) + bitsAt(start, srcEnd, left, bits));
    even = odd;
    odd = next;
  }
}

/** `width` bits from bit `at` up of [start, end), at most 8; those below its start are zeros. */
function bitsAt(start: usize, end: usize, at: i32, width: u32): u32 {
  // A stream's last byte is never read beyond its mark, so what follows it does not matter, but must not be loaded.
  const byte = start + (at >> 3);
  const low = at < 0 ? 0 : <u32>load<u8>(byte);
  const high = at < -8 || byte + 1 >= end ? 0 : <u32>load<u8>(byte + 1);
  return (((high << 8) | low) >> (at & 7)) & ((<u32>1 << width) - 1);
}

/** From `count` weights (the last symbol's is implied) to the decoding table of u16: code length, symbol above it. */
function buildHuffmanTable(count: u32, scratch: usize): i32 {
  const weights = scratch + WEIGHTS;
  let sum: u32 = 0;
  for (let i: u32 = 0; i < count; i++) {
    const weight = <u32>load<u8>(weights + i);
    if (weight > LONGEST_CODE) return BAD_TABLE;
    sum += ((<u32>1 << weight) >> 1);
  }
  if (sum == 0) return BAD_TABLE;
  const log: u32 = 32 - clz<u32>(sum);
  if (log > LONGEST_CODE) return BAD_TABLE;
  const rest = (<u32>1 << log) - sum;
  if ((rest & (rest - 1)) != 0) return BAD_TABLE;
  store<u8>(weights + count, <u8>(ctz<u32>(rest) + 1));

  // Longest codes come first: weight 1 up, within a weight by symbol.
  const next = scratch + WEIGHT_STARTS;
  memory.fill(next, 0, 4 * (LONGEST_CODE + 1));
  for (let symbol: u32 = 0; symbol <= count; symbol++) {
    const slot = next + (<usize>load<u8>(weights + symbol) << 2);
    store<u32>(slot, load<u32>(slot) + 1);
  }
  const longest = load<u32>(next, 4);
  if (longest < 2 || (longest & 1) != 0) return BAD_TABLE;
  let at = <u32>(scratch + HUFFMAN_TABLE);
  const widest = LONGEST_CODE - log;
  for (let weight: u32 = 1; weight <= log; weight++) {
    const slot = next + (weight << 2);
    const bytes = load<u32>(slot) << (weight + widest);
    store<u32>(slot, at);
    at += bytes;
  }
  for (let symbol: u32 = 0; symbol <= count; symbol++) {
    const weight = <u32>load<u8>(weights + symbol);
    if (weight == 0) continue;
    const slot = next + (weight << 2);
    const bytes = <u32>1 << (weight + widest);
    const begin = load<u32>(slot);
    fillEntries(begin, bytes, <u16>((log + 1 - weight) | (symbol << 8)));
    store<u32>(slot, begin + bytes);
  }
  store<u32>(scratch, 1, HAS_HUFFMAN);
  return 0;
}

/** Stores an entry over `bytes` (a power of two from 2 up). */
// @ts-ignore: decorator
@inline
function fillEntries(at: usize, bytes: usize, entry: u16): void {
  if (bytes == 2) {
    store<u16>(at, entry);
    return;
  }
  const four = <u64>entry * 0x0001000100010001;
  if (bytes == 4) {
    store<u32>(at, <u32>four);
    return;
  }
  const end = at + bytes;
  for (; at < end; at += 8) store<u64>(at, four);
}
