import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MalformedError } from '../../src/protocol/malformed-error.ts';
import { FrameDecoder } from '../../src/server/frame-decoder.ts';

function frame(body: Uint8Array): Buffer {
  const size = Buffer.alloc(4);
  size.writeInt32BE(body.length);
  return Buffer.concat([size, body]);
}

/** Cuts bytes at the given places. */
function cut(bytes: Buffer, places: readonly number[]): Buffer[] {
  const ends = [...new Set(places.map((place) => place % (bytes.length + 1)))].sort((a, b) => a - b);
  return [0, ...ends].map((start, index) => bytes.subarray(start, ends[index] ?? bytes.length));
}

function sizeOf(value: number): Buffer {
  const size = Buffer.alloc(4);
  size.writeInt32BE(value);
  return size;
}

describe('FrameDecoder', () => {
  it('gives the same frames however the bytes are cut, and counts what it holds', () => {
    const bodies = fc.array(fc.uint8Array({ minLength: 1, maxLength: 60 }), { maxLength: 8 });
    fc.assert(
      fc.property(bodies, fc.array(fc.nat(), { maxLength: 30 }), (frames, places) => {
        const decoder = new FrameDecoder(60);
        const got: Buffer[] = [];
        for (const chunk of cut(Buffer.concat(frames.map(frame)), places)) {
          decoder.push(chunk);
          for (let next = decoder.next(); next; next = decoder.next()) got.push(next);
        }
        expect(got.map((body) => [...body])).toEqual(frames.map((body) => [...body]));
        expect(decoder.bufferedBytes).toBe(0);
      }),
    );
  });

  it.each([0, -1, -(2 ** 31), 61, 2 ** 31 - 1])('refuses a claim of %d bytes from its four bytes alone', (claimed) => {
    const decoder = new FrameDecoder(60);
    const size = sizeOf(claimed);
    decoder.push(size.subarray(0, 1));
    decoder.push(size.subarray(1, 3));
    expect(decoder.next()).toBeUndefined();
    decoder.push(size.subarray(3));
    expect(() => decoder.next()).toThrow(MalformedError);
    expect(() => decoder.next()).toThrow(`a frame claims ${claimed} bytes; 1 to 60 are allowed`);
  });

  it('allocates nothing for a claim whose bytes have not come', () => {
    const decoder = new FrameDecoder(2 ** 31 - 1);
    const before = process.memoryUsage().arrayBuffers;
    decoder.push(Buffer.concat([sizeOf(2 ** 31 - 1), Buffer.alloc(10)]));
    expect(decoder.next()).toBeUndefined();
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(1_000_000);
  });

  it('shows a frame that came in one piece as a view', () => {
    const decoder = new FrameDecoder(100);
    const chunk = frame(Buffer.from('hello'));
    decoder.push(chunk);
    expect(decoder.next()!.buffer).toBe(chunk.buffer);
  });
});
