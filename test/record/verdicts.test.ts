/** Kafka's verdicts over hostile inputs, by the numbers of the list they come from, and what Kafka repairs. */
import { gzipSync } from 'node:zlib';
import * as zstd from '@bokuweb/zstd-wasm';
import * as lz4 from 'lz4-napi';
import * as snappy from 'snappy';
import { beforeAll, describe, expect, it } from 'vitest';
import { type ErrorName, Errors, errorName } from '../../src/common/errors.ts';
import type { ValidationOptions } from '../../src/record/validation.ts';
import {
  buildBatch,
  encodeRecord,
  encodeRecords,
  plainBatch,
  sealCrc,
  type TestRecord,
  varint,
} from '../support/record-batches.ts';
import { NOW_MS, TestKernel } from '../support/test-kernel.ts';

let test: TestKernel;
beforeAll(async () => {
  test = new TestKernel();
  await zstd.init();
});

interface Case {
  readonly input: string;
  readonly records: () => Uint8Array;
  readonly error: ErrorName;
  /** @default −1 */
  readonly recordIndex?: number;
  readonly options?: Partial<ValidationOptions>;
}

/** A batch of two sound records with a third one's raw body between them: a bad record is named by its index, 1. */
function withBody(body: readonly number[], length = body.length): Buffer {
  const first = encodeRecord({ value: 'a' }, 0);
  const middle = Buffer.from([...varint(length), ...body]);
  return buildBatch({ records: [], recordCount: 3, payload: Buffer.concat([first, middle, encodeRecord({}, 2)]) });
}

/** Attributes, timestamp delta 0, offset delta 1, null key, null value, no headers. */
const soundBody = [0, 0, 2, 1, 1, 0];
const withLength = (length: number): Buffer => {
  const batch = plainBatch(1, 5);
  batch.writeInt32BE(length, 8);
  return sealCrc(batch);
};
const withMagic = (magic: number): Buffer => plainBatch(1, 5, { magic });
const crcFromMagic = (): Buffer => {
  const batch = plainBatch(1, 5);
  const wrong = sealCrc(Buffer.concat([Buffer.alloc(5), batch.subarray(16)])).readUInt32BE(17);
  batch.writeUInt32BE(wrong, 17);
  return batch;
};
const flipped = (at: number): Buffer => {
  const batch = plainBatch(3, 20);
  batch[at]! ^= 4;
  return batch;
};
const compressed = (codec: number, payload: Uint8Array, recordCount = 1): Buffer =>
  buildBatch({ records: [], recordCount, payload, attributes: codec });
const plain = encodeRecords([{ value: 'hello hello hello hello' }]);
const linkedFrame = (): Buffer => {
  const frame = Buffer.from(lz4.compressFrameSync(plain));
  frame[4]! &= ~0x20;
  return frame;
};
const flip = (bytes: Uint8Array, at: number, mask = 0xff): Buffer => {
  const copy = Buffer.from(bytes);
  copy[at]! ^= mask;
  return copy;
};
const snappyChunk = (length: number): Buffer => {
  const header = Buffer.from('82534e41505059000000000100000001', 'hex');
  const size = Buffer.alloc(4);
  size.writeUInt32BE(length);
  return Buffer.concat([header, size, snappy.compressSync(plain)]);
};
const emptyRecords = (count: number): Buffer =>
  Buffer.concat(Array.from({ length: count }, () => Buffer.from([12, ...soundBody])));

