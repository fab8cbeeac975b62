// The sequences section of a zstd block (RFC 8878, 3.1.1.3.2) and its execution: literals and matches into the output.
import { copyShortStream, padding } from './backward-bits';
import {
  BAD_BITSTREAM,
  BAD_DISTANCE,
  BAD_HEADER,
  BAD_TABLE,
  OUTPUT_LIMIT,
  SIZE_MISMATCH,
  TRUNCATED,
} from '../../src/record/compression/decompression-status';
import { copyMatchExactly, WILD, wildCopyLiterals, wildCopyMatch } from './wild-copy';
import {
  buildSingle,
  buildTable,
  LITERAL_LENGTH_CODES,
  LITERAL_LENGTHS_LOG,
  LITERAL_LENGTHS_MAX_SYMBOL,
  LITERAL_LENGTHS_TABLE,
  MATCH_LENGTH_CODES,
  MATCH_LENGTHS_LOG,
  MATCH_LENGTHS_MAX_SYMBOL,
  MATCH_LENGTHS_TABLE,
  NO_TABLE,
  OFFSETS_LOG,
  OFFSETS_MAX_SYMBOL,
  OFFSETS_TABLE,
  predefinedLiteralLengths,
  predefinedMatchLengths,
  predefinedOffsets,
  readCounts,
  REPEATED_OFFSETS,
  TABLE_BYTES,
  TABLE_LOG,
  TABLE_SYMBOLS,
} from './zstd-tables';

// Modes of a table, and which of the three it is.
const PREDEFINED: u32 = 0;
const RLE: u32 = 1;
const DESCRIBED: u32 = 2;

/**
 * Puts `mode`'s table into force: bytes its description takes, or a status. `kind` 0 literal lengths, 1 offsets, 2 match
 * lengths.
 */
function takeTable(src: usize, srcEnd: usize, mode: u32, kind: u32, scratch: usize): i32 {
  const table = scratch + (kind == 0 ? LITERAL_LENGTHS_TABLE : kind == 1 ? OFFSETS_TABLE : MATCH_LENGTHS_TABLE);
  const logAt = scratch + (kind == 0 ? LITERAL_LENGTHS_LOG : kind == 1 ? OFFSETS_LOG : MATCH_LENGTHS_LOG);
  const codes = kind == 0 ? scratch + LITERAL_LENGTH_CODES : kind == 1 ? 0 : scratch + MATCH_LENGTH_CODES;
  const largest = kind == 0 ? LITERAL_LENGTHS_MAX_SYMBOL : kind == 1 ? OFFSETS_MAX_SYMBOL : MATCH_LENGTHS_MAX_SYMBOL;
  if (mode == PREDEFINED) {
    if (kind == 0) predefinedLiteralLengths(scratch);
    else if (kind == 1) predefinedOffsets(scratch);
    else predefinedMatchLengths(scratch);
    const log: u32 = kind == 1 ? 5 : 6;
    store<u32>(logAt, log);
    return buildTable(table, log, kind == 1 ? 29 : largest + 1, codes, scratch);
  }
  if (mode == RLE) {
    if (src >= srcEnd) return TRUNCATED;
    const symbol = <u32>load<u8>(src);
    if (symbol > largest) return BAD_TABLE;
    buildSingle(table, symbol, codes);
    store<u32>(logAt, 0);
    return 1;
  }
  if (mode == DESCRIBED) {
    const status = readCounts(src, srcEnd, largest, kind == 1 ? 8 : 9, scratch);
    if (status < 0) return status;
    const log = load<u32>(scratch, TABLE_LOG);
    store<u32>(logAt, log);
    const built = buildTable(table, log, load<u32>(scratch, TABLE_SYMBOLS) + 1, codes, scratch);
    return built < 0 ? built : <i32>load<u32>(scratch, TABLE_BYTES);
  }
  return load<u32>(logAt) == NO_TABLE ? BAD_TABLE : 0;
}

