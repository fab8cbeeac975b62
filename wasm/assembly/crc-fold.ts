// CRC-32C by XOR folding: no table and no carry-less multiplication, only sparse multiples of the polynomial.
//
// If x^D + x^a + … + 1 is a multiple of P, a bit can be erased by XORing it into the places that the other exponents name:
// at distances D−a, …, D further on. Erasing front to back leaves a residual of D bits with the same CRC. Messages are
// taken as little-endian words, so "further on by 64w + s bits" is w words and a shift left by s.
//
// Four multiples are used (found by exhaustive search over degree and distance classes):
//
//   short  weight 6, distances 154, 177, 183, 258, 290 bits: the shortest whose first distance leaves room for a block.
//          10 shifts, a shuffle and 10 XORs a block, but a residual of 48 bytes only, which the tables finish.
//   near   weight 6, distances 193, 321, 384, 705, 788 bits. Modulo 64 these are 1, 1, 0, 1, 20: the three that share a
//          residue share their shifts, so a 16-byte block costs 4 shifts, 2 shuffles and 7 XORs, all in registers, with
//          a history of 7 blocks and a residual of 112 bytes. Bound by latency: each block needs the one before.
//   middle its square (distances doubled): each block needs only the third before it, so it is bound by throughput.
//          History 13 blocks, residual 208 bytes.
//   far    weight 4, the shortest there is: distances 767, 2524, 5275 bits, to the eighth power, so that they count
//          bytes and unaligned loads replace all shifts: 4 loads, 3 XORs and a store a block, through a sliding window.
//
// Measured on an AMD EPYC (Zen 3), Node 20, inside wasm, GB/s: 256 B 4.2 (short), 1 KiB 6.9 (middle), 4 KiB 11.5, 16 KiB
// 14, 64 KiB 18 (far), 1 MiB 20; slicing-by-16 stays at 2.6. Java's intrinsic on the same machine: 14, 13, 19, 21, 23, 20.
// So short inputs have a third to a half of it: their cost is the last 48 bytes through tables and the call itself.
// Tried and slower: folds at byte distances 65…209 (bound by store forwarding) and 260…836, braided tables, near without
// short behind it, sliding windows of 16 and 64 KiB.
import { FOLD, FOLD_WINDOW, FOLD_WINDOW_BYTES } from '../../src/record/kernel-layout';
import { stepBytes, stepSixteen } from './crc-tables';

const SHORT_LEAST: usize = 80;
const NEAR_LEAST: usize = 400;
const MIDDLE_LEAST: usize = 480;
const FAR_LEAST: usize = 24576;

const SHORT_BLOCKS: usize = 3;
const NEAR_BLOCKS: usize = 7;
const MIDDLE_BLOCKS: usize = 13;
const NEAR_RESIDUAL: usize = 16 * 7;
const MIDDLE_RESIDUAL: usize = 16 * 13;
const FAR_REACH: usize = 5275;
/** The reach rounded up to whole blocks. */
const FAR_HISTORY: usize = 5280;
const AT_767: usize = FAR_HISTORY - 767;
const AT_2524: usize = FAR_HISTORY - 2524;
const AT_5275: usize = FAR_HISTORY - 5275;

// Where residuals go, from FOLD on. A level's residual is the next shorter level's input.
const SHORT_OUT: usize = 0;
const NEAR_OUT: usize = 64;
const MIDDLE_OUT: usize = 256;
const FAR_OUT: usize = 1024;

/** Lane i holds i − pad: the place of a padded block's byte in the message, negative before it. */
// @ts-ignore: decorator
@inline
function placesAfter(pad: usize): v128 {
  return i8x16.sub(v128(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15), i8x16.splat(<i8>pad));
}

/** The second word of `a` and the first of `b`: the block that begins one word later. */
// @ts-ignore: decorator
@inline
function straddle(a: v128, b: v128): v128 {
  return i8x16.shuffle(a, b, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23);
}

/**
 * A message is padded in front with zeros to whole blocks, which a raw CRC does not see. Its first block: bytes before
 * the message masked, the incoming CRC over the message's first four bytes. `places` counts from the message's start.
 */
// @ts-ignore: decorator
@inline
function firstBlock(p: usize, places: v128, crc: v128): v128 {
  return v128.xor(v128.and(v128.load(p), i8x16.ge_s(places, i32x4.splat(0))), i8x16.swizzle(crc, places));
}

