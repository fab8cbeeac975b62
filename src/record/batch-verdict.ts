/**
 * The verdict over a batch as it crosses threads, and the two ways to make one: refused, or read from the header of a batch
 * that is sound. Pure; on any thread.
 */
import { Errors } from '../common/errors.ts';
import * as layout from './kernel-layout.ts';
import type { RecordError, ValidatedBatch } from './validation.ts';

/** A verdict as it crosses threads: without the view, which only the caller's thread can make. */
export interface BatchVerdict extends Omit<ValidatedBatch, 'bytes'> {
  /** Size of the batch at the front of the input; 0 with an error or when it was rebuilt. */
  readonly sizeBytes: number;
  /** The batch in memory of its own, where it had to be rebuilt. */
  readonly rebuilt: Uint8Array | undefined;
}

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

export function recordError(batchIndex: number, message: string): RecordError {
  return { batchIndex, message: `record ${batchIndex}: ${message}` };
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
