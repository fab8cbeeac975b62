/**
 * The reads of one fetch: everything its budget reaches by what the last look promised, started together so that the
 * scheduler plans them together. Holds the runs until they are released. Main thread; one per attempt at an answer.
 */
import { Errors } from '../common/errors.ts';
import type { RewrittenRun } from '../worker/rewritten-run.ts';
import { type CoordinateReader, type RunOutcome, type RunRead, releaseRuns, retainRuns } from './coordinate-reader.ts';
import { type FetchSlot, wantedShare } from './fetch-slot.ts';
import type { LocalLog } from './local-log.ts';

const NO_RUNS: readonly RewrittenRun[] = [];

export class FetchReads {
  /** Slots that the local view held at the last look and does not hold any more. */
  readonly evicted: FetchSlot[] = [];
  /** Slots whose object was missing. */
  readonly gone: FetchSlot[] = [];
  /** Slots of which nothing could be read. */
  readonly unreadable: FetchSlot[] = [];
  /** Whether slots with data were left out because the budget was spent. */
  isCutShort = false;
  readonly #localLog: LocalLog;
  readonly #reader: CoordinateReader;
  readonly #reads = new Map<FetchSlot, readonly RunRead[]>();
  readonly #runs = new Map<FetchSlot, RewrittenRun[]>();
  readonly #held: RewrittenRun[] = [];

  constructor(localLog: LocalLog, reader: CoordinateReader, slots: readonly FetchSlot[], budget: number) {
    this.#localLog = localLog;
    this.#reader = reader;
    let left = budget;
    let isFirst = true; // the first batch of a request may exceed every limit
    for (const slot of slots) {
      if (slot.availableBytes === 0) continue;
      if (left <= 0 && !isFirst) {
        this.isCutShort = true;
        break;
      }
      const limit = Math.max(1, Math.min(slot.partition.maxBytes, left));
      if (slot.source === 'local') this.#hold(slot, limit);
      else this.#read(slot, limit);
      left -= Math.min(limit, slot.availableBytes);
      isFirst = false;
    }
  }

  /** Waits for everything. Rejects only with the reason of `cancel`. */
  async finish(): Promise<void> {
    await Promise.all([...this.#reads].map(([slot, reads]) => this.#finishSlot(slot, reads)));
  }

  /** Whether some partition's records are at hand. */
  get hasRecords(): boolean {
    for (const runs of this.#runs.values()) if (runs.length > 0) return true;
    return false;
  }

  /**
   * Goes on without what has not arrived: its partitions get nothing this time. The reads go on for the local view, so
   * that the next fetch finds them there, or on their way.
   */
  leaveRest(): void {
    for (const reads of this.#reads.values()) {
      for (const { outcome } of reads) outcome.then(({ runs }) => releaseRuns(runs)).catch(() => {});
    }
    this.#reads.clear();
  }

  runsOf(slot: FetchSlot): readonly RewrittenRun[] {
    return this.#runs.get(slot) ?? NO_RUNS;
  }

  /** Gives up what is under way, and everything held. */
  cancel(reason: unknown): void {
    for (const reads of this.#reads.values()) for (const read of reads) read.cancel(reason);
    this.#reads.clear();
    this.release();
  }

  /** Lets go of the runs; whatever the answer uses it has pinned. */
  release(): void {
    releaseRuns(this.#held.splice(0));
  }

  async #finishSlot(slot: FetchSlot, reads: readonly RunRead[]): Promise<void> {
    const outcomes = await Promise.all(reads.map((read) => read.outcome));
    if (!this.#reads.delete(slot)) return; // cancelled, or left, while they were on their way
    for (const { runs } of outcomes) this.#held.push(...runs);
    this.#runs.set(slot, this.#usable(slot, outcomes));
  }

  #hold(slot: FetchSlot, limit: number): void {
    const runs = this.#localLog.read(slot.key, slot.partition.fetchOffset, limit);
    if (runs.length === 0) this.evicted.push(slot);
    retainRuns(runs);
    this.#held.push(...runs);
    this.#runs.set(slot, [...runs]);
  }

  #read(slot: FetchSlot, limit: number): void {
    const [priority, origin] = slot.isAtTail ? (['hot', 'tail'] as const) : (['cold', 'scan'] as const);
    const { topicIdPartition, fetchOffset } = slot.partition;
    const reads: RunRead[] = [];
    let bytes = 0;
    for (const coordinate of slot.coordinates) {
      if (bytes >= limit) break;
      reads.push(this.#reader.read(topicIdPartition, coordinate, priority, origin));
      bytes += coordinate.size * wantedShare(coordinate, fetchOffset);
    }
    this.#reads.set(slot, reads);
  }

  /** The runs up to the first that could not be read whole, its good prefix included. */
  #usable(slot: FetchSlot, outcomes: readonly RunOutcome[]): RewrittenRun[] {
    const runs: RewrittenRun[] = [];
    for (const { runs: read, error, reason } of outcomes) {
      runs.push(...read.filter((run) => run.lastOffset >= slot.partition.fetchOffset));
      if (error === Errors.NONE) continue;
      // Short of memory is not the partition's fault: it gets nothing this time, and no error.
      if (reason !== 'no-memory') slot.readError = error;
      if (runs.length === 0) (reason === 'gone' ? this.gone : this.unreadable).push(slot);
      break;
    }
    return runs;
  }
}
