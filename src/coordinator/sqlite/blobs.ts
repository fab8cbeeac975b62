/** What is stored as blobs: commit results, the idempotent batches of a coordinate, producer snapshots, share batches. */
import type { NewCoordinate, ProducerAppend } from '../assign-offsets.ts';
import { ByteReader, ByteWriter } from '../byte-codec.ts';
import type { CommitBatchResult } from '../diskless-coordinator.ts';
import type { ProducerBatch, ProducerState } from '../producer-state.ts';
import type { ShareStateBatch } from '../share-state-store.ts';

const writer = new ByteWriter();

function readAll<T>(bytes: Uint8Array, readOne: (reader: ByteReader) => T): T[] {
  const reader = new ByteReader(bytes);
  const values: T[] = [];
  while (!reader.atEnd) values.push(readOne(reader));
  return values;
}

const encodedResults = new WeakMap<readonly CommitBatchResult[], Uint8Array>();

/** Encoded once, for the table and for the way to the main thread. */
export function encodeResults(results: readonly CommitBatchResult[]): Uint8Array {
  const known = encodedResults.get(results);
  if (known) return known;
  for (const result of results) {
    writer.number(result.error * 2 + (result.duplicate ? 1 : 0));
    writer.bigint(result.baseOffset);
    writer.bigint(result.logAppendTimeMs);
    writer.bigint(result.logStartOffset);
  }
  const bytes = writer.finish();
  encodedResults.set(results, bytes);
  return bytes;
}

export function decodeResults(bytes: Uint8Array): CommitBatchResult[] {
  return readAll(bytes, (reader) => {
    const head = reader.number();
    const duplicate = (head & 1) === 1;
    const [baseOffset, logAppendTimeMs, logStartOffset] = [reader.bigint(), reader.bigint(), reader.bigint()];
    return { error: (head - (duplicate ? 1 : 0)) / 2, baseOffset, logAppendTimeMs, logStartOffset, duplicate };
  });
}

/** Offsets and timestamps relative to a coordinate's keep its blob short. */
function writeBatch(batch: ProducerBatch, baseOffset: bigint, timestamp: bigint): void {
  writer.number(batch.firstSequence);
  writer.number(batch.lastSequence);
  writer.bigint(batch.firstOffset - baseOffset);
  writer.bigint((batch.timestamp - timestamp) * 2n + BigInt(batch.timestampType));
}

function readBatch(reader: ByteReader, baseOffset: bigint, timestamp: bigint): ProducerBatch {
  const [firstSequence, lastSequence] = [reader.number(), reader.number()];
  const firstOffset = reader.bigint() + baseOffset;
  const packed = reader.bigint();
  const timestampType = (packed & 1n) === 1n ? 1 : 0;
  return { firstSequence, lastSequence, firstOffset, timestamp: (packed >> 1n) + timestamp, timestampType };
}

/** null for a coordinate without idempotent batches. */
export function encodeProducerAppends(coordinate: NewCoordinate): Uint8Array | null {
  if (coordinate.producerAppends.length === 0) return null;
  for (const { producerId, producerEpoch, batch } of coordinate.producerAppends) {
    writer.bigint(producerId);
    writer.number(producerEpoch);
    writeBatch(batch, coordinate.baseOffset, coordinate.appendTimeMs);
  }
  return writer.finish();
}

export function decodeProducerAppends(
  bytes: Uint8Array,
  coordinate: { readonly baseOffset: bigint; readonly appendTimeMs: bigint },
): ProducerAppend[] {
  return readAll(bytes, (reader) => {
    const [producerId, producerEpoch] = [reader.bigint(), reader.number()];
    return { producerId, producerEpoch, batch: readBatch(reader, coordinate.baseOffset, coordinate.appendTimeMs) };
  });
}

export function encodeProducers(producers: ReadonlyMap<bigint, ProducerState>): Uint8Array {
  for (const [producerId, { producerEpoch, lastAppendTimeMs, batches }] of producers) {
    writer.bigint(producerId);
    writer.number(producerEpoch);
    writer.bigint(lastAppendTimeMs);
    writer.number(batches.length);
    for (const batch of batches) writeBatch(batch, 0n, lastAppendTimeMs);
  }
  return writer.finish();
}

export function decodeProducers(bytes: Uint8Array): Map<bigint, ProducerState> {
  const entries = readAll(bytes, (reader): [bigint, ProducerState] => {
    const [producerId, producerEpoch, lastAppendTimeMs] = [reader.bigint(), reader.number(), reader.bigint()];
    const length = reader.number();
    const batches = Array.from({ length }, () => readBatch(reader, 0n, lastAppendTimeMs));
    return [producerId, { producerEpoch, lastAppendTimeMs, batches }];
  });
  return new Map(entries);
}

export function encodeShareBatches(batches: readonly ShareStateBatch[]): Uint8Array {
  for (const { firstOffset, lastOffset, deliveryState, deliveryCount } of batches) {
    writer.bigint(firstOffset);
    writer.bigint(lastOffset - firstOffset);
    writer.number(deliveryState);
    writer.number(deliveryCount);
  }
  return writer.finish();
}

export function decodeShareBatches(bytes: Uint8Array): ShareStateBatch[] {
  return readAll(bytes, (reader) => {
    const firstOffset = reader.bigint();
    const lastOffset = firstOffset + reader.bigint();
    return { firstOffset, lastOffset, deliveryState: reader.number(), deliveryCount: reader.number() };
  });
}
