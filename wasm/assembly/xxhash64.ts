// xxHash64 with seed 0: content checksums of zstd frames (their low 32 bits).

const PRIME_1: u64 = 0x9e3779b185ebca87;
const PRIME_2: u64 = 0xc2b2ae3d27d4eb4f;
const PRIME_3: u64 = 0x165667b19e3779f9;
const PRIME_4: u64 = 0x85ebca77c2b2ae63;
const PRIME_5: u64 = 0x27d4eb2f165667c5;

// @ts-ignore: decorator
@inline
function round(accumulator: u64, lane: u64): u64 {
  return rotl<u64>(accumulator + lane * PRIME_2, 31) * PRIME_1;
}

// @ts-ignore: decorator
@inline
function merge(hash: u64, accumulator: u64): u64 {
  return (hash ^ round(0, accumulator)) * PRIME_1 + PRIME_4;
}

/** Hash of [from, end). */
export function xxhash64(from: usize, end: usize): u64 {
  const length = <u64>(end - from);
  let hash: u64;
  if (length >= 32) {
    let a: u64 = PRIME_1 + PRIME_2;
    let b: u64 = PRIME_2;
    let c: u64 = 0;
    let d: u64 = 0 - PRIME_1;
    const stripesEnd = end - 32;
    do {
      a = round(a, load<u64>(from));
      b = round(b, load<u64>(from, 8));
      c = round(c, load<u64>(from, 16));
      d = round(d, load<u64>(from, 24));
      from += 32;
    } while (from <= stripesEnd);
    hash = rotl<u64>(a, 1) + rotl<u64>(b, 7) + rotl<u64>(c, 12) + rotl<u64>(d, 18);
    hash = merge(merge(merge(merge(hash, a), b), c), d);
  } else {
    hash = PRIME_5;
  }
  hash += length;
  while (from + 8 <= end) {
    hash = rotl<u64>(hash ^ round(0, load<u64>(from)), 27) * PRIME_1 + PRIME_4;
    from += 8;
  }
  if (from + 4 <= end) {
    hash = rotl<u64>(hash ^ (<u64>load<u32>(from) * PRIME_1), 23) * PRIME_2 + PRIME_3;
    from += 4;
  }
  while (from < end) {
    hash = rotl<u64>(hash ^ (<u64>load<u8>(from) * PRIME_5), 11) * PRIME_1;
    from++;
  }
  hash = (hash ^ (hash >> 33)) * PRIME_2;
  hash = (hash ^ (hash >> 29)) * PRIME_3;
  return hash ^ (hash >> 32);
}
