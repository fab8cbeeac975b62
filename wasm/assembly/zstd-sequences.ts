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
  OFFSET_CODES,
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
  const codes = kind == 0 ? scratch + LITERAL_LENGTH_CODES : kind == 1 ? OFFSET_CODES : scratch + MATCH_LENGTH_CODES;
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

// Fields of a table's entry.
// @ts-ignore: decorator
@inline
function stateBits(entry: u64): u64 {
  return (entry >> 16) & 0xff;
}

// @ts-ignore: decorator
@inline
function extraBits(entry: u64): u64 {
  return (entry >> 24) & 0xff;
}

/** The next state from its entry and the bits that go with it; states count in bytes of their table. */
// @ts-ignore: decorator
@inline
function nextState(entry: u64, bits: u64): usize {
  return (<usize>entry & 0xffff) + (<usize>top(bits, stateBits(entry)) << 3);
}

/**
 * Runs the sequences. The loop is the hot path of zstd: few variables, so that they stay in registers, and few branches
 * that data decides.
 */
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
  let repeated0 = load<u32>(scratch, REPEATED_OFFSETS);
  let repeated1 = load<u32>(scratch, REPEATED_OFFSETS + 4);
  let repeated2 = load<u32>(scratch, REPEATED_OFFSETS + 8);

  let bits = load<u64>(at) << used;
  let width = <u64>load<u32>(scratch, LITERAL_LENGTHS_LOG);
  let literalState = <usize>top(bits, width) << 3;
  bits <<= width;
  used += width;
  width = <u64>load<u32>(scratch, OFFSETS_LOG);
  let offsetState = <usize>top(bits, width) << 3;
  bits <<= width;
  used += width;
  width = <u64>load<u32>(scratch, MATCH_LENGTHS_LOG);
  let matchState = <usize>top(bits, width) << 3;
  used += width;

  let op = dst;
  // Up to here a sequence may end for its copies to be wild ones; never below `op`.
  let wildEnd = dstEnd - dst > WILD ? min(blockEnd, dstEnd - WILD) : dst;
  for (;;) {
    if (at - first >= 8) {
      // At most 7 bits, 31 and 26 were taken since the last load: no more than 8 bytes.
      at -= <usize>(used >> 3);
      used &= 7;
    } else {
      // Bits past the stream's start show as `used` above 64: the stream was shorter than its sequences.
      if (used > 64) return BAD_BITSTREAM;
      const back = min<usize>(<usize>(used >> 3), at - first);
      at -= back;
      used -= <u64>back << 3;
    }
    bits = load<u64>(at) << used;

    const literalEntry = load<u64>(scratch + literalState, LITERAL_LENGTHS_TABLE);
    const matchEntry = load<u64>(scratch + matchState, MATCH_LENGTHS_TABLE);
    const offsetEntry = load<u64>(scratch + offsetState, OFFSETS_TABLE);
    const offsetBits = extraBits(offsetEntry);
    const lengthBits = extraBits(literalEntry) + extraBits(matchEntry);

    let offset = <u32>(offsetEntry >> 32) + top(bits, offsetBits);
    bits <<= offsetBits;
    used += offsetBits;
    let match = <usize>(matchEntry >> 32);
    let literal = <usize>(literalEntry >> 32);
    // 57 bits were in hand, and the new states take up to 26: rarely too few for the rest.
    if (lengthBits != 0) {
      if (offsetBits + lengthBits > 31) {
        if (used > 64) return BAD_BITSTREAM;
        const back = min<usize>(<usize>(used >> 3), at - first);
        at -= back;
        used -= <u64>back << 3;
        bits = load<u64>(at) << used;
      }
      const matchBits = extraBits(matchEntry);
      match += <usize>top(bits, matchBits);
      bits <<= matchBits;
      const literalBits = extraBits(literalEntry);
      literal += <usize>top(bits, literalBits);
      bits <<= literalBits;
      used += lengthBits;
      if (offsetBits + lengthBits > 31) {
        if (used > 64) return BAD_BITSTREAM;
        const back = min<usize>(<usize>(used >> 3), at - first);
        at -= back;
        used -= <u64>back << 3;
        bits = load<u64>(at) << used;
      }
    }

    if (offsetBits > 1) {
      offset -= 3;
      repeated2 = repeated1;
      repeated1 = repeated0;
      repeated0 = offset;
    } else {
      // 1 to 3 name a repeated offset, counted one further when no literals come before; the fourth is the first less one.
      const which = offset + (literal == 0 ? 1 : 0);
      if (which == 1) {
        offset = repeated0;
      } else {
        offset = which == 2 ? repeated1 : which == 3 ? repeated2 : repeated0 - 1;
        if (which != 2) repeated2 = repeated1;
        repeated1 = repeated0;
        repeated0 = offset;
      }
    }

    // The last sequence has no successors' states behind it.
    if (--count != 0) {
      literalState = nextState(literalEntry, bits);
      bits <<= stateBits(literalEntry);
      matchState = nextState(matchEntry, bits);
      bits <<= stateBits(matchEntry);
      offsetState = nextState(offsetEntry, bits);
      used += stateBits(literalEntry) + stateBits(matchEntry) + stateBits(offsetEntry);
    }

    if (literal > literalsEnd - literals) return SIZE_MISMATCH;
    const matchAt = op + literal;
    if (offset - 1 >= <u32>(matchAt - start)) return BAD_DISTANCE;
    if (literal + match <= wildEnd - op) {
      v128.store(op, v128.load(literals));
      if (literal > 16) wildCopyLiterals(op + 16, literals + 16, matchAt);
      op = matchAt + match;
      if (offset >= 16) {
        const from = matchAt - offset;
        v128.store(matchAt, v128.load(from));
        v128.store(matchAt, v128.load(from, 16), 16);
        if (match > 32) wildCopyLiterals(matchAt + 32, from + 32, op);
      } else {
        wildCopyMatch(matchAt, offset, op);
      }
    } else {
      if (literal + match > blockEnd - op) return OUTPUT_LIMIT;
      memory.copy(op, literals, literal);
      op = matchAt + match;
      copyMatchExactly(matchAt, offset, op);
      wildEnd = max(wildEnd, op);
    }
    literals += literal;
    if (count == 0) break;
  }
  if ((<u64>(at - first) << 3) + 64 != used) return BAD_BITSTREAM;
  store<u32>(scratch, repeated0, REPEATED_OFFSETS);
  store<u32>(scratch, repeated1, REPEATED_OFFSETS + 4);
  store<u32>(scratch, repeated2, REPEATED_OFFSETS + 8);
  return lastLiterals(literals, literalsEnd, op, dst, blockEnd);
}
