// Record batch headers: where a batch ends, whether it may be appended, and the walk over a run of them.
import {
  ANY_BASE_OFFSET,
  ATTRIBUTES,
  BASE_OFFSET,
  BASE_OFFSET_NOT_ZERO,
  BASE_SEQUENCE,
  BASE_TIMESTAMP,
  BATCH_BEYOND_END,
  BATCH_LENGTH,
  BATCH_TOO_LARGE,
  CODEC_MASK,
  CONTROL_BATCH,
  CONTROL_BIT,
  COUNT_DELTA_MISMATCH,
  CRC,
  CRC_MISMATCH,
  DESCRIPTOR_ATTRIBUTES,
  DESCRIPTOR_BASE_OFFSET,
  DESCRIPTOR_BASE_SEQUENCE,
  DESCRIPTOR_BASE_TIMESTAMP,
  DESCRIPTOR_BYTES,
  DESCRIPTOR_CRC,
  DESCRIPTOR_LAST_OFFSET_DELTA,
  DESCRIPTOR_LEADER_EPOCH,
  DESCRIPTOR_MAGIC,
  DESCRIPTOR_MAX_TIMESTAMP,
  DESCRIPTOR_POSITION,
  DESCRIPTOR_PRODUCER_EPOCH,
  DESCRIPTOR_PRODUCER_ID,
  DESCRIPTOR_RECORD_COUNT,
  DESCRIPTOR_SIZE,
  DESCRIPTOR_STATUS,
  DESCRIPTORS,
  DESCRIPTORS_MAX,
  LAST_OFFSET_DELTA,
  LAST_OFFSET_DELTA_NEGATIVE,
  LEADER_EPOCH,
  LENGTH_BELOW_HEADER,
  LENGTH_BELOW_V0,
  LOG_OVERHEAD,
  MAGIC,
  MAX_TIMESTAMP,
  MORE_THAN_ONE_BATCH,
  NO_BATCH,
  OK,
  OLD_MAGIC,
  PRODUCER_EPOCH,
  PRODUCER_ID,
  RECORD_COUNT,
  RECORD_COUNT_NOT_POSITIVE,
  RECORDS,
  RESULT_CRC,
  RESULT_GOOD_BYTES,
  PRODUCER_FIELD_NEGATIVE,
  SMALLEST_V0_LENGTH,
  UNKNOWN_CODEC,
  UNKNOWN_MAGIC,
} from '../../src/record/kernel-layout';
import { loadI16, loadI32, loadI64 } from './big-endian';
import { crc32c } from './crc32c';

/** Whole size in bytes of the batch at p; meaningful once `frameStatus` said OK or BATCH_BEYOND_END. */
// @ts-ignore: decorator
@inline
export function batchSize(p: usize): usize {
  return <usize>(<u32>loadI32(p + BATCH_LENGTH)) + LOG_OVERHEAD;
}

/**
 * Whether a batch begins at p, in the order in which Kafka's ByteBufferLogInputStream finds things wrong. NO_BATCH: too
 * few bytes to tell. The length is compared with the bytes there are before anyone adds to it.
 */
export function frameStatus(p: usize, n: usize): i32 {
  if (n < <usize>LOG_OVERHEAD) return NO_BATCH;
  const length = loadI32(p + BATCH_LENGTH);
  if (length < SMALLEST_V0_LENGTH) return LENGTH_BELOW_V0;
  if (n < <usize>CRC) return NO_BATCH;
  if (load<u8>(p + MAGIC) > 2) return UNKNOWN_MAGIC;
  if (<usize>length > n - LOG_OVERHEAD) return BATCH_BEYOND_END;
  return OK;
}

/** The CRC-32C that the batch's bytes give; noted in the result. */
// @ts-ignore: decorator
@inline
export function crcOfBatch(region: usize, p: usize, size: usize): u32 {
  const crc = crc32c(region, p + ATTRIBUTES, size - ATTRIBUTES, 0);
  store<u32>(region + RESULT_CRC, crc);
  return crc;
}

/** Frame, version, length and CRC of a stored v2 batch. */
export function storedBatchStatus(region: usize, p: usize, n: usize): i32 {
  const frame = frameStatus(p, n);
  if (frame != OK) return frame == NO_BATCH ? BATCH_BEYOND_END : frame;
  if (load<u8>(p + MAGIC) != 2) return OLD_MAGIC;
  const size = batchSize(p);
  if (size < <usize>RECORDS) return LENGTH_BELOW_HEADER;
  if (crcOfBatch(region, p, size) != <u32>loadI32(p + CRC)) return CRC_MISMATCH;
  if (loadI32(p + LAST_OFFSET_DELTA) < 0) return LAST_OFFSET_DELTA_NEGATIVE;
  return OK;
}

/**
 * Everything about what a producer sent that its header and CRC can tell, in Kafka's order: shape of the request, base
 * offset, size, CRC, header. RESULT_GOOD_BYTES is the size of the one batch; bytes after it that begin no complete batch
 * are to be trimmed.
 */
