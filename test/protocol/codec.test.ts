import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ApiError } from '../../src/common/errors.ts';
import type { Api } from '../../src/protocol/api.ts';
import { apis } from '../../src/protocol/apis.ts';
import { type Codec, compileCodec } from '../../src/protocol/codec.ts';
import { MalformedError } from '../../src/protocol/malformed-error.ts';
import { Reader } from '../../src/protocol/reader.ts';
import { array, bytes, type Fields, int16, int32, string, struct } from '../../src/protocol/schema.ts';
import { Writer } from '../../src/protocol/writer.ts';
import { message, toWrite } from './arbitrary-message.ts';

type AnyCodec = Codec<unknown, unknown>;

function encode(codec: AnyCodec, value: unknown): Buffer {
  const writer = new Writer();
  codec.write(writer, value);
  const { size } = writer;
  const encoded = Buffer.concat(writer.finish());
  expect(encoded.length).toBe(size);
  return encoded;
}

const sides = (Object.values(apis) as unknown as Api[]).flatMap((api) => [
  { name: `${api.name}Request`, api, fields: api.request, codecOf: (v: number) => api.requestCodec(v) as AnyCodec },
  { name: `${api.name}Response`, api, fields: api.response, codecOf: (v: number) => api.responseCodec(v) as AnyCodec },
]);

const versionsOf = ({ versions: { min, max } }: Api) => Array.from({ length: max - min + 1 }, (_, i) => min + i);

describe('every message in every version', () => {
  it('covers the APIs', () => {
    expect(sides.length).toBeGreaterThanOrEqual(30);
  });

  for (const { name, api, fields, codecOf } of sides) {
    it(`${name} reads back what it wrote, and refuses every truncation of it`, () => {
      for (const version of versionsOf(api)) {
        const codec = codecOf(version);
        fc.assert(
          fc.property(message(fields, version), fc.nat(), (value, cutAt) => {
            const encoded = encode(codec, toWrite(fields, value, version));
            expect(encoded.length).toBeGreaterThanOrEqual(codec.minBytes);
            const reader = new Reader(encoded);
            expect(codec.read(reader)).toEqual(value);
            expect(reader.remaining).toBe(0);
            const cut = encoded.subarray(0, cutAt % Math.max(1, encoded.length));
            if (encoded.length > 0) expect(() => codec.read(new Reader(cut))).toThrow(MalformedError);
          }),
          { numRuns: 12 },
        );
      }
    });

    it(`${name} answers mutated bytes with a value or MalformedError, nothing else`, () => {
      const { max, min } = api.versions;
      for (const version of [min, max]) {
        const codec = codecOf(version);
        const flips = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 4 });
        fc.assert(
          fc.property(message(fields, version), flips, (value, mutations) => {
            const encoded = encode(codec, toWrite(fields, value, version));
            for (const [at, to] of mutations) if (encoded.length > 0) encoded[at % encoded.length] = to;
            try {
              codec.read(new Reader(encoded));
            } catch (error) {
              expect(error).toBeInstanceOf(MalformedError);
            }
          }),
          { numRuns: 40 },
        );
      }
    });
  }
});

describe('compileCodec', () => {
  const fields = {
    always: int32('0+'),
    later: int16('2+', { default: -1 }),
    dropped: string('2+', { ignorable: true }),
    maybe: string('0+', { nullable: '3+' }),
    tagged: int32('3+', { tag: 5, default: 7 }),
    part: struct('4+', { one: int32('0+', { default: 1 }) }, { nullable: '4+', default: null }),
  } satisfies Fields;
  const codec = (version: number) => compileCodec('Thing', fields, version, version >= 3);

  it('writes defaults for what was left out and reads them where a version lacks the field', () => {
    const encoded = encode(codec(1) as AnyCodec, { always: 3, maybe: 'x' });
    expect(encoded.toString('hex')).toBe('00000003000178');
    expect(codec(1).read(new Reader(encoded))).toEqual({
      always: 3,
      later: -1,
      dropped: '',
      maybe: 'x',
      tagged: 7,
      part: null,
    });
  });

  it('drops an ignorable value silently and refuses to lose another', () => {
    const write = (value: Record<string, unknown>) => encode(codec(1) as AnyCodec, { always: 1, maybe: '', ...value });
    expect(write({ dropped: 'gone', later: -1 })).toHaveLength(6);
    expect(() => write({ later: 4 })).toThrow(ApiError);
    expect(() => write({ later: 4 })).toThrow('Thing.later was set, but version 1 cannot carry it');
  });

  it('knows null from absent, by version', () => {
    const written = encode(codec(3) as AnyCodec, { always: 0, maybe: null });
    expect(codec(3).read(new Reader(written)).maybe).toBeNull();
    expect(() => encode(codec(2) as AnyCodec, { always: 0, maybe: null })).toThrow(MalformedError);
    const nullString = Buffer.from('00000000ffff0000ffff', 'hex');
    expect(() => codec(2).read(new Reader(nullString))).toThrow('Thing.maybe is null');
  });

  it('writes tagged fields only when they differ from the default, and skips tags it does not know', () => {
    const plain = encode(codec(3) as AnyCodec, { always: 0, maybe: 'm', tagged: 7 });
    expect(plain.at(-1)).toBe(0);
    const tagged = encode(codec(3) as AnyCodec, { always: 0, maybe: 'm', tagged: 9 });
    expect(tagged.subarray(-7).toString('hex')).toBe('01050400000009');
    const unknown = Buffer.concat([
      tagged.subarray(0, -7),
      Buffer.from('02050400000009', 'hex'),
      Buffer.from([6, 2, 1, 1]),
    ]);
    expect(codec(3).read(new Reader(unknown)).tagged).toBe(9);
  });

  it('carries a nullable structure (KIP-893)', () => {
    const written = encode(codec(4) as AnyCodec, { always: 0, maybe: null, part: { one: 5 } });
    expect(codec(4).read(new Reader(written)).part).toEqual({ one: 5 });
    expect(codec(4).read(new Reader(encode(codec(4) as AnyCodec, { always: 0, maybe: null }))).part).toBeNull();
  });
});

