import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RequestBody } from '../../../src/storage/s3/request-body.ts';
import { tellsSeed } from '../../support/tells-seed.ts';

/** Chunk sizes around the bounds at which bytes are copied or cut. */
const size = fc.oneof(
  fc.integer({ min: 0, max: 300 }),
  fc.constantFrom(64, 127, 128, 129, 255, 256, 257, 383, 384, 385, 512, 900).map((kib) => kib * 1024),
  fc.integer({ min: 0, max: 700_000 }),
);

function chunksOf(sizes: readonly number[]): Uint8Array[] {
  let seed = 1;
  return sizes.map((bytes) => {
    const chunk = new Uint8Array(bytes);
    for (let i = 0; i < bytes; i += 97) chunk[i] = seed++ & 255;
    return chunk;
  });
}

async function collect(body: RequestBody): Promise<Uint8Array[]> {
  const pieces: Uint8Array[] = [];
  for await (const piece of body.stream(() => true)) pieces.push(piece);
  return pieces;
}

describe('RequestBody', () => {
  it('streams every byte once, in order; what shares memory with the caller is large enough to wait for its drain', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(size, { maxLength: 8 }), async (sizes) => {
        const chunks = chunksOf(sizes);
        const memories = new Set<ArrayBufferLike>(chunks.map((chunk) => chunk.buffer));
        const pieces = await collect(new RequestBody(chunks));
        expect(Buffer.compare(Buffer.concat(pieces), Buffer.concat(chunks))).toBe(0);
        for (const piece of pieces) {
          expect(piece.byteLength).toBeGreaterThan(0);
          if (memories.has(piece.buffer)) expect(piece.byteLength).toBeGreaterThan(64 * 1024);
        }
      }),
      { ...tellsSeed(), numRuns: 40 },
    );
  });

  it('slices like the joined bytes', () => {
    fc.assert(
      fc.property(fc.array(size, { maxLength: 6 }), fc.nat(), fc.nat(), (sizes, from, length) => {
        const body = new RequestBody(chunksOf(sizes));
        const position = from % (body.sizeBytes + 1);
        const bytes = Math.min(length, body.sizeBytes - position);
        const slice = body.slice(position, bytes);
        expect(slice.sizeBytes).toBe(bytes);
        const expected = Buffer.concat(body.chunks).subarray(position, position + bytes);
        expect(Buffer.compare(Buffer.concat(slice.chunks), expected)).toBe(0);
      }),
      { numRuns: 40 },
    );
  });

  it('stops handing out bytes as soon as its attempt is over', async () => {
    const body = new RequestBody(chunksOf([1_000_000, 10, 1_000_000]));
    let asked = 0;
    const pieces: Uint8Array[] = [];
    for await (const piece of body.stream(() => ++asked <= 2)) pieces.push(piece);
    expect(pieces).toHaveLength(2);
  });
});
