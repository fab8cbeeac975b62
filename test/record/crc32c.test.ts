/** The CRC and its algebra against an independent implementation: every length and alignment, every split point. */
import crc32cOracle from 'crc-32/crc32c.js';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { seededRandom } from '../../src/common/random.ts';
import { createKernelMemory, kernelModule, RecordKernel } from '../../src/record/record-kernel.ts';

let kernel: RecordKernel;
let base: number;
const SIZE = 400_000;

beforeAll(() => {
  const memory = createKernelMemory({ regions: 1, contentBytes: 65536, slabsBytes: SIZE });
  kernel = new RecordKernel(kernelModule(), memory, 0);
  base = memory.slabsAddress;
  kernel.bytes.set(seededRandom(7).bytes(SIZE), base);
});

const expected = (at: number, size: number): number =>
  crc32cOracle.buf(kernel.bytes.subarray(base + at, base + at + size)) >>> 0;

describe('crc32c', () => {
  it('knows the check value of the polynomial', () => {
    kernel.bytes.write('123456789', base + SIZE - 16, 'latin1');
    expect(kernel.crc32c(base + SIZE - 16, 9)).toBe(0xe3069283);
  });

  it('agrees at every length up to 2,500 and every alignment', () => {
    for (let size = 0; size <= 2500; size++) {
      const at = size % 16;
      expect([size, kernel.crc32c(base + at, size)]).toEqual([size, expected(at, size)]);
    }
  });

  it('agrees at random lengths and positions', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 300_000 }), fc.integer({ min: 0, max: 90_000 }), (size, at) => {
        expect(kernel.crc32c(base + at, size)).toBe(expected(at, size));
      }),
      { numRuns: 150 },
    );
  });

  it('continues and combines at every split point', () => {
    for (const size of [61, 700, 5000]) {
      const whole = expected(3, size);
      for (let split = 0; split <= size; split++) {
        const first = kernel.crc32c(base + 3, split);
        expect(kernel.crc32c(base + 3 + split, size - split, first)).toBe(whole);
        const second = kernel.crc32c(base + 3 + split, size - split);
        expect(kernel.crc32cCombine(first, second, size - split)).toBe(whole);
      }
    }
  });
});
