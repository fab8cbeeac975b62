/**
 * Acquiring records for a member: what of the log batches that a read returned may be delivered (KIP-932, KIP-1206).
 * Pure; works on a share partition's window. Records are not parsed: base and last offsets decide.
 */
import { BatchAllowance, isThrottled } from './delivery-throttle.ts';
import { acquiredUnit, acquireUnit, freeUnit, InFlightBatch, isAcquirable } from './in-flight-batch.ts';
import { RecordState } from './record-state.ts';
import type { ShareWindow } from './share-window.ts';

/** `batch_optimized` keeps log batches whole and may exceed the budget; `record_limit` never exceeds it. */
export type AcquireMode = 'batch_optimized' | 'record_limit';

/** A record batch of the log, by its offsets. */
export interface LogBatch {
  readonly first: number;
  readonly last: number;
}

export interface AcquiredRange {
  readonly first: number;
  readonly last: number;
  readonly deliveryCount: number;
}

export interface AcquireRequest {
  readonly memberId: string;
  readonly mode: AcquireMode;
  /** Where tracked batches are cut in batch_optimized mode. */
  readonly batchSize: number;
  /** What is left of the request's record budget. */
  readonly maxRecords: number;
  /** The offset that the read began at. */
  readonly fetchOffset: number;
  readonly logBatches: readonly LogBatch[];
}

export interface AcquireLimits {
  readonly maxInFlightRecords: number;
  readonly maxDeliveryCount: number;
  readonly lockDeadlineMs: number;
}

/** One acquisition in progress. `onLocked` is told of every batch that got a lock. */
class Acquisition {
  readonly acquired: AcquiredRange[] = [];
  #taken = 0;
  readonly #window: ShareWindow;
  readonly #request: AcquireRequest;
  readonly #limits: AcquireLimits;
  readonly #onLocked: (batch: InFlightBatch) => void;

  constructor(
    window: ShareWindow,
    request: AcquireRequest,
    limits: AcquireLimits,
    onLocked: (batch: InFlightBatch) => void,
  ) {
    this.#window = window;
    this.#request = request;
    this.#limits = limits;
    this.#onLocked = onLocked;
  }

  /** The record budget and the last offset it may be spent on; inside a full window only what comes back is acquired. */
  #budget(lastOffset: number): { budget: number; last: number } {
    const window = this.#window;
    const { maxRecords, fetchOffset } = this.#request;
    const room = Math.min(maxRecords, this.#limits.maxInFlightRecords - window.inFlightRecords);
    if (room > 0) return { budget: room, last: lastOffset };
    if (fetchOffset > window.endOffset) return { budget: 0, last: lastOffset };
    return {
      budget: Math.min(maxRecords, window.endOffset - fetchOffset + 1),
      last: Math.min(lastOffset, window.endOffset),
    };
  }

  run(): void {
    const window = this.#window;
    const { logBatches, maxRecords, fetchOffset } = this.#request;
    if (maxRecords <= 0 || logBatches.length === 0) return;
    const firstBase = logBatches[0]!.first;
    const lastOffset = logBatches[logBatches.length - 1]!.last;
    if (lastOffset < window.startOffset) return;
    const { budget, last } = this.#budget(lastOffset);
    if (budget <= 0) return;
    if (fetchOffset < firstBase) window.archiveAvailable(fetchOffset, firstBase);

    const floor = window.batches.floor(firstBase);
    const base = floor?.contains(firstBase) ? floor.first : Math.max(firstBase, window.startOffset);
    this.#walk(firstBase, base, last, budget);
    const end = this.acquired[this.acquired.length - 1];
    if (end) window.moveGapPointer(end.last + 1);
  }

