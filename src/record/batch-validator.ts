/**
 * Validation of what a producer sent for one partition: the kernel's checks in Kafka's order, then Kafka's repairs, in
 * place where possible. Runs in whichever thread calls it, on that thread's kernel; nothing to close.
 */
import { Errors } from '../common/errors.ts';
import { compress } from './compression/compress.ts';
import { decompressionFault } from './compression/decompress.ts';
import { type DecompressionLimits, decompressionLimits, maxPlainBytes } from './compression/decompression-limits.ts';
import * as layout from './kernel-layout.ts';
import type { RecordKernel } from './record-kernel.ts';
import type {
  CompressionCodec,
  CompressionType,
  RecordError,
  ValidatedBatch,
  ValidationOptions,
} from './validation.ts';
import { verdictOf } from './verdict.ts';

/** A verdict as it crosses threads: without the view, which only the caller's thread can make. */
export interface BatchVerdict extends Omit<ValidatedBatch, 'bytes'> {
  /** Size of the batch at the front of the input; 0 with an error or when it was rebuilt. */
  readonly sizeBytes: number;
  /** The batch in memory of its own, where it had to be rebuilt. */
  readonly rebuilt: Uint8Array | undefined;
}

/** Attributes bits 0–2, by value. */
export const CODECS: readonly CompressionCodec[] = ['none', 'gzip', 'snappy', 'lz4', 'zstd'];

/** A record with null key, null value and no headers: length, attributes, two deltas, two lengths, header count. */
const SMALLEST_RECORD_BYTES = 7;
/** The delete horizon goes as well: a rebuilt batch is one that no cleaner has seen, as in Kafka. */
const KEPT_WHEN_REBUILT = layout.TRANSACTIONAL_BIT | layout.CONTROL_BIT;

/** Kafka's Long.MIN_VALUE. */
const LONG_MIN = -(2 ** 63);

const NO_RECORD_ERRORS: readonly RecordError[] = [];

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

/** The verdict over a batch that is not to be stored. */
export function refuse(error: keyof typeof Errors, message: string, recordIndex = -1): BatchVerdict {
  const recordErrors = recordIndex < 0 ? NO_RECORD_ERRORS : [recordError(recordIndex, message)];
  return { ...NOTHING, error: Errors[error], message: recordErrors[0]?.message ?? message, recordIndex, recordErrors };
}

function recordError(batchIndex: number, message: string): RecordError {
  return { batchIndex, message: `record ${batchIndex}: ${message}` };
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
  const checked = checkBatch(kernel, address, size, options, 0);
  if ('error' in checked) return checked;
  const { attributes, sizeBytes, renumber, times } = checked;
  const codec = CODECS[attributes & layout.CODEC_MASK]!;
  const target = targetCodec(options.compressionType, codec);
  if (target === codec && !renumber) return accept(kernel, address, sizeBytes, attributes, times);
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

/** Where a batch's records lie as plain bytes: in the batch itself, or decompressed in the kernel's own room. */
interface PlainRecords {
  readonly address: number;
  readonly size: number;
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

interface Rebuilding {
  readonly address: number;
  readonly plain: PlainRecords;
  readonly renumber: boolean;
  readonly target: CompressionCodec;
  readonly times: MaxTimestamp;
}

/** The batch in memory of its own: offset deltas 0, 1, 2, …, in the topic's codec, held to the topic's limit again. */
function rebuild(kernel: RecordKernel, from: Rebuilding, options: ValidationOptions): BatchVerdict {
  const { address, target, times } = from;
  const plain = from.renumber ? renumbered(kernel, from) : from.plain;
  if ('error' in plain) return plain;
  const plainBytes = kernel.bytes.subarray(plain.address, plain.address + plain.size);
  // A batch in its producer's codec was at a level that nobody knows.
  const level = target === options.compressionType ? options.compressionLevel : undefined;
  const payload = target === 'none' ? plainBytes : compress(target, plainBytes, level);
  const sizeBytes = layout.RECORDS + payload.length;
  if (sizeBytes > options.maxMessageBytes) {
    const { error, message } = verdictOf(layout.BATCH_TOO_LARGE);
    return refuse(error, `${message} as ${target}: ${sizeBytes} bytes, limit ${options.maxMessageBytes}`);
  }
  const rebuilt = new Uint8Array(sizeBytes);
  rebuilt.set(kernel.bytes.subarray(address, address + layout.RECORDS));
  rebuilt.set(payload, layout.RECORDS);
  const view = new DataView(rebuilt.buffer);
  const kept = view.getUint16(layout.ATTRIBUTES) & KEPT_WHEN_REBUILT;
  view.setInt32(layout.BATCH_LENGTH, sizeBytes - layout.LOG_OVERHEAD);
  view.setInt32(layout.LEADER_EPOCH, 0);
  view.setUint16(layout.ATTRIBUTES, kept | CODECS.indexOf(target));
  view.setBigInt64(layout.MAX_TIMESTAMP, times.maxTimestamp);
  view.setUint32(layout.CRC, kernel.crc32cOf(rebuilt.subarray(layout.ATTRIBUTES)));
  return soundVerdict(view, 0, times.offsetDelta, 0, rebuilt);
}

function renumbered(kernel: RecordKernel, { address, plain }: Rebuilding): PlainRecords | BatchVerdict {
  const size = kernel.resultInt(layout.RESULT_RENUMBERED_BYTES);
  const room = kernel.memory.contentBytes;
  if (size > room)
    return refuse('MESSAGE_TOO_LARGE', `the records take ${size} bytes with offsets in order, limit ${room}`);
  return {
    address: kernel.rebuiltAddress,
    size: kernel.renumberRecords(address, plain.address, kernel.rebuiltAddress),
  };
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
  return soundVerdict(view, address, times.offsetDelta, sizeBytes);
}

/**
 * The verdict over a batch that was accepted, from its header at `address`: repaired, it says all but two of the fields.
 * Kafka takes every negative producer id for "none".
 */
export function soundVerdict(
  view: DataView,
  address: number,
  offsetOfMaxTimestampDelta: number,
  sizeBytes: number,
  rebuilt?: Uint8Array,
): BatchVerdict {
  const producerId = view.getBigInt64(address + layout.PRODUCER_ID);
  const idempotent = producerId >= 0n;
  return {
    error: Errors.NONE,
    message: '',
    recordIndex: -1,
    recordErrors: NO_RECORD_ERRORS,
    sizeBytes,
    rebuilt,
    attributes: view.getUint16(address + layout.ATTRIBUTES),
    lastOffsetDelta: view.getInt32(address + layout.LAST_OFFSET_DELTA),
    recordCount: view.getInt32(address + layout.RECORD_COUNT),
    maxTimestamp: view.getBigInt64(address + layout.MAX_TIMESTAMP),
    offsetOfMaxTimestampDelta,
    producerId: idempotent ? producerId : -1n,
    producerEpoch: idempotent ? view.getInt16(address + layout.PRODUCER_EPOCH) : -1,
    baseSequence: idempotent ? view.getInt32(address + layout.BASE_SEQUENCE) : -1,
    crc: view.getUint32(address + layout.CRC),
  };
}
