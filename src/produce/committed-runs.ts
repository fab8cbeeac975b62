/**
 * Hands what was committed to the fetch side: offsets are injected in place, into the bytes that were uploaded, once no
 * PUT reads them any more. Main thread.
 *
 * Injection of different segments may overlap; handing over follows the order of the commits, so that a partition's runs
 * arrive by rising offset. A run that cannot be rewritten is dropped: the fetch side reads it from the object instead.
 */
import { Errors } from '../common/errors.ts';
import type { Logger } from '../common/logger.ts';
import type { CommitBatchResult } from '../coordinator/diskless-coordinator.ts';
import type { RecordPool } from '../worker/record-pool.ts';
import type { RewrittenRun } from '../worker/rewritten-run.ts';
import type { CommitListener } from './commit-listener.ts';
import type { PendingBatch } from './pending-batch.ts';

/** Diskless partitions have no leader elections: their epoch is always 0. */
const LEADER_EPOCH = 0;

export interface CommittedRunsOptions {
  readonly recordPool: RecordPool;
  readonly logger: Logger;
  readonly commitListener: CommitListener;
}

export class CommittedRuns {
  readonly #options: CommittedRunsOptions;
  #handedOver: Promise<void> = Promise.resolve();

  constructor(options: CommittedRunsOptions) {
    this.#options = options;
  }

  /** Takes the slabs of batches that are in the log now; duplicates and refused ones keep theirs. */
  add(objectKey: string, batches: readonly PendingBatch[], results: readonly CommitBatchResult[]): void {
    const rewriting: Promise<RewrittenRun | undefined>[] = [];
    batches.forEach((batch, index) => {
      const result = results[index]!;
      if (result.error === Errors.NONE && !result.duplicate) rewriting.push(this.#rewrite(batch, result));
    });
    const rewritten = Promise.all(rewriting);
    this.#handedOver = this.#handedOver.then(async () => {
      const runs = (await rewritten).filter((run) => run !== undefined);
      if (runs.length > 0) this.#options.commitListener.onCommitted(runs);
      this.#options.commitListener.onCommitSettled(objectKey);
    });
  }

  /** Resolves when everything added before is handed over. */
  drained(): Promise<void> {
    return this.#handedOver;
  }

  async #rewrite(batch: PendingBatch, result: CommitBatchResult): Promise<RewrittenRun | undefined> {
    const { topicIdPartition, verdict } = batch;
    const { baseOffset, logAppendTimeMs } = result;
    const { bytes } = verdict;
    const lastOffset = baseOffset + BigInt(verdict.lastOffsetDelta);
    const slab = batch.takeSlab();
    const problem = await this.#options.recordPool
      .assignOffsets(bytes, { baseOffset, lastOffset, leaderEpoch: LEADER_EPOCH, logAppendTimeMs })
      .then((assigned) => (assigned.error === Errors.NONE ? undefined : assigned.message), String);
    if (problem === undefined) return { topicIdPartition, baseOffset, lastOffset, bytes, slab };
    slab.release();
    this.#options.logger.error(
      { ...topicIdPartition, baseOffset, problem },
      'a committed batch could not be rewritten',
    );
    return undefined;
  }
}
