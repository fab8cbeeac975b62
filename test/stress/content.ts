/**
 * What a stress run writes: every record follows from its producer, its sequence number and its place in the batch, so
 * that whoever reads it can tell, byte for byte, whether it is right, without having been told more.
 *
 * Key: `producer/sequence/index`. Value: a slice of one pseudo-random pad, at a place and of a length made from the key.
 */
import { seededRandom } from '../../src/common/random.ts';
import { batchesOf } from '../support/read-records.ts';
import { buildBatch } from '../support/record-batches.ts';

const PAD_BYTES = 1 << 20;
const pad = Buffer.from(seededRandom(0x5110a1).bytes(PAD_BYTES));

export interface RecordId {
  readonly producer: number;
  readonly sequence: number;
  readonly index: number;
}

export interface BatchShape {
  readonly records: number;
  /** Largest value. */
  readonly valueBytes: number;
}

function mix({ producer, sequence, index }: RecordId): number {
  let hash =
    Math.imul(producer + 1, 0x9e3779b1) ^ Math.imul(sequence + 1, 0x85ebca6b) ^ Math.imul(index + 1, 0xc2b2ae35);
  hash = Math.imul(hash ^ (hash >>> 15), 0x27d4eb2f);
  return (hash ^ (hash >>> 13)) >>> 0;
}

/** The value that belongs to a record, given the largest size. */
export function expectedValue(id: RecordId, valueBytes: number): Buffer {
  const hash = mix(id);
  const size = hash % (valueBytes + 1);
  const position = mix({ ...id, index: id.index + 7919 }) % (PAD_BYTES - valueBytes);
  return pad.subarray(position, position + size);
}

export function batchOf(producer: number, sequence: number, { records, valueBytes }: BatchShape): Buffer {
  return buildBatch({
    baseTimestamp: BigInt(Date.now()),
    records: Array.from({ length: records }, (_, index) => ({
      key: `${producer}/${sequence}/${index}`,
      value: expectedValue({ producer, sequence, index }, valueBytes),
    })),
  });
}

export interface SeenRecord extends RecordId {
  readonly offset: bigint;
  /** Whether the value is the one that belongs to the key. */
  readonly right: boolean;
}

/** Reads consecutive uncompressed batches. @throws Error for bytes that are no batches of ours */
export function* readBatches(views: readonly Uint8Array[], valueBytes: number): Generator<SeenRecord> {
  for (const view of views) for (const batch of batchesOf(view)) yield* readBatch(batch, valueBytes);
}

function* readBatch(batch: Buffer, valueBytes: number): Generator<SeenRecord> {
  const baseOffset = batch.readBigInt64BE(0);
  const count = batch.readInt32BE(57);
  const reader = new VarintReader(batch, 61);
  for (let record = 0; record < count; record++) {
    const end = reader.next() + reader.at;
    reader.at += 1;
    reader.next();
    const offset = baseOffset + BigInt(reader.next());
    const key = reader.bytes().toString('latin1');
    const value = reader.bytes();
    reader.at = end;
    const [producer, sequence, index] = key.split('/').map(Number) as [number, number, number];
    const id = { producer, sequence, index };
    yield { ...id, offset, right: Buffer.compare(value, expectedValue(id, valueBytes)) === 0 };
  }
}

class VarintReader {
  readonly #bytes: Buffer;
  at: number;

  constructor(bytes: Buffer, at: number) {
    this.#bytes = bytes;
    this.at = at;
  }

  next(): number {
    let value = 0;
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = this.#bytes[this.at++]!;
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return (value >>> 1) ^ -(value & 1);
    }
    throw new Error('a varint of more than five bytes');
  }

  bytes(): Buffer {
    const size = this.next();
    this.at += size;
    return this.#bytes.subarray(this.at - size, this.at);
  }
}