describe('hostile claims are refused before anything is allocated', () => {
  const list = {
    things: array('0+', { id: int32('0+'), more: array('0+', { flag: int16('0+') }) }),
    blob: bytes('0+'),
  };
  const classic = compileCodec('List', list, 0, false);
  const compact = compileCodec('List', list, 0, true);
  const read = (codec: { read(reader: Reader): unknown }, hex: string) => () =>
    codec.read(new Reader(Buffer.from(hex, 'hex')));

  it.each([
    ['an array count beyond the frame', classic, '7fffffff00000000', 'an array claims 2147483647 elements'],
    ['a negative array count', classic, 'fffffffe00000000', 'an array claims -2 elements'],
    ['more elements than their least size allows', classic, '00000002000000010000000000000000', 'claims 2 elements'],
    ['a null array', classic, 'ffffffff00000000', 'List.things is null'],
    ['a byte field beyond the frame', classic, '000000007ffffff0', '2147483632 bytes expected'],
    ['a negative byte field', classic, '00000000fffffffe', 'claims -2 bytes'],
    ['a compact array count beyond the frame', compact, 'ffffffff0f', 'an array claims 4294967294 elements'],
    ['a varint of more than five bytes', compact, 'ffffffffff01', 'more than 5 bytes'],
    ['a tagged-field count beyond the frame', compact, '0101ffffffff07', '2147483647 tagged fields are claimed'],
    ['a tagged field beyond the frame', compact, '01010103ffff03', 'tagged field 3 claims 65535 bytes'],
    ['nothing at all', classic, '', '4 bytes expected at byte 0'],
  ])('%s', (_name, codec, hex, message) => {
    expect(read(codec, hex)).toThrow(MalformedError);
    expect(read(codec, hex)).toThrow(message);
  });

  it('a string above 32767 bytes, in the compact form that could say it', () => {
    const codec = compileCodec('Text', { text: string('0+') }, 0, true);
    const frame = Buffer.concat([Buffer.from('818002', 'hex'), Buffer.alloc(32_768, 'x'), Buffer.from([0])]);
    expect(() => codec.read(new Reader(frame))).toThrow('a string claims 32768 bytes; at most 32767 are allowed');
  });

  it('more array elements in one frame than any honest request has, however they are nested', () => {
    const codec = compileCodec(
      'Flags',
      { outer: array('0+', { inner: array('0+', { flag: int16('0+') }) }) },
      0,
      false,
    );
    const inner = Buffer.alloc(4 + 2 * 60_000);
    inner.writeInt32BE(60_000);
    const frame = Buffer.concat([Buffer.from('00000004', 'hex'), inner, inner, inner, inner]);
    expect(() => codec.read(new Reader(frame))).toThrow('more than 200000 array elements');
  });

  it('a tag cannot read past its own size', () => {
    const codec = compileCodec('Tagged', { id: int32('0+', { tag: 0, default: 0 }), rest: int16('0+') }, 0, true);
    expect(() => codec.read(new Reader(Buffer.from('000101000200000001', 'hex')))).toThrow(MalformedError);
    expect(codec.read(new Reader(Buffer.from('00020100060000000900000000', 'hex')))).toEqual({ id: 9, rest: 2 });
  });
});

describe('record bytes', () => {
  const codec = compileCodec('Carrier', { before: int32('0+'), blob: bytes('0+'), after: int32('0+') }, 0, false);

  it('are read as a view of the frame and written without a copy', () => {
    const blob = Buffer.alloc(5000, 7);
    const writer = new Writer();
    codec.write(writer, { before: 1, blob, after: 2 });
    const chunks = writer.finishFrame();
    expect(chunks.some((chunk) => chunk.buffer === blob.buffer && chunk.byteLength === 5000)).toBe(true);
    const frame = Buffer.concat(chunks);
    expect(frame.readInt32BE(0)).toBe(frame.length - 4);
    const read = codec.read(new Reader(frame.subarray(4)));
    expect(read.blob.buffer).toBe(frame.buffer);
    expect(read).toEqual({ before: 1, blob, after: 2 });
  });

  it('stay right when the buffer between them grows', () => {
    const values = {
      things: Array.from({ length: 300 }, (_, i) => ({ id: i, blob: Buffer.alloc(i % 2 ? 2000 : 30, i) })),
    };
    const many = compileCodec('Many', { things: array('0+', { id: int32('0+'), blob: bytes('0+') }) }, 0, true);
    expect(many.read(new Reader(encode(many as AnyCodec, values)))).toEqual(values);
  });
});
