/**
 * Record batches in plain TypeScript: the oracle that tests, the fuzzer and the benches hold the kernel against, written
 * from the format's description and from nothing else. Slow, simple, allocates freely; the engine never calls it.
 *
 * Pure. CRC and decompression are handed in, so that none of it is the kernel's.
 */
import { type ErrorCode, type ErrorName, Errors } from '../common/errors.ts';
import { CODECS, type CompressionCodec, type ValidationOptions } from './validation.ts';

export interface RecordBatchHeader {
  readonly baseOffset: bigint;
  readonly batchLength: number;
  readonly partitionLeaderEpoch: number;
  readonly magic: number;
  readonly crc: number;
  readonly attributes: number;
  readonly lastOffsetDelta: number;
  readonly baseTimestamp: bigint;
  readonly maxTimestamp: bigint;
  readonly producerId: bigint;
  readonly producerEpoch: number;
  readonly baseSequence: number;
  readonly recordsCount: number;
}

export interface ParsedRecord {
  readonly timestamp: bigint;
  readonly offsetDelta: number;
  readonly key: Uint8Array | null;
  readonly value: Uint8Array | null;
  readonly headers: readonly { readonly key: Uint8Array; readonly value: Uint8Array | null }[];
}

/** The 61 bytes of a v2 header at `at`, of which the caller knows that they are there. */
export function parseHeader(bytes: Uint8Array, at = 0): RecordBatchHeader {
  const view = new DataView(bytes.buffer, bytes.byteOffset + at, bytes.byteLength - at);
  return {
    baseOffset: view.getBigInt64(0),
    batchLength: view.getInt32(8),
    partitionLeaderEpoch: view.getInt32(12),
    magic: view.getInt8(16),
    crc: view.getUint32(17),
    attributes: view.getUint16(21),
    lastOffsetDelta: view.getInt32(23),
    baseTimestamp: view.getBigInt64(27),
    maxTimestamp: view.getBigInt64(35),
    producerId: view.getBigInt64(43),
    producerEpoch: view.getInt16(51),
    baseSequence: view.getInt32(53),
    recordsCount: view.getInt32(57),
  };
}

/** A record that is not one. */
class MalformedRecord extends Error {}

/** Reads forward inside [at, end) and never past it. */
class Cursor {
  readonly #bytes: Uint8Array;
  readonly end: number;
  at: number;

  constructor(bytes: Uint8Array, at: number, end: number) {
    this.#bytes = bytes;
    this.at = at;
    this.end = end;
  }

  byte(): number {
    if (this.at >= this.end) throw new MalformedRecord('ends inside a field');
    return this.#bytes[this.at++]!;
  }

  /** A zigzag integer of at most `most` bytes. */
  varlong(most = 10): bigint {
    let raw = 0n;
    for (let i = 0; i < most; i++) {
      const byte = this.byte();
      raw |= BigInt(byte & 0x7f) << BigInt(7 * i);
      if (byte < 0x80) {
        const unsigned = BigInt.asUintN(most === 5 ? 32 : 64, raw);
        return (unsigned >> 1n) ^ -(unsigned & 1n);
      }
    }
    throw new MalformedRecord('a variable-length integer is too long');
  }

  varint(): number {
    return Number(this.varlong(5));
  }

  take(length: number): Uint8Array {
    if (length > this.end - this.at) throw new MalformedRecord('a field goes beyond its record');
    this.at += length;
    return this.#bytes.subarray(this.at - length, this.at);
  }

  /** Bytes behind their length; a negative one means null. */
  nullable(): Uint8Array | null {
    const length = this.varint();
    return length < 0 ? null : this.take(length);
  }
}

function parseHeaders(cursor: Cursor): ParsedRecord['headers'] {
  const count = cursor.varint();
  if (count < 0 || count > cursor.end - cursor.at) throw new MalformedRecord('header count');
  return Array.from({ length: count }, () => {
    const key = cursor.nullable();
    if (key === null) throw new MalformedRecord('a header key is null');
    return { key, value: cursor.nullable() };
  });
}