  /** Goes over the tracked batches from `base` to `last`, then over what follows them. */
  #walk(firstBase: number, base: number, last: number, budget: number): void {
    const batches = this.#window.batches;
    let next = base;
    for (let index = batches.indexFrom(Math.min(firstBase, base)); index < batches.length; index++) {
      const batch = batches.at(index);
      if (batch.first > last || this.#taken >= budget) break;
      if (this.#window.gapActive && next < batch.first) {
        this.#takeNew(next, batch.first - 1, budget);
        // The new range may be several tracked batches; the walk goes on behind them, at the same batch.
        index = batches.indexFrom(batch.first);
        if (this.#taken >= budget) break;
      }
      next = Math.max(next, batch.last + 1);
      const throttled = isThrottled(batch, firstBase, last, this.#limits.maxDeliveryCount);
      if (throttled && this.#taken > 0) return;
      this.#takeTracked(batch, firstBase, last, budget, throttled);
      if (throttled && this.#taken > 0) return;
    }
    if (this.#taken < budget && next <= last) this.#takeNew(next, last, budget);
  }

  #takeTracked(batch: InFlightBatch, firstBase: number, last: number, budget: number, throttled: boolean): void {
    const whole = batch.whole;
    if (whole && !isAcquirable(whole)) return;
    const inside = batch.first >= firstBase && batch.last <= last;
    const fits = this.#request.mode === 'batch_optimized' || batch.size <= budget - this.#taken;
    if (whole && inside && fits && !throttled) {
      acquireUnit(whole, this.#request.memberId, this.#limits.lockDeadlineMs);
      this.#report(batch.first, batch.last, whole.deliveryCount, undefined);
      this.#onLocked(batch);
      return;
    }
    batch.split();
    this.#takeOffsets(
      batch,
      firstBase,
      last,
      this.#request.mode === 'batch_optimized' ? Number.POSITIVE_INFINITY : budget,
    );
  }

  #takeOffsets(batch: InFlightBatch, firstBase: number, last: number, budget: number): void {
    const allowance = new BatchAllowance(batch.size, this.#limits.maxDeliveryCount);
    const mark = this.acquired.length;
    const end = Math.min(last, batch.last);
    for (let offset = Math.max(firstBase, batch.first); offset <= end && this.#taken < budget; offset++) {
      const unit = batch.unitAt(offset);
      if (!isAcquirable(unit)) continue;
      if (!allowance.mayTake(unit)) break;
      const before = unit.deliveryCount;
      acquireUnit(unit, this.#request.memberId, this.#limits.lockDeadlineMs);
      this.#report(offset, offset, unit.deliveryCount, mark);
      if (!allowance.noteTaken(before)) break;
    }
    if (this.acquired.length > mark) this.#onLocked(batch);
    this.#window.noteAvailable(batch.first);
  }

  /** Adds to the result; with `mark`, joins the range before it when both lie in the batch begun at that index. */
  #report(first: number, last: number, deliveryCount: number, mark: number | undefined): void {
    this.#taken += last - first + 1;
    const index = this.acquired.length - 1;
    const before = this.acquired[index];
    if (mark !== undefined && index >= mark && before!.last + 1 === first && before!.deliveryCount === deliveryCount) {
      this.acquired[index] = { first: before!.first, last, deliveryCount };
      return;
    }
    this.acquired.push({ first, last, deliveryCount });
  }

  /**
   * Tracks and acquires offsets that were never tracked, from [first, last], rounded up to a log batch. A log batch may
   * begin below the start offset: that part is settled, and would be fetched for ever if it were tracked as available.
   */
  #takeNew(first: number, last: number, budget: number): void {
    const from = Math.max(first, this.#window.startOffset);
    const left = budget - this.#taken;
    if (from > last || left <= 0) return;
    const to = last - from + 1 > left ? Math.min(last, this.#roundUp(from + left - 1)) : last;
    if (this.#request.mode === 'record_limit') this.#takeLimited(from, to, left);
    else this.#takeInPieces(from, to);
  }

  /** The last offset of the log batch that holds `offset`; itself when none does. */
  #roundUp(offset: number): number {
    const holder = this.#request.logBatches.find((batch) => batch.first <= offset && offset <= batch.last);
    return holder ? holder.last : offset;
  }

  #takeLimited(from: number, to: number, left: number): void {
    const { memberId } = this.#request;
    const { lockDeadlineMs } = this.#limits;
    if (to - from + 1 <= left) {
      this.#trackAcquired(from, to);
      return;
    }
    const batch = new InFlightBatch(from, to, freeUnit(RecordState.AVAILABLE, 0));
    batch.split();
    const end = from + left - 1;
    for (let offset = from; offset <= end; offset++) acquireUnit(batch.unitAt(offset), memberId, lockDeadlineMs);
    this.#window.track(batch);
    this.#window.noteAvailable(end + 1);
    this.#report(from, end, 1, undefined);
    this.#onLocked(batch);
  }

  /** Cuts at log batch starts that are at least `batchSize` past the piece's own; a log batch is never cut. */
  #takeInPieces(from: number, to: number): void {
    let start = from;
    if (to - from + 1 > this.#request.batchSize) {
      for (const { first } of this.#request.logBatches) {
        if (first > to) break;
        if (first - start < this.#request.batchSize) continue;
        this.#trackAcquired(start, first - 1);
        start = first;
      }
    }
    this.#trackAcquired(start, to);
  }

  #trackAcquired(first: number, last: number): void {
    const batch = new InFlightBatch(first, last, acquiredUnit(this.#request.memberId, this.#limits.lockDeadlineMs));
    this.#window.track(batch);
    this.#report(first, last, 1, undefined);
    this.#onLocked(batch);
  }
}

/** Acquires what the read allows and returns the ranges for the client, by rising offset. */
export function acquire(
  window: ShareWindow,
  request: AcquireRequest,
  limits: AcquireLimits,
  onLocked: (batch: InFlightBatch) => void,
): AcquiredRange[] {
  const acquisition = new Acquisition(window, request, limits, onLocked);
  acquisition.run();
  return acquisition.acquired;
}