const corrupt: Case[] = [
  { input: '1 batchLength negative', records: () => withLength(-1), error: 'CORRUPT_MESSAGE' },
  { input: '2 batchLength 13', records: () => withLength(13), error: 'CORRUPT_MESSAGE' },
  ...[15, 16, 30, 47, 48].map(
    (length): Case => ({
      input: `3 batchLength ${length}`,
      records: () => withLength(length).subarray(0, length + 12),
      error: 'CORRUPT_MESSAGE',
    }),
  ),
  ...[-1, 3, 127].map(
    (magic): Case => ({ input: `4 magic ${magic}`, records: () => withMagic(magic), error: 'CORRUPT_MESSAGE' }),
  ),
  ...[17, 21, 40, 60, 61, 120].map(
    (at): Case => ({ input: `5 byte ${at} flipped`, records: () => flipped(at), error: 'CORRUPT_MESSAGE' }),
  ),
  { input: '6 CRC from magic on', records: crcFromMagic, error: 'CORRUPT_MESSAGE' },
  ...[5, 6, 7].map(
    (codec): Case => ({
      input: `42 codec ${codec}`,
      records: () => compressed(codec, plain),
      error: 'CORRUPT_MESSAGE',
    }),
  ),
];

const invalid: Case[] = [
  { input: '7 empty records', records: () => new Uint8Array(0), error: 'INVALID_RECORD' },
  { input: '7 eleven bytes', records: () => new Uint8Array(11), error: 'INVALID_RECORD' },
  { input: '8 batchLength beyond the bytes', records: () => plainBatch(2, 9).subarray(0, -1), error: 'INVALID_RECORD' },
  { input: '8 batchLength 2^31-1', records: () => withLength(2 ** 31 - 1), error: 'INVALID_RECORD' },
  {
    input: '9 two batches',
    records: () => Buffer.concat([plainBatch(1, 3), plainBatch(1, 3)]),
    error: 'INVALID_RECORD',
  },
  { input: '10 magic 0', records: () => withMagic(0), error: 'INVALID_RECORD' },
  { input: '11 magic 1', records: () => withMagic(1), error: 'INVALID_RECORD' },
  { input: '12 baseOffset 1', records: () => plainBatch(1, 3, { baseOffset: 1n }), error: 'INVALID_RECORD' },
  { input: '13 lastOffsetDelta -1', records: () => plainBatch(1, 3, { lastOffsetDelta: -1 }), error: 'INVALID_RECORD' },
  { input: '14 count 0', records: () => plainBatch(0, 3, { lastOffsetDelta: 0 }), error: 'INVALID_RECORD' },
  ...[-1, 2 ** 31 - 1].map(
    (recordCount): Case => ({
      input: `15 count ${recordCount}`,
      records: () => plainBatch(1, 3, { recordCount, lastOffsetDelta: 0 }),
      error: 'INVALID_RECORD',
    }),
  ),
  {
    input: '15 count 2^31-1, delta to match',
    records: () => plainBatch(1, 3, { recordCount: 2 ** 31 - 1 }),
    error: 'INVALID_RECORD',
  },
  {
    input: '16 count is not delta + 1',
    records: () => plainBatch(3, 3, { lastOffsetDelta: 3 }),
    error: 'INVALID_RECORD',
  },
  {
    input: '17 fewer records than count',
    records: () => plainBatch(3, 3, { recordCount: 4 }),
    error: 'INVALID_RECORD',
  },
  { input: '18 more records than count', records: () => plainBatch(3, 3, { recordCount: 2 }), error: 'INVALID_RECORD' },
  {
    input: '19 bytes after the last record',
    records: () => buildBatch({ records: [{}], payload: Buffer.concat([encodeRecord({}, 0), Buffer.from([0])]) }),
    error: 'INVALID_RECORD',
  },
  { input: '20 control bit', records: () => plainBatch(1, 3, { attributes: 32 }), error: 'INVALID_RECORD' },
  {
    input: '21 producer id without sequence',
    records: () => plainBatch(1, 3, { producerId: 4n, producerEpoch: 0 }),
    error: 'INVALID_RECORD',
  },
  {
    input: '22 record length past the end',
    records: () => withBody(soundBody, 500),
    error: 'INVALID_RECORD',
    recordIndex: 1,
  },
  {
    input: '22 record length 2^31-1',
    records: () => withBody(soundBody, 2 ** 31 - 1),
    error: 'INVALID_RECORD',
    recordIndex: 1,
  },
  {
    input: '22 record length negative',
    records: () => withBody(soundBody, -1),
    error: 'INVALID_RECORD',
    recordIndex: 1,
  },
  {
    input: '23 record length shorter than the body',
    records: () => withBody([...soundBody, 9], 6),
    error: 'INVALID_RECORD',
    recordIndex: 2,
  },
  {
    input: '23 record length longer than the fields',
    records: () => withBody([...soundBody, 9]),
    error: 'INVALID_RECORD',
    recordIndex: 1,
  },
  { input: '23 empty record', records: () => withBody([]), error: 'INVALID_RECORD', recordIndex: 1 },
  {
    input: '24 varint of six bytes',
    records: () => withBody([0, 0, 0x82, 0x80, 0x80, 0x80, 0x80, 0, 1, 1, 0]),
    error: 'INVALID_RECORD',
    recordIndex: 1,
  },
  {
    input: '25 varlong of eleven bytes',
    records: () => withBody([0, ...Array<number>(10).fill(0x80), 0, 2, 1, 1, 0]),
    error: 'INVALID_RECORD',
    recordIndex: 1,
  },
  {
    input: '26 key length past the end',
    records: () => withBody([0, 0, 2, 100, 1, 0]),
    error: 'INVALID_RECORD',
    recordIndex: 1,
  },
  {
    input: '27 value length past the end',
    records: () => withBody([0, 0, 2, 1, ...varint(2 ** 31 - 1), 0]),
    error: 'INVALID_RECORD',
    recordIndex: 1,
  },
  {
    input: '28 header count negative',
    records: () => withBody([0, 0, 2, 1, 1, ...varint(-1)]),
    error: 'INVALID_RECORD',
    recordIndex: 1,
  },
  {
    input: '29 header count beyond the record',
    records: () => withBody([0, 0, 2, 1, 1, ...varint(2 ** 30)]),
    error: 'INVALID_RECORD',
    recordIndex: 1,
  },
  {
    input: '30 header key null',
    records: () => withBody([0, 0, 2, 1, 1, 2, 1, 1]),
    error: 'INVALID_RECORD',
    recordIndex: 1,
  },
  {
    input: '31 header value past the end',
    records: () => withBody([0, 0, 2, 1, 1, 2, 0, 40]),
    error: 'INVALID_RECORD',
    recordIndex: 1,
  },
  {
    input: '32 null key on a compacted topic',
    records: () => buildBatch({ records: [{ key: 'k' }, { key: 'k' }, { key: null }] }),
    error: 'INVALID_RECORD',
    recordIndex: 2,
    options: { compacted: true },
  },
  {
    input: '60 uncompressed offset deltas out of order',
    records: () => buildBatch({ records: [{}, { offsetDelta: 2 }, {}] }),
    error: 'INVALID_RECORD',
    recordIndex: 1,
  },
];

