/** Payloads that lie: bombs, false sizes, broken checksums, random damage. Each ends in its own clear error, in bounds. */
import * as zlib from 'node:zlib';
import * as zstd from '@bokuweb/zstd-wasm';
import fc from 'fast-check';
import * as lz4 from 'lz4-napi';
import * as snappy from 'snappy';
import { beforeAll, describe, expect, it } from 'vitest';
import { Errors } from '../../../src/common/errors.ts';
import { compress } from '../../../src/record/compression/compress.ts';
import { decompressionFault } from '../../../src/record/compression/decompress.ts';
import { decompressionLimits, maxPlainBytes } from '../../../src/record/compression/decompression-limits.ts';
import * as status from '../../../src/record/compression/decompression-status.ts';
import { CODECS, type Codec, decode, expectPlain, TARGET_BYTES, xxhash32 } from './decompressor.ts';
import { KINDS, type Kind, sample } from './samples.ts';

const MEBIBYTE = 2 ** 20;
/** Kafka's default of `max.message.bytes`. */
const LIMITS = decompressionLimits(1_048_588);

beforeAll(() => zstd.init());

/** A frame of zstd whose blocks are as given: [type, size, body]. */
function zstdFrame(windowByte: number, blocks: readonly (readonly [number, number, Buffer])[]): Buffer {
  const parts: Buffer[] = [Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, windowByte])];
  for (const [i, [type, size, body]] of blocks.entries()) {
    const header = Buffer.alloc(3);
    header.writeUIntLE((size << 3) | (type << 1) | (i === blocks.length - 1 ? 1 : 0), 0, 3);
    parts.push(header, body);
  }
  return Buffer.concat(parts);
}

describe('bombs', () => {
  it('refuses 64 MiB in a 65 KB gzip, a zstd of run-length blocks and an endless lz4 match', () => {
    const gzip = zlib.gzipSync(Buffer.alloc(64 * MEBIBYTE));
    expect(gzip.length).toBeLessThan(66_000);
    const runs = Array.from({ length: 4096 }, () => [1, 131_072, Buffer.from([7])] as const);
    const bombs: [Codec, Buffer][] = [
      ['gzip', gzip],
      ['zstd', zstdFrame(0x58, runs)],
      ['zstd', Buffer.from(compress('zstd', Buffer.alloc(39 * MEBIBYTE)))],
      ['lz4', Buffer.from(compress('lz4', Buffer.alloc(39 * MEBIBYTE)))],
      ['snappy', Buffer.from(compress('snappy', Buffer.alloc(39 * MEBIBYTE)))],
    ];
    for (const [codec, bomb] of bombs) {
      expect([codec, decode(codec, bomb, TARGET_BYTES, LIMITS)]).toEqual([codec, 'OUTPUT_LIMIT']);
      const fault = decompressionFault(status.OUTPUT_LIMIT, codec, bomb.length, LIMITS);
      expect(fault.error).toBe('MESSAGE_TOO_LARGE');
      expect(fault.message).toContain(`${bomb.length} bytes`);
      expect(fault.message).toContain(String(maxPlainBytes(bomb.length, LIMITS)));
    }
  });

  it('keeps memory flat through thirty of them', () => {
    const bomb = zlib.gzipSync(Buffer.alloc(64 * MEBIBYTE));
    decode('gzip', bomb, TARGET_BYTES, LIMITS);
    const before = process.memoryUsage();
    for (let i = 0; i < 30; i++) decode('gzip', bomb, TARGET_BYTES, LIMITS);
    const after = process.memoryUsage();
    expect(after.rss - before.rss).toBeLessThan(32 * MEBIBYTE);
    expect(after.arrayBuffers - before.arrayBuffers).toBeLessThan(MEBIBYTE);
  });

  it('gets through millions of gzip blocks with nothing in them', () => {
    // Four blocks of the fixed code, each ten bits: not the last, its type, the end. Tables for each would take half a minute.
    const four = Buffer.alloc(5);
    four.writeUIntLE(2 + 2 ** 11 + 2 ** 21 + 2 ** 31, 0, 5);
    const header = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]);
    const lastAndTrailer = Buffer.from([3, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    expect(decode('gzip', Buffer.concat([header, Buffer.alloc(8_000_000, four), lastAndTrailer]))).toHaveLength(0);
  });

  it('bounds the ratio, except for what could have been sent plain', () => {
    const zeros = (size: number): Buffer => zlib.gzipSync(Buffer.alloc(size));
    const limits = { ...LIMITS, maxRatio: 100 };
    expect(decode('gzip', zeros(MEBIBYTE), TARGET_BYTES, limits)).toHaveLength(MEBIBYTE);
    expect(decode('gzip', zeros(2 * MEBIBYTE), TARGET_BYTES, limits)).toBe('OUTPUT_LIMIT');
    expect(decode('gzip', zeros(2 * MEBIBYTE), TARGET_BYTES, LIMITS)).toHaveLength(2 * MEBIBYTE);
  });
});

