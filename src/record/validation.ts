/**
 * What the record kernel is asked and what it answers: the vocabulary shared by the kernel's host side (this folder), the
 * worker pool and the engine. Plain data; it crosses threads.
 *
 * Verdicts are Kafka's, as test/record/verdicts.test.ts lists them; every one has an error code of `Errors`, and a bad record
 * is named by its index.
 */
import type { ErrorCode } from '../common/errors.ts';

/** Attributes bits 0–2, by value. */
export const CODECS = ['none', 'gzip', 'snappy', 'lz4', 'zstd'] as const;

export type CompressionCodec = (typeof CODECS)[number];

/** Kafka's `compression.type`: `producer` keeps what came. */
export type CompressionType = 'producer' | 'uncompressed' | Exclude<CompressionCodec, 'none'>;

export interface ValidationOptions {
  /** `max.message.bytes`: limit of one whole batch, also after recompression. */
  readonly maxMessageBytes: number;
  readonly compressionType: CompressionType;
  /** `compression.<type>.level` of gzip (−1, 1–9) and zstd (−131072–22). @default Kafka's: −1 and 3 */
  readonly compressionLevel?: number | undefined;
  /** `message.timestamp.type`: 0 CreateTime, 1 LogAppendTime. */
  readonly timestampType: 0 | 1;
  /** The clock against which CreateTime is checked, milliseconds. */
  readonly nowMs: number;
  /** `message.timestamp.before.max.ms` and `.after.max.ms`; Infinity for no limit. */
  readonly timestampBeforeMaxMs: number;
  readonly timestampAfterMaxMs: number;
  /** `cleanup.policy` holds `compact`: every record needs a key. */
  readonly compacted: boolean;
  /** Whether batches with the transactional bit pass; without it they get INVALID_REQUEST. */
  readonly allowTransactional: boolean;
}

/** A record that is wrong by itself (KIP-467). */
export interface RecordError {
  readonly batchIndex: number;
  readonly message: string;
}

/** The verdict over one partition's records, which must hold exactly one v2 batch. */
export interface ValidatedBatch {
  /** NONE, CORRUPT_MESSAGE, INVALID_RECORD, INVALID_TIMESTAMP, MESSAGE_TOO_LARGE, UNSUPPORTED_COMPRESSION_TYPE, … */
  readonly error: ErrorCode;
  /** What is wrong and where, for the producer; "" when nothing is. */
  readonly message: string;
  /** Index of the bad record in its batch, the first with this error; −1 when the batch as a whole is meant. */
  readonly recordIndex: number;
  /** All records without their keys or with timestamps out of bounds, up to 256; else the bad record alone. */
  readonly recordErrors: readonly RecordError[];
  /**
   * The batch to store, with base offset 0 and leader epoch 0: a view of the input (trailing bytes trimmed), or memory of
   * its own where it had to be rebuilt (recompression, repaired inner offsets). Empty with an error.
   */
  readonly bytes: Uint8Array;
  readonly attributes: number;
  readonly lastOffsetDelta: number;
  readonly recordCount: number;
  readonly maxTimestamp: bigint;
  /** Offset delta of the first record with `maxTimestamp`. */
  readonly offsetOfMaxTimestampDelta: number;
  readonly producerId: bigint;
  readonly producerEpoch: number;
  readonly baseSequence: number;
  /** CRC-32C over bytes 21 to the end, as stored in the batch, unsigned. */
  readonly crc: number;
}

/** A run of batches as it lies in a segment, and the offsets that the coordinator gave it. */
export interface AssignOffsetsOptions {
  readonly baseOffset: bigint;
  /** Where the run must end, when it was read whole; undefined when only a part was. */
  readonly lastOffset: bigint | undefined;
  readonly leaderEpoch: number;
  /** Injected into LogAppendTime runs (attributes bit 3, max timestamp, CRC patched); −1n leaves CreateTime alone. */
  readonly logAppendTimeMs: bigint;
}

export interface AssignedRun {
  /** NONE, or CORRUPT_MESSAGE when a batch's CRC or length, or the run's end, is wrong. */
  readonly error: ErrorCode;
  readonly message: string;
  /** Bytes at the front of the run that are verified and rewritten: everything without an error, else the good prefix. */
  readonly goodBytes: number;
  readonly batches: number;
  /** The offset after the last good batch. */
  readonly nextOffset: bigint;
}
