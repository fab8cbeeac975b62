/**
 * What a share partition tracks: runs of offsets that share one state until something needs finer grain; then the run is
 * split, for good, into one unit an offset. Pure data with the few moves that keep it consistent.
 *
 * Offsets are numbers here: a log with more than 2^53 records does not exist, and the window is scanned on every fetch.
 * The edge of this folder converts from bigint, once.
 */
import { assert } from '../common/assert.ts';
import { assertTransition, RecordState } from './record-state.ts';

/** A state write that is under way, and what the unit goes back to when it fails. */
export interface PendingTransition {
  readonly writeId: number;
  readonly memberId: string;
  /** The record was archived by force meanwhile: the write's answer changes nothing any more. */
  readonly frozen?: boolean;
}

/** No lock: never reached by a clock. */
export const NO_LOCK = Number.POSITIVE_INFINITY;

/** The state of one offset, or of all offsets of an unsplit batch. */
export interface InFlightUnit {
  state: RecordState;
  deliveryCount: number;
  /** The member that holds the record; "" unless ACQUIRED. */
  memberId: string;
  /**
   * When the acquisition lock ends, by the monotonic clock. It stays armed while a transition is pending, so that a write
   * that fails after the lock's end makes the record available instead of giving it back to a member that lost it.
   */
  lockDeadlineMs: number;
  /** Came from ACQUIRED; undone to there when its write fails. */
  pending: PendingTransition | undefined;
}

export class InFlightBatch {
  readonly first: number;
  readonly last: number;
  /** The state of all offsets, until split. */
  #whole: InFlightUnit | undefined;
  /** The states by `offset - first`, once split. */
  #offsets: InFlightUnit[] | undefined;

  constructor(first: number, last: number, unit: InFlightUnit) {
    assert(first <= last, `a batch ends at ${last}, before its start ${first}`);
    this.first = first;
    this.last = last;
    this.#whole = unit;
  }

  get size(): number {
    return this.last - this.first + 1;
  }

  /** The one unit of an unsplit batch. */
  get whole(): InFlightUnit | undefined {
    return this.#whole;
  }

  contains(offset: number): boolean {
    return this.first <= offset && offset <= this.last;
  }

  /** The unit that holds the state of an offset of this batch. */
  unitAt(offset: number): InFlightUnit {
    return this.#whole ?? this.#offsets![offset - this.first]!;
  }

  /** Gives each offset a unit of its own. A pending transition and the lock's remaining time go along to every one. */
  split(): void {
    const whole = this.#whole;
    if (!whole) return;
    this.#whole = undefined;
    this.#offsets = Array.from({ length: this.size }, () => ({ ...whole }));
  }

  /**
   * Calls `visit(unit, first, last)` for the units that lie in [from, to], by rising offset. An unsplit batch is visited
   * once, with its own bounds, even when it reaches out of the range: callers split first where that matters.
   */
  visit(from: number, to: number, visit: (unit: InFlightUnit, first: number, last: number) => void): void {
    if (this.last < from || this.first > to) return;
    if (this.#whole) {
      visit(this.#whole, this.first, this.last);
      return;
    }
    const end = Math.min(to, this.last);
    for (let offset = Math.max(from, this.first); offset <= end; offset++) visit(this.unitAt(offset), offset, offset);
  }

  /** The first offset in [from, to] whose unit satisfies `test`; −1 when none does. */
  findOffset(from: number, to: number, test: (unit: InFlightUnit) => boolean): number {
    if (this.last < from || this.first > to) return -1;
    const start = Math.max(from, this.first);
    if (this.#whole) return test(this.#whole) ? start : -1;
    const end = Math.min(to, this.last);
    for (let offset = start; offset <= end; offset++) if (test(this.unitAt(offset))) return offset;
    return -1;
  }
}

/** A unit that nobody holds. */
export function freeUnit(state: RecordState, deliveryCount: number): InFlightUnit {
  return { state, deliveryCount, memberId: '', lockDeadlineMs: NO_LOCK, pending: undefined };
}

/** A unit just acquired for the first time. */
export function acquiredUnit(memberId: string, lockDeadlineMs: number): InFlightUnit {
  return { state: RecordState.ACQUIRED, deliveryCount: 1, memberId, lockDeadlineMs, pending: undefined };
}

/** Available and free to be taken: no state write is under way. */
export function isAcquirable(unit: InFlightUnit): boolean {
  return unit.state === RecordState.AVAILABLE && unit.pending === undefined;
}

/** Takes an available unit. The delivery count rises here and nowhere else, and never goes down. */
export function acquireUnit(unit: InFlightUnit, memberId: string, lockDeadlineMs: number): void {
  assert(unit.pending === undefined, 'a record with a pending transition is never acquired');
  assertTransition(unit.state, RecordState.ACQUIRED);
  unit.state = RecordState.ACQUIRED;
  unit.deliveryCount++;
  unit.memberId = memberId;
  unit.lockDeadlineMs = lockDeadlineMs;
}

/** Moves an acquired unit on, with the way back kept until the write `writeId` is answered. */
export function beginTransition(unit: InFlightUnit, to: RecordState, writeId: number): void {
  assert(unit.pending === undefined, 'a record has at most one pending transition');
  assert(unit.state === RecordState.ACQUIRED, 'only an acquired record has a way back');
  assertTransition(unit.state, to);
  unit.pending = { writeId, memberId: unit.memberId };
  unit.state = to;
  unit.memberId = '';
}

/** The write succeeded: the new state stands and the lock is gone. */
export function commitTransition(unit: InFlightUnit): void {
  unit.pending = undefined;
  unit.lockDeadlineMs = NO_LOCK;
}

/**
 * The write failed: back to the member that held it, unless the record was archived by force. Callers deal with a lock
 * that ended meanwhile.
 */
export function undoTransition(unit: InFlightUnit): void {
  assert(unit.pending !== undefined, 'only a pending transition can be undone');
  const { frozen, memberId } = unit.pending;
  unit.pending = undefined;
  if (frozen) return;
  unit.state = RecordState.ACQUIRED;
  unit.memberId = memberId;
}

/**
 * Archives whatever the unit's state, because the record is gone from the log or was aborted. A pending transition is
 * frozen: it still holds the start offset until its write is answered, but can neither revive the record nor give it back.
 */
export function forceArchive(unit: InFlightUnit): void {
  unit.state = RecordState.ARCHIVED;
  unit.memberId = '';
  unit.lockDeadlineMs = NO_LOCK;
  if (unit.pending) unit.pending = { ...unit.pending, frozen: true };
}

/** Ends an acquisition without a way back (lock expiry). */
export function endAcquisition(unit: InFlightUnit, to: RecordState): void {
  assertTransition(unit.state, to);
  unit.state = to;
  unit.memberId = '';
  unit.lockDeadlineMs = NO_LOCK;
}
