// Copies of literals and matches, shared by all decompressors. The wild ones write whole 16-byte vectors and so up to
// WILD bytes past `end`; callers use them only where the destination reaches that far.

/** Bytes past its end that a wild copy may write (and, of a literal, read). */
export const WILD: usize = 32;

/** Copies literals [from, from + (end - to)) to [to, end), no overlap. */
// @ts-ignore: decorator
@inline
export function wildCopyLiterals(to: usize, from: usize, end: usize): void {
  do {
    v128.store(to, v128.load(from));
    to += 16;
    from += 16;
  } while (to < end);
}

/** Repeats what lies `distance` bytes before `to` over [to, end); distance at least 1, the range may overlap its source. */
// @ts-ignore: decorator
@inline
export function wildCopyMatch(to: usize, distance: usize, end: usize): void {
  let from = to - distance;
  // Every round doubles the distance: after it, twice as many bytes repeat from `from`.
  while (distance < 16) {
    v128.store(to, v128.load(from));
    to += distance;
    if (to >= end) return;
    distance <<= 1;
  }
  do {
    v128.store(to, v128.load(from));
    to += 16;
    from += 16;
  } while (to < end);
}

/** The same for the end of a destination: never writes at or past `end`. Its last bytes go one by one. */
export function copyMatchExactly(to: usize, distance: usize, end: usize): void {
  if (end - to > WILD) {
    const wildEnd = end - WILD;
    wildCopyMatch(to, distance, wildEnd);
    to = wildEnd;
  }
  while (to < end) {
    store<u8>(to, load<u8>(to - distance));
    to++;
  }
}