const timestamps: Case[] = [
  {
    input: '33 CreateTime more than an hour ahead',
    records: () => buildBatch({ records: [{}, { timestampDelta: 3_600_001 }], baseTimestamp: BigInt(NOW_MS) }),
    error: 'INVALID_TIMESTAMP',
    recordIndex: 1,
  },
  {
    input: '33 CreateTime too old',
    records: () => buildBatch({ records: [{}, { timestampDelta: -10_001 }], baseTimestamp: BigInt(NOW_MS) }),
    error: 'INVALID_TIMESTAMP',
    recordIndex: 1,
    options: { timestampBeforeMaxMs: 10_000 },
  },
  ...[-(2n ** 63n), -(2n ** 62n) * 2n + BigInt(NOW_MS) - 1_000_000n].map(
    (baseTimestamp): Case => ({
      input: `33 CreateTime ${baseTimestamp}, too far from now for 64 bits`,
      records: () => buildBatch({ records: [{}], baseTimestamp }),
      error: 'INVALID_TIMESTAMP',
      recordIndex: 0,
    }),
  ),
  {
    input: '33 CreateTime that wraps around',
    records: () => buildBatch({ records: [{}, { timestampDelta: 2n ** 63n - 1n }], maxTimestamp: 0n }),
    error: 'INVALID_TIMESTAMP',
    recordIndex: 1,
  },
  {
    input: '34 LogAppendTime bit on a LogAppendTime topic',
    records: () => plainBatch(1, 3, { attributes: 8 }),
    error: 'INVALID_TIMESTAMP',
    options: { timestampType: 1 },
  },
  {
    input: '34 LogAppendTime bit without a timestamp',
    records: () => plainBatch(1, 3, { attributes: 8, maxTimestamp: -1n }),
    error: 'INVALID_TIMESTAMP',
  },
];

