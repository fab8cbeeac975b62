import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../src/common/random.ts';
import { AddressAllocator } from '../../src/worker/address-allocator.ts';
import { SharedSlabPool } from '../../src/worker/shared-slab-pool.ts';
import type { Slab } from '../../src/worker/slab-pool.ts';

function poolOf(append: number, fetch: number): SharedSlabPool {
  const size = (append + fetch) * 2;
  return new SharedSlabPool({ buffer: new SharedArrayBuffer(size + 64), address: 64, size }, { append, fetch });
}

describe('slab pool', () => {
  it('leases exactly the size asked for and counts rounding', () => {
    const pool = poolOf(1024, 1024);
    const slab = pool.lease(100, 'append')!;
    expect(slab.bytes.length).toBe(100);
    expect(pool.leasedBytes('append')).toBe(128);
    slab.release();
    expect(pool.leasedBytes('append')).toBe(0);
  });

  it('keeps the accounts apart, and moves a slab between them only when there is room', () => {
    const pool = poolOf(256, 128);
    const first = pool.lease(128, 'append')!;
    const second = pool.lease(128, 'append')!;
    expect(pool.lease(1, 'append')).toBeUndefined();
    expect(first.transfer('fetch')).toBe(true);
    expect(second.transfer('fetch')).toBe(false);
    expect([pool.leasedBytes('append'), pool.leasedBytes('fetch')]).toEqual([128, 128]);
    first.release();
    expect(second.transfer('fetch')).toBe(true);
    second.release();
    pool.assertAllReturned();
  });

  it('gives bytes back with the last release, and refuses to touch a slab after it', () => {
    const pool = poolOf(256, 0);
    const slab = pool.lease(64, 'append')!;
    slab.retain();
    slab.release();
    expect(pool.leasedBytes('append')).toBe(64);
    slab.release();
    expect(() => slab.release()).toThrow(/after its last release/);
    const next = pool.lease(64, 'append')!;
    expect(() => slab.retain()).toThrow(/after its last release/);
    expect(() => pool.assertAllReturned()).toThrow(/1 are still leased \(append 64/);
    next.release();
  });

  it('joins free neighbours whatever the order of release', () => {
    fc.assert(
      fc.property(fc.integer(), (seed) => {
        const random = seededRandom(seed);
        const pool = poolOf(64 * 1024, 64 * 1024);
        const held: { slab: Slab; mark: number }[] = [];
        for (let i = 0; i < 400; i++) {
          if (held.length > 0 && random.next() < 0.45) {
            const { slab, mark } = held.splice(Math.floor(random.next() * held.length), 1)[0]!;
            expect(slab.bytes.every((byte) => byte === mark)).toBe(true);
            slab.release();
            continue;
          }
          const slab = pool.lease(Math.floor(random.next() * 3000), random.next() < 0.5 ? 'append' : 'fetch');
          if (!slab) continue;
          slab.bytes.fill(i & 0xff);
          held.push({ slab, mark: i & 0xff });
        }
        for (const { slab } of held) slab.release();
        pool.assertAllReturned();
        const whole = pool.lease(64 * 1024, 'append');
        expect(whole).toBeDefined();
        whole!.release();
      }),
      { numRuns: 30 },
    );
  });

  it('has one free block again when everything came back', () => {
    const allocator = new AddressAllocator(0, 64 * 100);
    const addresses = Array.from({ length: 100 }, () => allocator.allocate(64)!);
    expect(allocator.allocate(64)).toBeUndefined();
    for (const address of addresses.filter((_, i) => i % 2 === 0)) allocator.free(address, 64);
    expect(allocator.freeBlocks).toBe(50);
    for (const address of addresses.filter((_, i) => i % 2 === 1)) allocator.free(address, 64);
    expect(allocator.freeBlocks).toBe(1);
    expect(allocator.allocate(6400)).toBe(0);
  });
});
