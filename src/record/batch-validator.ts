/**
 * Validation of what a producer sent for one partition: the kernel's checks in Kafka's order, then Kafka's repairs in
 * place. Runs in whichever thread calls it, on that thread's kernel; nothing to close.
 */
import { Errors } from '../common/errors.ts';
import * as layout from './kernel-layout.ts';
import type { RecordKernel } from './record-kernel.ts';
import type { CompressionCodec, ValidatedBatch, ValidationOptions } from './validation.ts';
import { verdictOf } from './verdict.ts';

/** A verdict as it crosses threads: without the view, which only the caller's thread can make. */
export interface BatchVerdict extends Omit<ValidatedBatch, 'bytes'> {
  /** Size of the batch at the front of the input; 0 with an error or when it was rebuilt. */
  readonly sizeBytes: number;
  /** The batch in memory of its own, where it had to be rebuilt. */
  readonly rebuilt: Uint8Array | undefined;
}

export const CODECS: readonly CompressionCodec[] = ['none', 'gzip', 'snappy', 'lz4', 'zstd'];

const NOTHING = {
  sizeBytes: 0,
  rebuilt: undefined,
  attributes: 0,
  lastOffsetDelta: -1,
  recordCount: 0,
  maxTimestamp: -1n,
  offsetOfMaxTimestampDelta: -1,
  producerId: -1n,
  producerEpoch: -1,
  baseSequence: -1,
  crc: 0,
} as const;

function refuse(error: keyof typeof Errors, message: string, recordIndex = -1): BatchVerdict {
  const where = recordIndex < 0 ? '' : `record ${recordIndex}: `;
  return { ...NOTHING, error: Errors[error], message: `${where}${message}`, recordIndex };
}

/**
 * Checks the batch in `size` bytes at `address` of the kernel's memory and repairs what Kafka repairs: leader epoch 0, a
 * false max timestamp, a LogAppendTime bit on a CreateTime topic. The input is written only in those places, and only
 * when the verdict is NONE.
 */
export function validateBatch(
  kernel: RecordKernel,
  address: number,
  size: number,
  options: ValidationOptions,
): BatchVerdict {
  const status = kernel.checkBatch(address, size, options.maxMessageBytes);
  if (status !== layout.OK) return refuseBatch(kernel, status, address, options);
  const sizeBytes = kernel.resultInt(layout.RESULT_GOOD_BYTES);
  const attributes = kernel.view.getUint16(address + layout.ATTRIBUTES);
  if ((attributes & layout.TRANSACTIONAL_BIT) !== 0 && !options.allowTransactional) {
    return refuse(
      'INVALID_REQUEST',
      'transactional batches are not supported; use a producer without a transactional id',
    );
  }
  return checkContent(kernel, address, sizeBytes, attributes, options);
}

function refuseBatch(kernel: RecordKernel, status: number, address: number, options: ValidationOptions): BatchVerdict {
  const { error, message } = verdictOf(status);
  if (status !== layout.BATCH_TOO_LARGE) return refuse(error, message);
  const sizeBytes = kernel.view.getInt32(address + layout.BATCH_LENGTH) + layout.LOG_OVERHEAD;
  return refuse(error, `${message}: ${sizeBytes} bytes, limit ${options.maxMessageBytes}`);
}

function checkContent(
  kernel: RecordKernel,
  address: number,
  sizeBytes: number,
  attributes: number,
  options: ValidationOptions,
): BatchVerdict {
  if ((attributes & layout.CODEC_MASK) !== 0)
    return accept(kernel, address, sizeBytes, attributes, headerTimes(kernel, address));
  const status = kernel.checkRecords(
    address,
    address + layout.RECORDS,
    sizeBytes - layout.RECORDS,
    recordFlags(options),
    options.nowMs - options.timestampBeforeMaxMs,
    options.nowMs + options.timestampAfterMaxMs,
  );
  if (status !== layout.OK) {
    const { error, message } = verdictOf(status);
    return refuse(error, message, kernel.resultInt(layout.RESULT_RECORD_INDEX));
  }
  const claimed = kernel.view.getBigInt64(address + layout.MAX_TIMESTAMP);
  const appendTimeBit = (attributes & layout.TIMESTAMP_TYPE_BIT) !== 0;
  if (appendTimeBit && (options.timestampType === 1 || claimed === -1n)) {
    return refuse('INVALID_TIMESTAMP', 'producers may not set the timestamp type to LogAppendTime');
  }
  return accept(kernel, address, sizeBytes, attributes, foundTimes(kernel));
}

function recordFlags(options: ValidationOptions): number {
  return (options.compacted ? layout.KEYS_REQUIRED : 0) | (options.timestampType === 0 ? layout.CHECK_TIMESTAMPS : 0);
}

interface MaxTimestamp {
  readonly maxTimestamp: bigint;
  readonly offsetDelta: number;
}

function foundTimes(kernel: RecordKernel): MaxTimestamp {
  return {
    maxTimestamp: kernel.resultLong(layout.RESULT_MAX_TIMESTAMP),
    offsetDelta: kernel.resultInt(layout.RESULT_MAX_TIMESTAMP_DELTA),
  };
}

function headerTimes(kernel: RecordKernel, address: number): MaxTimestamp {
  return { maxTimestamp: kernel.view.getBigInt64(address + layout.MAX_TIMESTAMP), offsetDelta: 0 };
}

/** Repairs the header in place and reads the verdict from it. */
function accept(
  kernel: RecordKernel,
  address: number,
  sizeBytes: number,
  attributes: number,
  times: MaxTimestamp,
): BatchVerdict {
  const { view } = kernel;
  view.setInt32(address + layout.LEADER_EPOCH, 0);
  const claimed = view.getBigInt64(address + layout.MAX_TIMESTAMP);
  if ((attributes & layout.TIMESTAMP_TYPE_BIT) !== 0 || claimed !== times.maxTimestamp) {
    const kept = attributes & layout.KNOWN_ATTRIBUTES & ~layout.TIMESTAMP_TYPE_BIT;
    kernel.setMaxTimestamp(address, sizeBytes, kept, times.maxTimestamp);
  }
  return { ...describe(view, address, times), sizeBytes, rebuilt: undefined };
}

/** Kafka takes every negative producer id for "none". */
function describe(view: DataView, address: number, times: MaxTimestamp): Omit<ValidatedBatch, 'bytes'> {
  const producerId = view.getBigInt64(address + layout.PRODUCER_ID);
  const idempotent = producerId >= 0n;
  return {
    error: Errors.NONE,
    message: '',
    recordIndex: -1,
    attributes: view.getUint16(address + layout.ATTRIBUTES),
    lastOffsetDelta: view.getInt32(address + layout.LAST_OFFSET_DELTA),
    recordCount: view.getInt32(address + layout.RECORD_COUNT),
    maxTimestamp: times.maxTimestamp,
    offsetOfMaxTimestampDelta: times.offsetDelta,
    producerId: idempotent ? producerId : -1n,
    producerEpoch: idempotent ? view.getInt16(address + layout.PRODUCER_EPOCH) : -1,
    baseSequence: idempotent ? view.getInt32(address + layout.BASE_SEQUENCE) : -1,
    crc: view.getUint32(address + layout.CRC),
  };
}