const others: Case[] = [
  {
    input: '35 batch over max.message.bytes',
    records: () => plainBatch(1, 1000),
    error: 'MESSAGE_TOO_LARGE',
    options: { maxMessageBytes: 1000 },
  },
  {
    input: '38 transactional bit, transactions not built',
    records: () => plainBatch(1, 3, { attributes: 16 }),
    error: 'INVALID_REQUEST',
  },
];

/** Kafka answers −1 to these. */
const undecodable: Case[] = [
  {
    input: '43 truncated gzip',
    records: () => compressed(1, gzipSync(plain).subarray(0, -9)),
    error: 'CORRUPT_MESSAGE',
  },
  {
    input: '44 lz4 bad magic',
    records: () => compressed(3, flip(lz4.compressFrameSync(plain), 0)),
    error: 'CORRUPT_MESSAGE',
  },
  {
    input: '45 lz4 header checksum wrong',
    records: () => compressed(3, flip(lz4.compressFrameSync(plain), 6)),
    error: 'CORRUPT_MESSAGE',
  },
  { input: '46 lz4 linked blocks', records: () => compressed(3, linkedFrame()), error: 'CORRUPT_MESSAGE' },
  {
    input: '47 lz4 block above the declared maximum',
    records: () => compressed(3, flip(lz4.compressFrameSync(plain), 9, 0x7f)),
    error: 'CORRUPT_MESSAGE',
  },
  {
    input: '48 snappy chunk length 0xFFFFFFFF',
    records: () => compressed(2, snappyChunk(0xffffffff)),
    error: 'CORRUPT_MESSAGE',
  },
  {
    input: '48 snappy chunk length 0x7FFFFFFF',
    records: () => compressed(2, snappyChunk(0x7fffffff)),
    error: 'CORRUPT_MESSAGE',
  },
  {
    input: '50 zstd window 2^30',
    records: () => compressed(4, Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0, 0xa0, 1, 0, 0])),
    error: 'CORRUPT_MESSAGE',
  },
  {
    input: '51 no records in a gzip stream',
    records: () => compressed(1, gzipSync(Buffer.alloc(0))),
    error: 'INVALID_RECORD',
  },
];

const bombs: Case[] = [
  {
    input: '49 snappy block claiming 2 GiB',
    records: () => compressed(2, Buffer.from([0xff, 0xff, 0xff, 0xff, 7, 0, 65])),
    error: 'CORRUPT_MESSAGE',
  },
  {
    input: '52 gzip of 64 MiB of zeros',
    records: () => compressed(1, gzipSync(Buffer.alloc(64 << 20))),
    error: 'MESSAGE_TOO_LARGE',
  },
  {
    input: '53 zstd of 64 MiB of zeros',
    records: () => compressed(4, zstd.compress(Buffer.alloc(64 << 20), 1)),
    error: 'MESSAGE_TOO_LARGE',
  },
  {
    input: '54 compressed record claiming 2 GiB',
    records: () => compressed(1, gzipSync(Buffer.from(varint(2 ** 31 - 1)))),
    error: 'INVALID_RECORD',
    recordIndex: 0,
  },
  {
    input: '55 ten million records claimed',
    records: () => compressed(1, gzipSync(emptyRecords(10)), 10_000_000),
    error: 'INVALID_RECORD',
  },
];

