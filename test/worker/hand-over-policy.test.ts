import { describe, expect, it } from 'vitest';
import { estimateUs, isWorthHandingOver, MEASURED_FROM_US } from '../../src/worker/hand-over-policy.ts';
import { KAFKA_DEFAULTS } from '../support/test-kernel.ts';

describe('hand-over policy', () => {
  const small = { kind: 'validate', address: 0, size: 100, options: KAFKA_DEFAULTS } as const;
  const find = { kind: 'find', address: 0, size: 100, timestamp: 0n, fromOffset: 0n } as const;

  it('has every compressed batch measured, however small, since nothing tells what is in it', () => {
    for (const attributes of [1, 2, 3, 4]) {
      for (const task of [small, find]) {
        for (const recordCount of [1, 0, -5]) {
          expect(estimateUs(task, { attributes, recordCount })).toBeGreaterThanOrEqual(MEASURED_FROM_US);
        }
      }
    }
  });

  it('has no worker look at a small batch because it claims many records', () => {
    const first = { attributes: 1, recordCount: 2 ** 31 - 1 };
    expect(isWorthHandingOver(small, estimateUs(small, first), first)).toBe(false);
  });

  it('hands over even a small batch that is to be compressed at a high level', () => {
    const first = { attributes: 0, recordCount: 10 };
    const at = (compressionLevel: number) => {
      const options = { ...KAFKA_DEFAULTS, compressionType: 'zstd', compressionLevel } as const;
      const task = { ...small, size: 1000, options };
      return isWorthHandingOver(task, estimateUs(task, first), first);
    };
    expect([at(-7), at(3), at(9), at(22)]).toEqual([false, false, true, true]);
  });

  it('reads no clock for a small plain one', () => {
    expect(estimateUs(small, { attributes: 0, recordCount: 1 })).toBeLessThan(MEASURED_FROM_US);
  });
});
