// The records of one batch, plain (uncompressed) bytes: every field checked against its record's end before it is read.
import {
  BAD_RECORD_BYTES,
  BAD_RECORDS,
  BAD_RECORDS_MAX,
  BASE_TIMESTAMP,
  BYTES_AFTER_RECORDS,
  CHECK_TIMESTAMPS,
  FIELD_BEYOND_RECORD,
  HEADER_COUNT_NEGATIVE,
  HEADER_COUNT_TOO_LARGE,
  HEADER_KEY_NULL,
  KEY_MISSING,
  KEYS_REQUIRED,
  MAY_RENUMBER,
  NOT_FOUND,
  OFFSET_DELTA_OUT_OF_ORDER,
  OK,
  RECORD_BEYOND_END,
  RECORD_COUNT,
  RECORD_LENGTH_MISMATCH,
  RECORD_LENGTH_NEGATIVE,
  RECORDS_MISSING,
  RESULT_MAX_TIMESTAMP,
  RESULT_MAX_TIMESTAMP_DELTA,
  RESULT_OFFSET,
  RESULT_RECORD_INDEX,
  RESULT_RECORDS,
  RESULT_RENUMBER,
  RESULT_RENUMBERED_BYTES,
  RESULT_TIMESTAMP,
  TIMESTAMP_OUT_OF_BOUNDS,
  VARINT_TOO_LONG,
} from '../../src/record/kernel-layout';
import { loadI32, loadI64 } from './big-endian';
import { readVarint, readVarlong, sizeOfVarint, varintBytes, writeVarint } from './varint';

/**
 * Checks the records of `batch` in the n bytes at p. Timestamps outside [earliest, latest] and missing keys count only
 * when the flags say so, and only when every record is sound: of these Kafka reports the timestamp first, but looks at none
 * of a record without its key. The result holds the bad record's index (−1 where the batch as a whole is meant), the
 * greatest timestamp with its offset delta, and whether offset deltas are 0, 1, 2, ….
 */
export function checkRecords(
  region: usize,
  batch: usize,
  p: usize,
  n: usize,
  flags: i32,
  earliest: f64,
  latest: f64,
): i32 {
  const count = loadI32(batch + RECORD_COUNT);
  const baseTimestamp = loadI64(batch + BASE_TIMESTAMP);
  const first = <i64>earliest;
  const last = <i64>latest;
  const end = p + n;
  let maxTimestamp: i64 = -1;
  let maxDelta = 0;
  let renumber = false;
  let renumberedBytes: usize = 0;
  let badTimestamp = -1;
  let keyless = -1;
  let status = OK;
  let i = 0;
  for (; i < count; i++) {
    // Length of the body. A record that does not begin at all is missing.
    if (p >= end) {
      status = RECORDS_MISSING;
      break;
    }
    const lengthBytes = varintBytes(p, end, 5);
    if (lengthBytes == 0) {
      status = end - p < 5 ? RECORD_BEYOND_END : VARINT_TOO_LONG;
      break;
    }
    const length = readVarint(p, lengthBytes);
    p += lengthBytes;
    if (length < 0) {
      status = RECORD_LENGTH_NEGATIVE;
      break;
    }
    if (<usize>length > end - p) {
      status = RECORD_BEYOND_END;
      break;
    }
    const recordEnd = p + <usize>length;
    // Attributes have no meaning in a v2 record; one byte must be there.
    if (length < 1) {
      status = FIELD_BEYOND_RECORD;
      break;
    }
    p++;
    const timestampBytes = varintBytes(p, recordEnd, 10);
    if (timestampBytes == 0) {
      status = recordEnd - p < 10 ? FIELD_BEYOND_RECORD : VARINT_TOO_LONG;
      break;
    }
    const timestamp = baseTimestamp + readVarlong(p, timestampBytes);
    p += timestampBytes;
    const deltaBytes = varintBytes(p, recordEnd, 5);
    if (deltaBytes == 0) {
      status = recordEnd - p < 5 ? FIELD_BEYOND_RECORD : VARINT_TOO_LONG;
      break;
    }
    const offsetDelta = readVarint(p, deltaBytes);
    p += deltaBytes;
    if (offsetDelta != i) {
      if (!(flags & MAY_RENUMBER)) {
        status = OFFSET_DELTA_OUT_OF_ORDER;
        break;
      }
      renumber = true;
    }
    const newLength = length - deltaBytes + sizeOfVarint(i);
    renumberedBytes += sizeOfVarint(newLength) + newLength;
    // Key: a negative length is null.
    const keyBytes = varintBytes(p, recordEnd, 5);
    if (keyBytes == 0) {
      status = recordEnd - p < 5 ? FIELD_BEYOND_RECORD : VARINT_TOO_LONG;
      break;
    }
    const keyLength = readVarint(p, keyBytes);
    p += keyBytes;
    if (keyLength > 0) {
      if (<usize>keyLength > recordEnd - p) {
        status = FIELD_BEYOND_RECORD;
        break;
      }
      p += <usize>keyLength;
    } else if (keyLength < 0 && keyless < 0) keyless = i;
    const valueBytes = varintBytes(p, recordEnd, 5);
    if (valueBytes == 0) {
      status = recordEnd - p < 5 ? FIELD_BEYOND_RECORD : VARINT_TOO_LONG;
      break;
    }
    const valueLength = readVarint(p, valueBytes);
    p += valueBytes;
    if (valueLength > 0) {
      if (<usize>valueLength > recordEnd - p) {
        status = FIELD_BEYOND_RECORD;
        break;
      }
      p += <usize>valueLength;
    }
    // Nearly every record ends with a header count of zero.
    if (recordEnd - p == 1 && load<u8>(p) == 0) p++;
    else {
      status = headersStatus(p, recordEnd);
      if (status != OK) break;
      p = recordEnd;
    }
    if (timestamp > maxTimestamp) {
      maxTimestamp = timestamp;
      maxDelta = i;
    }
    if (badTimestamp < 0 && isOutOfBounds(timestamp, first, last) && (keyLength >= 0 || !(flags & KEYS_REQUIRED))) {
      badTimestamp = i;
    }
  }
  let index = status == RECORDS_MISSING ? -1 : i;
  if (status == OK) {
    index = -1;
    if (p != end) status = BYTES_AFTER_RECORDS;
    else if (flags & CHECK_TIMESTAMPS && badTimestamp >= 0) {
      status = TIMESTAMP_OUT_OF_BOUNDS;
      index = badTimestamp;
    } else if (flags & KEYS_REQUIRED && keyless >= 0) {
      status = KEY_MISSING;
      index = keyless;
    }
  }
  store<i32>(region + RESULT_RECORD_INDEX, index);
  store<i64>(region + RESULT_MAX_TIMESTAMP, maxTimestamp);
  store<i32>(region + RESULT_MAX_TIMESTAMP_DELTA, maxDelta);
  store<i32>(region + RESULT_RENUMBER, <i32>renumber);
  store<u32>(region + RESULT_RENUMBERED_BYTES, renumberedBytes);
  store<i32>(region + RESULT_RECORDS, i);
  return status;
}