/** Decodes the section and writes the block's plain bytes to [dst, blockEnd): their number or a status. */
export function zstdDecodeSequences(
  src: usize,
  srcEnd: usize,
  literals: usize,
  literalsEnd: usize,
  start: usize,
  dst: usize,
  blockEnd: usize,
  dstEnd: usize,
  scratch: usize,
): i32 {
  if (src >= srcEnd) return TRUNCATED;
  let ip = src;
  let count = <u32>load<u8>(ip++);
  if (count >= 128) {
    const wide = count == 255;
    const more: usize = wide ? 2 : 1;
    if (srcEnd - ip < more) return TRUNCATED;
    count = wide ? <u32>load<u16>(ip) + 0x7f00 : ((count - 128) << 8) | <u32>load<u8>(ip);
    ip += more;
  }
  if (count == 0) {
    if (ip != srcEnd) return BAD_BITSTREAM;
    return lastLiterals(literals, literalsEnd, dst, dst, blockEnd);
  }
  if (ip >= srcEnd) return TRUNCATED;
  const modes = <u32>load<u8>(ip++);
  if ((modes & 3) != 0) return BAD_HEADER;
  for (let kind: u32 = 0; kind < 3; kind++) {
    const consumed = takeTable(ip, srcEnd, (modes >> (6 - 2 * kind)) & 3, kind, scratch);
    if (consumed < 0) return consumed;
    ip += <usize>consumed;
  }
  return execute(ip, srcEnd, count, literals, literalsEnd, start, dst, blockEnd, dstEnd, scratch);
}

/** What the sequences leave of the literals goes to the end of the block. */
function lastLiterals(from: usize, end: usize, op: usize, dst: usize, blockEnd: usize): i32 {
  const size = end - from;
  if (size > blockEnd - op) return OUTPUT_LIMIT;
  memory.copy(op, from, size);
  return <i32>(op + size - dst);
}

/** The top `width` bits, 0 to 63 of them. */
// @ts-ignore: decorator
@inline
function top(bits: u64, width: u64): u32 {
  return <u32>((bits >> 1) >> (63 - width));
}

