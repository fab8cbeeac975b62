/**
 * Commits an uploaded segment, whatever the coordinator's answers get lost. Main thread.
 *
 * A commit whose outcome is unknown is repeated by its object key until it answers: the coordinator gives the first
 * result again. Past a deadline the key is given up with `abandonFile`, repeated until it answers too; only an abandoned
 * key may be answered with an error, since no late commit of it can succeed any more.
 *
 * Crash points: kill −9 before the commit leaves an orphan (see the uploader); after the commit and before the answer the
 * batches are in the log, and the producer's retry is answered as a duplicate with its first offset.
 */
import { deferred } from '../common/lifecycle.ts';
import type { Outage } from '../common/outage.ts';
import type { Random } from '../common/random.ts';
import type { Time } from '../common/time.ts';
import {
  type CommitBatchResult,
  type CommitFileRequest,
  CoordinatorError,
  type DisklessCoordinator,
} from '../coordinator/diskless-coordinator.ts';
import { Backoff, type BackoffSettings } from './backoff.ts';

export interface SegmentCommitterOptions {
  readonly coordinator: DisklessCoordinator;
  readonly time: Time;
  readonly random: Random;
  /** Is told of every commit; what becomes of a key that is given up, the caller tells. */
  readonly outage: Outage;
  /** How long a commit is repeated before its key is given up. */
  readonly deadlineMs: number;
  readonly backoff: BackoffSettings;
}

export type CommitOutcome =
  | { readonly outcome: 'committed'; readonly batches: readonly CommitBatchResult[] }
  /** Nothing of it is or will be committed. */
  | { readonly outcome: 'abandoned'; readonly reason: string }
  /** The coordinator was closed or fenced under it; it may be committed. */
  | { readonly outcome: 'unknown'; readonly reason: string };

export class SegmentCommitter {
  readonly #options: SegmentCommitterOptions;

  constructor(options: SegmentCommitterOptions) {
    this.#options = options;
  }

  /** Rejects only with the reason of `signal`; what the coordinator does later is then unknown. */
  async commit(request: CommitFileRequest, signal: AbortSignal): Promise<CommitOutcome> {
    const { time, random, backoff, deadlineMs, coordinator, outage } = this.#options;
    const untilMs = time.monotonicMs() + deadlineMs;
    const pauses = new Backoff(time, random, backoff);
    for (let mayBeCommitted = false; ; ) {
      try {
        const { batches } = await unlessAborted(coordinator.commitFile(request), signal);
        outage.succeeded();
        return { outcome: 'committed', batches };
      } catch (error) {
        signal.throwIfAborted();
        const kind = kindOf(error);
        if (kind === 'abandoned') return { outcome: 'abandoned', reason: String(error) };
        outage.failed(error, { objectKey: request.objectKey });
        mayBeCommitted ||= kind === 'unavailable';
        const repeat = kind === 'unavailable' || kind === 'no-space';
        if (!repeat || time.monotonicMs() >= untilMs) {
          return this.abandon(request.objectKey, String(error), signal, mayBeCommitted);
        }
        if (!(await pauses.pause(signal))) throw signal.reason;
      }
    }
  }

  /**
   * Gives a key up and says what became of it. `mayBeCommitted`: a commit of it was sent and not answered.
   * Rejects only with the reason of `signal`.
   */
  async abandon(
    objectKey: string,
    reason: string,
    signal: AbortSignal,
    mayBeCommitted = false,
  ): Promise<CommitOutcome> {
    const { time, random, backoff, coordinator } = this.#options;
    const pauses = new Backoff(time, random, backoff);
    for (;;) {
      try {
        const answer = await unlessAborted(coordinator.abandonFile(objectKey), signal);
        return answer.outcome === 'committed' ? answer : { outcome: 'abandoned', reason };
      } catch (error) {
        signal.throwIfAborted();
        const kind = kindOf(error);
        // The store is gone for this process. Without a commit in doubt nobody else will ever commit the key.
        if (kind !== 'unavailable' && kind !== 'no-space') {
          return { outcome: mayBeCommitted ? 'unknown' : 'abandoned', reason: String(error) };
        }
        if (!(await pauses.pause(signal))) throw signal.reason;
      }
    }
  }
}

/** An error of no known kind may have happened after the write: it counts as an answer that was lost. */
function kindOf(error: unknown): CoordinatorError['kind'] {
  return error instanceof CoordinatorError ? error.kind : 'unavailable';
}

/** Coordinator calls cannot be cancelled; this stops waiting for one. */
function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = deferred<never>();
  const onAbort = (): void => aborted.reject(signal.reason);
  if (signal.aborted) onAbort();
  signal.addEventListener('abort', onAbort, { once: true });
  return Promise.race([promise, aborted.promise]).finally(() => signal.removeEventListener('abort', onAbort));
}
