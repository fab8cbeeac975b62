/** Reads the records of fetched batches in plain TypeScript. Uncompressed ones only. */
import crc32c from 'crc-32/crc32c.js';

export interface ReadRecord {
  readonly offset: bigint;
  readonly timestamp: bigint;
  readonly key: string | null;
  readonly value: string | null;
}

/** Consecutive batches, one by one. */
export function* batchesOf(records: Uint8Array): Generator<Buffer> {
  const bytes = Buffer.from(records.buffer, records.byteOffset, records.byteLength);
  for (let at = 0; at < bytes.length; ) {
    const size = 12 + bytes.readInt32BE(at + 8);
    yield bytes.subarray(at, at + size);
    at += size;
  }
}

/** The records of consecutive uncompressed batches, with each batch's CRC checked. */
export function readRecords(batches: readonly Uint8Array[]): ReadRecord[] {
  const bytes = Buffer.concat(batches);
  const records: ReadRecord[] = [];
  for (const batch of batchesOf(bytes)) {
    if (crc32c.buf(batch.subarray(21)) >>> 0 !== batch.readUInt32BE(17))
      throw new Error(`wrong CRC in the batch at ${batch.byteOffset - bytes.byteOffset}`);
    records.push(...recordsOfBatch(batch));
  }
  return records;
}

/** The records of one batch, uncompressed whatever its attributes say. */
export function* recordsOfBatch(batch: Buffer): Generator<ReadRecord> {
  const baseOffset = batch.readBigInt64BE(0);
  const logAppendTime = (batch.readInt16BE(21) & 8) !== 0;
  let at = 61;
  const next = (): number => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = batch[at++]!;
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return (value >>> 1) ^ -(value & 1);
    }
  };
  const field = (): string | null => {
    const length = next();
    if (length < 0) return null;
    at += length;
    return batch.toString('utf8', at - length, at);
  };
  for (let count = batch.readInt32BE(57); count > 0; count--) {
    next();
    at += 1;
    const delta = BigInt(next());
    const offset = baseOffset + BigInt(next());
    const timestamp = logAppendTime ? batch.readBigInt64BE(35) : batch.readBigInt64BE(27) + delta;
    yield { offset, timestamp, key: field(), value: field() };
    for (let headers = next(); headers > 0; headers--) {
      field();
      field();
    }
  }
}
