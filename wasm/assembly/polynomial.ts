// Arithmetic in GF(2)[x] modulo the CRC-32C polynomial, bits reflected: bit 31 is x^0.
import { SHIFTS } from '../../src/record/kernel-layout';
import { lastWord } from './crc-tables';

const POLYNOMIAL: u32 = 0x82f63b78;

// @ts-ignore: decorator
@inline
export function timesX(value: u32): u32 {
  return (value >> 1) ^ (POLYNOMIAL & (0 - (value & 1)));
}

/** a·b mod P, bit by bit: for the tables, before which there is no other way. */
export function multiplySlowly(a: u32, b: u32): u32 {
  let product: u32 = 0;
  for (let i = 0; i < 32; i++) {
    product ^= b & (0 - (a >> 31));
    a <<= 1;
    b = timesX(b);
  }
  return product;
}

/**
 * a·b mod P in some thirty cycles. Integer products of every fourth bit cannot carry into one another (at most eight
 * ones meet, and four bits hold fifteen), so sixteen of them make a carry-less product; SLICING reduces it.
 */
export function multiply(a: u32, b: u32): u32 {
  const a0 = <u64>(a & 0x11111111);
  const a1 = <u64>(a & 0x22222222);
  const a2 = <u64>(a & 0x44444444);
  const a3 = <u64>(a & 0x88888888);
  const b0 = <u64>(b & 0x11111111);
  const b1 = <u64>(b & 0x22222222);
  const b2 = <u64>(b & 0x44444444);
  const b3 = <u64>(b & 0x88888888);
  const c0 = (a0 * b0) ^ (a1 * b3) ^ (a2 * b2) ^ (a3 * b1);
  const c1 = (a0 * b1) ^ (a1 * b0) ^ (a2 * b3) ^ (a3 * b2);
  const c2 = (a0 * b2) ^ (a1 * b1) ^ (a2 * b0) ^ (a3 * b3);
  const c3 = (a0 * b3) ^ (a1 * b2) ^ (a2 * b1) ^ (a3 * b0);
  const product =
    (c0 & 0x1111111111111111) |
    (c1 & 0x2222222222222222) |
    (c2 & 0x4444444444444444) |
    (c3 & 0x8888888888888888);
  // Reflected factors give a product one place short. Its lower half, the higher powers, is reduced like four bytes.
  const reflected = product << 1;
  return <u32>(reflected >> 32) ^ lastWord(<u32>reflected);
}

/** crc·x^(8·zeroBytes) mod P: what a raw CRC becomes after that many zero bytes. At most four multiplications. */
export function shiftBytes(crc: u32, zeroBytes: u32): u32 {
  let row: u32 = SHIFTS;
  while (zeroBytes != 0) {
    const digit = zeroBytes & 0xff;
    if (digit != 0) crc = multiply(crc, load<u32>(row + (digit << 2)));
    zeroBytes >>= 8;
    row += 1024;
  }
  return crc;
}
