/**
 * One segment's way: verdicts, PUT, its turn, commit, answers. Main thread.
 *
 * The order of these steps is what "acknowledged means durable" rests on: a batch is answered with an offset only after
 * its commit answered, and with an error only when its key is abandoned or it was never part of a commit.
 */
import { setMaxListeners } from 'node:events';
import { assert } from '../common/assert.ts';
import { type ErrorCode, Errors, errorName } from '../common/errors.ts';
import type { Logger } from '../common/logger.ts';
import type { Time } from '../common/time.ts';
import type { CommitBatchResult } from '../coordinator/diskless-coordinator.ts';
import type { SlabPool } from '../worker/slab-pool.ts';
import type { AppendMetrics } from './append-metrics.ts';
import type { ClosedSegment, SegmentCommit } from './closed-segment.ts';
import type { CommitListener } from './commit-listener.ts';
import type { CommitTurn } from './commit-order.ts';
import type { CommittedRuns } from './committed-runs.ts';
import type { CommitOutcome, SegmentCommitter } from './segment-committer.ts';
import type { Crc32c, EncodedSegment, SegmentOrigin } from './segment-format.ts';
import type { SegmentUploader, UploadOutcome } from './segment-uploader.ts';
import { Semaphore } from './semaphore.ts';

export interface SegmentPipelineOptions {
  readonly time: Time;
  readonly logger: Logger;
  readonly checksums: Crc32c;
  readonly slabs: SlabPool;
  readonly uploader: SegmentUploader;
  readonly committer: SegmentCommitter;
  readonly committedRuns: CommittedRuns;
  readonly commitListener: CommitListener;
  readonly metrics: AppendMetrics;
  readonly uploaderId: number;
  readonly uploaderEpoch: number;
  readonly uploadConcurrency: number;
  /** A segment's outcome cannot be found out (the coordinator is closed or fenced, a bug): appending must stop. */
  readonly onFatal: (reason: string) => void;
}

/** Answers a segment's batches that have no answer, and later ones of their partitions with KAFKA_STORAGE_ERROR. */
export type SegmentFailure = (error: ErrorCode, message: string) => void;

export class SegmentPipeline {
  readonly #options: SegmentPipelineOptions;
  readonly #uploads: Semaphore;
  readonly #abort = new AbortController();

  constructor(options: SegmentPipelineOptions) {
    this.#options = options;
    // One for each segment that waits for storage or coordinator.
    setMaxListeners(0, this.#abort.signal);
    this.#uploads = new Semaphore(options.uploadConcurrency);
  }

  /** Stops waiting for storage and coordinator; segments on their way answer that their outcome is unknown. */
  abort(cause: Error): void {
    this.#abort.abort(cause);
  }

  /**
   * Settles when every batch of the segment is answered and nothing reads its bytes any more; never rejects.
   * `fail` answers the segment, and what must fail with it.
   */
  async run(segment: ClosedSegment, turn: CommitTurn, fail: SegmentFailure): Promise<void> {
    try {
      await segment.validated();
      if (segment.live) await this.#store(segment, turn, (message) => fail(Errors.KAFKA_STORAGE_ERROR, message));
    } catch (error) {
      const message = `the outcome is not known: ${String(error)}`;
      this.#options.logger.error({ segment: segment.sequence, error: String(error) }, 'segment outcome unknown');
      if (!this.#abort.signal.aborted) this.#options.onFatal(message);
      fail(Errors.REQUEST_TIMED_OUT, message);
    }
  }

  async #store(segment: ClosedSegment, turn: CommitTurn, failForGood: (message: string) => void): Promise<void> {
    const { checksums, slabs } = this.#options;
    const origin = this.#originOf(segment);
    const encoded = segment.encode(origin, checksums, slabs);
    const upload = await this.#upload(segment, encoded);
    if (upload.outcome === 'failed') {
      const { reason } = upload;
      await this.#giveUp(upload.objectKey, `the segment could not be stored: ${reason}`, failForGood);
      return;
    }
    await turn.ready;
    const commit = segment.commitOf(upload.objectKey, encoded, origin);
    if (commit.batches.length === 0) {
      // All of it failed together with an earlier segment, and is answered; its object is left to the sweep.
      await this.#giveUp(upload.objectKey, 'every batch of the segment had failed before', () => {});
      return;
    }
    this.#conclude(await this.#commit(commit), commit, failForGood);
  }

  async #commit({ request }: SegmentCommit): Promise<CommitOutcome> {
    const { committer, commitListener, metrics, time } = this.#options;
    const startMs = time.monotonicMs();
    let outcome: CommitOutcome | undefined;
    commitListener.onCommitting(request.objectKey);
    try {
      outcome = await committer.commit(request, this.#abort.signal);
      if (outcome.outcome === 'committed') metrics.segmentCommitted(time.monotonicMs() - startMs);
      else if (outcome.outcome === 'abandoned') metrics.segmentAbandoned();
      return outcome;
    } finally {
      if (outcome?.outcome !== 'committed') commitListener.onCommitSettled(request.objectKey);
    }
  }

  #upload(segment: ClosedSegment, encoded: EncodedSegment): Promise<UploadOutcome> {
    const { uploader, metrics, time } = this.#options;
    return this.#uploads.run(async () => {
      this.#abort.signal.throwIfAborted();
      const startMs = time.monotonicMs();
      const outcome = await uploader.upload(encoded, this.#abort.signal, () => segment.live);
      if (outcome.outcome === 'stored') metrics.uploaded(encoded.sizeBytes, time.monotonicMs() - startMs);
      return outcome;
    });
  }

  /** Abandoned first, answered then. */
  async #giveUp(objectKey: string, reason: string, failForGood: (message: string) => void): Promise<void> {
    const outcome = await this.#options.committer.abandon(objectKey, reason, this.#abort.signal);
    assert(outcome.outcome === 'abandoned', 'a key that was never committed can be given up');
    this.#options.metrics.segmentAbandoned();
    this.#options.logger.warn({ objectKey, reason }, 'segment given up');
    failForGood(reason);
  }

  #conclude(outcome: CommitOutcome, commit: SegmentCommit, failForGood: (message: string) => void): void {
    switch (outcome.outcome) {
      case 'committed':
        this.#deliver(commit, outcome.batches);
        return;
      case 'abandoned':
        failForGood(`the segment could not be committed: ${outcome.reason}`);
        return;
      case 'unknown':
        throw new Error(outcome.reason);
    }
  }

  #deliver({ request, batches }: SegmentCommit, results: readonly CommitBatchResult[]): void {
    assert(results.length === batches.length, 'the coordinator answers every batch of a commit');
    this.#options.committedRuns.add(request.objectKey, batches, results);
    batches.forEach((batch, index) => {
      const result = results[index]!;
      batch.settleCommitted(result, result.error === Errors.NONE ? '' : refusal(result));
      if (result.error !== Errors.NONE || result.duplicate) return;
      const { topicIdPartition, lastOffsetDelta } = request.batches[index]!;
      this.#options.metrics.batchAppended(topicIdPartition.topicId, lastOffsetDelta + 1, batch.bytes.length);
    });
  }

  #originOf(segment: ClosedSegment): SegmentOrigin {
    const { uploaderId, uploaderEpoch, time } = this.#options;
    return { uploaderId, uploaderEpoch, segmentSequence: segment.sequence, createdMs: Math.floor(time.nowMs()) };
  }
}

function refusal({ error }: CommitBatchResult): string {
  return `the coordinator refused the batch: ${errorName(error)}`;
}
