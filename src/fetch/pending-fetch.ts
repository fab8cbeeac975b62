/**
 * One fetch from request to answer: look into the local view, ask the coordinator for what that does not hold, wait until
 * enough is there, read it, put the answer together.
 *
 * The order matters: a fetch that has to ask the coordinator registers for changes first, so that a commit is either in
 * the coordinator's answer or wakes it. A change makes it look at the partitions that changed, and at no others. Main
 * thread; lives as long as its promise.
 */
import { Errors } from '../common/errors.ts';
import { type Deferred, deferred } from '../common/lifecycle.ts';
import type { Logger } from '../common/logger.ts';
import type { Time, Timer } from '../common/time.ts';
import type { DisklessCoordinator } from '../coordinator/diskless-coordinator.ts';
import type { CoordinateReader } from './coordinate-reader.ts';
import type { DelayedFetches, ParkedFetch, Parking } from './delayed-fetch.ts';
import { FetchAnswer } from './fetch-answer.ts';
import type { FetchMemory } from './fetch-memory.ts';
import { FetchReads } from './fetch-reads.ts';
import type { FetchParams, FetchPartition, FetchResult } from './fetch-request.ts';
import { FetchSlot } from './fetch-slot.ts';
import type { LocalLog } from './local-log.ts';

export interface PendingFetchParts {
  readonly coordinator: DisklessCoordinator;
  readonly localLog: LocalLog;
  readonly reader: CoordinateReader;
  readonly memory: FetchMemory;
  readonly delayed: DelayedFetches;
  readonly time: Time;
  readonly logger: Logger;
  /** Hears of every partition that got records: where it was read from, where its reader goes on. */
  readonly onServed: (slot: FetchSlot, nextOffset: bigint) => void;
}

export class PendingFetch implements ParkedFetch {
  readonly #parts: PendingFetchParts;
  readonly #params: FetchParams;
  readonly #slots: readonly FetchSlot[];
  readonly #signal: AbortSignal | undefined;
  /** The request's limit, less where memory is small: what an answer holds until it is released. */
  readonly #budget: number;
  readonly #changed = new Set<number>();
  #availableBytes = 0;
  #unknownSlots: number;
  #failedSlots = 0;
  #isDue: boolean;
  #isResumed = false;
  #waiting: Deferred<void> | undefined;
  #due: Deferred<void> | undefined;
  #hasRecheckedGone = false;

  constructor(
    parts: PendingFetchParts,
    params: FetchParams,
    partitions: readonly FetchPartition[],
    signal: AbortSignal | undefined,
  ) {
    this.#parts = parts;
    this.#params = params;
    this.#slots = partitions.map((partition) => new FetchSlot(partition));
    this.#signal = signal;
    this.#budget = Math.min(params.maxBytes, Math.max(1024 * 1024, Math.floor(parts.memory.capacityBytes / 4)));
    this.#unknownSlots = this.#slots.length;
    this.#isDue = params.maxWaitMs <= 0 || partitions.length === 0;
  }

