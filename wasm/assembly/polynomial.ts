// Arithmetic in GF(2)[x] modulo the CRC-32C polynomial, bits reflected: bit 31 is x^0.
import { SHIFTS } from '../../src/record/kernel-layout';

const POLYNOMIAL: u32 = 0x82f63b78;

// @ts-ignore: decorator
@inline
export function timesX(value: u32): u32 {
  return (value >> 1) ^ (POLYNOMIAL & (0 - (value & 1)));
}

/** a·b mod P. Two halves of `a` side by side, so that the two chains of dependent steps overlap. */
export function multiply(a: u32, b: u32): u32 {
  let high: u32 = 0;
  let low: u32 = 0;
  let lowBits = a << 16;
  let lowFactor = b;
  for (let i = 0; i < 16; i++) lowFactor = timesX(lowFactor);
  for (let i = 0; i < 16; i++) {
    high ^= b & (0 - (a >> 31));
    low ^= lowFactor & (0 - (lowBits >> 31));
    a <<= 1;
    lowBits <<= 1;
    b = timesX(b);
    lowFactor = timesX(lowFactor);
  }
  return high ^ low;
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
