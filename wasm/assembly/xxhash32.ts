// xxHash32: header and block checksums of LZ4 frames.

const PRIME_1: u32 = 0x9e3779b1;
const PRIME_2: u32 = 0x85ebca77;
const PRIME_3: u32 = 0xc2b2ae3d;
const PRIME_4: u32 = 0x27d4eb2f;
const PRIME_5: u32 = 0x165667b1;

// @ts-ignore: decorator
@inline
function round(accumulator: u32, lane: u32): u32 {
  return rotl<u32>(accumulator + lane * PRIME_2, 13) * PRIME_1;
}

/** Hash of [from, end) with a seed. */
export function xxhash32(from: usize, end: usize, seed: u32): u32 {
  const length = <u32>(end - from);
  let hash: u32;
  if (length >= 16) {
    let a = seed + PRIME_1 + PRIME_2;
    let b = seed + PRIME_2;
    let c = seed;
    let d = seed - PRIME_1;
    const stripesEnd = end - 16;
    do {
      a = round(a, load<u32>(from));
      b = round(b, load<u32>(from, 4));
      c = round(c, load<u32>(from, 8));
      d = round(d, load<u32>(from, 12));
      from += 16;
    } while (from <= stripesEnd);
    hash = rotl<u32>(a, 1) + rotl<u32>(b, 7) + rotl<u32>(c, 12) + rotl<u32>(d, 18);
  } else {
    hash = seed + PRIME_5;
  }
  hash += length;
  while (from + 4 <= end) {
    hash = rotl<u32>(hash + load<u32>(from) * PRIME_3, 17) * PRIME_4;
    from += 4;
  }
  while (from < end) {
    hash = rotl<u32>(hash + <u32>load<u8>(from) * PRIME_5, 11) * PRIME_1;
    from++;
  }
  hash = (hash ^ (hash >> 15)) * PRIME_2;
  hash = (hash ^ (hash >> 13)) * PRIME_3;
  return hash ^ (hash >> 16);
}
