// The kernel's lookup tables. Written once, by the first instance over a memory, before any other instance exists.
import { SHIFTS, SLICING } from '../../src/record/kernel-layout';
import { multiplySlowly, timesX } from './polynomial';

/** Fills SLICING and SHIFTS. Writing them again writes the same bytes. */
export function initTables(): void {
  for (let i: u32 = 0; i < 256; i++) {
    let crc = i;
    for (let bit = 0; bit < 8; bit++) crc = timesX(crc);
    store<u32>(SLICING + (i << 2), crc);
  }
  // Table k moves a byte over k further zero bytes.
  for (let k: u32 = 1; k < 16; k++) {
    for (let i: u32 = 0; i < 256; i++) {
      const before = load<u32>(SLICING + ((k - 1) << 10) + (i << 2));
      const after = (before >> 8) ^ load<u32>(SLICING + ((before & 0xff) << 2));
      store<u32>(SLICING + (k << 10) + (i << 2), after);
    }
  }
  // Digit j of a length, base 256: start with x^8, then raise to the 256th power from row to row.
  let base: u32 = 0x00800000;
  for (let j: u32 = 0; j < 4; j++) {
    let power: u32 = 0x80000000;
    for (let v: u32 = 0; v < 256; v++) {
      store<u32>(SHIFTS + (j << 10) + (v << 2), power);
      power = multiplySlowly(power, base);
    }
    base = power;
  }
}