describe.each([
  { kind: 'corrupt', cases: corrupt },
  { kind: 'invalid', cases: invalid },
  { kind: 'timestamps', cases: timestamps },
  { kind: 'other codes', cases: others },
  { kind: 'undecodable', cases: undecodable },
  { kind: 'beyond the limits', cases: bombs },
])('hostile inputs: $kind', ({ cases }) => {
  it.each(cases)('$input → $error', ({ records, error, recordIndex = -1, options }) => {
    const input = Buffer.from(records());
    const verdict = test.validate(input, options);
    expect([errorName(verdict.error), verdict.recordIndex, verdict.message]).toEqual([
      error,
      recordIndex,
      expect.stringMatching(/./),
    ]);
    // Nothing is written over a refused batch.
    expect(Buffer.compare(test.kernel.bytes.subarray(test.address, test.address + input.length), input)).toBe(0);
  });
});

describe('records that are bad by themselves (KIP-467)', () => {
  const late = { key: 'k', timestampDelta: 3_600_001 };
  const keyless = { key: null };
  const validate = (records: TestRecord[], options: Partial<ValidationOptions> = {}) => {
    const batch = buildBatch({ records, baseTimestamp: BigInt(NOW_MS) });
    const { error, message, recordIndex, recordErrors } = test.validate(batch, { compacted: true, ...options });
    return {
      error: errorName(error),
      message,
      recordIndex,
      bad: recordErrors.map(({ batchIndex }) => batchIndex),
      recordErrors,
    };
  };

  it('are all named', () => {
    const verdict = validate([{ key: 'k' }, late, keyless, late]);
    expect(verdict).toMatchObject({ error: 'INVALID_TIMESTAMP', recordIndex: 1, bad: [1, 2, 3] });
    expect(verdict.message).toBe(verdict.recordErrors[0]!.message);
    expect(verdict.recordErrors[1]!.message).toMatch(/^record 2: .*key/);
    expect(validate([keyless, { key: 'k' }, keyless])).toMatchObject({ error: 'INVALID_RECORD', bad: [0, 2] });
    expect(validate([keyless, late], { compacted: false })).toMatchObject({ recordIndex: 1, bad: [1] });
    expect(validate([keyless, late], { timestampType: 1 })).toMatchObject({ error: 'INVALID_RECORD', bad: [0] });
  });

  it('have no second fault: of one without a key the timestamp does not count', () => {
    const both = { key: null, timestampDelta: 3_600_001 };
    expect(validate([both, { key: 'k' }])).toMatchObject({ error: 'INVALID_RECORD', recordIndex: 0, bad: [0] });
    expect(validate([both, late])).toMatchObject({ error: 'INVALID_TIMESTAMP', recordIndex: 1, bad: [0, 1] });
  });

  it('are named up to a bound, compressed too', () => {
    const records = Array.from({ length: 1000 }, () => keyless);
    const batch = compressed(1, gzipSync(encodeRecords(records)), 1000);
    const { recordErrors } = test.validate(batch, { compacted: true });
    expect(recordErrors.map(({ batchIndex }) => batchIndex)).toEqual(Array.from({ length: 256 }, (_, i) => i));
  });

  it('do not matter where the form is broken', () => {
    const batch = buildBatch({ records: [], recordCount: 2, payload: encodeRecords([keyless]) });
    expect(test.validate(batch, { compacted: true })).toMatchObject({ recordIndex: -1, recordErrors: [] });
  });
});