function execute(
  src: usize,
  srcEnd: usize,
  count: u32,
  literals: usize,
  literalsEnd: usize,
  start: usize,
  dst: usize,
  blockEnd: usize,
  dstEnd: usize,
  scratch: usize,
): i32 {
  if (src >= srcEnd) return TRUNCATED;
  let used = <u64>padding(srcEnd);
  if (used > 8) return BAD_BITSTREAM;
  let first = src;
  let at = srcEnd - 8;
  if (srcEnd - src < 8) {
    used += <u64>(8 - (srcEnd - src)) << 3;
    first = copyShortStream(src, srcEnd, scratch);
    at = first;
  }
  const literalLengths = scratch + LITERAL_LENGTHS_TABLE;
  const offsets = scratch + OFFSETS_TABLE;
  const matchLengths = scratch + MATCH_LENGTHS_TABLE;
  let repeated0 = load<u32>(scratch, REPEATED_OFFSETS);
  let repeated1 = load<u32>(scratch, REPEATED_OFFSETS + 4);
  let repeated2 = load<u32>(scratch, REPEATED_OFFSETS + 8);

  let bits = load<u64>(at) << used;
  let width = <u64>load<u32>(scratch, LITERAL_LENGTHS_LOG);
  let literalState = <usize>top(bits, width);
  bits <<= width;
  used += width;
  width = <u64>load<u32>(scratch, OFFSETS_LOG);
  let offsetState = <usize>top(bits, width);
  bits <<= width;
  used += width;
  width = <u64>load<u32>(scratch, MATCH_LENGTHS_LOG);
  let matchState = <usize>top(bits, width);
  used += width;

  let op = dst;
  for (;;) {
    // Bits past the stream's start show as `used` above 64: the stream was shorter than its sequences.
    if (used > 64) return BAD_BITSTREAM;
    let back = min<usize>(<usize>(used >> 3), at - first);
    at -= back;
    used -= <u64>back << 3;
    bits = load<u64>(at) << used;

    const literalEntry = load<u64>(literalLengths + (literalState << 3));
    const offsetEntry = load<u64>(offsets + (offsetState << 3));
    const matchEntry = load<u64>(matchLengths + (matchState << 3));
    const literalBits = (literalEntry >> 24) & 0xff;
    const offsetBits = (offsetEntry >> 24) & 0xff;
    const matchBits = (matchEntry >> 24) & 0xff;
    // 57 bits are in hand, and the new states take up to 26.
    const many = literalBits + offsetBits + matchBits > 31;

    const offsetValue = <u32>(offsetEntry >> 32) + top(bits, offsetBits);
    bits <<= offsetBits;
    used += offsetBits;
    if (many) {
      if (used > 64) return BAD_BITSTREAM;
      back = min<usize>(<usize>(used >> 3), at - first);
      at -= back;
      used -= <u64>back << 3;
      bits = load<u64>(at) << used;
    }
    const match = <usize>(<u32>(matchEntry >> 32) + top(bits, matchBits));
    bits <<= matchBits;
    const literal = <usize>(<u32>(literalEntry >> 32) + top(bits, literalBits));
    bits <<= literalBits;
    used += matchBits + literalBits;

    let offset: u32;
    if (offsetBits > 1) {
      offset = offsetValue - 3;
      repeated2 = repeated1;
      repeated1 = repeated0;
      repeated0 = offset;
    } else {
      // 1 to 3 name a repeated offset, counted one further when no literals come before; the fourth is the first less one.
      const which = offsetValue + (literal == 0 ? 1 : 0);
      if (which == 1) {
        offset = repeated0;
      } else {
        offset = which == 2 ? repeated1 : which == 3 ? repeated2 : repeated0 - 1;
        if (which != 2) repeated2 = repeated1;
        repeated1 = repeated0;
        repeated0 = offset;
      }
    }

    count--;
    if (count != 0) {
      if (many) {
        if (used > 64) return BAD_BITSTREAM;
        back = min<usize>(<usize>(used >> 3), at - first);
        at -= back;
        used -= <u64>back << 3;
        bits = load<u64>(at) << used;
      }
      const literalStateBits = (literalEntry >> 16) & 0xff;
      const matchStateBits = (matchEntry >> 16) & 0xff;
      const offsetStateBits = (offsetEntry >> 16) & 0xff;
      literalState = <usize>((<u32>literalEntry & 0xffff) + top(bits, literalStateBits));
      bits <<= literalStateBits;
      matchState = <usize>((<u32>matchEntry & 0xffff) + top(bits, matchStateBits));
      bits <<= matchStateBits;
      offsetState = <usize>((<u32>offsetEntry & 0xffff) + top(bits, offsetStateBits));
      used += literalStateBits + matchStateBits + offsetStateBits;
    }

    if (literal > literalsEnd - literals) return SIZE_MISMATCH;
    if (literal + match > blockEnd - op) return OUTPUT_LIMIT;
    const matchAt = op + literal;
    if (offset - 1 >= <u32>(matchAt - start)) return BAD_DISTANCE;
    if (dstEnd - matchAt >= match + WILD) {
      v128.store(op, v128.load(literals));
      if (literal > 16) wildCopyLiterals(op + 16, literals + 16, matchAt);
      wildCopyMatch(matchAt, offset, matchAt + match);
    } else {
      memory.copy(op, literals, literal);
      copyMatchExactly(matchAt, offset, matchAt + match);
    }
    literals += literal;
    op = matchAt + match;
    if (count == 0) break;
  }
  if ((<u64>(at - first) << 3) + 64 != used) return BAD_BITSTREAM;
  store<u32>(scratch, repeated0, REPEATED_OFFSETS);
  store<u32>(scratch, repeated1, REPEATED_OFFSETS + 4);
  store<u32>(scratch, repeated2, REPEATED_OFFSETS + 8);
  return lastLiterals(literals, literalsEnd, op, dst, blockEnd);
}