/** The second block, into which the incoming CRC may reach. */
// @ts-ignore: decorator
@inline
function secondBlock(p: usize, places: v128, crc: v128): v128 {
  return v128.xor(v128.load(p, 16), i8x16.swizzle(crc, i8x16.add(places, i8x16.splat(16))));
}

/** What erased words give at residue 1, before the shift: words k−4, k−6, k−12 of the block after the one at hand. */
// @ts-ignore: decorator
@inline
function nearTap(h1: v128, h2: v128, h5: v128): v128 {
  return v128.xor(v128.xor(h2, h5), h1);
}

/** A block with all that earlier blocks put into it. h3, h6, h7: that many blocks earlier; taps of this and the next. */
// @ts-ignore: decorator
@inline
function near(m: v128, h3: v128, h6: v128, h7: v128, tap: v128, next: v128): v128 {
  const old = v128.xor(i64x2.shl(h6, 20), i64x2.shr_u(straddle(h7, h6), 44));
  const early = v128.xor(v128.xor(m, h3), v128.xor(i64x2.shr_u(tap, 63), old));
  return v128.xor(early, i64x2.shl(straddle(tap, next), 1));
}

// @ts-ignore: decorator
@inline
function middleTap(h3: v128, h5: v128, h11: v128): v128 {
  return v128.xor(v128.xor(h5, h11), h3);
}

// @ts-ignore: decorator
@inline
function middle(m: v128, h6: v128, h12: v128, h13: v128, before: v128, tap: v128): v128 {
  const old = v128.xor(i64x2.shl(h12, 40), i64x2.shr_u(straddle(h13, h12), 24));
  const early = v128.xor(v128.xor(m, h6), old);
  return v128.xor(v128.xor(early, i64x2.shr_u(straddle(before, tap), 62)), i64x2.shl(tap, 2));
}

/**
 * A block by the short multiple. h1, h2: one and two blocks earlier; s1, s2: the blocks that end one word before those.
 */
// @ts-ignore: decorator
@inline
function short(m: v128, h1: v128, h2: v128, s1: v128, s2: v128): v128 {
  const old = v128.xor(v128.xor(i64x2.shl(h2, 2), i64x2.shl(h2, 34)), v128.xor(i64x2.shr_u(s2, 62), i64x2.shr_u(s2, 30)));
  const carried = v128.xor(v128.xor(i64x2.shr_u(s1, 38), i64x2.shr_u(s1, 15)), i64x2.shr_u(s1, 9));
  const moved = v128.xor(v128.xor(i64x2.shl(h1, 26), i64x2.shl(h1, 49)), i64x2.shl(h1, 55));
  return v128.xor(v128.xor(v128.xor(m, old), carried), moved);
}

function foldShort(region: usize, crc: u32, p: usize, n: usize): u32 {
  const zero = i32x4.splat(0);
  const pad: usize = (0 - n) & 15;
  const places = placesAfter(pad);
  const incoming = i32x4.replace_lane(zero, 0, crc);
  p -= pad;
  let a = firstBlock(p, places, incoming);
  let straddled = straddle(zero, a);
  let b = short(secondBlock(p, places, incoming), a, zero, straddled, zero);
  let before = straddled;
  p += 32;
  let left = ((n + pad) >> 4) - SHORT_BLOCKS - 2;
  while (left >= 2) {
    straddled = straddle(a, b);
    a = short(v128.load(p), b, a, straddled, before);
    before = straddle(b, a);
    b = short(v128.load(p, 16), a, b, before, straddled);
    p += 32;
    left -= 2;
  }
  if (left > 0) {
    straddled = straddle(a, b);
    const block = short(v128.load(p), b, a, straddled, before);
    before = straddled;
    a = b;
    b = block;
    p += 16;
  }
  const out = region + FOLD + SHORT_OUT;
  straddled = straddle(a, b);
  v128.store(out, short(v128.load(p), b, a, straddled, before));
  before = straddle(b, zero);
  v128.store(out, short(v128.load(p, 16), zero, b, before, straddled), 16);
  v128.store(out, short(v128.load(p, 32), zero, zero, zero, before), 32);
  return stepSixteen(stepSixteen(stepSixteen(0, out), out + 16), out + 32);
}

