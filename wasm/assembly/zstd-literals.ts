// The literals section of a zstd block (RFC 8878, 3.1.1.3.1): raw, RLE, or Huffman in one or four streams.
import {
  BAD_BITSTREAM,
  BAD_TABLE,
  BLOCK_TOO_LARGE,
  TRUNCATED,
} from '../../src/record/compression/decompression-status';
import { copyShortStream, padding } from './backward-bits';
import { WILD } from './wild-copy';
import { LONGEST_CODE, readHuffmanTable } from './zstd-huffman-table';
import { HAS_HUFFMAN, HUFFMAN_TABLE, LITERALS, LITERALS_SOURCE, LITERALS_SOURCE_END } from './zstd-tables';

/** The table is indexed by the next 11 bits. */
const INDEX_SHIFT: u64 = 64 - LONGEST_CODE;

/**
 * Decodes the literals of the block at [src, srcEnd). Returns the bytes the section takes, or a status; LITERALS_SOURCE
 * and _END in the scratch tell where the literals lie, readable WILD bytes past their end.
 */
export function zstdDecodeLiterals(src: usize, srcEnd: usize, blockLimit: usize, scratch: usize): i32 {
  if (src >= srcEnd) return TRUNCATED;
  const first = <u32>load<u8>(src);
  const format = (first >> 2) & 3;
  if ((first & 3) >= 2) return huffmanSection(src, srcEnd, blockLimit, scratch, (first & 3) == 3);

  const headerBytes: usize = format == 1 ? 2 : format == 3 ? 3 : 1;
  if (srcEnd - src < headerBytes) return TRUNCATED;
  let size: usize = first >> 3;
  if (format == 1) size = <usize>load<u16>(src) >> 4;
  else if (format == 3) size = (<usize>load<u16>(src) | (<usize>load<u8>(src, 2) << 16)) >> 4;
  if (size > blockLimit) return BLOCK_TOO_LARGE;
  const body = src + headerBytes;
  const literals = scratch + LITERALS;
  if ((first & 3) == 1) {
    if (body >= srcEnd) return TRUNCATED;
    memory.fill(literals, load<u8>(body), size);
    setSource(scratch, literals, size);
    return <i32>headerBytes + 1;
  }
  if (size > srcEnd - body) return TRUNCATED;
  if (srcEnd - body - size >= WILD) {
    setSource(scratch, body, size);
  } else {
    memory.copy(literals, body, size);
    setSource(scratch, literals, size);
  }
  return <i32>(headerBytes + size);
}

// @ts-ignore: decorator
@inline
function setSource(scratch: usize, at: usize, size: usize): void {
  store<u32>(scratch, <u32>at, LITERALS_SOURCE);
  store<u32>(scratch, <u32>(at + size), LITERALS_SOURCE_END);
}

function huffmanSection(src: usize, srcEnd: usize, blockLimit: usize, scratch: usize, treeless: bool): i32 {
  const format = (<u32>load<u8>(src) >> 2) & 3;
  const headerBytes: usize = format < 2 ? 3 : format + 2;
  if (srcEnd - src < headerBytes) return TRUNCATED;
  const width: u64 = format < 2 ? 10 : format == 2 ? 14 : 18;
  let header: u64 = 0;
  for (let i: usize = 0; i < headerBytes; i++) header |= <u64>load<u8>(src + i) << (<u64>i << 3);
  const mask: u64 = (<u64>1 << width) - 1;
  const size = <usize>((header >> 4) & mask);
  const packed = <usize>((header >> (4 + width)) & mask);
  if (size > blockLimit) return BLOCK_TOO_LARGE;
  if (packed > srcEnd - src - headerBytes) return TRUNCATED;
  let ip = src + headerBytes;
  const end = ip + packed;
  if (treeless) {
    if (load<u32>(scratch, HAS_HUFFMAN) == 0) return BAD_TABLE;
  } else {
    const consumed = readHuffmanTable(ip, end, scratch);
    if (consumed < 0) return consumed;
    ip += <usize>consumed;
  }
  const literals = scratch + LITERALS;
  const table = scratch + HUFFMAN_TABLE;
  const good =
    format == 0
      ? decodeStream(ip, end, literals, literals + size, table, scratch)
      : decodeFourStreams(ip, end, literals, size, table, scratch);
  if (!good) return BAD_BITSTREAM;
  setSource(scratch, literals, size);
  return <i32>(headerBytes + packed);
}

// @ts-ignore: decorator
@inline
function entryFor(table: usize, bits: u64): u64 {
  return <u64>load<u16>(table + (<usize>(bits >> INDEX_SHIFT) << 1));
}

/**
 * Decodes one stream into [dst, dstEnd), or its rest from a reader's state. True when it ends exactly with the last
 * symbol.
 */
function decodeRest(at: usize, used: u32, start: usize, dst: usize, dstEnd: usize, table: usize): bool {
  while (dst < dstEnd) {
    const bits = load<u64>(at) << used;
    const entry = <u32>entryFor(table, bits);
    store<u8>(dst++, <u8>(entry >> 8));
    used += entry & 0xff;
    if (used > 64) return false;
    const back = min<usize>(used >> 3, at - start);
    at -= back;
    used -= <u32>back << 3;
  }
  return at == start && used == 64;
}

