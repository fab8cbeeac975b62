// Big-endian loads and stores, Kafka's byte order.

// @ts-ignore: decorator
@inline
export function loadI16(p: usize): i32 {
  return <i16>bswap<u16>(load<u16>(p));
}

// @ts-ignore: decorator
@inline
export function loadI32(p: usize): i32 {
  return bswap<i32>(load<i32>(p));
}

// @ts-ignore: decorator
@inline
export function loadI64(p: usize): i64 {
  return bswap<i64>(load<i64>(p));
}

// @ts-ignore: decorator
@inline
export function storeI16(p: usize, value: i32): void {
  store<u16>(p, bswap<u16>(<u16>value));
}

// @ts-ignore: decorator
@inline
export function storeI32(p: usize, value: i32): void {
  store<i32>(p, bswap<i32>(value));
}

// @ts-ignore: decorator
@inline
export function storeI64(p: usize, value: i64): void {
  store<i64>(p, bswap<i64>(value));
}