describe('gzip', () => {
  const payload = zlib.gzipSync(sample('json', 20_000, 1));
  const changed = (at: number, value: number): Buffer => {
    const copy = Buffer.from(payload);
    copy[at < 0 ? copy.length + at : at] = value;
    return copy;
  };

  it('is refused when cut at any byte', () => {
    for (let size = 0; size < payload.length; size++) {
      const decoded = decode('gzip', payload.subarray(0, size));
      expect([size, typeof decoded]).toEqual([size, 'string']);
    }
  });

  it('names what is wrong', () => {
    expect(decode('gzip', Buffer.alloc(100))).toBe('BAD_MAGIC');
    expect(decode('gzip', changed(2, 7))).toBe('BAD_HEADER');
    expect(decode('gzip', changed(3, 0x20))).toBe('BAD_HEADER');
    expect(decode('gzip', changed(-8, payload.at(-8)! ^ 1))).toBe('BAD_CONTENT_CHECKSUM');
    expect(decode('gzip', changed(-4, payload.at(-4)! ^ 1))).toBe('SIZE_MISMATCH');
    const header = payload.subarray(0, 10);
    expect(decode('gzip', Buffer.concat([header, Buffer.from([7, 0])]))).toBe('BAD_BLOCK_TYPE');
    expect(decode('gzip', Buffer.concat([header, Buffer.from([1, 5, 0, 0, 0])]))).toBe('SIZE_MISMATCH');
    const second = Buffer.concat([payload, payload.subarray(0, 300)]);
    expect(decode('gzip', second)).toBe('TRUNCATED');
  });

  const gunzip = (bytes: Uint8Array): Buffer | undefined => {
    try {
      return zlib.gunzipSync(bytes, { maxOutputLength: 4 * MEBIBYTE });
    } catch {
      return undefined;
    }
  };

  /** What a damage leaves behind the last member, and is no sound header, zlib refuses and Kafka ignores. */
  const isWholeUpToSomewhere = (bytes: Uint8Array, plain: Uint8Array): boolean =>
    bytes.some((_, end) => gunzip(bytes.subarray(0, end))?.equals(plain));

  const checkAgreement = (bytes: Uint8Array): void => {
    const expected = gunzip(bytes);
    const decoded = decode('gzip', bytes, 4 * MEBIBYTE);
    if (expected !== undefined) expectPlain(decoded, expected);
    else if (typeof decoded !== 'string') expect(isWholeUpToSomewhere(bytes, decoded)).toBe(true);
  };

  it('agrees with zlib about every damaged stream', () => {
    fc.assert(
      fc.property(damaged('gzip'), ({ bytes }) => checkAgreement(bytes)),
      {
        numRuns: 500,
        examples: [[{ bytes: Buffer.concat([zlib.gzipSync(''), Buffer.of(1)]), label: 'a byte too many' }]],
      },
    );
  });
});

