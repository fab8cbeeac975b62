/** Builds v2 record batches byte by byte, right or deliberately wrong, without any code of the kernel. */
import crc32c from 'crc-32/crc32c.js';

export interface TestRecord {
  readonly key?: Uint8Array | string | null;
  readonly value?: Uint8Array | string | null;
  readonly headers?: readonly (readonly [string, Uint8Array | string | null])[];
  readonly timestampDelta?: bigint | number;
  /** @default the record's index */
  readonly offsetDelta?: number;
}

export interface TestBatch {
  readonly records: readonly TestRecord[];
  readonly baseOffset?: bigint;
  readonly leaderEpoch?: number;
  readonly magic?: number;
  readonly attributes?: number;
  readonly lastOffsetDelta?: number;
  readonly baseTimestamp?: bigint;
  readonly maxTimestamp?: bigint;
  readonly producerId?: bigint;
  readonly producerEpoch?: number;
  readonly baseSequence?: number;
  readonly recordCount?: number;
  /** Replaces what the records would be encoded to: compressed, or broken. */
  readonly payload?: Uint8Array;
}

export function varint(value: bigint | number): number[] {
  let raw = BigInt.asUintN(64, (BigInt(value) << 1n) ^ (BigInt(value) >> 63n));
  const out: number[] = [];
  while (raw >= 0x80n) {
    out.push(Number(raw & 0x7fn) | 0x80);
    raw >>= 7n;
  }
  out.push(Number(raw));
  return out;
}

function field(value: Uint8Array | string | null | undefined): Buffer {
  if (value === null || value === undefined) return Buffer.from(varint(-1));
  const bytes = Buffer.from(value);
  return Buffer.concat([Buffer.from(varint(bytes.length)), bytes]);
}

export function encodeRecord(record: TestRecord, index: number): Buffer {
  const headers = record.headers ?? [];
  const body = Buffer.concat([
    Buffer.from([0, ...varint(record.timestampDelta ?? 0), ...varint(record.offsetDelta ?? index)]),
    field(record.key),
    field(record.value),
    Buffer.from(varint(headers.length)),
    ...headers.flatMap(([key, value]) => [field(key), field(value)]),
  ]);
  return Buffer.concat([Buffer.from(varint(body.length)), body]);
}

export function encodeRecords(records: readonly TestRecord[]): Buffer {
  return Buffer.concat(records.map(encodeRecord));
}

/** Writes the right CRC over whatever the batch holds now. */
export function sealCrc(batch: Buffer): Buffer {
  batch.writeUInt32BE(crc32c.buf(batch.subarray(21)) >>> 0, 17);
  return batch;
}

export function buildBatch(batch: TestBatch): Buffer {
  const payload = batch.payload ?? encodeRecords(batch.records);
  const count = batch.recordCount ?? batch.records.length;
  const baseTimestamp = batch.baseTimestamp ?? 1_700_000_000_000n;
  const deltas = batch.records.map((record) => BigInt(record.timestampDelta ?? 0));
  const greatest = deltas.toSorted((a, b) => Number(b - a))[0] ?? 0n;
  const bytes = Buffer.alloc(61 + payload.length);
  bytes.writeBigInt64BE(batch.baseOffset ?? 0n, 0);
  bytes.writeInt32BE(bytes.length - 12, 8);
  bytes.writeInt32BE(batch.leaderEpoch ?? -1, 12);
  bytes.writeInt8(batch.magic ?? 2, 16);
  bytes.writeUInt16BE(batch.attributes ?? 0, 21);
  bytes.writeInt32BE(batch.lastOffsetDelta ?? count - 1, 23);
  bytes.writeBigInt64BE(baseTimestamp, 27);
  bytes.writeBigInt64BE(batch.maxTimestamp ?? baseTimestamp + greatest, 35);
  bytes.writeBigInt64BE(batch.producerId ?? -1n, 43);
  bytes.writeInt16BE(batch.producerEpoch ?? -1, 51);
  bytes.writeInt32BE(batch.baseSequence ?? -1, 53);
  bytes.writeInt32BE(count, 57);
  bytes.set(payload, 61);
  return sealCrc(bytes);
}

/** `count` records of about `valueBytes` each. */
export function plainBatch(count: number, valueBytes: number, batch: Partial<TestBatch> = {}): Buffer {
  const value = Buffer.alloc(valueBytes, 'abcdefghij');
  return buildBatch({ records: Array.from({ length: count }, (_, i) => ({ value, timestampDelta: i })), ...batch });
}