// @ts-ignore: decorator
@inline
function isOutOfBounds(timestamp: i64, first: i64, last: i64): bool {
  return timestamp != -1 && (timestamp < first || timestamp > last);
}

/**
 * Lists at BAD_RECORDS those of the records at p that are sound but for their key or timestamp, after `checkRecords` found
 * the first; returns how many, at most BAD_RECORDS_MAX. Of one without its key the timestamp does not count, as in Kafka.
 */
export function listBadRecords(region: usize, batch: usize, p: usize, flags: i32, earliest: f64, latest: f64): i32 {
  const count = loadI32(batch + RECORD_COUNT);
  const baseTimestamp = loadI64(batch + BASE_TIMESTAMP);
  const first = <i64>earliest;
  const last = <i64>latest;
  let found = 0;
  for (let i = 0; i < count && found < BAD_RECORDS_MAX; i++) {
    const lengthBytes = varintBytes(p, p + 5, 5);
    const body = p + lengthBytes;
    const timestampAt = body + 1;
    const timestampBytes = varintBytes(timestampAt, timestampAt + 10, 10);
    const deltaAt = timestampAt + timestampBytes;
    const keyAt = deltaAt + varintBytes(deltaAt, deltaAt + 5, 5);
    const keyLength = readVarint(keyAt, varintBytes(keyAt, keyAt + 5, 5));
    const timestamp = baseTimestamp + readVarlong(timestampAt, timestampBytes);
    let status = OK;
    if (flags & KEYS_REQUIRED && keyLength < 0) status = KEY_MISSING;
    else if (flags & CHECK_TIMESTAMPS && isOutOfBounds(timestamp, first, last)) status = TIMESTAMP_OUT_OF_BOUNDS;
    if (status != OK) {
      const entry = region + BAD_RECORDS + found * BAD_RECORD_BYTES;
      store<i32>(entry, i);
      store<i32>(entry, status, 4);
      found++;
    }
    p = body + <usize>readVarint(p, lengthBytes);
  }
  return found;
}

