/**
 * Builds a v2 record batch out of records of our own (dead letters): uncompressed, without a producer id, every record
 * with the batch's one timestamp. Plain TypeScript, except for the CRC, which is handed in.
 */
import * as layout from './kernel-layout.ts';

export interface NewRecord {
  readonly key: Uint8Array | null;
  readonly value: Uint8Array | null;
  readonly headers: readonly (readonly [key: string, value: Uint8Array])[];
}

/** The largest varint of 32 bits. */
const VARINT_MAX_BYTES = 5;
const NO_PRODUCER = -1n;

/** Writes a zigzag varint; returns where it ends. */
function writeVarint(bytes: Uint8Array, at: number, value: number): number {
  let rest = ((value << 1) ^ (value >> 31)) >>> 0;
  let end = at;
  while (rest > 0x7f) {
    bytes[end++] = (rest & 0x7f) | 0x80;
    rest >>>= 7;
  }
  bytes[end++] = rest;
  return end;
}

/** Writes bytes behind their length; null is a length of −1. */
function writeNullable(target: Uint8Array, at: number, bytes: Uint8Array | null): number {
  const start = writeVarint(target, at, bytes ? bytes.length : -1);
  if (bytes) target.set(bytes, start);
  return start + (bytes?.length ?? 0);
}

function encodeRecord({ key, value, headers }: NewRecord, offsetDelta: number): Uint8Array {
  const named = headers.map(([name, content]) => [Buffer.from(name), content] as const);
  const contents = [key, value, ...named.flat()];
  const contentBytes = contents.reduce((sum, content) => sum + (content?.length ?? 0), 0);
  const body = new Uint8Array(contentBytes + (contents.length + 3) * VARINT_MAX_BYTES);
  // Attributes and timestamp delta are 0.
  let end = writeVarint(body, 2, offsetDelta);
  end = writeNullable(body, end, key);
  end = writeNullable(body, end, value);
  end = writeVarint(body, end, headers.length);
  for (const [name, content] of named) end = writeNullable(body, writeNullable(body, end, name), content);
  const record = new Uint8Array(VARINT_MAX_BYTES + end);
  const start = writeVarint(record, 0, end);
  record.set(body.subarray(0, end), start);
  return record.subarray(0, start + end);
}

export class RecordBatchBuilder {
  readonly #timestampMs: bigint;
  readonly #records: Uint8Array[] = [];
  #sizeBytes = layout.RECORDS;

  constructor(timestampMs: number) {
    this.#timestampMs = BigInt(timestampMs);
  }

  /** Adds a record unless the batch would become larger than `maxBytes`; false then. */
  tryAdd(record: NewRecord, maxBytes: number): boolean {
    const encoded = encodeRecord(record, this.#records.length);
    if (this.#sizeBytes + encoded.length > maxBytes) return false;
    this.#records.push(encoded);
    this.#sizeBytes += encoded.length;
    return true;
  }

  /** The batch as a producer would send it: base offset 0. At least one record must have been added. */
  build(crc32c: (bytes: Uint8Array) => number): Uint8Array {
    const bytes = new Uint8Array(this.#sizeBytes);
    const view = new DataView(bytes.buffer);
    view.setInt32(layout.BATCH_LENGTH, this.#sizeBytes - layout.LOG_OVERHEAD);
    view.setInt32(layout.LEADER_EPOCH, -1);
    view.setInt8(layout.MAGIC, 2);
    view.setInt32(layout.LAST_OFFSET_DELTA, this.#records.length - 1);
    view.setBigInt64(layout.BASE_TIMESTAMP, this.#timestampMs);
    view.setBigInt64(layout.MAX_TIMESTAMP, this.#timestampMs);
    view.setBigInt64(layout.PRODUCER_ID, NO_PRODUCER);
    view.setInt16(layout.PRODUCER_EPOCH, -1);
    view.setInt32(layout.BASE_SEQUENCE, -1);
    view.setInt32(layout.RECORD_COUNT, this.#records.length);
    let at = layout.RECORDS;
    for (const record of this.#records) {
      bytes.set(record, at);
      at += record.length;
    }
    view.setUint32(layout.CRC, crc32c(bytes.subarray(layout.ATTRIBUTES)));
    return bytes;
  }
}