export function checkBatch(region: usize, p: usize, n: usize, maxMessageBytes: u32, flags: i32): i32 {
  store<u32>(region + RESULT_GOOD_BYTES, 0);
  const frame = frameStatus(p, n);
  if (frame != OK) return frame;
  if (load<u8>(p + MAGIC) != 2) return OLD_MAGIC;
  const size = batchSize(p);
  const next = frameStatus(p + size, n - size);
  if (next == OK) return MORE_THAN_ONE_BATCH;
  if (next == LENGTH_BELOW_V0 || next == UNKNOWN_MAGIC) return next;
  if (!(flags & ANY_BASE_OFFSET) && loadI64(p + BASE_OFFSET) != 0) return BASE_OFFSET_NOT_ZERO;
  if (size > <usize>maxMessageBytes) return BATCH_TOO_LARGE;
  if (size < <usize>RECORDS) return LENGTH_BELOW_HEADER;
  store<u32>(region + RESULT_GOOD_BYTES, size);
  if (crcOfBatch(region, p, size) != <u32>loadI32(p + CRC)) return CRC_MISMATCH;
  return headerStatus(p);
}

function headerStatus(p: usize): i32 {
  const attributes = loadI16(p + ATTRIBUTES);
  const lastOffsetDelta = loadI32(p + LAST_OFFSET_DELTA);
  const count = loadI32(p + RECORD_COUNT);
  if ((attributes & CODEC_MASK) > 4) return UNKNOWN_CODEC;
  if (lastOffsetDelta < 0) return LAST_OFFSET_DELTA_NEGATIVE;
  if (count <= 0) return RECORD_COUNT_NOT_POSITIVE;
  if (count - 1 != lastOffsetDelta) return COUNT_DELTA_MISMATCH;
  if (attributes & CONTROL_BIT) return CONTROL_BATCH;
  // What the coordinator would refuse must not come so far: it refuses a segment, with the batches of everyone else.
  const idempotent = loadI64(p + PRODUCER_ID) >= 0;
  if (idempotent && (loadI16(p + PRODUCER_EPOCH) < 0 || loadI32(p + BASE_SEQUENCE) < 0)) return PRODUCER_FIELD_NEGATIVE;
  return OK;
}

/**
 * Writes one descriptor for each batch that begins in the n bytes at p, at most `most`; returns how many. The last one
 * may have a status other than OK: the walk ends there, since nothing says where the next batch begins.
 * RESULT_GOOD_BYTES counts the bytes of the complete batches before that.
 */
export function walk(region: usize, p: usize, n: usize, most: i32): i32 {
  assert(most <= DESCRIPTORS_MAX, 'descriptors stay inside their region');
  let position: usize = 0;
  let found = 0;
  while (found < most && position < n) {
    const status = describe(region + DESCRIPTORS + found * DESCRIPTOR_BYTES, p + position, n - position, position);
    found++;
    if (status != OK) break;
    position += batchSize(p + position);
  }
  store<u32>(region + RESULT_GOOD_BYTES, position);
  return found;
}

function describe(descriptor: usize, p: usize, n: usize, position: usize): i32 {
  memory.fill(descriptor, 0, DESCRIPTOR_BYTES);
  let status = frameStatus(p, n);
  store<u32>(descriptor + DESCRIPTOR_POSITION, position);
  if (n >= <usize>RECORDS) describeHeader(descriptor, p);
  if (status == OK) {
    const size = batchSize(p);
    store<u32>(descriptor + DESCRIPTOR_SIZE, size);
    if (load<u8>(p + MAGIC) == 2 && size < <usize>RECORDS) status = LENGTH_BELOW_HEADER;
  }
  store<i32>(descriptor + DESCRIPTOR_STATUS, status);
  return status;
}

function describeHeader(descriptor: usize, p: usize): void {
  store<i64>(descriptor + DESCRIPTOR_BASE_OFFSET, loadI64(p + BASE_OFFSET));
  store<i64>(descriptor + DESCRIPTOR_BASE_TIMESTAMP, loadI64(p + BASE_TIMESTAMP));
  store<i64>(descriptor + DESCRIPTOR_MAX_TIMESTAMP, loadI64(p + MAX_TIMESTAMP));
  store<i64>(descriptor + DESCRIPTOR_PRODUCER_ID, loadI64(p + PRODUCER_ID));
  store<i32>(descriptor + DESCRIPTOR_LEADER_EPOCH, loadI32(p + LEADER_EPOCH));
  store<i32>(descriptor + DESCRIPTOR_MAGIC, load<i8>(p + MAGIC));
  store<i32>(descriptor + DESCRIPTOR_CRC, loadI32(p + CRC));
  store<i32>(descriptor + DESCRIPTOR_ATTRIBUTES, loadI16(p + ATTRIBUTES) & 0xffff);
  store<i32>(descriptor + DESCRIPTOR_LAST_OFFSET_DELTA, loadI32(p + LAST_OFFSET_DELTA));
  store<i32>(descriptor + DESCRIPTOR_PRODUCER_EPOCH, loadI16(p + PRODUCER_EPOCH));
  store<i32>(descriptor + DESCRIPTOR_BASE_SEQUENCE, loadI32(p + BASE_SEQUENCE));
  store<i32>(descriptor + DESCRIPTOR_RECORD_COUNT, loadI32(p + RECORD_COUNT));
}
