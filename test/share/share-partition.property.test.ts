/**
 * Random lives of a share partition: members come, take, acknowledge, vanish; writes succeed, fail or hang; locks end; the
 * log start moves; leaders change. What must always hold is checked after every step (the project's invariant I13).
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Errors } from '../../src/common/errors.ts';
import type { AcquiredRange } from '../../src/share/acquire.ts';
import { isTerminal, RecordState } from '../../src/share/record-state.ts';
import {
  type DeadLetter,
  SharePartition,
  type SharePartitionHost,
  type StateWrite,
} from '../../src/share/share-partition.ts';
import type { StateBatch } from '../../src/share/share-window.ts';
import { combineStateBatches } from '../../src/share/state-batch-combiner.ts';
import { untilCovered } from '../support/until-covered.ts';

const LIMIT = 3;
const LOCKS = 40;
const LOCK_MS = 100;

type Step =
  | { op: 'acquire'; member: string; max: number; batch: number; sizes: number[]; limited: boolean }
  | { op: 'ack'; member: string; types: number[]; from: number; count: number }
  | { op: 'releaseMember'; member: string }
  | { op: 'time'; ms: number }
  | { op: 'persister'; mode: 'ok' | 'fail' | 'hold' }
  | { op: 'answer'; ok: boolean; index: number }
  | { op: 'logStart'; by: number }
  | { op: 'copied'; index: number }
  | { op: 'leaderChange' };

const member = fc.constantFrom('a', 'b', 'c');
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      op: fc.constant('acquire' as const),
      member,
      max: fc.integer({ min: 1, max: 15 }),
      batch: fc.integer({ min: 1, max: 8 }),
      sizes: fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 5 }),
      limited: fc.boolean(),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      op: fc.constant('ack' as const),
      member,
      types: fc.array(fc.integer({ min: 0, max: 4 }), { minLength: 1, maxLength: 3 }),
      from: fc.nat(10),
      count: fc.integer({ min: 1, max: 12 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('releaseMember' as const), member }) },
  { weight: 2, arbitrary: fc.record({ op: fc.constant('time' as const), ms: fc.integer({ min: 1, max: 150 }) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      op: fc.constant('persister' as const),
      mode: fc.constantFrom('ok' as const, 'fail' as const, 'hold' as const),
    }),
  },
  { weight: 2, arbitrary: fc.record({ op: fc.constant('answer' as const), ok: fc.boolean(), index: fc.nat(3) }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('logStart' as const), by: fc.integer({ min: 1, max: 6 }) }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('copied' as const), index: fc.nat(3) }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('leaderChange' as const) }) },
);

/** The outside of a share partition: a log of batches, a persister with a memory, and members that remember. */
class World implements SharePartitionHost {
  readonly config = {
    maxInFlightRecords: LOCKS,
    maxDeliveryCount: LIMIT,
    lockTimeoutMs: LOCK_MS,
    renewEnabled: true,
    deadLetters: false,
    isolation: 'read_uncommitted' as const,
  };
  /** Copies under way; a leader's end ends them without a word. */
  copies: { letters: readonly DeadLetter[]; done: () => void }[] = [];
  readonly copied = new Set<number>();
  partition: SharePartition;
  nowMs = 0;
  mode: 'ok' | 'fail' | 'hold' = 'ok';
  held: { write: StateWrite; done: (error: number) => void }[] = [];
  stored: { startOffset: number; stateBatches: StateBatch[] } = { startOffset: 0, stateBatches: [] };
  /** Offsets whose acceptance a member was told of. */
  readonly accepted = new Set<number>();
  readonly owner = new Map<number, string>();
  logStart = 0;
  lastStart = 0;
  delivered = 0;

  constructor(deadLetters: boolean) {
    this.config.deadLetters = deadLetters;
    this.partition = SharePartition.load(this.stored, this)!;
  }

  monotonicMs = (): number => this.nowMs;

  deadLetter(letters: readonly DeadLetter[], done: () => void): void {
    expect(this.config.deadLetters, 'there is a dead-letter queue').toBe(true);
    for (const { first, last, cause, deliveryCount } of letters) {
      expect(deliveryCount, 'what is given up was delivered').toBeGreaterThan(0);
      if (cause === 'DELIVERY_COUNT_EXCEEDED') expect(deliveryCount).toBe(LIMIT);
      for (const copy of this.copies)
        for (const other of copy.letters)
          expect(first > other.last || last < other.first, `${first} is copied twice at a time`).toBe(true);
    }
    this.copies.push({ letters, done });
  }