/** One record at the cursor. @throws MalformedRecord */
function parseRecord(bytes: Uint8Array, cursor: Cursor, baseTimestamp: bigint): ParsedRecord {
  const length = cursor.varint();
  if (length < 0) throw new MalformedRecord('record length');
  const start = cursor.at;
  cursor.take(length);
  const body = new Cursor(bytes, start, cursor.at);
  body.byte();
  const timestamp = BigInt.asIntN(64, baseTimestamp + body.varlong());
  const offsetDelta = body.varint();
  const key = body.nullable();
  const value = body.nullable();
  const headers = parseHeaders(body);
  if (body.at !== body.end) throw new MalformedRecord('longer than its fields');
  return { timestamp, offsetDelta, key, value, headers };
}

/** The records in plain bytes, as far as they are sound; `bad` is the first that is not. */
export function parseRecords(
  plain: Uint8Array,
  count: number,
  baseTimestamp: bigint,
): { records: ParsedRecord[]; bad: 'none' | 'missing' | 'malformed' | 'surplus' } {
  const cursor = new Cursor(plain, 0, plain.length);
  const records: ParsedRecord[] = [];
  for (let i = 0; i < count; i++) {
    if (cursor.at >= cursor.end) return { records, bad: 'missing' };
    try {
      records.push(parseRecord(plain, cursor, baseTimestamp));
    } catch (error) {
      if (error instanceof MalformedRecord) return { records, bad: 'malformed' };
      throw error;
    }
  }
  return { records, bad: cursor.at < cursor.end ? 'surplus' : 'none' };
}

/** What the oracle does not do itself. */
export interface OracleParts {
  crc32c(bytes: Uint8Array): number;
  /** Plain bytes, or the error of a payload that has none. */
  decompress(codec: CompressionCodec, payload: Uint8Array): Uint8Array | ErrorName;
}

/** The part of a verdict that oracle and kernel must agree on. */
export interface OracleVerdict {
  readonly error: ErrorCode;
  readonly recordIndex: number;
  /** Indexes of all records that are bad by themselves. */
  readonly badRecords: readonly number[];
  /** Of the batch, trailing bytes not counted; 0 with an error. */
  readonly sizeBytes: number;
  readonly maxTimestamp: bigint;
  readonly offsetOfMaxTimestampDelta: number;
  /** Offset deltas are not 0, 1, 2, …, so the batch must be rebuilt. */
  readonly renumber: boolean;
}

function refuse(
  error: ErrorName,
  recordIndex = -1,
  badRecords: readonly number[] = recordIndex < 0 ? [] : [recordIndex],
): OracleVerdict {
  const nothing = { sizeBytes: 0, maxTimestamp: -1n, offsetOfMaxTimestampDelta: -1, renumber: false };
  return { error: Errors[error], recordIndex, badRecords, ...nothing };
}

/** Size of the batch that begins at `at`; 'incomplete' when too few bytes follow to hold it. */
function frameOf(bytes: Uint8Array, at: number): number | 'incomplete' | 'corrupt' {
  const view = new DataView(bytes.buffer, bytes.byteOffset + at, bytes.byteLength - at);
  if (view.byteLength < 12) return 'incomplete';
  const size = view.getInt32(8) + 12;
  if (size < 26) return 'corrupt';
  if (view.byteLength < 17) return 'incomplete';
  if (view.getUint8(16) > 2) return 'corrupt';
  return size > view.byteLength ? 'incomplete' : size;
}

/** Kafka's verdict over what a producer sent for one partition, but for recompression. */
export function validateRecordBatch(
  records: Uint8Array,
  options: ValidationOptions,
  parts: OracleParts,
): OracleVerdict {
  const size = frameOf(records, 0);
  if (size === 'corrupt') return refuse('CORRUPT_MESSAGE');
  if (size === 'incomplete' || records[16] !== 2) return refuse('INVALID_RECORD');
  const next = frameOf(records, size);
  if (next !== 'incomplete') return refuse(next === 'corrupt' ? 'CORRUPT_MESSAGE' : 'INVALID_RECORD');
  if (new DataView(records.buffer, records.byteOffset).getBigInt64(0) !== 0n) return refuse('INVALID_RECORD');
  if (size > options.maxMessageBytes) return refuse('MESSAGE_TOO_LARGE');
  if (size < 61) return refuse('CORRUPT_MESSAGE');
  const header = parseHeader(records);
  if (parts.crc32c(records.subarray(21, size)) !== header.crc) return refuse('CORRUPT_MESSAGE');
  return headerFault(header, options) ?? validateContent(records.subarray(61, size), size, header, options, parts);
}

