/** Every codec against independent implementations, both ways: what they compress is decoded, what we compress they decode. */
import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
import * as zlib from 'node:zlib';
import * as zstd from '@bokuweb/zstd-wasm';
import fc from 'fast-check';
import * as lz4 from 'lz4-napi';
import * as snappy from 'snappy';
import { beforeAll, describe, expect, it } from 'vitest';
import { compress } from '../../../src/record/compression/compress.ts';
import { CODECS, type Codec, decode, expectPlain, xxhash32 } from './decompressor.ts';
import { KINDS, type Kind, sample } from './samples.ts';

/** Around vector widths, table sizes, block sizes and window steps. */
const SIZES = [0, 1, 2, 5, 8, 15, 16, 17, 32, 63, 255, 1000, 4096, 16_385, 65_535, 65_537, 131_073, 200_000];

beforeAll(() => zstd.init());

/** What other encoders make of `plain`, by codec and variant. */
const ENCODERS: readonly { codec: Codec; name: string; encode: (plain: Buffer) => Uint8Array }[] = [
  ...[0, 1, 9].map((level) => ({
    codec: 'gzip' as const,
    name: `zlib level ${level}`,
    encode: (plain: Buffer) => zlib.gzipSync(plain, { level }),
  })),
  ...(['Z_FIXED', 'Z_HUFFMAN_ONLY', 'Z_RLE'] as const).map((strategy) => ({
    codec: 'gzip' as const,
    name: `zlib ${strategy}`,
    encode: (plain: Buffer) => zlib.gzipSync(plain, { strategy: zlib.constants[strategy] }),
  })),
  { codec: 'snappy', name: 'raw block', encode: (plain) => snappy.compressSync(plain) },
  { codec: 'lz4', name: 'lz4-napi frame', encode: (plain) => lz4.compressFrameSync(plain) },
  ...[1, 3, 9, 19].map((level) => ({
    codec: 'zstd' as const,
    name: `zstd level ${level}`,
    encode: (plain: Buffer) => zstd.compress(plain, level),
  })),
];

/** Independent decoders of what we compress. */
const DECODERS: Record<Codec, (payload: Uint8Array) => Uint8Array> = {
  gzip: (payload) => zlib.gunzipSync(payload),
  snappy: (payload) => {
    const parts: Buffer[] = [];
    const view = Buffer.from(payload);
    for (let at = 16; at < view.length; ) {
      const size = view.readUInt32BE(at);
      parts.push(snappy.uncompressSync(view.subarray(at + 4, at + 4 + size)) as Buffer);
      at += 4 + size;
    }
    return Buffer.concat(parts);
  },
  lz4: (payload) => (payload.length === 11 ? Buffer.alloc(0) : lz4.decompressFrameSync(Buffer.from(payload))),
  zstd: (payload) => zstd.decompress(Buffer.from(payload)),
};

describe.each(KINDS)('%s', (kind) => {
  it.each(ENCODERS)('decodes $codec of $name at every size, with room and with none', ({ codec, encode }) => {
    for (const [seed, size] of SIZES.entries()) {
      const plain = sample(kind, size, seed);
      const payload = encode(plain);
      for (const room of [undefined, size]) {
        const decoded = decode(codec, payload, room);
        if (typeof decoded === 'string' || !decoded.equals(plain)) {
          expect.fail(
            `${size} bytes, room ${room ?? 'enough'}: ${typeof decoded === 'string' ? decoded : 'other bytes'}`,
          );
        }
      }
      if (size > 0) expect(decode(codec, payload, size - 1)).toBe('OUTPUT_LIMIT');
    }
  });

  it.each(CODECS)('compresses %s so that others and we decode it', (codec) => {
    for (const [seed, size] of SIZES.entries()) {
      const plain = sample(kind, size, seed + 100);
      const payload = compress(codec, plain);
      expect(Buffer.from(DECODERS[codec](payload)).equals(plain)).toBe(true);
      const decoded = decode(codec, payload);
      expect(typeof decoded === 'string' ? decoded : decoded.equals(plain)).toBe(true);
    }
  });
});