  /** @throws the signal's reason */
  async run(): Promise<FetchResult> {
    this.#signal?.throwIfAborted();
    const onAbort = (): void => this.#waiting?.reject(this.#signal!.reason);
    this.#signal?.addEventListener('abort', onAbort, { once: true });
    const timer = this.#startTimer();
    try {
      for (;;) {
        await this.#gather();
        const answer = await this.#answer();
        if (!answer.isStarved || this.#isDue) return answer.finish();
        answer.discard();
        await this.#waitForMemory();
      }
    } finally {
      timer?.cancel();
      this.#signal?.removeEventListener('abort', onAbort);
    }
  }

  /** Partitions whose records came from the local view, once it is answered. */
  get localSlots(): number {
    return this.#slots.filter((slot) => slot.source === 'local').length;
  }

  noteChange(index: number): void {
    this.#changed.add(index);
  }

  noteChangeOfAll(): void {
    for (let index = 0; index < this.#slots.length; index++) this.#changed.add(index);
  }

  resume(): void {
    this.#isResumed = true;
    this.#waiting?.resolve();
  }

  /** Answers as soon as possible, with what there is. */
  finishNow(): void {
    this.#isDue = true;
    this.#due?.resolve();
    this.resume();
  }

  #startTimer(): Timer | undefined {
    return this.#isDue ? undefined : this.#parts.time.setTimer(this.#params.maxWaitMs, () => this.finishNow());
  }

  /** Looks, and waits for more until there is enough or the time is up. */
  async #gather(): Promise<void> {
    this.#recount(this.#slots, (slot) => slot.lookLocally(this.#parts.localLog));
    if (this.#availableBytes > 0 && this.#isSatisfied) return;
    const parking = this.#isDue ? undefined : this.#park();
    try {
      await this.#lookUp(this.#slots.filter(needsLookUp));
      while (!this.#isSatisfied && !this.#isDue) {
        await this.#wait();
        await this.#lookAtChanges();
      }
    } finally {
      parking?.end();
    }
  }

  #park(): Parking {
    return this.#parts.delayed.park(
      this,
      this.#slots.map((slot) => slot.key),
    );
  }

  async #lookAtChanges(): Promise<void> {
    const changed = [...this.#changed].map((index) => this.#slots[index]!);
    this.#changed.clear();
    this.#recount(changed, (slot) => slot.lookLocally(this.#parts.localLog));
    await this.#lookUp(changed.filter(needsLookUp));
  }

  /** As in Kafka, an error on any partition answers the request at once. */
  get #isSatisfied(): boolean {
    if (this.#failedSlots > 0) return true;
    return this.#unknownSlots === 0 && this.#availableBytes >= Math.min(this.#params.minBytes, this.#budget);
  }

  /** Updates slots and, by the difference they make, the totals: 50,000 partitions are not added up at every commit. */
  #recount(slots: readonly FetchSlot[], update: (slot: FetchSlot, index: number) => void): void {
    for (const [index, slot] of slots.entries()) {
      this.#count(slot, -1);
      update(slot, index);
      this.#count(slot, 1);
    }
  }

  #count(slot: FetchSlot, sign: 1 | -1): void {
    this.#availableBytes += sign * slot.availableBytes;
    if (slot.source === 'unknown') this.#unknownSlots += sign;
    if (slot.error !== Errors.NONE) this.#failedSlots += sign;
  }

  /** Asks the coordinator about some slots, in the order of the request. */
  async #lookUp(slots: readonly FetchSlot[]): Promise<void> {
    if (slots.length === 0) return;
    const partitions = slots.map((slot) => slot.partition);
    try {
      const results = await this.#orAborted(
        this.#parts.coordinator.findBatches({ partitions, maxBytes: this.#budget, minOneBatch: true }),
      );
      this.#recount(slots, (slot, index) => slot.resolve(results[index]!));
      for (const { key, error, logStartOffset, highWatermark } of slots) {
        if (error === Errors.NONE) this.#parts.localLog.noteBounds(key, logStartOffset, highWatermark);
      }
    } catch (error) {
      this.#signal?.throwIfAborted();
      this.#parts.logger.warn(
        { error: String(error), partitions: slots.length },
        'the coordinator did not find batches',
      );
      this.#recount(slots, (slot) => slot.fail(Errors.KAFKA_STORAGE_ERROR));
    }
  }

  /** Until a change, the deadline, or an abort. */
  async #wait(): Promise<void> {
    if (!this.#isResumed) {
      this.#waiting = deferred();
      if (this.#signal?.aborted) this.#waiting.reject(this.#signal.reason);
      await this.#waiting.promise;
    }
    this.#isResumed = false;
    this.#waiting = undefined;
  }

  async #waitForMemory(): Promise<void> {
    const waiting = this.#parts.delayed.awaitMemory(this);
    try {
      await this.#wait();
    } finally {
      waiting.end();
    }
  }

  /** Reads what the last look promised, until nothing that can be helped stands between the request and its records. */
  async #answer(): Promise<FetchAnswer> {
    for (;;) {
      const reads = new FetchReads(this.#parts.localLog, this.#parts.reader, this.#slots, this.#budget);
      if (reads.evicted.length > 0) {
        reads.cancel(new Error('the local view changed since the look'));
        await this.#lookUp(reads.evicted);
        continue;
      }
      try {
        await this.#orAborted(this.#finishInTime(reads));
      } catch (error) {
        reads.cancel(error);
        throw error;
      }
      try {
        if (!this.#shouldReadAgain(reads)) return this.#assemble(reads);
      } finally {
        reads.release();
      }
      await this.#lookUpAgain(reads);
    }
  }

  /**
   * Reads that take longer than `maxWaitMs` do not hold up what others brought: a tail partition is not stuck behind a
   * cold one of the same fetch. Without anything to answer with, the fetch waits on.
   */
  async #finishInTime(reads: FetchReads): Promise<void> {
    const finished = reads.finish();
    if (this.#isDue) return finished;
    this.#due = deferred();
    await Promise.race([finished, this.#due.promise]);
    if (!reads.hasRecords) return finished;
    finished.catch(() => {}); // whatever comes of the rest, this fetch is answered
    reads.leaveRest();
  }

  /** Each time round at least one slot counts as unreadable from then on, or it was the recheck: it ends. */
  #shouldReadAgain({ gone, unreadable, isCutShort }: FetchReads): boolean {
    if (gone.length > 0 && !this.#hasRecheckedGone) return true;
    for (const { key, partition } of gone) {
      this.#parts.logger.error(
        { partition: key, fetchOffset: String(partition.fetchOffset) },
        'committed records are lost: the coordinator refers to an object that object storage does not have',
      );
    }
    const failed = [...gone, ...unreadable];
    this.#recount(failed, (slot) => slot.setUnreadable());
    return failed.length > 0 && (isCutShort || this.#slots.some((slot) => slot.isLeftOut));
  }

  /**
   * After an object was missing, once: if retention or DeleteRecords dropped its batches since we looked, the coordinator
   * now says so (and where the log starts); otherwise a committed object is lost, and the second attempt says that.
   * After a partition was unreadable: its part of the budget belongs to those for which the coordinator had none left.
   */
  async #lookUpAgain({ gone }: FetchReads): Promise<void> {
    if (gone.length > 0 && !this.#hasRecheckedGone) {
      this.#hasRecheckedGone = true;
      await this.#lookUp(gone);
    } else {
      await this.#lookUp(this.#slots.filter((slot) => slot.isLeftOut));
    }
  }

  /** In the order of the request; what a slot did not use is left for those after it. */
  #assemble(reads: FetchReads): FetchAnswer {
    const answer = new FetchAnswer(this.#parts.memory, this.#budget);
    for (const slot of this.#slots) {
      const nextOffset = answer.add(slot, reads.runsOf(slot));
      if (nextOffset !== undefined) this.#parts.onServed(slot, nextOffset);
    }
    return answer;
  }

  async #orAborted<T>(promise: Promise<T>): Promise<T> {
    const signal = this.#signal;
    if (!signal) return promise;
    signal.throwIfAborted();
    const aborted = deferred<never>();
    const onAbort = (): void => aborted.reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      return await Promise.race([promise, aborted.promise]);
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }
}

/** A change says that something may be there, whatever the local view has heard; before waiting, nothing is taken on hearsay. */
function needsLookUp(slot: FetchSlot): boolean {
  return slot.source === 'unknown' || slot.source === 'at-end';
}