  copy(index: number): void {
    const [copy] = this.copies.splice(index, 1);
    for (const { first, last } of copy?.letters ?? [])
      for (let offset = first; offset <= last; offset++) this.copied.add(offset);
    copy?.done();
  }

  write(write: StateWrite, done: (error: number) => void): void {
    if (this.mode === 'hold') this.held.push({ write, done });
    else this.answer(write, done, this.mode === 'ok');
  }

  answer(write: StateWrite, done: (error: number) => void, ok: boolean): void {
    if (ok) {
      const startOffset = Math.max(this.stored.startOffset, write.startOffset);
      this.stored = {
        startOffset,
        stateBatches: combineStateBatches(this.stored.stateBatches, write.stateBatches, startOffset),
      };
    }
    done(ok ? Errors.NONE : Errors.COORDINATOR_NOT_AVAILABLE);
  }

  acquire(step: Extract<Step, { op: 'acquire' }>): void {
    const fetchOffset = Math.max(this.partition.nextFetchOffset(), this.logStart);
    if (!this.partition.canAcquire()) return;
    let first = fetchOffset;
    const logBatches = step.sizes.map((size) => {
      const batch = { first, last: first + size - 1 };
      first += size;
      return batch;
    });
    const mode = step.limited ? 'record_limit' : 'batch_optimized';
    const ranges = this.partition.acquire({
      memberId: step.member,
      mode,
      batchSize: step.batch,
      maxRecords: step.max,
      fetchOffset,
      logBatches,
    });
    this.checkAcquired(ranges, step);
  }

  checkAcquired(ranges: readonly AcquiredRange[], step: Extract<Step, { op: 'acquire' }>): void {
    let previous = -1;
    let count = 0;
    for (const { first, last, deliveryCount } of ranges) {
      expect(first, 'ranges rise').toBeGreaterThan(previous);
      expect(deliveryCount, 'delivery limit').toBeLessThanOrEqual(LIMIT);
      previous = last;
      count += last - first + 1;
      for (let offset = first; offset <= last; offset++) {
        expect(this.copied.has(offset), `offset ${offset} is a dead letter and is delivered again`).toBe(false);
        expect(this.accepted.has(offset), `offset ${offset} was accepted and is delivered again`).toBe(false);
        expect(this.owner.get(offset), `offset ${offset} has one owner at a time`).toBeUndefined();
        this.owner.set(offset, step.member);
      }
    }
    this.delivered += count;
    if (step.limited) expect(count, 'record_limit is a hard limit').toBeLessThanOrEqual(step.max);
  }

  acknowledge(step: Extract<Step, { op: 'ack' }>): void {
    const held = [...this.owner]
      .filter(([, who]) => who === step.member)
      .map(([offset]) => offset)
      .sort((a, b) => a - b);
    const first = held[step.from % Math.max(1, held.length)];
    if (first === undefined) return;
    const last = first + step.count - 1;
    const types =
      step.types.length === 1
        ? step.types
        : Array.from({ length: step.count }, (_, i) => step.types[i % step.types.length]!);
    this.partition.acknowledge(step.member, [{ first, last, types }], (error) => {
      if (error !== Errors.NONE) return;
      for (let offset = first; offset <= last; offset++) {
        const type = types.length === 1 ? types[0] : types[offset - first];
        // Below the log start acknowledgements are ignored; nothing is delivered there either.
        if (type === 1) this.accepted.add(offset);
      }
    });
  }

  /** Owners as the partition sees them; what it no longer calls acquired may be delivered to anyone. */
  syncOwners(): void {
    this.owner.clear();
    for (const batch of this.partition.batches) {
      batch.visit(batch.first, batch.last, (unit, first, last) => {
        if (unit.state === RecordState.ACQUIRED)
          for (let offset = first; offset <= last; offset++) this.owner.set(offset, unit.memberId);
      });
    }
  }

