/**
 * A share partition: the records of one (group, topic, partition) on their way through delivery, as its leader keeps them
 * (KIP-932 and successors). Synchronous and deterministic: time and persistence are passed in, nothing here does I/O.
 *
 * State lives in `share-window.ts`, who gets what in `acquire.ts`, `acknowledge.ts` and `delivery-throttle.ts`; this file
 * orders them around durable writes. A transition is visible at once, and pending until its write is answered: success
 * makes it stand and may move the start offset, failure gives the record back. An acknowledgement is answered only after
 * its write, so nothing that a member was told is accepted can be delivered again, whoever crashes when.
 *
 * Where Kafka's own behaviour is an accident, this does what was meant: a start offset in a hole that nothing can fill
 * does not block; a range that begins in a hole leaves the batch below it alone; the throttle's cap holds also when it is
 * jumped over; splitting keeps pending transitions and locks; a start past all tracked records never falls back; nothing
 * below the start offset is acquired anew or asked for; the pointer into the gap window only goes forward.
 */
import { assert } from '../common/assert.ts';
import { type ErrorCode, Errors } from '../common/errors.ts';
import { type AbortedTransaction, abortedBatches, type TransactionalBatch } from './aborted-batches.ts';
import {
  Acknowledgement,
  type AcknowledgementBatch,
  type DeadLetterCause,
  stateAfterReturn,
  type Touched,
} from './acknowledge.ts';
import { type AcquiredRange, type AcquireRequest, acquire, type LogBatch } from './acquire.ts';
import {
  commitTransition,
  endAcquisition,
  type InFlightBatch,
  type InFlightUnit,
  isAcquirable,
  undoTransition,
} from './in-flight-batch.ts';
import { LockQueue } from './lock-queue.ts';
import { RecordState } from './record-state.ts';
import { ShareWindow, type StateBatch } from './share-window.ts';

/** Settings of the group, read anew at each decision since they may change at any time. */
export interface SharePartitionConfig {
  /** `share.partition.max.record.locks` */
  readonly maxInFlightRecords: number;
  /** `share.delivery.count.limit` */
  readonly maxDeliveryCount: number;
  /** `share.record.lock.duration.ms` */
  readonly lockTimeoutMs: number;
  /** `share.renew.acknowledge.enable` */
  readonly renewEnabled: boolean;
  /** The group names a dead-letter queue and `share.version` is 2. */
  readonly deadLetters: boolean;
  /** `share.isolation.level` */
  readonly isolation: 'read_uncommitted' | 'read_committed';
}

/** What a write makes durable: changed units, and the start offset as it was before the write's own effect. */
export interface StateWrite {
  readonly startOffset: number;
  readonly deliveryCompleteCount: number;
  readonly stateBatches: readonly StateBatch[];
}

export interface DeadLetter {
  readonly first: number;
  readonly last: number;
  readonly deliveryCount: number;
  readonly cause: DeadLetterCause;
}

/** The outside world. Callbacks are called exactly once, at once or later. */
export interface SharePartitionHost {
  readonly config: SharePartitionConfig;
  monotonicMs(): number;
  /** Makes a change durable; `done` gets the error as share consumers see it. */
  write(write: StateWrite, done: (error: ErrorCode) => void): void;
  /**
   * Copies records to the dead-letter queue. `done` names each letter once, whether or not its copy worked: some of them
   * at a time or, without an argument, all at once. What it names together is archived in one write.
   */
  deadLetter(letters: readonly DeadLetter[], done: (copied?: readonly DeadLetter[]) => void): void;
}

export interface AcquireTransactions {
  readonly batches: readonly TransactionalBatch[];
  readonly aborted: readonly AbortedTransaction[];
}

export class SharePartition {
  readonly #window: ShareWindow;
  readonly #host: SharePartitionHost;
  readonly #locks = new LockQueue();
  #lastWriteId = 0;
  #fetchLocked = false;

  private constructor(window: ShareWindow, host: SharePartitionHost) {
    this.#window = window;
    this.#host = host;
  }

  /**
   * Takes over from what the persister knew. Undefined when that contradicts itself. Records that were on their way to
   * the dead-letter queue go there now; the old leader may have copied some already.
   */
  static load(
    state: { readonly startOffset: number; readonly stateBatches: readonly StateBatch[] },
    host: SharePartitionHost,
  ): SharePartition | undefined {
    const window = ShareWindow.load(state.startOffset, state.stateBatches);
    if (!window) return undefined;
    const partition = new SharePartition(window, host);
    partition.#resumeDeadLetters();
    return partition;
  }

  get startOffset(): number {
    return this.#window.startOffset;
  }

  get endOffset(): number {
    return this.#window.endOffset;
  }

  get deliveryCompleteCount(): number {
    return this.#window.deliveryCompleteCount;
  }

  get inFlightRecords(): number {
    return this.#window.inFlightRecords;
  }

  /** The tracked batches by rising offset; not to be modified. */
  get batches(): Iterable<InFlightBatch> {
    return this.#window.batches;
  }