describe('random plain bytes', () => {
  it.each(CODECS)('come back from %s', (codec) => {
    fc.assert(
      fc.property(
        fc.constantFrom<Kind>(...KINDS),
        fc.integer({ min: 0, max: 70_000 }),
        fc.integer(),
        fc.integer({ min: 1, max: 9 }),
        (kind, size, seed, level) => {
          const plain = sample(kind, size, seed);
          const decoded = decode(codec, compress(codec, plain, level), size);
          expect(typeof decoded === 'string' ? decoded : decoded.equals(plain)).toBe(true);
        },
      ),
      { numRuns: 60 },
    );
  });
});

describe('levels', () => {
  it.each([
    ['gzip', [-1, 1, 5, 9]],
    ['zstd', [-131_072, -5, 1, 3, 9, 19, 22]],
  ] as const)('of %s give the same plain bytes in another size', (codec, levels) => {
    const plain = sample('json', 200_000, 7);
    const sizes = levels.map((level) => {
      const payload = compress(codec, plain, level);
      expect(Buffer.from(DECODERS[codec](payload)).equals(plain)).toBe(true);
      return payload.length;
    });
    expect(new Set(sizes).size).toBeGreaterThanOrEqual(levels.length - 1);
    expect(sizes.at(-1)).toBeLessThan(sizes.at(-3)!);
  });

  it.each([
    ['gzip', 9, 1, 7],
    ['zstd', 22, 0.25, 15],
    ['zstd', 22, 1, 9],
    ['zstd', 22, 4, 3],
  ] as const)('of %s: %s is not had above %s MiB, but %s', (codec, level, mib, lowered) => {
    const plain = sample('json', mib * 1024 * 1024 + 1, 3);
    expect(compress(codec, plain, level)).toEqual(compress(codec, plain, lowered));
  });
});

describe('framings', () => {
  const plain = sample('json', 100_000, 1);

  it('reads several gzip members, header fields, and ignores what is no member after them', () => {
    const halves = [plain.subarray(0, 40_000), plain.subarray(40_000)];
    const members = Buffer.concat(halves.map((half) => zlib.gzipSync(half)));
    expectPlain(decode('gzip', members), plain);
    for (const after of ['trailing', '\x1f', '\x1f\x8b', '\x1f\x8b\x08', '\x1f\x8b\x07 some other method']) {
      expectPlain(decode('gzip', Buffer.concat([members, Buffer.from(after, 'latin1')])), plain);
    }
    expect(decode('gzip', Buffer.concat([members, zlib.gzipSync(plain).subarray(0, -9)]))).toBe('TRUNCATED');

    const member = zlib.gzipSync(plain);
    const head = Buffer.from(member.subarray(0, 10));
    head[3] = 2 | 4 | 8 | 16;
    const fields = Buffer.concat([head, Buffer.from([3, 0, 1, 2, 3]), Buffer.from('name\0comment\0')]);
    const crc = Buffer.alloc(2);
    crc.writeUInt16LE(zlib.crc32(fields) & 0xffff);
    expectPlain(decode('gzip', Buffer.concat([fields, crc, member.subarray(10)])), plain);
    crc[0] = crc[0]! ^ 1;
    expect(decode('gzip', Buffer.concat([fields, crc, member.subarray(10)]))).toBe('BAD_HEADER_CHECKSUM');
  });

  it('reads xerial chunks of any size, with the header again between them', () => {
    const header = compress('snappy', Buffer.alloc(0));
    const chunk = (part: Buffer): Buffer[] => {
      const block = snappy.compressSync(part);
      const length = Buffer.alloc(4);
      length.writeUInt32BE(block.length);
      return [length, block];
    };
    const stream = [
      header,
      ...chunk(plain.subarray(0, 7)),
      ...chunk(plain.subarray(7, 50_000)),
      header,
      header,
      ...chunk(plain.subarray(50_000)),
    ];
    expectPlain(decode('snappy', Buffer.concat(stream)), plain);
  });

  it('reads an lz4 frame with content size, block checksums and an unread content checksum', () => {
    const blocks = [plain.subarray(0, 65_536), plain.subarray(65_536)];
    const parts: Buffer[] = [];
    const word = (value: number): Buffer => {
      const bytes = Buffer.alloc(4);
      bytes.writeUInt32LE(value >>> 0);
      return bytes;
    };
    const descriptor = Buffer.concat([Buffer.from([0x7c, 0x40]), word(plain.length), word(0)]);
    parts.push(word(0x184d2204), descriptor, Buffer.from([(xxhash32(descriptor, 0) >>> 8) & 0xff]));
    for (const block of blocks) {
      const packed = lz4.compressSync(block).subarray(4);
      parts.push(word(packed.length), packed, word(xxhash32(packed, 0)));
    }
    parts.push(word(0), word(0xdeadbeef), Buffer.from('after the end mark'));
    const frame = Buffer.concat(parts);
    expectPlain(decode('lz4', frame), plain);
    frame[frame.length - 40_000 + 30_000 - 100] = frame.at(-10_100)! ^ 1;
    expect(decode('lz4', frame)).toBe('BAD_BLOCK_CHECKSUM');
  });

  it('reads several zstd frames and skips skippable ones', () => {
    const skippable = Buffer.from([0x5f, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 9, 9, 9]);
    const frames = [zstd.compress(plain.subarray(0, 30_000), 3), skippable, zstd.compress(plain.subarray(30_000), 1)];
    expectPlain(decode('zstd', Buffer.concat(frames)), plain);
  });

  it('verifies the content checksum of a zstd frame', () => {
    // Single segments of one raw block, with the low half of the xxHash64 that its authors publish for the text.
    const frames = { abc: '28b52ffd2403190000', 'Nobody inspects the spammish repetition': '28b52ffd2427390100' };
    const sums = { abc: '990977ad', 'Nobody inspects the spammish repetition': 'f18b378a' };
    for (const text of ['abc', 'Nobody inspects the spammish repetition'] as const) {
      const frame = Buffer.concat([
        Buffer.from(frames[text], 'hex'),
        Buffer.from(text),
        Buffer.from(sums[text], 'hex'),
      ]);
      expect(String(decode('zstd', frame))).toBe(text);
      frame[frame.length - 1] = frame.at(-1)! ^ 1;
      expect(decode('zstd', frame)).toBe('BAD_CONTENT_CHECKSUM');
    }
  });

  it('writes what Java reads: the xerial header, lz4 FLG 60 BD 40 with its checksum', () => {
    expect(Buffer.from(compress('snappy', plain)).subarray(0, 16).toString('latin1')).toBe(
      '\x82SNAPPY\0\0\0\0\x01\0\0\0\x01',
    );
    const frame = Buffer.from(compress('lz4', plain));
    expect(frame.subarray(0, 6).toString('hex')).toBe('04224d186040');
    expect(frame[6]).toBe((xxhash32(frame.subarray(4, 6), 0) >>> 8) & 0xff);
    expect(frame.readUInt32LE(frame.length - 4)).toBe(0);
  });
});

