/**
 * The window of offsets that a share partition tracks: where it starts and ends, what is in it, where to fetch next, and
 * when its start may move. Pure and synchronous. `acquire.ts`, `acknowledge.ts` and `share-partition.ts` work on it.
 */
import { assert } from '../common/assert.ts';
import { forceArchive, freeUnit, InFlightBatch, type InFlightUnit, isAcquirable } from './in-flight-batch.ts';
import { InFlightBatches } from './in-flight-batches.ts';
import { isTerminal, RecordState } from './record-state.ts';

/** A range of offsets in one persisted state. */
export interface StateBatch {
  readonly firstOffset: number;
  readonly lastOffset: number;
  readonly state: RecordState;
  readonly deliveryCount: number;
}

/**
 * Holes in what the persister knew: records that the previous leader had acquired or not reached, which nobody can tell
 * apart. Active while the window still ends where the persisted state did.
 */
interface GapWindow {
  /** They are fetched again from here on. Only goes forward: a hole of the log in front of it is not asked for again. */
  pointer: number;
  /** Behind what was acquired last, which may have come back from in front of the pointer: the start stops here. */
  startLimit: number;
  readonly end: number;
}

function isDone(unit: InFlightUnit): boolean {
  return isTerminal(unit.state) && unit.pending === undefined;
}

export class ShareWindow {
  readonly batches = new InFlightBatches();
  /** The lowest offset that may still be delivered (SPSO). */
  startOffset: number;
  /** The last tracked offset (SPEO); with nothing tracked, equal to the start offset: the next one to fetch. */
  endOffset: number;
  /** Terminal records at or above the start offset that are still tracked (KIP-1226). */
  deliveryCompleteCount = 0;
  /** No record below this offset is available; Infinity when none is at all. A search begins here, and moves it on. */
  #availableFrom = Number.POSITIVE_INFINITY;
  #gap: GapWindow | undefined;

  constructor(startOffset: number) {
    this.startOffset = startOffset;
    this.endOffset = startOffset;
  }

  /** Loads what the persister knew; undefined when it contradicts itself (below the start, inverted, overlapping). */
  static load(startOffset: number, stateBatches: readonly StateBatch[]): ShareWindow | undefined {
    const window = new ShareWindow(startOffset);
    let next = startOffset;
    let hole = -1;
    for (const { firstOffset, lastOffset, state, deliveryCount } of stateBatches) {
      if (firstOffset < next || lastOffset < firstOffset) return undefined;
      if (firstOffset > next && hole < 0) hole = next;
      next = lastOffset + 1;
      window.batches.insert(new InFlightBatch(firstOffset, lastOffset, freeUnit(state, deliveryCount)));
      if (isTerminal(state)) window.deliveryCompleteCount += lastOffset - firstOffset + 1;
    }
    if (stateBatches.length === 0) return window;
    window.endOffset = next - 1;
    window.#availableFrom = startOffset;
    if (hole >= 0) window.#gap = { pointer: hole, startLimit: hole, end: window.endOffset };
    window.advanceStart();
    return window;
  }

  get gapActive(): boolean {
    return this.#gap !== undefined && this.#gap.end === this.endOffset;
  }

  /** 0 with nothing tracked; holes and terminal records behind an unfinished head count, since they use capacity. */
  get inFlightRecords(): number {
    return this.batches.isEmpty ? 0 : this.endOffset - this.startOffset + 1;
  }