  /** When `expireLocks` has something to do next, by the monotonic clock; Infinity for never. */
  get nextLockDeadlineMs(): number {
    return this.#locks.nextDeadlineMs;
  }

  nextFetchOffset(): number {
    return this.#window.nextFetchOffset();
  }

  canAcquire(): boolean {
    return this.#window.canAcquire(this.#host.config.maxInFlightRecords);
  }

  /** Admits one fetch at a time; false when another one is under way. */
  tryFetchLock(): boolean {
    if (this.#fetchLocked) return false;
    this.#fetchLocked = true;
    return true;
  }

  releaseFetchLock(): void {
    assert(this.#fetchLocked, 'a fetch lock is released by the one who took it');
    this.#fetchLocked = false;
  }

  /** Acquires what a read returned. `transactions` matters with read_committed only. */
  acquire(request: AcquireRequest, transactions?: AcquireTransactions): AcquiredRange[] {
    const { config } = this.#host;
    const lockDeadlineMs = this.#host.monotonicMs() + config.lockTimeoutMs;
    const onLocked = (batch: InFlightBatch): void => this.#locks.add(batch, lockDeadlineMs, this.#window.batches);
    const limits = { ...config, lockDeadlineMs };
    const acquired = acquire(this.#window, request, limits, onLocked);
    if (config.isolation !== 'read_committed' || !transactions || acquired.length === 0) return acquired;
    const hidden = abortedBatches(request.logBatches, transactions.batches, transactions.aborted);
    return hidden.length === 0 ? acquired : this.#hide(acquired, hidden);
  }

  /** Takes aborted log batches out of what was acquired; they are archived, and pass with the next completed write. */
  #hide(acquired: readonly AcquiredRange[], hidden: readonly LogBatch[]): AcquiredRange[] {
    let ranges = [...acquired];
    for (const aborted of hidden) {
      this.#window.archive(RecordState.ACQUIRED, aborted.first, aborted.last + 1);
      ranges = ranges.flatMap((range) => subtract(range, aborted));
    }
    return ranges;
  }

  /** Applies one member's acknowledgements; `done` gets the partition's error once the change is durable. */
  acknowledge(memberId: string, batches: readonly AcknowledgementBatch[], done: (error: ErrorCode) => void): void {
    const acknowledgement = this.#begin(memberId);
    const error = acknowledgement.apply(batches);
    if (error === Errors.NONE) {
      this.#persist(acknowledgement.touched, this.#lastWriteId, done);
      return;
    }
    this.#undo(acknowledgement.touched, this.#lastWriteId);
    done(error);
  }

  /** Gives back everything a member holds; when the write fails, it waits for the locks to end. */
  releaseMember(memberId: string, done: (error: ErrorCode) => void): void {
    const acknowledgement = this.#begin(memberId);
    acknowledgement.releaseAll();
    this.#persist(acknowledgement.touched, this.#lastWriteId, done);
  }

  #begin(memberId: string): Acknowledgement {
    const { config } = this.#host;
    const lockDeadlineMs = this.#host.monotonicMs() + config.lockTimeoutMs;
    const policy = { ...config, lockDeadlineMs, writeId: ++this.#lastWriteId };
    let renewed: InFlightBatch | undefined;
    return new Acknowledgement(this.#window, memberId, policy, (batch) => {
      // One entry serves all offsets of a batch that are renewed together.
      if (batch !== renewed) this.#locks.add(batch, lockDeadlineMs, this.#window.batches);
      renewed = batch;
    });
  }

  /** What `touched` looks like now, unit by unit. */
  #stateBatches(touched: readonly Touched[]): StateBatch[] {
    return touched.map(({ batch, first, last }) => {
      const { state, deliveryCount } = batch.unitAt(first);
      return { firstOffset: first, lastOffset: last, state, deliveryCount };
    });
  }