describe('snappy', () => {
  const header = Buffer.from(compress('snappy', Buffer.alloc(0)));
  const raw = snappy.compressSync(sample('json', 20_000, 1));

  it.each([0xffffffff, 0x7fffffff, 0x80000000, 1000])('refuses a chunk length of %i', (length) => {
    const chunk = Buffer.alloc(104);
    chunk.writeUInt32BE(length);
    expect(decode('snappy', Buffer.concat([header, chunk]))).toBe('TRUNCATED');
  });

  it('refuses a block that claims 2 GiB before it writes anything', () => {
    expect(decode('snappy', Buffer.from([0xff, 0xff, 0xff, 0xff, 0x07, 0, 0, 0]))).toBe('SIZE_MISMATCH');
    expect(decode('snappy', Buffer.from([0xff, 0xff, 0xff, 0xff, 0xff, 0x0f, 0]))).toBe('BAD_HEADER');
    const fault = decompressionFault(status.SIZE_MISMATCH, 'snappy', 8, LIMITS);
    expect(Errors[fault.error]).toBe(Errors.CORRUPT_MESSAGE);
  });

  it('names what is wrong', () => {
    expect(decode('snappy', Buffer.alloc(0))).toBe('TRUNCATED');
    expect(decode('snappy', Buffer.from([4, 0x0c, 1, 2]))).toBe('TRUNCATED');
    expect(decode('snappy', Buffer.from([4, 0, 1, 0x01, 9]))).toBe('BAD_DISTANCE');
    expect(decode('snappy', Buffer.from([4, 0, 1, 0x01, 0]))).toBe('BAD_DISTANCE');
    expect(decode('snappy', Buffer.from([9, 0, 1, 0x01, 1]))).toBe('SIZE_MISMATCH');
    expect(decode('snappy', Buffer.from([2, 0, 1, 0x01, 1]))).toBe('SIZE_MISMATCH');
    expect(decode('snappy', Buffer.concat([header, Buffer.from([0, 0, 0, 0])]))).toBe('TRUNCATED');
    const old = Buffer.from(header);
    old.writeInt32BE(0, 8);
    expect(decode('snappy', Buffer.concat([old, raw]))).not.toBeInstanceOf(Buffer);
  });
});

describe('lz4', () => {
  const frame = Buffer.from(compress('lz4', sample('json', 90_000, 1)));
  const changed = (at: number, value: number): Buffer => {
    const copy = Buffer.from(frame);
    copy[at] = value;
    return copy;
  };

  it('names what is wrong', () => {
    expect(decode('lz4', changed(0, 5))).toBe('BAD_MAGIC');
    expect(decode('lz4', changed(6, frame[6]! ^ 1))).toBe('BAD_HEADER_CHECKSUM');
    expect(decode('lz4', changed(4, 0xa0))).toBe('BAD_HEADER');
    expect(decode('lz4', changed(5, 0x30))).toBe('BAD_HEADER');
    expect(decode('lz4', changed(4, 0x61))).toBe('NEEDS_DICTIONARY');
    expect(decode('lz4', changed(10, 0x7f))).toBe('BLOCK_TOO_LARGE');
    expect(decode('lz4', Buffer.alloc(6))).toBe('TRUNCATED');
  });

  it('refuses linked blocks, and the checksum that old clients computed over the magic too', () => {
    // FLG 40 (linked) with its right checksum.
    const linked = changed(4, 0x40);
    linked[6] = 0xc0;
    expect(decode('lz4', linked)).toBe('LINKED_BLOCKS');
    // xxHash32 over 04224d186040, second byte.
    expect(decode('lz4', changed(6, 0x1a))).toBe('BAD_HEADER_CHECKSUM');
  });

  it('refuses a block with more plain bytes than its frame declares', () => {
    const packed = lz4.compressSync(Buffer.alloc(65_537)).subarray(4);
    const word = Buffer.alloc(4);
    word.writeUInt32LE(packed.length);
    const large = Buffer.concat([frame.subarray(0, 7), word, packed, Buffer.alloc(4)]);
    expect(decode('lz4', large)).toBe('BLOCK_TOO_LARGE');
  });

  it('refuses what Kafka’s clients read only in part: an empty block, a frame without its content checksum', () => {
    const magic = Buffer.from('04224d18', 'hex');
    const frameOf = (flags: number, ...parts: Uint8Array[]): Buffer => {
      const descriptor = Buffer.from([flags, 0x40]);
      return Buffer.concat([magic, descriptor, Buffer.from([(xxhash32(descriptor, 0) >>> 8) & 0xff]), ...parts]);
    };
    const abc = Buffer.from('03000080616263', 'hex');
    const end = Buffer.alloc(4);
    const empty = Buffer.from('0100000000', 'hex');
    expect(decode('lz4', frameOf(0x60, empty, abc, end))).toBe('EMPTY_BLOCK');
    expect(decode('lz4', frameOf(0x60, abc, empty, end))).toBe('EMPTY_BLOCK');
    expect(decode('lz4', frameOf(0x64, abc, end, Buffer.alloc(3)))).toBe('TRUNCATED');
    expect(String(decode('lz4', frameOf(0x64, abc, end, Buffer.alloc(4))))).toBe('abc');
    // A stored block of no bytes ends the frame, as the end mark does.
    const storedEmpty = Buffer.from('00000080', 'hex');
    expect(String(decode('lz4', frameOf(0x60, abc, storedEmpty, abc, end)))).toBe('abc');
    expect(decode('lz4', frameOf(0x64, abc, storedEmpty))).toBe('TRUNCATED');
  });

  it('is refused when cut at any byte', () => {
    const small = Buffer.from(compress('lz4', sample('json', 3000, 1)));
    for (let size = 0; size < small.length; size++) {
      expect([size, decode('lz4', small.subarray(0, size))]).toEqual([size, 'TRUNCATED']);
    }
  });
});