  check(): void {
    let complete = 0;
    for (const batch of this.partition.batches) {
      batch.visit(batch.first, batch.last, (unit, first, last) => {
        expect(unit.deliveryCount).toBeLessThanOrEqual(LIMIT);
        expect(unit.memberId !== '', `${first}: an owner if and only if acquired`).toBe(
          unit.state === RecordState.ACQUIRED,
        );
        if (isTerminal(unit.state)) complete += Math.max(0, last - Math.max(first, this.partition.startOffset) + 1);
      });
    }
    expect(this.partition.deliveryCompleteCount, 'delivery complete count').toBe(complete);
    expect(this.partition.startOffset, 'the start offset never goes back').toBeGreaterThanOrEqual(this.lastStart);
    this.lastStart = this.partition.startOffset;
    this.syncOwners();
  }

  run(step: Step): void {
    if (step.op === 'acquire') this.acquire(step);
    else if (step.op === 'ack') this.acknowledge(step);
    else if (step.op === 'releaseMember') this.partition.releaseMember(step.member, () => {});
    else if (step.op === 'persister') this.mode = step.mode;
    else if (step.op === 'answer') {
      const [held] = this.held.splice(step.index, 1);
      if (held) this.answer(held.write, held.done, step.ok);
    } else if (step.op === 'time') {
      this.nowMs += step.ms;
      this.partition.expireLocks();
    } else if (step.op === 'copied') {
      this.copy(step.index);
    } else if (step.op === 'logStart') {
      this.logStart = Math.max(this.logStart, this.partition.startOffset) + step.by;
      this.partition.moveToLogStart(this.logStart);
    } else {
      // The old leader is gone with its memory; writes under way may or may not have arrived.
      for (const { write } of this.held.splice(0)) this.answer(write, () => {}, true);
      this.copies = [];
      this.forgetUnstoredCopies();
      this.partition = SharePartition.load(this.stored, this)!;
      this.partition.moveToLogStart(this.logStart);
      this.lastStart = this.partition.startOffset;
    }
    this.check();
  }

  /** A lock that ended may be known to its leader alone: its record was copied, and the next leader delivers it again. */
  forgetUnstoredCopies(): void {
    const isStored = (offset: number): boolean =>
      this.stored.stateBatches.some(
        ({ firstOffset, lastOffset, state }) =>
          firstOffset <= offset && offset <= lastOffset && state >= RecordState.ARCHIVING,
      );
    for (const offset of this.copied) {
      if (offset >= this.stored.startOffset && !isStored(offset)) this.copied.delete(offset);
    }
  }

  /** Heals everything and reads on: every record must come to an end. */
  drain(): void {
    this.mode = 'ok';
    for (const { write, done } of this.held.splice(0)) this.answer(write, done, true);
    const end = this.partition.endOffset;
    for (let round = 0; round < 200 && this.partition.startOffset <= end; round++) {
      this.run({ op: 'time', ms: LOCK_MS });
      while (this.copies.length > 0) this.copy(0);
      this.run({ op: 'acquire', member: 'z', max: 15, batch: 8, sizes: [6, 6, 6], limited: false });
      this.partition.releaseMember('nobody', () => {});
      for (const offset of [...this.owner.keys()].sort((a, b) => a - b)) {
        if (this.owner.get(offset) === 'z')
          this.partition.acknowledge('z', [{ first: offset, last: offset, types: [1] }], () => {});
      }
      this.check();
    }
    expect(this.partition.startOffset, 'nothing is stuck').toBeGreaterThan(end);
  }
}

describe('a share partition in random lives', () => {
  it('never delivers what was accepted, never exceeds the limit, never gets stuck', async () => {
    let delivered = 0;
    let copied = 0;
    const property = fc.property(
      fc.array(step, { minLength: 10, maxLength: 80 }),
      fc.boolean(),
      (steps, deadLetters) => {
        const world = new World(deadLetters);
        for (const one of steps) world.run(one);
        world.drain();
        delivered += world.delivered;
        copied += world.copied.size;
      },
    );
    await untilCovered(
      () => delivered > 200 && copied > 0,
      () => fc.assert(property, { numRuns: 120, verbose: 1 }),
    );
    expect(delivered).toBeGreaterThan(200);
    expect(copied).toBeGreaterThan(0);
  });
});