function foldNear(region: usize, crc: u32, p: usize, n: usize): u32 {
  const zero = i32x4.splat(0);
  const pad: usize = (0 - n) & 15;
  const places = placesAfter(pad);
  const incoming = i32x4.replace_lane(zero, 0, crc);
  p -= pad;
  // The history, oldest first; `tap` belongs to the block that comes next.
  let a = zero;
  let b = zero;
  let c = zero;
  let d = zero;
  let e = zero;
  let f = firstBlock(p, places, incoming);
  let next = f;
  let g = v128.xor(secondBlock(p, places, incoming), i64x2.shl(straddle(zero, next), 1));
  let tap = next;
  p += 32;
  let left = ((n + pad) >> 4) - NEAR_BLOCKS - 2;
  while (left >= NEAR_BLOCKS) {
    next = nearTap(g, f, c);
    a = near(v128.load(p), e, b, a, tap, next);
    tap = nearTap(a, g, d);
    b = near(v128.load(p, 16), f, c, b, next, tap);
    next = nearTap(b, a, e);
    c = near(v128.load(p, 32), g, d, c, tap, next);
    tap = nearTap(c, b, f);
    d = near(v128.load(p, 48), a, e, d, next, tap);
    next = nearTap(d, c, g);
    e = near(v128.load(p, 64), b, f, e, tap, next);
    tap = nearTap(e, d, a);
    f = near(v128.load(p, 80), c, g, f, next, tap);
    next = nearTap(f, e, b);
    g = near(v128.load(p, 96), d, a, g, tap, next);
    tap = next;
    p += 16 * NEAR_BLOCKS;
    left -= NEAR_BLOCKS;
  }
  // The last blocks one by one; those of the residual leave nothing behind that would have to be erased.
  const out = region + FOLD + NEAR_OUT;
  for (let i: isize = 0 - <isize>left; i < <isize>NEAR_BLOCKS; i++) {
    next = nearTap(g, f, c);
    const block = near(v128.load(p), e, b, a, tap, next);
    tap = next;
    a = b;
    b = c;
    c = d;
    d = e;
    e = f;
    f = g;
    g = zero;
    if (i < 0) g = block;
    else v128.store(out + (<usize>i << 4), block);
    p += 16;
  }
  return foldShort(region, 0, out, NEAR_RESIDUAL);
}

function foldMiddle(region: usize, crc: u32, p: usize, n: usize): u32 {
  const zero = i32x4.splat(0);
  const pad: usize = (0 - n) & 15;
  const places = placesAfter(pad);
  const incoming = i32x4.replace_lane(zero, 0, crc);
  p -= pad;
  let a = zero;
  let b = zero;
  let c = zero;
  let d = zero;
  let e = zero;
  let f = zero;
  let g = zero;
  let h = zero;
  let i = zero;
  let j = zero;
  let k = zero;
  let l = firstBlock(p, places, incoming);
  let m = secondBlock(p, places, incoming);
  let tap = zero;
  let next = zero;
  p += 32;
  let left = ((n + pad) >> 4) - MIDDLE_BLOCKS - 2;
  while (left >= MIDDLE_BLOCKS) {
    next = middleTap(k, i, c);
    a = middle(v128.load(p), h, b, a, tap, next);
    tap = middleTap(l, j, d);
    b = middle(v128.load(p, 16), i, c, b, next, tap);
    next = middleTap(m, k, e);
    c = middle(v128.load(p, 32), j, d, c, tap, next);
    tap = middleTap(a, l, f);
    d = middle(v128.load(p, 48), k, e, d, next, tap);
    next = middleTap(b, m, g);
    e = middle(v128.load(p, 64), l, f, e, tap, next);
    tap = middleTap(c, a, h);
    f = middle(v128.load(p, 80), m, g, f, next, tap);
    next = middleTap(d, b, i);
    g = middle(v128.load(p, 96), a, h, g, tap, next);
    tap = middleTap(e, c, j);
    h = middle(v128.load(p, 112), b, i, h, next, tap);
    next = middleTap(f, d, k);
    i = middle(v128.load(p, 128), c, j, i, tap, next);
    tap = middleTap(g, e, l);
    j = middle(v128.load(p, 144), d, k, j, next, tap);
    next = middleTap(h, f, m);
    k = middle(v128.load(p, 160), e, l, k, tap, next);
    tap = middleTap(i, g, a);
    l = middle(v128.load(p, 176), f, m, l, next, tap);
    next = middleTap(j, h, b);
    m = middle(v128.load(p, 192), g, a, m, tap, next);
    tap = next;
    p += 16 * MIDDLE_BLOCKS;
    left -= MIDDLE_BLOCKS;
  }
  const out = region + FOLD + MIDDLE_OUT;
  for (let at: isize = 0 - <isize>left; at < <isize>MIDDLE_BLOCKS; at++) {
    next = middleTap(k, i, c);
    const block = middle(v128.load(p), h, b, a, tap, next);
    tap = next;
    a = b;
    b = c;
    c = d;
    d = e;
    e = f;
    f = g;
    g = h;
    h = i;
    i = j;
    j = k;
    k = l;
    l = m;
    m = zero;
    if (at < 0) m = block;
    else v128.store(out + (<usize>at << 4), block);
    p += 16;
  }
  return foldNear(region, 0, out, MIDDLE_RESIDUAL);
}