describe('zstd', () => {
  it('refuses windows above the limit, in the header and as a single segment', () => {
    expect(decode('zstd', zstdFrame(20 << 3, [[0, 0, Buffer.alloc(0)]]), 1000, LIMITS)).toBe('WINDOW_TOO_LARGE');
    expect(decode('zstd', zstdFrame(17 << 3, [[0, 0, Buffer.alloc(0)]]), 1000, LIMITS)).toHaveLength(0);
    const single = Buffer.from('28b52ffde0ffffffffffffff7f010000', 'hex');
    expect(decode('zstd', single, 1000, LIMITS)).toBe('WINDOW_TOO_LARGE');
    expect(decompressionFault(status.WINDOW_TOO_LARGE, 'zstd', 10, LIMITS).message).toContain('134217728');
  });

  it('names what is wrong', () => {
    expect(decode('zstd', Buffer.alloc(0))).toBe('TRUNCATED');
    expect(decode('zstd', Buffer.alloc(20))).toBe('BAD_MAGIC');
    expect(decode('zstd', Buffer.from('28b52ffd08580100', 'hex'))).toBe('BAD_HEADER');
    expect(decode('zstd', Buffer.from('28b52ffd015807010000', 'hex'))).toBe('NEEDS_DICTIONARY');
    expect(decode('zstd', zstdFrame(0x58, [[3, 0, Buffer.alloc(0)]]))).toBe('BAD_BLOCK_TYPE');
    expect(decode('zstd', zstdFrame(0x58, [[1, 131_073, Buffer.alloc(1)]]))).toBe('BLOCK_TOO_LARGE');
    expect(decode('zstd', zstdFrame(0x00, [[1, 1025, Buffer.alloc(1)]]))).toBe('BLOCK_TOO_LARGE');
    // A single segment of 4 bytes that holds 3, and one of 2.
    expect(decode('zstd', Buffer.from('28b52ffd2004190000616263', 'hex'))).toBe('SIZE_MISMATCH');
    expect(decode('zstd', Buffer.from('28b52ffd2002190000616263', 'hex'))).toBe('BLOCK_TOO_LARGE');
    // Literals that repeat a Huffman table nobody sent; a match before the first byte.
    expect(decode('zstd', zstdFrame(0x58, [[2, 4, Buffer.from([0x03, 0, 0, 0])]]))).toBe('BAD_TABLE');
    const early = Buffer.from([0x00, 1, 0b01010100, 0, 3, 0, 1]);
    expect(decode('zstd', zstdFrame(0x58, [[2, early.length, early]]))).toBe('BAD_DISTANCE');
  });

  it('is refused when cut at any byte', () => {
    const payload = Buffer.from(compress('zstd', sample('json', 6000, 1)));
    for (let size = 0; size < payload.length; size++) {
      expect([size, decode('zstd', payload.subarray(0, size))]).toEqual([size, 'TRUNCATED']);
    }
  });

  it('never takes a damaged stream for other bytes than zstd itself does', () => {
    fc.assert(
      fc.property(damaged('zstd'), ({ bytes }) => {
        const decoded = decode('zstd', bytes, MEBIBYTE);
        if (typeof decoded === 'string') return;
        expectPlain(Buffer.from(zstd.decompress(bytes, { defaultHeapSize: MEBIBYTE })), decoded);
      }),
      { numRuns: 500 },
    );
  });
});

