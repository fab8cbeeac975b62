/**
 * The engine's way to the record kernel: decides what runs inline on the main thread and what goes to a worker, and keeps
 * both answers the same. Main thread; constructed and closed by the engine.
 */
import type { ReadRecords, ReadRecordsOptions } from '../record/record-reader.ts';
import type { AssignedRun, AssignOffsetsOptions, ValidatedBatch, ValidationOptions } from '../record/validation.ts';
import type { Slab, SlabPool } from './slab-pool.ts';

/** The record with the smallest offset whose timestamp is at or above the one asked for. */
export interface TimestampedOffset {
  readonly offset: bigint;
  readonly timestamp: bigint;
}

export interface RecordPool {
  /** Where record bytes live. All byte arguments below are views of its slabs. */
  readonly slabs: SlabPool;

  /**
   * Checks what a producer sent for one partition. The slab is held by the caller until the promise settles. A result
   * whose `bytes` are not a view of `records` comes with a slab of its own, which the caller releases.
   * Rejects with ApiError KAFKA_STORAGE_ERROR when the worker died (retriable).
   */
  validate(
    records: Uint8Array,
    options: ValidationOptions,
  ): Promise<{ readonly batch: ValidatedBatch; readonly slab?: Slab }>;

  /** Verifies a run's CRCs, then injects offsets, leader epoch and append time in place. Same rejection. */
  assignOffsets(run: Uint8Array, options: AssignOffsetsOptions): Promise<AssignedRun>;

  /**
   * Finds a timestamp inside a rewritten run (compressed or not), among the records at or above `fromOffset` (the log
   * start offset, where it lies inside a batch); undefined when no record is that late.
   * Rejects with CORRUPT_MESSAGE when a batch cannot be decompressed any more.
   */
  offsetForTimestamp(run: Uint8Array, timestamp: bigint, fromOffset?: bigint): Promise<TimestampedOffset | undefined>;

  /**
   * Copies single records out of a rewritten run (compressed or not), by their offsets, as many as fit into `maxBytes`.
   * Rejects with CORRUPT_MESSAGE when a batch cannot be decompressed any more.
   */
  readRecords(run: Uint8Array, options: ReadRecordsOptions): Promise<ReadRecords>;

  /** Drains, ends the threads, asserts that every slab came back. */
  close(): Promise<void>;
}
