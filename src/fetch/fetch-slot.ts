/**
 * One partition of a fetch while the fetch is under way: what the last look found, local or at the coordinator, and how
 * many bytes that promises.
 */
import { type ErrorCode, Errors } from '../common/errors.ts';
import { type PartitionKey, partitionKey } from '../common/topic-id-partition.ts';
import type { BatchCoordinate, FindBatchesResult } from '../coordinator/diskless-coordinator.ts';
import type { RewrittenRun } from '../worker/rewritten-run.ts';
import type { FetchPartition } from './fetch-request.ts';
import type { LocalLog } from './local-log.ts';

/**
 * - `local`: the local view holds the fetch offset.
 * - `at-end`: as far as this process has heard, nothing is committed at the fetch offset yet.
 * - `unknown`: only the coordinator can tell.
 * - `direct`: it has told; `coordinates` say where the batches lie (none at the log's end, or with an error).
 * - `unreadable`: it has told, but nothing of what lies there could be read.
 */
export type SlotSource = 'local' | 'at-end' | 'unknown' | 'direct' | 'unreadable';

export class FetchSlot {
  readonly partition: FetchPartition;
  readonly key: PartitionKey;
  source: SlotSource = 'unknown';
  error: ErrorCode = Errors.NONE;
  /** Why nothing more could be read; answered when nothing was read at all. */
  readError: ErrorCode = Errors.NONE;
  logStartOffset = -1n;
  highWatermark = -1n;
  lastStableOffset = -1n;
  coordinates: readonly BatchCoordinate[] = [];
  /** What a fetch can expect from this partition now, bounded by its own limit. */
  availableBytes = 0;

  constructor(partition: FetchPartition) {
    this.partition = partition;
    this.key = partitionKey(partition.topicIdPartition);
  }

  /** Whether the batches found reach the log's end: its reader is at the tail. */
  get isAtTail(): boolean {
    return (this.coordinates.at(-1)?.lastOffset ?? -1n) + 1n >= this.highWatermark;
  }

  /** The coordinator had batches for it, but spent the budget on partitions before it. */
  get isLeftOut(): boolean {
    const { source, error, coordinates, highWatermark, partition } = this;
    return (
      source === 'direct' && error === Errors.NONE && coordinates.length === 0 && partition.fetchOffset < highWatermark
    );
  }

  /** Looks into the local view only. An offset that it does not hold says nothing about the log. */
  lookLocally(localLog: LocalLog): void {
    const bounds = localLog.bounds(this.key);
    const { fetchOffset, maxBytes } = this.partition;
    this.source = 'unknown';
    this.coordinates = [];
    this.availableBytes = 0;
    this.error = Errors.NONE;
    this.readError = Errors.NONE;
    if (bounds?.logStartOffset === undefined || fetchOffset < bounds.logStartOffset) return;
    this.logStartOffset = bounds.logStartOffset;
    this.highWatermark = bounds.highWatermark;
    this.lastStableOffset = bounds.highWatermark;
    if (fetchOffset === bounds.highWatermark) this.source = 'at-end';
    const runs = bounds.isEmpty ? [] : localLog.read(this.key, fetchOffset, maxBytes);
    if (runs.length === 0) return;
    this.source = 'local';
    this.#promise(runs, (run) => run.bytes.length);
  }

  /** Takes over what the coordinator found. */
  resolve(result: FindBatchesResult): void {
    this.source = 'direct';
    this.error = result.error;
    this.readError = Errors.NONE;
    this.logStartOffset = result.logStartOffset;
    this.highWatermark = result.highWatermark;
    this.lastStableOffset = result.lastStableOffset;
    this.coordinates = result.error === Errors.NONE ? result.coordinates : [];
    this.#promise(this.coordinates, (coordinate) => coordinate.size);
  }

  /** Nothing can be said of this partition now. */
  fail(error: ErrorCode): void {
    this.source = 'direct';
    this.error = error;
    this.logStartOffset = -1n;
    this.highWatermark = -1n;
    this.lastStableOffset = -1n;
    this.coordinates = [];
    this.availableBytes = 0;
  }

  /** Its records could not be read now; `readError` says why. */
  setUnreadable(): void {
    this.source = 'unreadable';
    this.availableBytes = 0;
  }

  /** Adds up sizes; of the first piece only the share of its records that were asked for. */
  #promise<P extends RewrittenRun | BatchCoordinate>(pieces: readonly P[], sizeOf: (piece: P) => number): void {
    let bytes = 0;
    for (const piece of pieces) bytes += sizeOf(piece) * wantedShare(piece, this.partition.fetchOffset);
    this.availableBytes = Math.min(Math.ceil(bytes), Math.max(1, this.partition.maxBytes));
  }
}

/** How much of a piece lies at or after an offset, by records. */
export function wantedShare(piece: { baseOffset: bigint; lastOffset: bigint }, fetchOffset: bigint): number {
  if (fetchOffset <= piece.baseOffset) return 1;
  return Number(piece.lastOffset - fetchOffset + 1n) / Number(piece.lastOffset - piece.baseOffset + 1n);
}
