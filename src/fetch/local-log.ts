/**
 * What this process holds of partitions' logs, ready for consumers: rewritten runs, by offset. Memory now
 * (`in-memory-local-log.ts`); a disk, or a broker's own log, may stand behind the same interface.
 *
 * It is never the source of truth: an offset outside it says nothing, and only the coordinator answers
 * OFFSET_OUT_OF_RANGE.
 */
import type { PartitionKey } from '../common/topic-id-partition.ts';
import type { RewrittenRun } from '../worker/rewritten-run.ts';

/**
 * How a run came here, which decides how long it stays. `tail`: just committed, or read at the log's end. `scan`: read
 * from the past; gone again first, so that one consumer going through old data does not push out what everyone reads.
 */
export type RunOrigin = 'tail' | 'scan';

export interface LocalLogBounds {
  /** Whether nothing of the partition is held. */
  readonly isEmpty: boolean;
  /** The offset after the last local record. */
  readonly localLogEnd: bigint;
  /** Where the partition's log starts, as last heard from the coordinator; undefined when that is not known (any more). */
  readonly logStartOffset: bigint | undefined;
  /** The highest high watermark heard of. */
  readonly highWatermark: bigint;
  /** Whether nothing is known to be committed beyond `localLogEnd`. */
  readonly inSync: boolean;
}

export interface LocalLog {
  /** Bytes held, overheads included. */
  readonly sizeBytes: number;

  /**
   * Takes a run over, with its reference to the slab. One that overlaps what is held, or that there is no room for, is
   * released instead.
   */
  append(run: RewrittenRun, origin: RunOrigin): void;

  /**
   * The runs from the one that holds `offset` on, without a gap, until `maxBytes` are gathered; none when `offset` is not
   * here. Borrowed: whoever keeps one beyond this turn retains its slab.
   */
  read(key: PartitionKey, offset: bigint, maxBytes: number): readonly RewrittenRun[];

  /** The runs that together hold all of these offsets, and perhaps more around them; none otherwise. Borrowed likewise. */
  covering(key: PartitionKey, baseOffset: bigint, lastOffset: bigint): readonly RewrittenRun[];

  /** What is known of a partition, live; undefined when nothing is. Costs the same however much is held. */
  bounds(key: PartitionKey): LocalLogBounds | undefined;

  /** Where the contiguous run of local data that ends at `localLogEnd` begins; equal to it when nothing is held. */
  localLogStart(key: PartitionKey): bigint | undefined;

  /** What the coordinator said of a partition. Runs below a new log start are dropped. */
  noteBounds(key: PartitionKey, logStartOffset: bigint, highWatermark: bigint): void;

  /** A commit by anyone. */
  noteHighWatermark(key: PartitionKey, highWatermark: bigint): void;

  /** The log's start moved, by anyone. */
  noteLogStart(key: PartitionKey, logStartOffset: bigint): void;

  /** Notifications may have been missed: log starts count as unknown until the coordinator names them again. */
  distrustBounds(): void;

  /** Forgets partitions that `exists` denies: their topics were deleted. */
  retainPartitions(exists: (key: PartitionKey) => boolean): void;

  /** Releases everything. */
  close(): void;
}