// @ts-ignore: decorator
@inline
function erase(m: v128, first: v128, second: v128, third: v128): v128 {
  return v128.xor(v128.xor(m, first), v128.xor(second, third));
}

function foldFar(region: usize, crc: u32, p: usize, n: usize): u32 {
  assert(FAR_OUT + FAR_HISTORY + 48 <= <usize>(FOLD_WINDOW - FOLD), 'the residual ends before the window');
  const window = region + FOLD_WINDOW;
  const end = window + FOLD_WINDOW_BYTES;
  memory.fill(window, 0, FAR_HISTORY);
  // The block being written lies FAR_HISTORY after h, so that every distance back from it is a constant offset.
  let h = window;
  v128.store(h, v128.xor(v128.load(p), i32x4.replace_lane(i32x4.splat(0), 0, crc)), FAR_HISTORY);
  p += 16;
  h += 16;
  let left = ((n - FAR_REACH) & ~15) - 16;
  const rest = n - left - 16;
  while (left > 0) {
    if (h >= end) {
      memory.copy(window, h, FAR_HISTORY);
      h = window;
    }
    const take = min<usize>(left, end - h);
    left -= take;
    const to64 = h + (take & ~63);
    const to = h + take;
    while (h < to64) {
      v128.store(
        h,
        erase(v128.load(p), v128.load(h, AT_767), v128.load(h, AT_2524), v128.load(h, AT_5275)),
        FAR_HISTORY,
      );
      v128.store(
        h,
        erase(v128.load(p, 16), v128.load(h, AT_767 + 16), v128.load(h, AT_2524 + 16), v128.load(h, AT_5275 + 16)),
        FAR_HISTORY + 16,
      );
      v128.store(
        h,
        erase(v128.load(p, 32), v128.load(h, AT_767 + 32), v128.load(h, AT_2524 + 32), v128.load(h, AT_5275 + 32)),
        FAR_HISTORY + 32,
      );
      v128.store(
        h,
        erase(v128.load(p, 48), v128.load(h, AT_767 + 48), v128.load(h, AT_2524 + 48), v128.load(h, AT_5275 + 48)),
        FAR_HISTORY + 48,
      );
      p += 64;
      h += 64;
    }
    while (h < to) {
      v128.store(
        h,
        erase(v128.load(p), v128.load(h, AT_767), v128.load(h, AT_2524), v128.load(h, AT_5275)),
        FAR_HISTORY,
      );
      p += 16;
      h += 16;
    }
  }
  // The residual: nothing from here on is erased, so the window reads as zeros.
  memory.fill(h + FAR_HISTORY, 0, FAR_HISTORY + 16);
  const out = region + FOLD + FAR_OUT;
  for (let at: usize = 0; at < rest; at += 16) {
    const block = erase(v128.load(p + at), v128.load(h, AT_767), v128.load(h, AT_2524), v128.load(h, AT_5275));
    v128.store(out + at, block);
    h += 16;
  }
  return foldMiddle(region, 0, out, rest);
}

/** Raw CRC (neither end inverted) of n bytes at p, continued from `crc`. May read, not use, 15 bytes on either side. */
export function foldCrc(region: usize, crc: u32, p: usize, n: usize): u32 {
  if (n < SHORT_LEAST) return stepBytes(crc, p, n);
  if (n < NEAR_LEAST) return foldShort(region, crc, p, n);
  if (n < MIDDLE_LEAST) return foldNear(region, crc, p, n);
  if (n < FAR_LEAST) return foldMiddle(region, crc, p, n);
  return foldFar(region, crc, p, n);
}
