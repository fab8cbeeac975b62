/**
 * The shared log segment: bytes of one object. Pure; main thread.
 *
 *   byte 0            format version, 0
 *   byte 1 …          record batches, base offset 0 and leader epoch 0, sorted by topic id, partition, arrival
 *   footer            header and run entries, each with its length in front or declared, so that fields can be added
 *   last 12 bytes     CRC-32C of the footer, footer length (both uint32), magic "SHOA"
 *
 * Footer, big-endian: uint16 header length, then int32 uploader id, int64 uploader epoch, int64 segment sequence, int64
 * creation time (ms), uint32 run count; then uint16 entry length, then per run 16 bytes topic id, int32 partition, uint32
 * position, uint32 size, uint32 batch count, uint32 record count, int64 max timestamp.
 *
 * Readers take positions from coordinates only and tolerate dead bytes: a run listed here may have been refused by the
 * coordinator. The footer lets an object explain itself, and a bucket be listed into a coordinator again.
 */
import type { TopicIdPartition } from '../common/topic-id-partition.ts';
import { comparePartitions } from '../common/topic-id-partition.ts';
import { uuidFromBytes, uuidToBytes } from '../common/uuid.ts';

export const SEGMENT_FORMAT_VERSION = 0;
/** Fields after the footer: CRC, footer length, magic. */
export const SEGMENT_TRAILER_BYTES = 12;
/** A footer above this is not believed: about 350,000 runs. */
const MAX_FOOTER_BYTES = 16 * 1024 * 1024;

const MAGIC = 0x53484f41;
const HEADER_BYTES = 32;
const ENTRY_BYTES = 44;
/** Fields of a batch header that its own CRC does not cover: base offset to CRC. */
const UNCOVERED_HEADER_BYTES = 21;
const MAX_OBJECT_BYTES = 2 ** 32 - 1;

/** The CRC-32C functions that the record kernel exports. Checksums are unsigned 32-bit numbers. */
export interface Crc32c {
  crc32c(bytes: Uint8Array): number;
  /** The checksum of a followed by b, from theirs and b's length. */
  crc32cCombine(a: number, b: number, lengthOfB: number): number;
}

/** A validated batch on its way into a segment. */
export interface SegmentBatch {
  readonly topicIdPartition: TopicIdPartition;
  readonly bytes: Uint8Array;
  readonly recordCount: number;
  readonly maxTimestamp: bigint;
  /** CRC-32C over bytes 21 to the end, as the batch itself says. */
  readonly crc: number;
}

export interface SegmentOrigin {
  readonly uploaderId: number;
  readonly uploaderEpoch: number;
  readonly segmentSequence: number;
  readonly createdMs: number;
}

/** The bytes of one partition in a segment. */
export interface SegmentRun {
  readonly topicIdPartition: TopicIdPartition;
  readonly position: number;
  readonly size: number;
  readonly batchCount: number;
  readonly recordCount: number;
  readonly maxTimestamp: bigint;
}

export interface SegmentFooter extends SegmentOrigin {
  readonly runs: readonly SegmentRun[];
}

export interface EncodedSegment {
  /** The object, in pieces; batches are views of the caller's memory. */
  readonly body: readonly Uint8Array[];
  readonly sizeBytes: number;
  /** CRC-32C of the whole object. */
  readonly crc32c: number;
  /** Where batch i of the argument begins. */
  readonly positions: readonly number[];
}

/** An object that is not a segment, or a damaged one. */
export class SegmentFormatError extends Error {
  override readonly name = 'SegmentFormatError';
}

/** Lays out batches, which must be sorted by topic id, partition, arrival already. */
export function encodeSegment(
  batches: readonly SegmentBatch[],
  origin: SegmentOrigin,
  checksums: Crc32c,
): EncodedSegment {
  const runs = runsOf(batches);
  const footer = encodeFooter({ ...origin, runs }, checksums);
  const body = [Uint8Array.of(SEGMENT_FORMAT_VERSION), ...joinedChunks(batches), footer];
  const positions: number[] = [];
  let position = 1;
  for (const batch of batches) {
    positions.push(position);
    position += batch.bytes.length;
  }
  const sizeBytes = position + footer.length;
  if (sizeBytes > MAX_OBJECT_BYTES) throw new RangeError(`a segment of ${sizeBytes} bytes is above 4 GiB`);
  return { body, sizeBytes, crc32c: objectChecksum(batches, footer, checksums), positions };
}

