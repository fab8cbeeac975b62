/// <reference types="node" preserve="true" />
/**
 * `import … from 'shoal/kernel'`: the record kernel by itself, for brokers and tools that check or rewrite record batches
 * without an engine. Synchronous; every thread that imports it has a kernel of its own, made at the first call.
 *
 * All functions take any Uint8Array. Bytes from `kernelBytes` lie where the kernel works; others are copied in first, which
 * costs about a third as much as their CRC.
 */
import { type ErrorCode, type ErrorName, Errors, errorName } from './common/errors.ts';
import { findFault } from './record/batch-validator.ts';
import * as layout from './record/kernel-layout.ts';
import { createKernelMemory, RecordKernel, unsharedKernelModule } from './record/record-kernel.ts';
import { assignOffsets as assignRun } from './record/run-rewriter.ts';
import type { AssignedRun, AssignOffsetsOptions as RunAssignment, ValidationOptions } from './record/validation.ts';

export type { CompressionCodec, CompressionType, ValidationOptions } from './record/validation.ts';
export type { AssignedRun };

/** What `assignOffsets` is to write. By default: leader epoch 0, times as they are, and any last offset. */
export type AssignOffsetsOptions = Pick<RunAssignment, 'baseOffset'> & Partial<RunAssignment>;

const MiB = 1024 * 1024;
/** One batch, or a run that is being rewritten, must fit. Untouched pages cost nothing. */
const WORK_BYTES = 1024 * MiB;
const CONTENT_BYTES = 64 * MiB;

let instance: RecordKernel | undefined;
/** Bytes of the kernel's memory given away by `kernelBytes`, which are taken from the end. */
let givenBytes = 0;

function kernel(): RecordKernel {
  instance ??= new RecordKernel(
    unsharedKernelModule(),
    createKernelMemory({ regions: 1, contentBytes: CONTENT_BYTES, slabsBytes: WORK_BYTES, shared: false }),
    0,
  );
  return instance;
}

/** Where bytes of `kernelBytes` begin, told by themselves: `buffer` and `byteOffset` take as long as a CRC over 50 bytes. */
const ADDRESS = Symbol('address in the kernel memory');

interface PlacedBytes extends Uint8Array {
  readonly [ADDRESS]?: number;
}

/** Address of bytes that lie in the kernel's memory, else undefined. */
function addressIn(own: RecordKernel, bytes: PlacedBytes): number | undefined {
  return bytes[ADDRESS] ?? (bytes.buffer === own.buffer ? bytes.byteOffset : undefined);
}

/**
 * Bytes in the kernel's own memory, zeroed: all functions of this module read and write them in place. They are never
 * given back, so allocate buffers once and use them again.
 * @throws RangeError when the kernel's memory (1 GiB a thread) is used up
 */
export function kernelBytes(sizeBytes: number): Uint8Array {
  const { bytes, memory } = kernel();
  const rounded = Math.ceil(sizeBytes / 64) * 64;
  if (!(sizeBytes >= 0) || givenBytes + rounded > memory.slabsBytes) {
    throw new RangeError(
      `${sizeBytes} bytes do not fit into the kernel's memory: ${givenBytes} of ${memory.slabsBytes} bytes are in use`,
    );
  }
  givenBytes += rounded;
  const address = memory.slabsAddress + memory.slabsBytes - givenBytes;
  return Object.defineProperty(bytes.subarray(address, address + sizeBytes), ADDRESS, { value: address });
}

function noRoom(sizeBytes: number): RangeError {
  return new RangeError(`${sizeBytes} bytes are more than the kernel's memory has room for`);
}

/** Address of `input` in the kernel's memory: its own, or that of a copy. @throws RangeError when there is no room for one */
function placed(input: Uint8Array): number {
  const own = instance ?? kernel();
  const address = addressIn(own, input);
  if (address !== undefined) return address;
  const { bytes, memory } = own;
  if (input.length > memory.slabsBytes - givenBytes) throw noRoom(input.length);
  bytes.set(input, memory.slabsAddress);
  return memory.slabsAddress;
}

