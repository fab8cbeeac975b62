/** A run of bytes inside one object: position and size in bytes, checked once, where it enters. */
export interface ByteRange {
  /** First byte, counted from 0. */
  readonly position: number;
  /** Length in bytes; at least 1 unless a function says otherwise. */
  readonly size: number;
}

/** @throws RangeError unless position and size are safe, non-negative integers whose sum is safe too. */
export function byteRange(position: number, size: number): ByteRange {
  const valid = Number.isSafeInteger(position) && Number.isSafeInteger(size) && position >= 0 && size >= 0;
  if (!valid || !Number.isSafeInteger(position + size)) {
    throw new RangeError(`byte range position ${position} size ${size} is not a range of safe integers`);
  }
  return { position, size };
}

/** The first byte after the range. */
export function endOf(range: ByteRange): number {
  return range.position + range.size;
}