/** Views of the batches; those that lie side by side in memory are one. */
function joinedChunks(batches: readonly SegmentBatch[]): Uint8Array[] {
  const chunks: Uint8Array[] = [];
  for (let first = 0; first < batches.length; ) {
    const { buffer, byteOffset } = batches[first]!.bytes;
    let end = byteOffset;
    let next = first;
    for (; next < batches.length; next++) {
      const { bytes } = batches[next]!;
      if (bytes.buffer !== buffer || bytes.byteOffset !== end) break;
      end += bytes.length;
    }
    chunks.push(new Uint8Array(buffer, byteOffset, end - byteOffset));
    first = next;
  }
  return chunks;
}

/** The object's checksum from those that the batches bring along; only headers and footer are read again. */
function objectChecksum(batches: readonly SegmentBatch[], footer: Uint8Array, checksums: Crc32c): number {
  let crc = checksums.crc32c(Uint8Array.of(SEGMENT_FORMAT_VERSION));
  const append = (part: number, length: number): void => {
    crc = checksums.crc32cCombine(crc, part, length);
  };
  for (const { bytes, crc: covered } of batches) {
    append(checksums.crc32c(bytes.subarray(0, UNCOVERED_HEADER_BYTES)), UNCOVERED_HEADER_BYTES);
    append(covered, bytes.length - UNCOVERED_HEADER_BYTES);
  }
  append(checksums.crc32c(footer), footer.length);
  return crc;
}

function runsOf(batches: readonly SegmentBatch[]): SegmentRun[] {
  const runs: { -readonly [K in keyof SegmentRun]: SegmentRun[K] }[] = [];
  let position = 1;
  for (const { topicIdPartition, bytes, recordCount, maxTimestamp } of batches) {
    let run = runs.at(-1);
    if (!run || comparePartitions(run.topicIdPartition, topicIdPartition) !== 0) {
      run = { topicIdPartition, position, size: 0, batchCount: 0, recordCount: 0, maxTimestamp };
      runs.push(run);
    }
    run.size += bytes.length;
    run.batchCount += 1;
    run.recordCount += recordCount;
    if (maxTimestamp > run.maxTimestamp) run.maxTimestamp = maxTimestamp;
    position += bytes.length;
  }
  return runs;
}

/** Footer and trailer in one array. */
function encodeFooter(footer: SegmentFooter, { crc32c }: Crc32c): Uint8Array {
  const length = 2 + HEADER_BYTES + 2 + footer.runs.length * ENTRY_BYTES;
  const bytes = new Uint8Array(length + SEGMENT_TRAILER_BYTES);
  const view = new DataView(bytes.buffer);
  view.setUint16(0, HEADER_BYTES);
  view.setInt32(2, footer.uploaderId);
  view.setBigInt64(6, BigInt(footer.uploaderEpoch));
  view.setBigInt64(14, BigInt(footer.segmentSequence));
  view.setBigInt64(22, BigInt(footer.createdMs));
  view.setUint32(30, footer.runs.length);
  view.setUint16(2 + HEADER_BYTES, ENTRY_BYTES);
  footer.runs.forEach((run, index) => {
    writeEntry(bytes, view, 4 + HEADER_BYTES + index * ENTRY_BYTES, run);
  });
  view.setUint32(length, crc32c(bytes.subarray(0, length)));
  view.setUint32(length + 4, length);
  view.setUint32(length + 8, MAGIC);
  return bytes;
}

function writeEntry(bytes: Uint8Array, view: DataView, at: number, run: SegmentRun): void {
  bytes.set(uuidToBytes(run.topicIdPartition.topicId), at);
  view.setInt32(at + 16, run.topicIdPartition.partition);
  view.setUint32(at + 20, run.position);
  view.setUint32(at + 24, run.size);
  view.setUint32(at + 28, run.batchCount);
  view.setUint32(at + 32, run.recordCount);
  view.setBigInt64(at + 36, run.maxTimestamp);
}