/**
 * CRC-32C (Castagnoli) of `bytes`, as an unsigned 32-bit number. `crc` continues an earlier result over the bytes before
 * these: `crc32c(b, crc32c(a))` is that of a and b together.
 */
export function crc32c(bytes: Uint8Array, crc = 0): number {
  const own = instance ?? kernel();
  const address = (bytes as PlacedBytes)[ADDRESS];
  return address === undefined ? own.crc32cOf(bytes, crc) : own.crc32c(address, bytes.length, crc);
}

/** The CRC-32C of two runs of bytes, one after the other, from each one's CRC-32C and the second one's length in bytes. */
export function crc32cCombine(first: number, second: number, secondLength: number): number {
  if (!Number.isInteger(secondLength) || secondLength < 0 || secondLength > 0xffffffff) {
    throw new RangeError(`the second run's length ${secondLength} is not a number of bytes below 4 GiB`);
  }
  return kernel().crc32cCombine(first, second, secondLength);
}

/**
 * A batch found in a range of bytes: its header by Kafka's names, and the verdict over it. Where the range ends inside the
 * header, the fields behind its end are −1, the CRC 4294967295, the attributes 0.
 */
export interface RecordBatchReport {
  /** Where it begins in the range, bytes. */
  readonly position: number;
  /** Its whole size; where the range ends inside it or its length is broken, what is left of the range. */
  readonly sizeBytes: number;
  readonly baseOffset: bigint;
  readonly batchLength: number;
  readonly partitionLeaderEpoch: number;
  readonly magic: number;
  readonly crc: number;
  readonly attributes: number;
  readonly lastOffsetDelta: number;
  readonly baseTimestamp: bigint;
  readonly maxTimestamp: bigint;
  readonly producerId: bigint;
  readonly producerEpoch: number;
  readonly baseSequence: number;
  readonly recordsCount: number;
  /** Whether the stored CRC is that of the bytes; false as well where there are too few bytes to tell. */
  readonly crcValid: boolean;
  /** 0, or Kafka's error code for a producer that would send this batch. */
  readonly errorCode: ErrorCode;
  readonly errorName: ErrorName;
  /** Index of the bad record in the batch; −1 when the batch as a whole is meant. */
  readonly recordIndex: number;
  readonly message: string;
}

const DEFAULTS: ValidationOptions = {
  maxMessageBytes: 2 ** 31 - 1,
  compressionType: 'producer',
  timestampType: 0,
  nowMs: 0,
  timestampBeforeMaxMs: Number.POSITIVE_INFINITY,
  timestampAfterMaxMs: Number.POSITIVE_INFINITY,
  compacted: false,
  allowTransactional: true,
};

/**
 * Checks every record batch in a range of bytes, records included, whatever its base offset. The range is not modified.
 * One report for each batch, in order; a frame that is broken or cut off ends the range and is reported last. Without
 * options nothing about size, time or keys is refused.
 */
export function validateRecordBatches(records: Uint8Array, options?: Partial<ValidationOptions>): RecordBatchReport[] {
  const settings = { ...DEFAULTS, ...options };
  const reports: RecordBatchReport[] = [];
  for (let position = 0; position < records.length; ) {
    const report = inspect(records, position, settings);
    reports.push(report);
    position += report.sizeBytes;
  }
  return reports;
}

const ASSIGN_DEFAULTS = { lastOffset: undefined, leaderEpoch: 0, logAppendTimeMs: -1n } as const;

function inspect(records: Uint8Array, position: number, settings: ValidationOptions): RecordBatchReport {
  const view = new DataView(records.buffer, records.byteOffset + position, records.byteLength - position);
  const left = view.byteLength;
  const claimed = left < layout.LOG_OVERHEAD ? left : view.getInt32(layout.BATCH_LENGTH) + layout.LOG_OVERHEAD;
  const sizeBytes = claimed > layout.LOG_OVERHEAD && claimed <= left ? claimed : left;
  const batch = records.subarray(position, position + sizeBytes);
  const header = headerOf(view);
  const fault = findFault(kernel(), placed(batch), sizeBytes, settings);
  if (!fault) return { position, sizeBytes, ...header, ...SOUND };
  const { error, recordIndex, message } = fault;
  const crcValid = crcMatches(batch, header.crc);
  return {
    position,
    sizeBytes,
    ...header,
    crcValid,
    errorCode: error,
    errorName: errorName(error),
    recordIndex,
    message,
  };
}

