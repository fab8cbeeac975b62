/** Memory that large frames share, one after the other. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FrameBuffers } from '../../src/server/frame-buffers.ts';

const KiB = 1024;
const MiB = 1024 * KiB;

describe('FrameBuffers', () => {
  it('gives memory again that was given back, to frames of about its size', () => {
    const buffers = new FrameBuffers();
    const first = buffers.take(MiB);
    buffers.giveBack(first.subarray(4));
    expect(buffers.unusedBytes).toBe(MiB);
    expect(buffers.take(600 * KiB).buffer).not.toBe(first.buffer);
    expect(buffers.take(MiB + 1).buffer).not.toBe(first.buffer);
    const again = buffers.take(900 * KiB);
    expect(again.buffer).toBe(first.buffer);
    expect(again.byteLength).toBe(900 * KiB);
    expect(buffers.unusedBytes).toBe(0);
  });

  it('never has one memory in two hands, however often it is given back', () => {
    const step = fc.record({ give: fc.boolean(), kib: fc.integer({ min: 1, max: 9_000 }), which: fc.nat() });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const buffers = new FrameBuffers();
        const held: Buffer[] = [];
        const gone: Buffer[] = [];
        for (const { give, kib, which } of steps) {
          if (!give) held.push(buffers.take(kib * KiB));
          else if (held.length > 0) gone.push(...held.splice(which % held.length, 1));
          if (give && gone.length > 0 && !held.some(({ buffer }) => buffer === gone.at(-1)!.buffer)) {
            buffers.giveBack(gone.at(-1)!);
            buffers.giveBack(gone.at(-1)!);
          }
          expect(new Set(held.map(({ buffer }) => buffer)).size).toBe(held.length);
          expect(buffers.unusedBytes).toBeLessThanOrEqual(32 * MiB);
        }
      }),
      { numRuns: 50 },
    );
  });

  it('leaves memory alone that it did not give', () => {
    const buffers = new FrameBuffers();
    buffers.giveBack(new Uint8Array(MiB));
    buffers.giveBack(buffers.take(KiB));
    expect(buffers.unusedBytes).toBe(0);
  });
});