/** How many bytes footer and trailer take, from an object's last 12 bytes. @throws SegmentFormatError */
export function footerSize(trailer: Uint8Array, objectBytes: number): number {
  if (trailer.length !== SEGMENT_TRAILER_BYTES) throw new RangeError(`a trailer has ${SEGMENT_TRAILER_BYTES} bytes`);
  const view = viewOf(trailer);
  if (view.getUint32(8) !== MAGIC) throw new SegmentFormatError('the object does not end with the magic of a segment');
  const length = view.getUint32(4);
  const most = Math.min(MAX_FOOTER_BYTES, objectBytes - 1 - SEGMENT_TRAILER_BYTES);
  if (length < 4 + HEADER_BYTES || length > most) {
    throw new SegmentFormatError(`footer length ${length} does not fit an object of ${objectBytes} bytes`);
  }
  return length + SEGMENT_TRAILER_BYTES;
}

/**
 * Reads footer and trailer: the last `footerSize` bytes of an object. Every claim is checked against the object's size
 * before it is used. @throws SegmentFormatError
 */
export function decodeSegmentFooter(tail: Uint8Array, objectBytes: number, { crc32c }: Crc32c): SegmentFooter {
  const size = footerSize(tail.subarray(Math.max(0, tail.length - SEGMENT_TRAILER_BYTES)), objectBytes);
  if (tail.length !== size) throw new RangeError(`footer and trailer have ${size} bytes, not ${tail.length}`);
  const footer = tail.subarray(0, size - SEGMENT_TRAILER_BYTES);
  if (crc32c(footer) !== viewOf(tail).getUint32(footer.length)) {
    throw new SegmentFormatError('the checksum of the footer is wrong');
  }
  return parseFooter(footer, objectBytes - size);
}

function parseFooter(footer: Uint8Array, bodyEnd: number): SegmentFooter {
  const view = viewOf(footer);
  const headerBytes = view.getUint16(0);
  const entriesAt = 4 + headerBytes;
  if (headerBytes < HEADER_BYTES || entriesAt > footer.length) {
    throw new SegmentFormatError(`footer header of ${headerBytes} bytes is cut short or too small`);
  }
  const runCount = view.getUint32(30);
  const entryBytes = view.getUint16(2 + headerBytes);
  if (entryBytes < ENTRY_BYTES || entriesAt + runCount * entryBytes !== footer.length) {
    throw new SegmentFormatError(`${runCount} entries of ${entryBytes} bytes do not fill the footer`);
  }
  return {
    uploaderId: view.getInt32(2),
    uploaderEpoch: Number(view.getBigInt64(6)),
    segmentSequence: Number(view.getBigInt64(14)),
    createdMs: Number(view.getBigInt64(22)),
    runs: readEntries(footer, entriesAt, entryBytes, runCount, bodyEnd),
  };
}

function readEntries(footer: Uint8Array, at: number, entryBytes: number, count: number, bodyEnd: number): SegmentRun[] {
  const view = viewOf(footer);
  const runs: SegmentRun[] = [];
  let position = 1;
  for (let index = 0; index < count; index++) {
    const run = readEntry(footer, view, at + index * entryBytes);
    const previous = runs.at(-1);
    if (run.position < position || run.size === 0 || run.position + run.size > bodyEnd) {
      throw new SegmentFormatError(`run ${index} (position ${run.position}, size ${run.size}) overlaps or overruns`);
    }
    if (previous && comparePartitions(previous.topicIdPartition, run.topicIdPartition) >= 0) {
      throw new SegmentFormatError(`run ${index} is out of order`);
    }
    position = run.position + run.size;
    runs.push(run);
  }
  return runs;
}

function readEntry(footer: Uint8Array, view: DataView, at: number): SegmentRun {
  return {
    topicIdPartition: { topicId: uuidFromBytes(footer, at), partition: view.getInt32(at + 16) },
    position: view.getUint32(at + 20),
    size: view.getUint32(at + 24),
    batchCount: view.getUint32(at + 28),
    recordCount: view.getUint32(at + 32),
    maxTimestamp: view.getBigInt64(at + 36),
  };
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