const SOUND = { crcValid: true, errorCode: Errors.NONE, errorName: 'NONE', recordIndex: -1, message: '' } as const;

function crcMatches(batch: Uint8Array, crc: number): boolean {
  return batch.length >= layout.RECORDS && crc32c(batch.subarray(layout.ATTRIBUTES)) === crc;
}

type HeaderFields = Omit<
  RecordBatchReport,
  'position' | 'sizeBytes' | 'crcValid' | 'errorCode' | 'errorName' | 'recordIndex' | 'message'
>;

const intAt = (view: DataView, at: number): number => (at + 4 <= view.byteLength ? view.getInt32(at) : -1);
const longAt = (view: DataView, at: number): bigint => (at + 8 <= view.byteLength ? view.getBigInt64(at) : -1n);
const shortAt = (view: DataView, at: number): number => (at + 2 <= view.byteLength ? view.getInt16(at) : -1);

/** A header's fields; −1, or 0 where that has a meaning of its own, for those that the bytes end before. */
function headerOf(view: DataView): HeaderFields {
  return {
    baseOffset: longAt(view, layout.BASE_OFFSET),
    batchLength: intAt(view, layout.BATCH_LENGTH),
    partitionLeaderEpoch: intAt(view, layout.LEADER_EPOCH),
    magic: layout.MAGIC < view.byteLength ? view.getInt8(layout.MAGIC) : -1,
    crc: intAt(view, layout.CRC) >>> 0,
    attributes: layout.ATTRIBUTES + 2 <= view.byteLength ? view.getUint16(layout.ATTRIBUTES) : 0,
    lastOffsetDelta: intAt(view, layout.LAST_OFFSET_DELTA),
    baseTimestamp: longAt(view, layout.BASE_TIMESTAMP),
    maxTimestamp: longAt(view, layout.MAX_TIMESTAMP),
    producerId: longAt(view, layout.PRODUCER_ID),
    producerEpoch: shortAt(view, layout.PRODUCER_EPOCH),
    baseSequence: intAt(view, layout.BASE_SEQUENCE),
    recordsCount: intAt(view, layout.RECORD_COUNT),
  };
}

/**
 * Verifies a run of batches and gives it its offsets, in place: base offset and leader epoch of each, and for a
 * LogAppendTime at or above 0 timestamp type, max timestamp and a patched CRC. A batch whose CRC or length is wrong ends
 * the good prefix (`goodBytes`), after which nothing is written. Doing it twice changes nothing more.
 */
export function assignOffsets(run: Uint8Array, options: AssignOffsetsOptions): AssignedRun {
  const { bytes } = kernel();
  const address = placed(run);
  const assigned = assignRun(kernel(), address, run.length, { ...ASSIGN_DEFAULTS, ...options });
  if (run.buffer !== bytes.buffer) run.set(bytes.subarray(address, address + assigned.goodBytes));
  return assigned;
}

/**
 * Makes a batch that was verified before one of LogAppendTime: attributes bit 3, the max timestamp, and the CRC patched at
 * a cost that does not depend on the batch's size. In place; returns the new CRC. A wrong CRC stays wrong.
 * @throws RangeError unless the bytes are one whole batch
 */
export function setLogAppendTime(batch: Uint8Array, logAppendTimeMs: number): number {
  if (batch.length < layout.RECORDS) throw new RangeError(`${batch.length} bytes are no record batch: a header has 61`);
  const own = instance ?? kernel();
  const address = addressIn(own, batch);
  if (address !== undefined) return own.setLogAppendTime(address, batch.length, logAppendTimeMs);
  const { bytes, memory } = own;
  // The patch reads and writes the header alone; the size is a number to it.
  bytes.set(batch.subarray(0, layout.RECORDS), memory.slabsAddress);
  const crc = own.setLogAppendTime(memory.slabsAddress, batch.length, logAppendTimeMs);
  batch.set(bytes.subarray(memory.slabsAddress, memory.slabsAddress + layout.RECORDS));
  return crc;
}