/** The headers of a record, which must end exactly at `end`. */
function headersStatus(p: usize, end: usize): i32 {
  const countBytes = varintBytes(p, end, 5);
  if (countBytes == 0) return end - p < 5 ? FIELD_BEYOND_RECORD : VARINT_TOO_LONG;
  const count = readVarint(p, countBytes);
  p += countBytes;
  if (count < 0) return HEADER_COUNT_NEGATIVE;
  if (<usize>count > end - p) return HEADER_COUNT_TOO_LARGE;
  for (let i = 0; i < count; i++) {
    const keyBytes = varintBytes(p, end, 5);
    if (keyBytes == 0) return end - p < 5 ? FIELD_BEYOND_RECORD : VARINT_TOO_LONG;
    const keyLength = readVarint(p, keyBytes);
    p += keyBytes;
    if (keyLength < 0) return HEADER_KEY_NULL;
    if (<usize>keyLength > end - p) return FIELD_BEYOND_RECORD;
    p += <usize>keyLength;
    const valueBytes = varintBytes(p, end, 5);
    if (valueBytes == 0) return end - p < 5 ? FIELD_BEYOND_RECORD : VARINT_TOO_LONG;
    const valueLength = readVarint(p, valueBytes);
    p += valueBytes;
    if (valueLength > 0) {
      if (<usize>valueLength > end - p) return FIELD_BEYOND_RECORD;
      p += <usize>valueLength;
    }
  }
  return p == end ? OK : RECORD_LENGTH_MISMATCH;
}

/**
 * Copies the records at p, checked before, to `to` with offset deltas 0, 1, 2, …. `to` has room for
 * RESULT_RENUMBERED_BYTES. Returns the bytes written.
 */
export function renumberRecords(region: usize, batch: usize, p: usize, to: usize): u32 {
  const count = loadI32(batch + RECORD_COUNT);
  const start = to;
  for (let i = 0; i < count; i++) {
    const lengthBytes = varintBytes(p, p + 5, 5);
    const body = p + lengthBytes;
    const length = readVarint(p, lengthBytes);
    const timestampAt = body + 1;
    const deltaAt = timestampAt + varintBytes(timestampAt, timestampAt + 10, 10);
    const deltaBytes = varintBytes(deltaAt, deltaAt + 5, 5);
    const rest = deltaAt + deltaBytes;
    const head = <usize>(deltaAt - body);
    const tail = body + <usize>length - rest;
    to = writeVarint(to, length - deltaBytes + sizeOfVarint(i));
    memory.copy(to, body, head);
    to = writeVarint(to + head, i);
    memory.copy(to, rest, tail);
    to += tail;
    p = body + <usize>length;
  }
  assert(to - start == load<u32>(region + RESULT_RENUMBERED_BYTES), 'renumbering takes what the check had counted');
  return <u32>(to - start);
}

/**
 * The first record in the n bytes at p, belonging to `batch`, whose timestamp is at or above `timestamp` and whose offset
 * is at or above `fromOffset`: RESULT_OFFSET and RESULT_TIMESTAMP, or NOT_FOUND. The bytes were checked when they were
 * appended; a record that does not fit all the same ends the search.
 */
export function findTimestamp(region: usize, batch: usize, p: usize, n: usize, timestamp: i64, fromOffset: i64): i32 {
  const baseOffset = loadI64(batch);
  const baseTimestamp = loadI64(batch + BASE_TIMESTAMP);
  const end = p + n;
  while (p < end) {
    const lengthBytes = varintBytes(p, end, 5);
    if (lengthBytes == 0) return RECORD_BEYOND_END;
    const length = readVarint(p, lengthBytes);
    p += lengthBytes;
    if (length < 1 || <usize>length > end - p) return RECORD_BEYOND_END;
    const next = p + <usize>length;
    const timestampBytes = varintBytes(p + 1, next, 10);
    if (timestampBytes == 0) return FIELD_BEYOND_RECORD;
    const at = baseTimestamp + readVarlong(p + 1, timestampBytes);
    const deltaAt = p + 1 + timestampBytes;
    const deltaBytes = varintBytes(deltaAt, next, 5);
    if (deltaBytes == 0) return FIELD_BEYOND_RECORD;
    const offset = baseOffset + <i64>readVarint(deltaAt, deltaBytes);
    if (at >= timestamp && offset >= fromOffset) {
      store<i64>(region + RESULT_OFFSET, offset);
      store<i64>(region + RESULT_TIMESTAMP, at);
      return OK;
    }
    p = next;
  }
  return NOT_FOUND;
}
