// What Shoal changes in a stored batch: offsets and leader epoch, which no CRC covers, and attributes and max timestamp,
// whose CRC is patched at a cost that does not depend on the batch's size.
import {
  ATTRIBUTES,
  BASE_OFFSET,
  CRC,
  KNOWN_ATTRIBUTES,
  LAST_OFFSET_DELTA,
  LEADER_EPOCH,
  MAX_TIMESTAMP,
  OK,
  PRODUCER_ID,
  RESULT_BATCHES,
  RESULT_GOOD_BYTES,
  RESULT_NEXT_OFFSET,
  RUN_END_MISMATCH,
  TIMESTAMP_TYPE_BIT,
} from '../../src/record/kernel-layout';
import { loadI16, loadI32, loadI64, storeI16, storeI32, storeI64 } from './big-endian';
import { stepEight } from './crc-tables';
import { shiftBytes } from './polynomial';
import { batchSize, storedBatchStatus } from './record-batch';

/**
 * Sets attributes and max timestamp of the batch at p and patches its CRC: CRC(m ⊕ d) = CRC(m) ⊕ raw(d), and d is zero
 * but for bytes 21–22 and 35–42. A wrong CRC stays wrong, so corruption is not healed. Returns the new CRC.
 */
export function setMaxTimestamp(p: usize, size: u32, attributes: i32, maxTimestamp: i64): u32 {
  const oldAttributes = load<u16>(p + ATTRIBUTES);
  const oldTimestamp = load<u64>(p + MAX_TIMESTAMP);
  storeI16(p + ATTRIBUTES, attributes);
  storeI64(p + MAX_TIMESTAMP, maxTimestamp);
  const attributesDelta = <u32>(oldAttributes ^ load<u16>(p + ATTRIBUTES));
  // The delta's 22 bytes with two zeros in front, eight at a time: attributes, nothing, timestamp.
  let crc: u32 = 0;
  if (attributesDelta != 0) crc = stepEight(stepEight(0, <u64>attributesDelta << 16), 0);
  crc = stepEight(crc, oldTimestamp ^ load<u64>(p + MAX_TIMESTAMP));
  if (crc != 0) storeI32(p + CRC, loadI32(p + CRC) ^ <i32>shiftBytes(crc, size - PRODUCER_ID));
  return <u32>loadI32(p + CRC);
}

/** Makes the batch at p one of LogAppendTime, whose CRC was verified before; Kafka drops attributes without meaning. */
// @ts-ignore: decorator
@inline
function stampAppendTime(p: usize, size: u32, timeMs: i64): u32 {
  return setMaxTimestamp(p, size, (loadI16(p + ATTRIBUTES) & KNOWN_ATTRIBUTES) | TIMESTAMP_TYPE_BIT, timeMs);
}

/** The same for callers with a double: a bigint costs as much to hand over as all the rest. Returns the new CRC. */
export function setLogAppendTime(p: usize, size: u32, timeMs: f64): u32 {
  return stampAppendTime(p, size, <i64>timeMs);
}

/**
 * Verifies the run of batches in the n bytes at p and gives it its offsets. A CRC or length that is wrong ends the good
 * prefix; nothing of the bad batch, or after it, is written. Where the run's end is known (`lastOffset` >= 0) and the
 * good batches do not lead there, no byte is written at all: nothing tells which of them lies in the wrong place.
 * A negative `logAppendTime` leaves attributes and timestamps as they are. Doing it twice changes nothing more.
 */
export function assignOffsets(
  region: usize,
  p: usize,
  n: usize,
  baseOffset: i64,
  lastOffset: i64,
  leaderEpoch: i32,
  logAppendTime: i64,
): i32 {
  let good: usize = 0;
  let nextOffset = baseOffset;
  let status = OK;
  while (good < n) {
    status = storedBatchStatus(region, p + good, n - good);
    if (status != OK) break;
    nextOffset += <i64>loadI32(p + good + LAST_OFFSET_DELTA) + 1;
    good += batchSize(p + good);
  }
  const complete = status == OK;
  if (lastOffset >= 0 && (complete ? nextOffset != lastOffset + 1 : nextOffset > lastOffset)) {
    status = RUN_END_MISMATCH;
    good = 0;
  }
  writeRun(region, p, good, baseOffset, leaderEpoch, logAppendTime);
  return status;
}

function writeRun(region: usize, p: usize, n: usize, baseOffset: i64, leaderEpoch: i32, logAppendTime: i64): void {
  let at: usize = 0;
  let batches: u32 = 0;
  while (at < n) {
    const batch = p + at;
    const size = batchSize(batch);
    storeI64(batch + BASE_OFFSET, baseOffset);
    storeI32(batch + LEADER_EPOCH, leaderEpoch);
    if (logAppendTime >= 0) stampAppendTime(batch, <u32>size, logAppendTime);
    baseOffset += <i64>loadI32(batch + LAST_OFFSET_DELTA) + 1;
    at += size;
    batches++;
  }
  store<u32>(region + RESULT_GOOD_BYTES, n);
  store<u32>(region + RESULT_BATCHES, batches);
  store<i64>(region + RESULT_NEXT_OFFSET, baseOffset);
}