describe('what Kafka accepts or repairs', () => {
  const accept = (records: Buffer, options: Partial<ValidationOptions> = {}): Buffer => {
    const verdict = test.validate(records, options);
    expect([verdict.error, verdict.message]).toEqual([Errors.NONE, '']);
    return test.stored(verdict);
  };

  it('56 trims trailing bytes that form no batch', () => {
    const batch = plainBatch(2, 10, { leaderEpoch: 0 });
    expect(accept(Buffer.concat([batch, Buffer.alloc(11, 7)]))).toEqual(batch);
    expect(accept(Buffer.concat([batch, batch.subarray(0, 60)]))).toEqual(batch);
  });

  it('57 overwrites the leader epoch', () => {
    expect(accept(plainBatch(1, 5, { leaderEpoch: 77 })).readInt32BE(12)).toBe(0);
  });

  it('58 recomputes a false maxTimestamp and its CRC', () => {
    const truth = plainBatch(5, 10, { leaderEpoch: 0 });
    for (const maxTimestamp of [0n, -1n, 2n ** 60n]) {
      expect(accept(plainBatch(5, 10, { maxTimestamp }))).toEqual(truth);
    }
  });

  it('59 numbers the inner offsets of a compressed batch', () => {
    const records = [{ value: 'a' }, { value: 'b' }, { value: 'c' }];
    const gaps = encodeRecords(records.map((record, i) => ({ ...record, offsetDelta: 100 * i })));
    const verdict = test.validate(compressed(1, gzipSync(gaps), 3));
    expect(verdict).toMatchObject({ error: Errors.NONE, sizeBytes: 0, recordCount: 3, lastOffsetDelta: 2 });
    const again = test.validate(Buffer.from(verdict.rebuilt!), { compressionType: 'uncompressed' });
    expect(test.stored(again).subarray(61)).toEqual(encodeRecords(records));
  });

  it('61 ignores attribute bits 7 to 15', () => {
    accept(plainBatch(1, 5, { attributes: 0xff80 }));
  });

  it('62 accepts timestamp −1 everywhere', () => {
    const batch = buildBatch({ records: [{}, {}], baseTimestamp: -1n });
    accept(batch, { timestampBeforeMaxMs: 0, timestampAfterMaxMs: 0 });
    accept(batch, { timestampType: 1 });
  });

  it('63 takes a negative key length for null', () => {
    const body = [0, 0, 0, ...varint(-5), 1, 0];
    const batch = buildBatch({ records: [], recordCount: 1, payload: Buffer.from([...varint(body.length), ...body]) });
    accept(batch);
    expect(test.validate(batch, { compacted: true })).toMatchObject({ error: Errors.INVALID_RECORD, recordIndex: 0 });
  });

  it('62 accepts any time where no limit is set', () => {
    const batch = buildBatch({ records: [{}], baseTimestamp: -(2n ** 63n) });
    accept(batch, { timestampAfterMaxMs: Number.POSITIVE_INFINITY });
    accept(batch, { timestampType: 1 });
  });

  it('takes the delete horizon from a batch that it rebuilds, and leaves it in others', () => {
    const batch = plainBatch(2, 5, { attributes: 0x40 });
    expect(accept(batch).readUInt16BE(21)).toBe(0x40);
    expect(accept(batch, { compressionType: 'gzip' }).readUInt16BE(21)).toBe(1);
  });

  it('65 ignores the attributes of a record', () => {
    const body = [0xff, 0, 0, 1, 1, 0];
    accept(buildBatch({ records: [], recordCount: 1, payload: Buffer.from([...varint(body.length), ...body]) }));
  });

  it('34 clears a LogAppendTime bit on a CreateTime topic', () => {
    expect(accept(plainBatch(2, 5, { attributes: 8, leaderEpoch: 0 }))).toEqual(plainBatch(2, 5, { leaderEpoch: 0 }));
  });

  it('reports the first of equal maxima, and −1 when there is no timestamp', () => {
    const records = [{}, { timestampDelta: 9 }, { timestampDelta: 9 }, { timestampDelta: 2 }];
    expect(test.validate(buildBatch({ records }))).toMatchObject({ offsetOfMaxTimestampDelta: 1 });
    expect(test.validate(buildBatch({ records: [{}], baseTimestamp: -1n }))).toMatchObject({ maxTimestamp: -1n });
  });

  it('holds a recompressed batch to the limit again', () => {
    const batch = compressed(1, gzipSync(encodeRecords([{ value: 'x'.repeat(5000) }])));
    const verdict = test.validate(batch, { maxMessageBytes: 4000, compressionType: 'uncompressed' });
    expect([errorName(verdict.error), verdict.message]).toEqual(['MESSAGE_TOO_LARGE', expect.stringContaining('4000')]);
  });
});
