// CRC-32 as gzip has it (polynomial 04c11db7, reflected), by XOR folding.
//
// If x^a + x^b + x^c + 1 is a multiple of the polynomial, a block of the message can be erased by XORing it into the
// places a-b, a-c and a bytes further on, whatever its size. These are the sparsest multiples of small degree; as bytes,
// their distances exceed 16, so that whole vectors move at a time.

const POLYNOMIAL: u32 = 0xedb88320;
/** From x^3006 + x^2866 + x^2215 + 1. */
const FAR_1: usize = 140;
const FAR_2: usize = 791;
const FAR_REACH: usize = 3006;
/** From x^300 + x^155 + x^117 + x^89 + 1. */
const NEAR_1: usize = 145;
const NEAR_2: usize = 183;
const NEAR_3: usize = 211;
const NEAR_REACH: usize = 300;

// Work area, bytes from its start: byte table, window with what has been folded, the two remainders.
const WINDOW: usize = 1024;
const WINDOW_BYTES: usize = 16384;
const FAR_REST: usize = WINDOW + 3008 + WINDOW_BYTES;
const NEAR_REST: usize = FAR_REST + 3072;
export const CRC32_WORK_BYTES: usize = NEAR_REST + 384;

/** CRC-32 of [from, end). `work` is CRC32_WORK_BYTES of scratch. */
export function crc32(from: usize, end: usize, work: usize): u32 {
  writeTable(work);
  const size = end - from;
  let crc: u32 = 0xffffffff;
  if (size >= 4 * FAR_REACH) {
    const rest = fold(true, crc, from, size, work);
    from = work + FAR_REST;
    end = from + rest;
    crc = 0;
  }
  if (end - from >= 2 * NEAR_REACH) {
    const rest = fold(false, crc, from, end - from, work);
    from = work + NEAR_REST;
    end = from + rest;
    crc = 0;
  }
  for (; from < end; from++) crc = (crc >> 8) ^ load<u32>(work + (<usize>((crc ^ load<u8>(from)) & 0xff) << 2));
  return ~crc;
}

/** The CRCs of single bytes: those of one bit, and every sum of two known ones. */
function writeTable(work: usize): void {
  let crc: u32 = 1;
  store<u32>(work, 0);
  for (let bit: u32 = 128; bit != 0; bit >>= 1) {
    crc = (crc >> 1) ^ (POLYNOMIAL & (0 - (crc & 1)));
    for (let i: u32 = 0; i < 256; i += 2 * bit) {
      store<u32>(work + ((i + bit) << 2), crc ^ load<u32>(work + (i << 2)));
    }
  }
}

/** What is folded into the 16 bytes at `at` of the window from those before it. */
// @ts-ignore: decorator
@inline
function gathered(far: bool, at: usize): v128 {
  if (far) {
    const base = at - FAR_REACH;
    return v128.xor(
      v128.load(base),
      v128.xor(v128.load(base, FAR_REACH - FAR_1), v128.load(base, FAR_REACH - FAR_2)),
    );
  }
  const base = at - NEAR_REACH;
  return v128.xor(
    v128.xor(v128.load(base), v128.load(base, NEAR_REACH - NEAR_1)),
    v128.xor(v128.load(base, NEAR_REACH - NEAR_2), v128.load(base, NEAR_REACH - NEAR_3)),
  );
}

/**
 * Folds all but the last `reach` bytes (and up to 15 more) of the message away. What is left has the message's CRC when
 * begun with 0, and is written to the work area; returns its size.
 */
// @ts-ignore: decorator
@inline
function fold(far: bool, crc: u32, from: usize, size: usize, work: usize): usize {
  const reach = far ? FAR_REACH : NEAR_REACH;
  const kept = (reach + 15) & ~15;
  const origin = work + WINDOW + kept;
  const limit = origin + WINDOW_BYTES - 512;
  memory.fill(work + WINDOW, 0, kept);
  let left = (size - reach) & ~15;
  const rest = size - left;
  v128.store(origin, v128.xor(v128.load(from), i32x4(crc, 0, 0, 0)));
  let at = origin + 16;
  from += 16;
  left -= 16;
  while (left != 0) {
    if (at >= limit) {
      memory.copy(work + WINDOW, at - kept, kept);
      at = origin;
    }
    const take = min<usize>(left, limit - at);
    const stop = at + take;
    while (at + 64 <= stop) {
      v128.store(at, v128.xor(v128.load(from), gathered(far, at)));
      v128.store(at + 16, v128.xor(v128.load(from, 16), gathered(far, at + 16)));
      v128.store(at + 32, v128.xor(v128.load(from, 32), gathered(far, at + 32)));
      v128.store(at + 48, v128.xor(v128.load(from, 48), gathered(far, at + 48)));
      at += 64;
      from += 64;
    }
    while (at < stop) {
      v128.store(at, v128.xor(v128.load(from), gathered(far, at)));
      at += 16;
      from += 16;
    }
    left -= take;
  }
  // Nothing is folded from the rest onwards: zeros stand where its own folds would lie.
  let out = work + (far ? FAR_REST : NEAR_REST);
  const outEnd = out + rest;
  if (at + reach + 16 > work + FAR_REST) {
    memory.copy(work + WINDOW, at - kept, kept);
    at = origin;
  }
  memory.fill(at, 0, reach + 16);
  while (out + 16 <= outEnd) {
    v128.store(out, v128.xor(v128.load(from), gathered(far, at)));
    at += 16;
    from += 16;
    out += 16;
  }
  const tail = gathered(far, at);
  v128.store(work + NEAR_REST + 352, tail);
  for (let i: usize = 0; out + i < outEnd; i++) {
    store<u8>(out + i, load<u8>(from + i) ^ load<u8>(work + NEAR_REST + 352 + i));
  }
  return rest;
}