  /** Nothing that is tracked can be delivered: the window ends where the next fetch begins. */
  get #isSpent(): boolean {
    const last = this.batches.lastBatch;
    return last === undefined || this.startOffset > last.last;
  }

  /** Records at or above `offset` may have become available. */
  noteAvailable(offset: number): void {
    this.#availableFrom = Math.min(this.#availableFrom, offset);
  }

  /** The lowest offset that a fetch should begin at. */
  nextFetchOffset(): number {
    if (this.#isSpent) {
      this.#availableFrom = Number.POSITIVE_INFINITY;
      return this.endOffset;
    }
    if (this.#availableFrom < Number.POSITIVE_INFINITY) {
      const found = this.gapActive ? this.#firstHoleOrAvailable(this.#gap!.pointer) : this.#firstAvailable();
      if (found >= 0) return found;
      this.#availableFrom = Number.POSITIVE_INFINITY;
    }
    return this.endOffset + 1;
  }

  #firstAvailable(): number {
    const { batches } = this;
    for (let index = Math.max(0, batches.indexFrom(this.#availableFrom + 1) - 1); index < batches.length; index++) {
      const batch = batches.at(index);
      const found = batch.findOffset(Math.max(batch.first, this.#availableFrom), batch.last, isAcquirable);
      if (found < 0) continue;
      // A batch in one piece is fetched from its start on.
      this.#availableFrom = batch.whole ? batch.first : found;
      return this.#availableFrom;
    }
    return -1;
  }

  #firstHoleOrAvailable(pointer: number): number {
    let hole = pointer;
    for (const batch of this.batches) {
      if (batch.first > hole) return hole;
      hole = Math.max(hole, batch.last + 1);
      const found = batch.findOffset(batch.first, batch.last, isAcquirable);
      if (found >= 0) return found;
    }
    return -1;
  }

  /** There is something to deliver again, or room for more. */
  canAcquire(maxInFlightRecords: number): boolean {
    return this.nextFetchOffset() !== this.endOffset + 1 || this.inFlightRecords < maxInFlightRecords;
  }

  /** Offsets of [first, last] at or above the start offset: those that counts are about. */
  #live(first: number, last: number): number {
    return Math.max(0, last - Math.max(first, this.startOffset) + 1);
  }

  /** Keeps `deliveryCompleteCount` right over a change of state of the unit of [first, last]. */
  noteTransition(from: RecordState, to: RecordState, first: number, last: number): void {
    if (isTerminal(from) === isTerminal(to)) return;
    this.deliveryCompleteCount += isTerminal(to) ? this.#live(first, last) : -this.#live(first, last);
  }

  /** Archives a unit by force, with the count. */
  forceArchive(unit: InFlightUnit, first: number, last: number): void {
    this.noteTransition(unit.state, RecordState.ARCHIVED, first, last);
    forceArchive(unit);
  }

  /** Adds a range that was never tracked; it becomes the start of the window when it is the first. */
  track(batch: InFlightBatch): void {
    this.batches.insert(batch);
    if (this.batches.firstBatch === batch) this.startOffset = batch.first;
    this.endOffset = Math.max(this.endOffset, batch.last);
  }

  /** The gap window follows what was acquired: `next` is the offset behind it. Past its end the window closes. */
  moveGapPointer(next: number): void {
    if (this.#gap === undefined) return;
    if (!this.gapActive || next > this.#gap.end) {
      this.#gap = undefined;
      return;
    }
    this.#gap.pointer = Math.max(this.#gap.pointer, next);
    this.#gap.startLimit = Math.max(this.startOffset, next);
  }

  /** Nothing below the log start can be fetched, so the gap window begins there at the earliest. */
  #liftGap(logStartOffset: number): void {
    if (this.#gap === undefined) return;
    this.#gap.pointer = Math.max(this.#gap.pointer, logStartOffset);
    this.#gap.startLimit = Math.max(this.#gap.startLimit, logStartOffset);
  }

  /** Archives available records in [from, to): the log no longer has them. */
  archiveAvailable(from: number, to: number): void {
    // None of these is delivered again, but the gap pointer may be where to go on.
    if (this.archive(RecordState.AVAILABLE, from, to)) this.noteAvailable(from);
  }

  /** Archives by force what is in `state` in [from, to); batches that lie there in part are split. Whether there was any. */
  archive(state: RecordState, from: number, to: number): boolean {
    let found = false;
    const { batches } = this;
    for (let index = Math.max(0, batches.indexFrom(from + 1) - 1); index < batches.length; index++) {
      const batch = batches.at(index);
      if (batch.first >= to) break;
      if (batch.last < from || (batch.whole && batch.whole.state !== state)) continue;
      if (batch.first < from || batch.last >= to) batch.split();
      batch.visit(from, to - 1, (unit, first, last) => {
        if (unit.state !== state) return;
        this.forceArchive(unit, first, last);
        found = true;
      });
    }
    return found;
  }

  /**
   * The log start offset moved (retention, DeleteRecords). Records that members hold stay with them; acknowledging those
   * below is ignored, and they are archived when they come back. Nothing is written: it can be learnt again.
   */
  moveToLogStart(logStartOffset: number): void {
    if (logStartOffset <= this.startOffset) return;
    if (this.batches.isEmpty) {
      this.startOffset = logStartOffset;
      this.endOffset = logStartOffset;
      return;
    }
    this.archiveAvailable(this.batches.firstBatch!.first, logStartOffset);
    this.#setStart(logStartOffset);
    this.endOffset = Math.max(this.endOffset, logStartOffset);
    this.#liftGap(logStartOffset);
  }

  /** Moves the start over finished records, taking those it passes out of the count. */
  #setStart(startOffset: number): void {
    assert(startOffset >= this.startOffset, `the start offset never goes back (${this.startOffset} to ${startOffset})`);
    for (const batch of this.batches) {
      if (batch.first >= startOffset) break;
      batch.visit(this.startOffset, startOffset - 1, (unit, first, last) => {
        if (isTerminal(unit.state)) {
          this.deliveryCompleteCount -= this.#live(first, Math.min(last, startOffset - 1));
        }
      });
    }
    this.startOffset = startOffset;
  }

  /**
   * Moves the start offset past the longest prefix of finished records, after a completed write. While the gap window is
   * active it never passes what was acquired last. A start that lies in a hole where nothing can come any more, outside
   * the gap window or passed by its pointer, does not hold it back.
   */
  advanceStart(): void {
    if (this.batches.isEmpty || !this.#startIsDone()) return;
    const { whole, upTo } = this.#finishedPrefix();
    if (upTo < 0) return;
    const next = this.batches.length === whole ? undefined : this.batches.at(whole);
    if (!next) {
      this.#clear(upTo + 1);
      return;
    }
    const partly = next.first <= upTo;
    const target = partly ? upTo + 1 : this.gapActive ? Math.min(next.first, this.#gap!.startLimit) : next.first;
    this.#setStart(Math.max(this.startOffset, target));
    this.batches.dropFirst(whole);
  }

  /** Whether the start may move at all: what is there, or next below it when it lies in a hole, is finished. */
  #startIsDone(): boolean {
    const floor = this.batches.floor(this.startOffset);
    if (floor) return isDone(floor.unitAt(Math.min(this.startOffset, floor.last)));
    return !this.gapActive || this.#gap!.pointer > this.startOffset;
  }

  /** How many batches from the front are finished whole, and the last finished offset of the prefix (−1: none). */
  #finishedPrefix(): { whole: number; upTo: number } {
    let whole = 0;
    let upTo = -1;
    for (const batch of this.batches) {
      if (this.gapActive && batch.last >= this.#gap!.startLimit) break;
      const open = batch.findOffset(batch.first, batch.last, (unit) => !isDone(unit));
      if (open < 0) {
        whole++;
        upTo = batch.last;
        continue;
      }
      if (open > batch.first) upTo = open - 1;
      break;
    }
    return { whole, upTo };
  }

  /** Everything is finished. The start never falls back below a log start offset that was already past all of it. */
  #clear(next: number): void {
    this.batches.dropFirst(this.batches.length);
    this.deliveryCompleteCount = 0;
    this.startOffset = Math.max(this.startOffset, next);
    this.endOffset = this.startOffset;
    this.#gap = undefined;
  }
}