  #write(touched: readonly Touched[], done: (error: ErrorCode) => void): void {
    const { startOffset, deliveryCompleteCount } = this.#window;
    this.#host.write({ startOffset, deliveryCompleteCount, stateBatches: this.#stateBatches(touched) }, done);
  }

  #persist(touched: readonly Touched[], writeId: number, done: (error: ErrorCode) => void): void {
    if (touched.length === 0) {
      done(Errors.NONE);
      return;
    }
    this.#write(touched, (error) => {
      if (error === Errors.NONE) this.#commit(touched, writeId);
      else this.#undo(touched, writeId);
      done(error);
    });
  }

  #commit(touched: readonly Touched[], writeId: number): void {
    for (const { batch, first, last } of touched) {
      batch.visit(first, last, (unit, from) => {
        if (unit.pending?.writeId !== writeId) return;
        commitTransition(unit);
        if (isAcquirable(unit)) this.#window.noteAvailable(from);
      });
    }
    this.#window.advanceStart();
    this.#sendDeadLetters(touched);
  }

  /** Gives records back to their holder, or ends its hold when the lock ended while the write was under way. */
  #undo(touched: readonly Touched[], writeId: number): void {
    const nowMs = this.#host.monotonicMs();
    const leaving: Touched[] = [];
    for (const { batch, first, last } of touched) {
      batch.visit(first, last, (unit, from, to) => {
        if (unit.pending?.writeId !== writeId) return;
        const before = unit.state;
        undoTransition(unit);
        this.#window.noteTransition(before, unit.state, from, to);
        if (unit.state !== RecordState.ACQUIRED || unit.lockDeadlineMs > nowMs) return;
        const cause = this.#expireUnit(unit, from, to);
        if (cause) leaving.push({ batch, first: from, last: to, cause });
      });
    }
    this.#sendDeadLetters(leaving);
  }

  /** Ends an acquisition whose lock ended. Returns why the records go to the dead-letter queue, when they do. */
  #expireUnit(unit: InFlightUnit, first: number, last: number): DeadLetterCause | undefined {
    const to = stateAfterReturn(unit.deliveryCount, last < this.#window.startOffset, this.#host.config);
    this.#window.noteTransition(unit.state, to, first, last);
    endAcquisition(unit, to);
    if (to === RecordState.AVAILABLE) this.#window.noteAvailable(first);
    return to === RecordState.ARCHIVING ? 'DELIVERY_COUNT_EXCEEDED' : undefined;
  }

  /** The log start offset moved on, or turned out to have moved. */
  moveToLogStart(logStartOffset: number): void {
    this.#window.moveToLogStart(logStartOffset);
  }

  /**
   * Ends every lock whose time has come. No pending phase: nobody waits for an answer, so the change stands even when its
   * write fails; then the persister still knows the older state, which delivers the record again, never less.
   */
  expireLocks(): void {
    const nowMs = this.#host.monotonicMs();
    for (;;) {
      const deadlineMs = this.#locks.nextDeadlineMs;
      const batch = this.#locks.takeExpired(nowMs);
      if (!batch) return;
      const touched = this.#expireBatch(batch, deadlineMs);
      if (touched.length === 0) continue;
      this.#write(touched, () => {
        this.#window.advanceStart();
        this.#sendDeadLetters(touched);
      });
    }
  }

  /** Ends what is locked up to `deadlineMs`; later locks of the batch have their own turn, in the order of deadlines. */
  #expireBatch(batch: InFlightBatch, deadlineMs: number): Touched[] {
    const { startOffset } = this.#window;
    const touched: Touched[] = [];
    const isOver = (unit: InFlightUnit) => unit.state === RecordState.ACQUIRED && unit.lockDeadlineMs <= deadlineMs;
    if (batch.whole && isOver(batch.whole) && batch.first < startOffset && startOffset <= batch.last) batch.split();
    batch.visit(batch.first, batch.last, (unit, first, last) => {
      if (isOver(unit)) touched.push({ batch, first, last, cause: this.#expireUnit(unit, first, last) });
    });
    return touched;
  }

  #resumeDeadLetters(): void {
    const { maxDeliveryCount } = this.#host.config;
    const touched: Touched[] = [];
    for (const batch of this.#window.batches) {
      batch.visit(batch.first, batch.last, (unit, first, last) => {
        if (unit.state !== RecordState.ARCHIVING) return;
        const cause = unit.deliveryCount >= maxDeliveryCount ? 'DELIVERY_COUNT_EXCEEDED' : 'CLIENT_REJECT';
        touched.push({ batch, first, last, cause });
      });
    }
    this.#sendDeadLetters(touched);
  }

  /** Phase two of archiving (KIP-1191): copy, then archive whether or not the copy worked, then write. */
  #sendDeadLetters(touched: readonly Touched[]): void {
    const leaving = touched.filter(
      ({ batch, first, cause }) => cause !== undefined && batch.unitAt(first).state === RecordState.ARCHIVING,
    );
    if (leaving.length === 0) return;
    const records = new Map<DeadLetter, Touched>();
    for (const one of leaving) {
      const { batch, first, last, cause } = one;
      records.set({ first, last, deliveryCount: batch.unitAt(first).deliveryCount, cause: cause! }, one);
    }
    const letters = [...records.keys()];
    this.#host.deadLetter(letters, (copied = letters) =>
      this.#archiveCopied(copied.map((letter) => records.get(letter)!)),
    );
  }

  #archiveCopied(copied: readonly Touched[]): void {
    const archived: Touched[] = [];
    for (const { batch, first, last } of copied) {
      batch.visit(first, last, (unit, from, to) => {
        if (unit.state !== RecordState.ARCHIVING) return;
        this.#window.forceArchive(unit, from, to);
        archived.push({ batch, first: from, last: to, cause: undefined });
      });
    }
    if (archived.length > 0) this.#write(archived, () => this.#window.advanceStart());
  }
}

/** What is left of a range without the offsets of `hole`: none, one or two ranges. */
function subtract(range: AcquiredRange, hole: LogBatch): AcquiredRange[] {
  if (hole.last < range.first || range.last < hole.first) return [range];
  const rest: AcquiredRange[] = [];
  if (range.first < hole.first) rest.push({ ...range, last: hole.first - 1 });
  if (hole.last < range.last) rest.push({ ...range, first: hole.last + 1 });
  return rest;
}
