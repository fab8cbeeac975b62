// The backward bit streams of zstd's entropy coders. A stream is read from its last byte to its first; the highest set
// bit of the last byte only marks where it begins. The reader's state is `at`, where the 8 bytes in hand were loaded,
// and `used`, how many of their 64 bits (from the top) are gone; at the end `at` is the start and `used` is 64.
import { SHORT_STREAM } from './zstd-tables';

/** Bits of the last byte that hold no data: its leading zeros and the mark. 9 when there is no mark. */
// @ts-ignore: decorator
@inline
export function padding(end: usize): u32 {
  return clz<u32>(<u32>load<u8>(end - 1)) - 23;
}

/** Copies a stream of less than 8 bytes into the scratch; where it lies then. */
export function copyShortStream(start: usize, end: usize, scratch: usize): usize {
  const copy = scratch + SHORT_STREAM;
  store<u64>(copy, 0);
  memory.copy(copy, start, end - start);
  return copy;
}