describe('damage', () => {
  it.each(CODECS)('to %s never writes out of bounds, hangs or traps', (codec) => {
    fc.assert(
      fc.property(damaged(codec), fc.integer({ min: 0, max: 70_000 }), ({ bytes }, room) => {
        const decoded = decode(codec, bytes, room);
        if (typeof decoded !== 'string') expect(decoded.length).toBeLessThanOrEqual(room);
        else expect(decoded).toMatch(/^[A-Z_]+$/);
      }),
      { numRuns: 400 },
    );
  });

  it.each(CODECS)('that is all there is of %s', (codec) => {
    const magic: Record<Codec, number[]> = {
      gzip: [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0],
      snappy: [],
      lz4: [0x04, 0x22, 0x4d, 0x18, 0x60, 0x40, 0x82],
      zstd: [0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58],
    };
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), (noise) => {
        const decoded = decode(codec, Buffer.concat([Buffer.from(magic[codec]), noise]), 100_000);
        if (typeof decoded === 'string') expect(decoded).toMatch(/^[A-Z_]+$/);
      }),
      { numRuns: 400 },
    );
  });
});

describe('faults', () => {
  it('have a sentence and an error for every status', () => {
    const codes = Object.values(status);
    expect(codes.length).toBeGreaterThan(10);
    expect(new Set(codes).size).toBe(codes.length);
    for (const code of codes) {
      const { error, message } = decompressionFault(code, 'gzip', 1, LIMITS);
      expect(error).toBe(code === status.OUTPUT_LIMIT ? 'MESSAGE_TOO_LARGE' : 'CORRUPT_MESSAGE');
      expect(message).not.toContain('answered');
    }
  });
});

/** A good payload with a few bytes changed, cut out, repeated or cut off. */
function damaged(codec: Codec): fc.Arbitrary<{ bytes: Buffer; label: string }> {
  const change = fc.record({
    what: fc.constantFrom('set', 'flip', 'drop', 'repeat', 'cut'),
    where: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
    value: fc.integer({ min: 0, max: 255 }),
  });
  return fc
    .record({
      kind: fc.constantFrom<Kind>(...KINDS),
      size: fc.integer({ min: 0, max: 12_000 }),
      seed: fc.integer(),
      level: fc.integer({ min: 1, max: 9 }),
      changes: fc.array(change, { minLength: 1, maxLength: 4 }),
    })
    .map(({ kind, size, seed, level, changes }) => {
      let bytes = Buffer.from(compress(codec, sample(kind, size, seed), level));
      for (const { what, where, value } of changes) {
        const at = Math.floor(where * bytes.length);
        if (what === 'set') bytes[at] = value;
        else if (what === 'flip') bytes[at] = bytes[at]! ^ (1 << (value & 7));
        else if (what === 'drop') bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1 + (value & 7))]);
        else if (what === 'repeat')
          bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(at > value ? at - value : 0)]);
        else bytes = bytes.subarray(0, at);
      }
      return { bytes, label: `${codec} of ${size} ${kind}` };
    });
}
