// Kafka's varints: little-endian groups of seven bits, zigzag. A reader advances a cursor kept by the caller; since the
// kernel returns one value per call, the two halves are: the number of bytes (0 = too long or past the end), the value.

/** Bytes of the varint at p, or 0 when it does not end within `most` bytes before `end`. */
// @ts-ignore: decorator
@inline
export function varintBytes(p: usize, end: usize, most: i32): i32 {
  for (let i = 0; i < most; i++) {
    if (p + i >= end) return 0;
    if (load<u8>(p + i) < 0x80) return i + 1;
  }
  return 0;
}

/** The signed value of a varint of `bytes` bytes at p, at most 5. Bits above 32 fall off, as in Kafka's reader. */
// @ts-ignore: decorator
@inline
export function readVarint(p: usize, bytes: i32): i32 {
  let raw: u32 = load<u8>(p) & 0x7f;
  for (let i = 1; i < bytes; i++) raw |= (<u32>load<u8>(p + i) & 0x7f) << (7 * i);
  return <i32>((raw >>> 1) ^ (0 - (raw & 1)));
}

/** The same for at most 10 bytes and 64 bits. */
// @ts-ignore: decorator
@inline
export function readVarlong(p: usize, bytes: i32): i64 {
  let raw: u64 = load<u8>(p) & 0x7f;
  for (let i = 1; i < bytes; i++) raw |= (<u64>load<u8>(p + i) & 0x7f) << (<u64>(7 * i));
  return <i64>((raw >>> 1) ^ (0 - (raw & 1)));
}

/** Bytes that a non-negative i32 takes as a zigzag varint. */
// @ts-ignore: decorator
@inline
export function sizeOfVarint(value: i32): i32 {
  const raw = (<u32>value << 1) ^ <u32>(value >> 31);
  return (38 - clz<u32>(raw | 1)) / 7;
}

/** Writes it and returns the address after it. */
// @ts-ignore: decorator
@inline
export function writeVarint(p: usize, value: i32): usize {
  let raw = (<u32>value << 1) ^ <u32>(value >> 31);
  while (raw >= 0x80) {
    store<u8>(p++, <u8>(raw | 0x80));
    raw >>= 7;
  }
  store<u8>(p++, <u8>raw);
  return p;
}
