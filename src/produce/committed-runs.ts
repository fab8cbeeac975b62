/**
 * Hands what was committed to the fetch side: offsets are injected in place, into the bytes that were uploaded, once no
 * PUT reads them any more. Main thread.
 *
 * Injection of different segments may overlap; handing over follows the order of the commits, so that a partition's runs
 * arrive by rising offset. A run that cannot be rewritten is dropped: the fetch side reads it from the object instead.
 */
import { Errors } from '../common/errors.ts';
import type { Logger } from '../common/logger.ts';
import type { TopicIdPartition } from '../common/topic-id-partition.ts';
import type { CommitBatchResult } from '../coordinator/diskless-coordinator.ts';
import type { RecordPool } from '../worker/record-pool.ts';
import type { RewrittenRun } from '../worker/rewritten-run.ts';
import type { Slab } from '../worker/slab-pool.ts';
import type { CommitListener } from './commit-listener.ts';
import type { PendingBatch } from './pending-batch.ts';

/** Diskless partitions have no leader elections: their epoch is always 0. */
const LEADER_EPOCH = 0;

export interface CommittedRunsOptions {
  readonly recordPool: RecordPool;
  readonly logger: Logger;
  readonly commitListener: CommitListener;
}

/** Batches that lie side by side in one slab and in the log. Holds one reference to the slab. */
interface CommittedRun {
  readonly topicIdPartition: TopicIdPartition;
  readonly slab: Slab;
  readonly bytes: Uint8Array;
  readonly baseOffset: bigint;
  readonly lastOffset: bigint;
  readonly logAppendTimeMs: bigint;
}

export class CommittedRuns {
  readonly #options: CommittedRunsOptions;
  #handedOver: Promise<void> = Promise.resolve();

  constructor(options: CommittedRunsOptions) {
    this.#options = options;
  }

  /** Takes the slabs of batches that are in the log now; duplicates and refused ones keep theirs. */
  add(objectKey: string, batches: readonly PendingBatch[], results: readonly CommitBatchResult[]): void {
    const rewritten = Promise.all(joinedRuns(batches, results).map((run) => this.#rewrite(run)));
    this.#handedOver = this.#handedOver.then(async () => this.#handOver(objectKey, await rewritten));
  }

  #handOver(objectKey: string, rewritten: readonly (RewrittenRun | undefined)[]): void {
    const { commitListener, logger } = this.#options;
    const runs = rewritten.filter((run) => run !== undefined);
    try {
      if (runs.length > 0) commitListener.onCommitted(runs);
      commitListener.onCommitSettled(objectKey);
    } catch (error) {
      // A bug, and not one that may keep all later commits from being handed over.
      logger.error({ objectKey, error: String(error) }, 'the fetch side could not take what was committed');
    }
  }

  /** Resolves when everything added before is handed over. */
  drained(): Promise<void> {
    return this.#handedOver;
  }

  async #rewrite(run: CommittedRun): Promise<RewrittenRun | undefined> {
    const { topicIdPartition, slab, bytes, baseOffset, lastOffset, logAppendTimeMs } = run;
    const problem = await this.#options.recordPool
      .assignOffsets(bytes, { baseOffset, lastOffset, leaderEpoch: LEADER_EPOCH, logAppendTimeMs })
      .then((assigned) => (assigned.error === Errors.NONE ? undefined : assigned.message), String);
    if (problem === undefined) return { topicIdPartition, baseOffset, lastOffset, bytes, slab };
    slab.release();
    this.#options.logger.error(
      { ...topicIdPartition, baseOffset, problem },
      'committed batches could not be rewritten',
    );
    return undefined;
  }
}

/** The accepted batches, neighbours joined; takes a reference to their slabs. */
function joinedRuns(batches: readonly PendingBatch[], results: readonly CommitBatchResult[]): CommittedRun[] {
  const runs: CommittedRun[] = [];
  for (let first = 0; first < batches.length; ) {
    let next = first + 1;
    if (isNew(results[first]!)) {
      while (next < batches.length && follows(batches, results, next)) next += 1;
      runs.push(joined(batches.slice(first, next), results[first]!));
    }
    first = next;
  }
  return runs;
}

function isNew({ error, duplicate }: CommitBatchResult): boolean {
  return error === Errors.NONE && !duplicate;
}

/** Whether a batch lies right behind the one before it: in the slab, and in the log. */
function follows(batches: readonly PendingBatch[], results: readonly CommitBatchResult[], index: number): boolean {
  const [before, batch] = [batches[index - 1]!, batches[index]!];
  const [resultBefore, result] = [results[index - 1]!, results[index]!];
  return (
    isNew(result) &&
    batch.slab === before.slab &&
    batch.key === before.key &&
    batch.bytes.byteOffset === before.bytes.byteOffset + before.bytes.length &&
    result.baseOffset === resultBefore.baseOffset + BigInt(before.verdict.lastOffsetDelta) + 1n &&
    result.logAppendTimeMs === resultBefore.logAppendTimeMs
  );
}

function joined(batches: readonly PendingBatch[], { baseOffset, logAppendTimeMs }: CommitBatchResult): CommittedRun {
  const { topicIdPartition, bytes: begin } = batches[0]!;
  const slab = batches[0]!.takeSlab();
  const size = batches.reduce((sum, { bytes }) => sum + bytes.length, 0);
  const records = batches.reduce((sum, { verdict }) => sum + verdict.lastOffsetDelta + 1, 0);
  return {
    topicIdPartition,
    slab,
    bytes: Buffer.from(begin.buffer as ArrayBuffer, begin.byteOffset, size),
    baseOffset,
    lastOffset: baseOffset + BigInt(records) - 1n,
    logAppendTimeMs,
  };
}
