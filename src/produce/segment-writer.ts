/**
 * Accumulates batches into segments and takes each segment through validation, upload and commit. Main thread;
 * constructed and closed by the append service.
 *
 * A segment closes when it is full, when its oldest request has waited long enough, or on `flush`. Uploads overlap;
 * commits keep their order per partition (`CommitOrder`).
 *
 * When a segment fails for good, every later batch of its partitions that is not committed yet fails with it, before
 * anything newer is accepted for them: a producer's retry would otherwise find its successor in the log already.
 */
import { type ErrorCode, Errors } from '../common/errors.ts';
import type { Time, Timer } from '../common/time.ts';
import type { PartitionKey } from '../common/topic-id-partition.ts';
import { ActiveSegment } from './active-segment.ts';
import type { ClosedSegment } from './closed-segment.ts';
import { CommitOrder, type CommitTurn } from './commit-order.ts';
import type { PendingBatch } from './pending-batch.ts';
import type { SegmentPipeline } from './segment-pipeline.ts';

/** Bounds what one commit asks of the coordinator when batches are tiny. */
const MAX_BATCHES_PER_SEGMENT = 8_192;

export interface SegmentWriterOptions {
  readonly time: Time;
  readonly pipeline: SegmentPipeline;
  /** A segment closes at this size; one request above it is not split. */
  readonly maxSegmentBytes: number;
  /** A segment closes this long after its first batch was placed. */
  readonly commitIntervalMs: number;
  /** A segment is through: memory may have become free. */
  readonly onSettled: () => void;
  /** Partitions whose batches just failed for good: whoever waits at the door for them fails too. */
  readonly onPartitionsFailed: (partitions: ReadonlySet<PartitionKey>, message: string) => void;
}

export class SegmentWriter {
  readonly #options: SegmentWriterOptions;
  readonly #order = new CommitOrder();
  /** Closed and not through, by rising sequence, each with the promise that it is through. */
  readonly #unsettled = new Map<ClosedSegment, Promise<void>>();
  #active = new ActiveSegment(0);
  #timer: Timer | undefined;

  constructor(options: SegmentWriterOptions) {
    this.#options = options;
  }

  /** Places the batches of one request behind everything placed before. Their validation has been started. */
  place(batches: readonly PendingBatch[], sizeBytes: number): void {
    const { maxSegmentBytes, commitIntervalMs, time } = this.#options;
    if (!this.#active.empty && this.#active.sizeBytes + sizeBytes > maxSegmentBytes) this.rotate();
    this.#active.add(batches, sizeBytes);
    const full = this.#active.sizeBytes >= maxSegmentBytes || this.#active.batchCount >= MAX_BATCHES_PER_SEGMENT;
    if (full) this.rotate();
    else this.#timer ??= time.setTimer(commitIntervalMs, () => this.rotate());
  }

  /** Closes the active segment, if it holds anything, and sends it on its way. */
  rotate(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    if (this.#active.empty) return;
    const segment = this.#active.close();
    this.#active = new ActiveSegment(segment.sequence + 1);
    const turn = this.#order.enter(segment.partitions);
    this.#unsettled.set(segment, this.#run(segment, turn));
  }

  /** Resolves when everything placed before is committed or has failed. */
  async flush(): Promise<void> {
    this.rotate();
    await Promise.all(this.#unsettled.values());
  }

  /** Fails the batches of some partitions that were placed after `place` and are not committed. */
  failLater(partitions: ReadonlySet<PartitionKey>, place: number, message: string): void {
    for (const { batches } of [...this.#unsettled.keys(), this.#active]) {
      for (const batch of batches) {
        if (batch.place > place && partitions.has(batch.key)) batch.fail(Errors.KAFKA_STORAGE_ERROR, message);
      }
    }
    this.#options.onPartitionsFailed(partitions, message);
  }

  /** Answers everything placed with an error now, after the pipeline was aborted; `flush` waits for its bytes. */
  abort(error: ErrorCode, message: string): void {
    this.rotate();
    for (const segment of this.#unsettled.keys()) segment.fail(error, message);
  }

  async #run(segment: ClosedSegment, turn: CommitTurn): Promise<void> {
    try {
      await this.#options.pipeline.run(segment, turn, (error, message) => this.#failForGood(segment, error, message));
    } finally {
      turn.leave();
      segment.release();
      this.#unsettled.delete(segment);
      this.#options.onSettled();
    }
  }

  /** In one turn of the event loop, so that nothing newer slips in between. */
  #failForGood(segment: ClosedSegment, error: ErrorCode, message: string): void {
    const live = segment.batches.filter((batch) => batch.live);
    const last = segment.batches.at(-1)!;
    segment.fail(error, message);
    this.failLater(new Set(live.map((batch) => batch.key)), last.place, message);
  }
}
