/** Assigning offsets to a run of stored batches, and finding a timestamp in one. Runs in whichever thread calls it. */
import { Errors } from '../common/errors.ts';
import { decompressionFault } from './compression/decompress.ts';
import { decompressionLimits } from './compression/decompression-limits.ts';
import * as layout from './kernel-layout.ts';
import type { RecordKernel } from './record-kernel.ts';
import { type AssignedRun, type AssignOffsetsOptions, CODECS } from './validation.ts';
import { verdictOf } from './verdict.ts';

/** Verifies the run at `address`, then rewrites its good prefix in place. Idempotent. */
export function assignOffsets(
  kernel: RecordKernel,
  address: number,
  size: number,
  options: AssignOffsetsOptions,
): AssignedRun {
  const { baseOffset, lastOffset, leaderEpoch, logAppendTimeMs } = options;
  const status = kernel.assignOffsets(address, size, baseOffset, lastOffset ?? -1n, leaderEpoch, logAppendTimeMs);
  const goodBytes = kernel.resultInt(layout.RESULT_GOOD_BYTES);
  const batches = kernel.resultInt(layout.RESULT_BATCHES);
  const nextOffset = kernel.resultLong(layout.RESULT_NEXT_OFFSET);
  if (status === layout.OK) return { error: Errors.NONE, message: '', goodBytes, batches, nextOffset };
  const { message } = verdictOf(status);
  const where = status === layout.RUN_END_MISMATCH ? '' : `batch ${batches}, at byte ${goodBytes} of the run: `;
  return { error: Errors.CORRUPT_MESSAGE, message: `${where}${message}`, goodBytes, batches, nextOffset };
}

/** A record's offset and timestamp. */
export interface FoundTimestamp {
  readonly offset: bigint;
  readonly timestamp: bigint;
}

/**
 * The first record of a rewritten run at or above `fromOffset` whose timestamp is at or above `timestamp`. Batches whose
 * max timestamp is below it are skipped unread; under LogAppendTime every record has the batch's.
 */
export function offsetForTimestamp(
  kernel: RecordKernel,
  address: number,
  size: number,
  timestamp: bigint,
  fromOffset: bigint,
): FoundTimestamp | undefined {
  const { view } = kernel;
  for (let at = address; at + layout.RECORDS <= address + size; ) {
    const batchBytes = view.getInt32(at + layout.BATCH_LENGTH) + layout.LOG_OVERHEAD;
    if (batchBytes < layout.RECORDS || at + batchBytes > address + size) return undefined;
    const found = findInBatch(kernel, at, batchBytes, timestamp, fromOffset);
    if (found) return found;
    at += batchBytes;
  }
  return undefined;
}

function findInBatch(
  kernel: RecordKernel,
  batch: number,
  batchBytes: number,
  timestamp: bigint,
  fromOffset: bigint,
): FoundTimestamp | undefined {
  const { view } = kernel;
  const maxTimestamp = view.getBigInt64(batch + layout.MAX_TIMESTAMP);
  const baseOffset = view.getBigInt64(batch + layout.BASE_OFFSET);
  const lastOffset = baseOffset + BigInt(view.getInt32(batch + layout.LAST_OFFSET_DELTA));
  if (maxTimestamp < timestamp || lastOffset < fromOffset) return undefined;
  const attributes = view.getUint16(batch + layout.ATTRIBUTES);
  if ((attributes & layout.TIMESTAMP_TYPE_BIT) !== 0) {
    return { offset: baseOffset > fromOffset ? baseOffset : fromOffset, timestamp: maxTimestamp };
  }
  const plain = plainRecords(kernel, batch, batchBytes, attributes);
  const status = kernel.findTimestamp(batch, plain.address, plain.size, timestamp, fromOffset);
  if (status !== layout.OK) return undefined;
  return { offset: kernel.resultLong(layout.RESULT_OFFSET), timestamp: kernel.resultLong(layout.RESULT_TIMESTAMP) };
}

/**
 * Where the plain bytes of a stored batch's records are: in place, or decompressed into the kernel's room for content.
 * @throws Error when a stored batch, valid once, cannot be decompressed any more
 */
export function plainRecords(
  kernel: RecordKernel,
  batch: number,
  batchBytes: number,
  attributes: number,
): { readonly address: number; readonly size: number } {
  const address = batch + layout.RECORDS;
  const size = batchBytes - layout.RECORDS;
  const codec = CODECS[attributes & layout.CODEC_MASK];
  if (codec === 'none') return { address, size };
  if (!codec) throw new Error(`a stored batch has compression codec ${attributes & layout.CODEC_MASK}`);
  // Its topic's limits may have been lowered since it was appended; only the room there is counts.
  const { contentBytes } = kernel.memory;
  const limits = { ...decompressionLimits(contentBytes), maxOutputBytes: contentBytes };
  const plainBytes = kernel.decompress(codec, address, size, limits);
  if (plainBytes < 0) throw new Error(decompressionFault(plainBytes, codec, size, limits).message);
  return { address: kernel.contentAddress, size: plainBytes };
}