describe('xxhash32', () => {
  it('gives the published values', () => {
    expect(xxhash32(Buffer.alloc(0), 0)).toBe(0x02cc5d05);
    expect(xxhash32(Buffer.from('abc'), 0)).toBe(0x32d153ff);
    expect(xxhash32(Buffer.from('Nobody inspects the spammish repetition'), 0)).toBe(0xe2293b2f);
    expect(xxhash32(Buffer.from([0x9e]), 0x9e3779b1)).toBe(0xd5845d64);
  });
});

describe('compress', () => {
  it('runs in a worker thread and over shared memory', async () => {
    const shared = new SharedArrayBuffer(50_000);
    Buffer.from(shared).set(sample('json', 50_000, 3));
    const entry = createRequire(import.meta.url).resolve('../../../dist/record/compression/compress.js');
    const source = `
      const { workerData, parentPort } = require('node:worker_threads');
      import(workerData.entry).then(({ compress }) => {
        for (const codec of workerData.codecs) parentPort.postMessage([codec, compress(codec, new Uint8Array(workerData.shared))]);
        parentPort.close();
      });`;
    const worker = new Worker(source, { eval: true, workerData: { entry, codecs: CODECS, shared } });
    const payloads: [Codec, Uint8Array][] = [];
    worker.on('message', (message) => payloads.push(message));
    await new Promise((resolve, reject) => worker.once('exit', resolve).once('error', reject));
    expect(payloads.map(([codec]) => codec)).toEqual(CODECS);
    for (const [codec, payload] of payloads) expectPlain(decode(codec, payload), Buffer.from(new Uint8Array(shared)));
  });

  it('gives back the memory that a large zstd input took', () => {
    const large = sample('noise', 9_000_000, 5);
    for (let i = 0; i < 2; i++) expectPlain(decode('zstd', compress('zstd', large, 3)), large);
    expectPlain(decode('zstd', compress('zstd', large.subarray(0, 1000))), large.subarray(0, 1000));
  });
});