function decodeStream(src: usize, srcEnd: usize, dst: usize, dstEnd: usize, table: usize, scratch: usize): bool {
  const length = srcEnd - src;
  if (length == 0) return false;
  let used = padding(srcEnd);
  if (used > 8) return false;
  if (length < 8) {
    const copy = copyShortStream(src, srcEnd, scratch);
    return decodeRest(copy, used + ((8 - <u32>length) << 3), copy, dst, dstEnd, table);
  }
  let at = srcEnd - 8;
  // Five codes of 11 bits fit into what a load leaves of 64 after up to 7 used bits.
  while (at >= src + 8 && dstEnd - dst >= 5) {
    let bits = load<u64>(at) << used;
    for (let i = 0; i < 5; i++) {
      const entry = entryFor(table, bits);
      bits <<= entry & 0xff;
      used += <u32>entry & 0xff;
      store<u8>(dst++, <u8>(entry >> 8));
    }
    at -= used >> 3;
    used &= 7;
  }
  return decodeRest(at, used, src, dst, dstEnd, table);
}

/**
 * Four streams, each a quarter of the literals, decoded side by side so that their table loads overlap. A one below the
 * loaded bits travels with them, so that the shift itself counts what is used.
 */
function decodeFourStreams(
  src: usize,
  srcEnd: usize,
  dst: usize,
  size: usize,
  table: usize,
  scratch: usize,
): bool {
  if (srcEnd - src < 10) return false;
  const quarter = (size + 3) >> 2;
  if (quarter * 3 > size) return false;
  const start0 = src + 6;
  const start1 = start0 + <usize>load<u16>(src);
  const start2 = start1 + <usize>load<u16>(src, 2);
  const start3 = start2 + <usize>load<u16>(src, 4);
  if (start3 >= srcEnd) return false;
  let op0 = dst;
  let op1 = op0 + quarter;
  let op2 = op1 + quarter;
  let op3 = op2 + quarter;
  const end1 = op1;
  const end2 = op2;
  const end3 = op3;
  const end = dst + size;
  if (start1 - start0 < 8 || start2 - start1 < 8 || start3 - start2 < 8 || srcEnd - start3 < 8) {
    return (
      decodeStream(start0, start1, op0, end1, table, scratch) &&
      decodeStream(start1, start2, op1, end2, table, scratch) &&
      decodeStream(start2, start3, op2, end3, table, scratch) &&
      decodeStream(start3, srcEnd, op3, end, table, scratch)
    );
  }
  const pad0 = padding(start1);
  const pad1 = padding(start2);
  const pad2 = padding(start3);
  const pad3 = padding(srcEnd);
  if (max(max(pad0, pad1), max(pad2, pad3)) > 8) return false;
  let at0 = start1 - 8;
  let at1 = start2 - 8;
  let at2 = start3 - 8;
  let at3 = srcEnd - 8;
  let bits0 = (load<u64>(at0) | 1) << pad0;
  let bits1 = (load<u64>(at1) | 1) << pad1;
  let bits2 = (load<u64>(at2) | 1) << pad2;
  let bits3 = (load<u64>(at3) | 1) << pad3;
  for (;;) {
    // How often five symbols of every stream can be decoded whatever they are: 7 bytes read, 5 written each time.
    const readable = min(min(at0 - start0, at1 - start1), min(at2 - start2, at3 - start3)) / 8;
    let rounds = min<usize>(readable, (end - op3) / 5);
    if (rounds == 0) break;
    do {
      let entry0: u64;
      let entry1: u64;
      let entry2: u64;
      let entry3: u64;
      for (let i: usize = 0; i < 5; i++) {
        entry0 = entryFor(table, bits0);
        entry1 = entryFor(table, bits1);
        entry2 = entryFor(table, bits2);
        entry3 = entryFor(table, bits3);
        bits0 <<= entry0 & 0xff;
        bits1 <<= entry1 & 0xff;
        bits2 <<= entry2 & 0xff;
        bits3 <<= entry3 & 0xff;
        store<u8>(op0 + i, <u8>(entry0 >> 8));
        store<u8>(op1 + i, <u8>(entry1 >> 8));
        store<u8>(op2 + i, <u8>(entry2 >> 8));
        store<u8>(op3 + i, <u8>(entry3 >> 8));
      }
      op0 += 5;
      op1 += 5;
      op2 += 5;
      op3 += 5;
      const used0 = ctz(bits0);
      const used1 = ctz(bits1);
      const used2 = ctz(bits2);
      const used3 = ctz(bits3);
      at0 -= <usize>(used0 >> 3);
      at1 -= <usize>(used1 >> 3);
      at2 -= <usize>(used2 >> 3);
      at3 -= <usize>(used3 >> 3);
      bits0 = (load<u64>(at0) | 1) << (used0 & 7);
      bits1 = (load<u64>(at1) | 1) << (used1 & 7);
      bits2 = (load<u64>(at2) | 1) << (used2 & 7);
      bits3 = (load<u64>(at3) | 1) << (used3 & 7);
    } while (--rounds != 0);
  }
  return (
    decodeRest(at0, <u32>ctz(bits0), start0, op0, end1, table) &&
    decodeRest(at1, <u32>ctz(bits1), start1, op1, end2, table) &&
    decodeRest(at2, <u32>ctz(bits2), start2, op2, end3, table) &&
    decodeRest(at3, <u32>ctz(bits3), start3, op3, end, table)
  );
}