function headerFault(header: RecordBatchHeader, options: ValidationOptions): OracleVerdict | undefined {
  const { attributes, lastOffsetDelta, recordsCount, producerId, producerEpoch, baseSequence } = header;
  if ((attributes & 7) > 4) return refuse('CORRUPT_MESSAGE');
  if (lastOffsetDelta < 0 || recordsCount <= 0 || recordsCount - 1 !== lastOffsetDelta) return refuse('INVALID_RECORD');
  const producerFault = producerId >= 0n && (producerEpoch < 0 || baseSequence < 0);
  if ((attributes & 32) !== 0 || producerFault) return refuse('INVALID_RECORD');
  if ((attributes & 16) !== 0 && !options.allowTransactional) return refuse('INVALID_REQUEST');
  return undefined;
}

function validateContent(
  payload: Uint8Array,
  sizeBytes: number,
  header: RecordBatchHeader,
  options: ValidationOptions,
  parts: OracleParts,
): OracleVerdict {
  const codec = CODECS[header.attributes & 7]!;
  const plain = codec === 'none' ? payload : parts.decompress(codec, payload);
  if (typeof plain === 'string') return refuse(plain);
  const { records, bad } = parseRecords(plain, header.recordsCount, header.baseTimestamp);
  const outOfOrder = records.findIndex((record, i) => record.offsetDelta !== i);
  if (codec === 'none' && outOfOrder >= 0) return refuse('INVALID_RECORD', outOfOrder);
  if (bad !== 'none') return refuse('INVALID_RECORD', bad === 'malformed' ? records.length : -1);
  return recordFault(records, header, options) ?? { ...greatest(records), ...ok(sizeBytes, outOfOrder >= 0) };
}

function ok(sizeBytes: number, renumber: boolean): Omit<OracleVerdict, 'maxTimestamp' | 'offsetOfMaxTimestampDelta'> {
  return { error: Errors.NONE, recordIndex: -1, badRecords: [], sizeBytes, renumber };
}

function recordFault(
  records: readonly ParsedRecord[],
  header: RecordBatchHeader,
  options: ValidationOptions,
): OracleVerdict | undefined {
  const faults = records.map(({ key, timestamp }): ErrorName | undefined => {
    if (options.compacted && key === null) return 'INVALID_RECORD';
    return options.timestampType === 0 && isOutOfBounds(timestamp, options) ? 'INVALID_TIMESTAMP' : undefined;
  });
  const badRecords = [...faults.keys()].filter((i) => faults[i] !== undefined);
  for (const error of ['INVALID_TIMESTAMP', 'INVALID_RECORD'] as const) {
    if (faults.includes(error)) return refuse(error, faults.indexOf(error), badRecords);
  }
  const appendTime = (header.attributes & 8) !== 0;
  if (appendTime && (options.timestampType === 1 || header.maxTimestamp === -1n)) return refuse('INVALID_TIMESTAMP');
  return undefined;
}

function isOutOfBounds(timestamp: bigint, options: ValidationOptions): boolean {
  const { nowMs, timestampBeforeMaxMs, timestampAfterMaxMs } = options;
  if (timestamp === -1n) return false;
  const early = nowMs - Number(timestamp) > timestampBeforeMaxMs;
  const late = Number(timestamp) - nowMs > timestampAfterMaxMs;
  // Kafka subtracts as 64-bit integers, in which the earliest times are far ahead of now.
  const wraps = timestamp < BigInt(nowMs) - 2n ** 63n;
  return early || late || (wraps && timestampAfterMaxMs !== Number.POSITIVE_INFINITY);
}

function greatest(records: readonly ParsedRecord[]): Pick<OracleVerdict, 'maxTimestamp' | 'offsetOfMaxTimestampDelta'> {
  let maxTimestamp = -1n;
  let offsetOfMaxTimestampDelta = 0;
  records.forEach(({ timestamp }, i) => {
    if (timestamp <= maxTimestamp) return;
    maxTimestamp = timestamp;
    offsetOfMaxTimestampDelta = i;
  });
  return { maxTimestamp, offsetOfMaxTimestampDelta };
}
