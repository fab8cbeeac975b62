/**
 * Reading single records out of a rewritten run, by offset. Runs in whichever thread calls it: compressed batches are
 * decompressed into the kernel's own room, one at a time, and only the records asked for are copied out.
 */
import * as layout from './kernel-layout.ts';
import type { RecordKernel } from './record-kernel.ts';
import { plainRecords } from './run-rewriter.ts';

export interface ReadRecordsOptions {
  /** By rising offset. */
  readonly offsets: readonly bigint[];
  /** Room for keys and values: reading ends before the first record that finds none. */
  readonly maxBytes: number;
  /** A record that is larger is left out, as if it did not exist. */
  readonly maxRecordBytes: number;
}

/** A record's own bytes, copied. */
export interface RecordContent {
  readonly offset: bigint;
  readonly key: Uint8Array | null;
  readonly value: Uint8Array | null;
}

export interface ReadRecords {
  readonly records: readonly RecordContent[];
  /** How many of the offsets were looked at; for the others there was no room. */
  readonly offsetsRead: number;
}

/** What is still wanted, and what was found. */
class Collection {
  readonly records: RecordContent[] = [];
  readonly #options: ReadRecordsOptions;
  #next = 0;
  #leftBytes: number;
  #isFull = false;

  constructor(options: ReadRecordsOptions) {
    this.#options = options;
    this.#leftBytes = options.maxBytes;
  }

  /** The offset wanted next; undefined when there is none, or no room for it. */
  get wanted(): bigint | undefined {
    return this.#isFull ? undefined : this.#options.offsets[this.#next];
  }

  get result(): ReadRecords {
    return { records: this.records, offsetsRead: this.#next };
  }

  /** There is no record up to this offset besides those taken. */
  pass(offset: bigint): void {
    while (this.wanted !== undefined && this.wanted <= offset) this.#next++;
  }

  /** The wanted record was found. What it is made of is copied. */
  take(key: Uint8Array | null, value: Uint8Array | null): void {
    const bytes = (key?.length ?? 0) + (value?.length ?? 0);
    const isLeftOut = bytes > this.#options.maxRecordBytes;
    this.#isFull = !isLeftOut && bytes > this.#leftBytes;
    if (this.#isFull) return;
    if (!isLeftOut) {
      this.records.push({
        offset: this.wanted!,
        key: key && new Uint8Array(key),
        value: value && new Uint8Array(value),
      });
      this.#leftBytes -= bytes;
    }
    this.#next++;
  }
}

/** Reads forward through plain record bytes, which were validated when they were appended. */
class Cursor {
  readonly #bytes: Uint8Array;
  at: number;

  constructor(bytes: Uint8Array, at: number) {
    this.#bytes = bytes;
    this.at = at;
  }

  varint(): number {
    let raw = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = this.#bytes[this.at++]!;
      raw |= (byte & 0x7f) << shift;
      if (byte < 0x80) return (raw >>> 1) ^ -(raw & 1);
    }
  }

  skipVarint(): void {
    while (this.#bytes[this.at]! > 0x7f) this.at++;
    this.at++;
  }

  /** A view of the bytes behind their length; a negative one means null. */
  nullable(): Uint8Array | null {
    const length = this.varint();
    if (length < 0) return null;
    this.at += length;
    return this.#bytes.subarray(this.at - length, this.at);
  }
}

/** @throws Error when a stored batch, valid once, cannot be decompressed any more */
export function readRecords(
  kernel: RecordKernel,
  address: number,
  size: number,
  options: ReadRecordsOptions,
): ReadRecords {
  const { view } = kernel;
  const collection = new Collection(options);
  for (let at = address; at + layout.RECORDS <= address + size && collection.wanted !== undefined; ) {
    const batchBytes = view.getInt32(at + layout.BATCH_LENGTH) + layout.LOG_OVERHEAD;
    const lastOffset = view.getBigInt64(at) + BigInt(view.getInt32(at + layout.LAST_OFFSET_DELTA));
    if (collection.wanted <= lastOffset) readBatch(kernel, at, batchBytes, collection);
    collection.pass(lastOffset);
    at += batchBytes;
  }
  if (collection.wanted !== undefined) collection.pass(options.offsets[options.offsets.length - 1]!);
  return collection.result;
}

function readBatch(kernel: RecordKernel, batch: number, batchBytes: number, collection: Collection): void {
  const { view } = kernel;
  const baseOffset = view.getBigInt64(batch);
  const plain = plainRecords(kernel, batch, batchBytes, view.getUint16(batch + layout.ATTRIBUTES));
  const cursor = new Cursor(kernel.bytes, plain.address);
  for (let count = view.getInt32(batch + layout.RECORD_COUNT); count > 0 && collection.wanted !== undefined; count--) {
    const length = cursor.varint();
    const end = cursor.at + length;
    cursor.at++;
    cursor.skipVarint();
    const offset = baseOffset + BigInt(cursor.varint());
    collection.pass(offset - 1n);
    if (offset === collection.wanted) collection.take(cursor.nullable(), cursor.nullable());
    cursor.at = end;
  }
}
