/**
 * Validation of what a producer sent for one partition: the kernel's checks in Kafka's order, then Kafka's repairs
 * (`batch-repair.ts`). Runs in whichever thread calls it, on that thread's kernel; nothing to close.
 */
import { type MaxTimestamp, type PlainRecords, rebuild, repairInPlace } from './batch-repair.ts';
import { type BatchVerdict, recordError, refuse } from './batch-verdict.ts';
import { decompressionFault } from './compression/decompress.ts';
import { type DecompressionLimits, decompressionLimits, maxPlainBytes } from './compression/decompression-limits.ts';
import * as layout from './kernel-layout.ts';
import type { RecordKernel } from './record-kernel.ts';
import { CODECS, type CompressionCodec, type CompressionType, type ValidationOptions } from './validation.ts';
import { verdictOf } from './verdict.ts';

/** A record with null key, null value and no headers: length, attributes, two deltas, two lengths, header count. */
const SMALLEST_RECORD_BYTES = 7;

/** Kafka's Long.MIN_VALUE. */
const LONG_MIN = -(2 ** 63);

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
  const checked = checkBatch(kernel, address, size, options, 0);
  if ('error' in checked) return checked;
  const { attributes, sizeBytes, renumber, times } = checked;
  const codec = CODECS[attributes & layout.CODEC_MASK]!;
  const target = targetCodec(options.compressionType, codec);
  if (target === codec && !renumber) return repairInPlace(kernel, address, sizeBytes, attributes, times);
  return rebuild(kernel, { address, plain: checked.plain, renumber, target, times }, options);
}

/** The same checks over a batch that may be stored already, with a base offset; nothing is written. Undefined: sound. */
export function findFault(
  kernel: RecordKernel,
  address: number,
  size: number,
  options: ValidationOptions,
): BatchVerdict | undefined {
  const checked = checkBatch(kernel, address, size, options, layout.ANY_BASE_OFFSET);
  return 'error' in checked ? checked : undefined;
}

/** A batch that passed, and what its records say. */
interface SoundBatch {
  readonly sizeBytes: number;
  readonly attributes: number;
  readonly plain: PlainRecords;
  readonly renumber: boolean;
  readonly times: MaxTimestamp;
}

function checkBatch(
  kernel: RecordKernel,
  address: number,
  size: number,
  options: ValidationOptions,
  flags: number,
): SoundBatch | BatchVerdict {
  const status = kernel.checkBatch(address, size, options.maxMessageBytes, flags);
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
): SoundBatch | BatchVerdict {
  const codec = CODECS[attributes & layout.CODEC_MASK]!;
  const plain = plainRecords(kernel, address, sizeBytes, codec, options);
  if ('error' in plain) return plain;
  const bounds = recordBounds(options, codec);
  const { flags, earliestMs, latestMs } = bounds;
  const status = kernel.checkRecords(address, plain.address, plain.size, flags, earliestMs, latestMs);
  if (status !== layout.OK) return refuseContent(kernel, status, address, plain, bounds);
  const appendTimeBit = (attributes & layout.TIMESTAMP_TYPE_BIT) !== 0;
  if (appendTimeBit && (options.timestampType === 1 || claimsNoTimestamp(kernel, address))) {
    return refuse('INVALID_TIMESTAMP', 'producers may not set the timestamp type to LogAppendTime');
  }
  const renumber = kernel.resultInt(layout.RESULT_RENUMBER) !== 0;
  return { sizeBytes, attributes, plain, renumber, times: foundTimes(kernel) };
}

/** What is asked of records beyond their form. */
interface RecordBounds {
  readonly flags: number;
  readonly earliestMs: number;
  readonly latestMs: number;
}

/** To Kafka, a time so early that its distance from now does not fit in 64 bits is too late. */
function recordBounds(options: ValidationOptions, codec: CompressionCodec): RecordBounds {
  const { nowMs, timestampBeforeMaxMs, timestampAfterMaxMs } = options;
  const measurable = timestampAfterMaxMs === Number.POSITIVE_INFINITY ? Number.NEGATIVE_INFINITY : LONG_MIN + nowMs;
  return {
    flags: recordFlags(options, codec),
    earliestMs: Math.max(nowMs - timestampBeforeMaxMs, measurable),
    latestMs: nowMs + timestampAfterMaxMs,
  };
}

function refuseContent(
  kernel: RecordKernel,
  status: number,
  address: number,
  plain: PlainRecords,
  { flags, earliestMs, latestMs }: RecordBounds,
): BatchVerdict {
  const { error, message } = verdictOf(status);
  const refusal = refuse(error, message, kernel.resultInt(layout.RESULT_RECORD_INDEX));
  if (status !== layout.TIMESTAMP_OUT_OF_BOUNDS && status !== layout.KEY_MISSING) return refusal;
  const bad = kernel.listBadRecords(address, plain.address, flags, earliestMs, latestMs);
  return { ...refusal, recordErrors: bad.map((record) => recordError(record.index, verdictOf(record.status).message)) };
}

function claimsNoTimestamp(kernel: RecordKernel, address: number): boolean {
  return kernel.view.getBigInt64(address + layout.MAX_TIMESTAMP) === -1n;
}

/** Kafka's `compression.type` as the codec of the batch to store. */
function targetCodec(type: CompressionType, codec: CompressionCodec): CompressionCodec {
  if (type === 'producer') return codec;
  return type === 'uncompressed' ? 'none' : type;
}

function plainRecords(
  kernel: RecordKernel,
  address: number,
  sizeBytes: number,
  codec: CompressionCodec,
  options: ValidationOptions,
): PlainRecords | BatchVerdict {
  const records = { address: address + layout.RECORDS, size: sizeBytes - layout.RECORDS };
  if (codec === 'none') return records;
  const limits = contentLimits(kernel, options.maxMessageBytes);
  const count = kernel.view.getInt32(address + layout.RECORD_COUNT);
  const most = maxPlainBytes(records.size, limits);
  if (count > most / SMALLEST_RECORD_BYTES) {
    return refuse('INVALID_RECORD', `${count} records cannot lie in ${most} bytes, the limit for a batch of this size`);
  }
  const plainBytes = kernel.decompress(codec, records.address, records.size, limits);
  if (plainBytes >= 0) return { address: kernel.contentAddress, size: plainBytes };
  const { error, message } = decompressionFault(plainBytes, codec, records.size, limits);
  return refuse(error, message);
}

/** The topic's limits, and no more than the kernel has room for. */
function contentLimits(kernel: RecordKernel, maxMessageBytes: number): DecompressionLimits {
  const limits = decompressionLimits(maxMessageBytes);
  return { ...limits, maxOutputBytes: Math.min(limits.maxOutputBytes, kernel.memory.contentBytes) };
}

/** Producers old enough to leave gaps in inner offsets compress; without compression a gap is an error. */
function recordFlags(options: ValidationOptions, codec: CompressionCodec): number {
  return (
    (options.compacted ? layout.KEYS_REQUIRED : 0) |
    (options.timestampType === 0 ? layout.CHECK_TIMESTAMPS : 0) |
    (codec === 'none' ? 0 : layout.MAY_RENUMBER)
  );
}

function foundTimes(kernel: RecordKernel): MaxTimestamp {
  return {
    maxTimestamp: kernel.resultLong(layout.RESULT_MAX_TIMESTAMP),
    offsetDelta: kernel.resultInt(layout.RESULT_MAX_TIMESTAMP_DELTA),
  };
}
