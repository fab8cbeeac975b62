/**
 * Runs one share-partition scenario (`"kind": "share-partition"`) against the real SharePartition, with a manual clock, a
 * persister that answers as told, and a dead-letter queue that can be held. Collects differences instead of throwing.
 */
import { type ErrorName, Errors, errorName } from '../../src/common/errors.ts';
import type { AcquireMode } from '../../src/share/acquire.ts';
import type { InFlightBatch } from '../../src/share/in-flight-batch.ts';
import { RecordState, recordStateName } from '../../src/share/record-state.ts';
import {
  type DeadLetter,
  SharePartition,
  type SharePartitionConfig,
  type StateWrite,
} from '../../src/share/share-partition.ts';
import type { StateBatch } from '../../src/share/share-window.ts';
import { type Differences, fields, type Json, type Level } from './compare.ts';

interface Held {
  readonly write: StateWrite;
  readonly done: (error: number) => void;
  /** What the caller of the acknowledgement got; undefined while it waits or when there is no caller. */
  answered?: number | undefined;
}

const CONFIG_FIELDS = [
  'maxInFlightRecords',
  'maxDeliveryCount',
  'lockTimeoutMs',
  'acquireMode',
  'isolation',
  'renewEnabled',
  'dlqEnabled',
];

function stateBatchFromJson(json: Json): StateBatch {
  fields(json, ['firstOffset', 'lastOffset', 'state', 'deliveryCount']);
  return { ...json, state: RecordState[json.state as keyof typeof RecordState] } as StateBatch;
}

function errorCode(name: string | null): number {
  if (name === null) return Errors.NONE;
  if (!(name in Errors)) throw new Error(`unknown error ${name}`);
  return Errors[name as ErrorName];
}

const nameOrNull = (code: number): string | null => (code === Errors.NONE ? null : errorName(code));

/** Ranges with equal attributes, offset by offset: the comparison that does not see how tracking is cut. */
function flatten(ranges: readonly Json[], attributes: (range: Json) => Json): Map<number, Json> {
  const flat = new Map<number, Json>();
  for (const range of ranges)
    for (let offset = range.first; offset <= range.last; offset++) flat.set(offset, attributes(range));
  return flat;
}

function unitJson(unit: { state: RecordState; deliveryCount: number; memberId: string; pending: unknown }): Json {
  return {
    state: recordStateName(unit.state),
    deliveryCount: unit.deliveryCount,
    ...(unit.memberId ? { member: unit.memberId } : {}),
    ...(unit.pending ? { pending: true } : {}),
  };
}

/** A tracked batch as scenario files write it, per-offset states run-length coded. */
function batchJson(batch: InFlightBatch): Json {
  const bounds = { first: batch.first, last: batch.last };
  if (batch.whole) return { ...bounds, ...unitJson(batch.whole) };
  const offsets: Json[] = [];
  for (let offset = batch.first; offset <= batch.last; offset++) {
    const unit = unitJson(batch.unitAt(offset));
    const before = offsets[offsets.length - 1];
    if (before && JSON.stringify({ ...before, first: 0, last: 0 }) === JSON.stringify({ first: 0, last: 0, ...unit }))
      before.last = offset;
    else offsets.push({ first: offset, last: offset, ...unit });
  }
  return { ...bounds, offsets };
}

/** Units of `batches` fields, whether tracked whole or per offset. */
function units(batches: readonly Json[]): Json[] {
  return batches.flatMap((batch) => (batch.offsets as Json[] | undefined) ?? [batch]);
}

class Scenario {
  readonly #partition: SharePartition;
  readonly #differences: Differences;
  readonly #level: Level;
  #nowMs = 0;
  #config: SharePartitionConfig;
  #mode: AcquireMode;
  #persister: { mode: string; error: number } = { mode: 'ok', error: Errors.NONE };
  #held: Held[] = [];
  #writes: StateWrite[] = [];
  #deadLetterMode = 'ok';
  #heldDeadLetters: (() => void)[] = [];
  readonly #enqueued: DeadLetter[] = [];

  static run(json: Json, level: Level, differences: Differences): void {
    fields(json, [
      'name',
      'kind',
      'about',
      'confidence',
      'tags',
      'basis',
      'config',
      'initial',
      'expectInit',
      'steps',
      'note',
    ]);
    fields(json.config, CONFIG_FIELDS);
    fields(json.initial, ['startOffset', 'stateBatches']);
    const scenario = Scenario.#load(json, level, differences);
    if (json.expectInit !== undefined)
      differences.equal('init', { error: scenario ? null : 'INIT_FAILED' }, json.expectInit);
    else if (!scenario) differences.add('initialisation failed');
    if (!scenario) return;
    if (!json.expectInit && json.steps.length === 0) throw new Error('a scenario without steps shows nothing');
    (json.steps as Json[] | undefined)?.forEach((step, index) => {
      differences.at(`step ${index} ${step.op}`);
      scenario.#step(step);
    });
  }

  static #load(json: Json, level: Level, differences: Differences): Scenario | undefined {
    const scenario = new Scenario(json, level, differences);
    return scenario.#partition ? scenario : undefined;
  }

  private constructor(json: Json, level: Level, differences: Differences) {
    this.#level = level;
    this.#differences = differences;
    this.#mode = json.config.acquireMode ?? 'batch_optimized';
    this.#config = { renewEnabled: true, isolation: 'read_uncommitted', deadLetters: false } as SharePartitionConfig;
    this.#configure(json.config);
    const scenario = this;
    const partition = SharePartition.load(
      {
        startOffset: json.initial.startOffset,
        stateBatches: (json.initial.stateBatches ?? []).map(stateBatchFromJson),
      },
      {
        get config() {
          return scenario.#config;
        },
        monotonicMs: () => scenario.#nowMs,
        write: (write, done) => scenario.#write(write, done),
        deadLetter: (letters, done) => scenario.#deadLetter(letters, done),
      },
    );
    this.#partition = partition!;
  }

  #configure(json: Json): void {
    const { acquireMode, dlqEnabled, ...rest } = json;
    if (acquireMode !== undefined) this.#mode = acquireMode;
    this.#config = { ...this.#config, ...rest, ...(dlqEnabled === undefined ? {} : { deadLetters: dlqEnabled }) };
  }

  #write(write: StateWrite, done: (error: number) => void): void {
    this.#writes.push(write);
    if (this.#persister.mode === 'hold') this.#held.push({ write, done });
    else done(this.#persister.mode === 'fail' ? this.#persister.error : Errors.NONE);
  }

  #deadLetter(letters: readonly DeadLetter[], done: () => void): void {
    this.#enqueued.push(...letters);
    if (this.#deadLetterMode === 'hold') this.#heldDeadLetters.push(done);
    else done();
  }

  #step(step: Json): void {
    const run = this.#operations[step.op as string];
    if (!run) throw new Error(`unknown operation ${step.op}`);
    const { note: _note, ...rest } = step;
    run(rest);
  }

  readonly #operations: Record<string, (step: Json) => void> = {
    acquire: (step) => {
      fields(step, [
        'op',
        'member',
        'maxRecords',
        'batchSize',
        'fetchOffset',
        'batches',
        'acquireMode',
        'txn',
        'expect',
      ]);
      fields(step.expect, ['acquired', 'nextFetchOffset']);
      const logBatches = (step.batches as [number, number][]).map(([first, last]) => ({ first, last }));
      const request = {
        memberId: step.member,
        mode: step.acquireMode ?? this.#mode,
        batchSize: step.batchSize,
        maxRecords: step.maxRecords,
        fetchOffset: step.fetchOffset,
        logBatches,
      };
      const acquired = this.#partition.acquire(request, step.txn && this.#transactions(step.txn));
      this.#differences.equal('acquired', acquired, step.expect.acquired);
      this.#differences.equal('nextFetchOffset', this.#partition.nextFetchOffset(), step.expect.nextFetchOffset);
    },
    acknowledge: (step) => {
      fields(step, ['op', 'member', 'batches', 'expect']);
      this.#expectAnswer(step, (done) => this.#partition.acknowledge(step.member, step.batches, done));
    },
    releaseMember: (step) => {
      fields(step, ['op', 'member', 'expect']);
      this.#expectAnswer(step, (done) => this.#partition.releaseMember(step.member, done));
    },
    advanceTime: (step) => {
      fields(step, ['op', 'ms']);
      this.#nowMs += step.ms;
      this.#partition.expireLocks();
    },
    logStartOffset: (step) => {
      fields(step, ['op', 'offset']);
      this.#partition.moveToLogStart(step.offset);
    },
    persister: (step) => {
      fields(step, ['op', 'mode', 'error']);
      if (!['ok', 'fail', 'hold'].includes(step.mode)) throw new Error(`unknown persister mode ${step.mode}`);
      this.#persister = { mode: step.mode, error: errorCode(step.error ?? null) };
    },
    completeWrite: (step) => {
      fields(step, ['op', 'index', 'error', 'expect']);
      const [held] = this.#held.splice(step.index, 1);
      if (!held) throw new Error(`no held write ${step.index}`);
      held.done(errorCode(step.error ?? null));
      if (!step.expect || !('error' in step.expect)) return;
      this.#differences.equal(
        'error',
        held.answered === undefined ? 'no caller' : nameOrNull(held.answered),
        step.expect.error,
      );
    },
    setConfig: ({ op: _op, ...config }) => {
      fields(config, CONFIG_FIELDS);
      this.#configure(config);
    },
    dlq: (step) => {
      fields(step, ['op', 'mode']);
      if (!['ok', 'hold'].includes(step.mode)) throw new Error(`unknown dlq mode ${step.mode}`);
      this.#deadLetterMode = step.mode;
    },
    completeDlq: (step) => {
      fields(step, ['op', 'index']);
      const [done] = this.#heldDeadLetters.splice(step.index, 1);
      if (!done) throw new Error(`no held dead-letter copy ${step.index}`);
      done();
    },
    dlqState: (step) => {
      fields(step, ['op', 'expect']);
      fields(step.expect, ['enqueued']);
      const attributes = ({ deliveryCount, cause }: Json): Json => ({ deliveryCount, cause });
      if (this.#level === 'strict') this.#differences.equal('enqueued', this.#enqueued, step.expect.enqueued);
      else
        this.#differences.equal(
          'enqueued',
          flatten(this.#enqueued as Json[], attributes),
          flatten(step.expect.enqueued, attributes),
        );
    },
    state: (step) => {
      fields(step, ['op', 'expect']);
      this.#expectState(step.expect);
    },
  };

  #transactions(txn: Json) {
    fields(txn, ['batches', 'aborted']);
    const batches = (txn.batches as Json[]).map((batch) => {
      fields(batch, ['index', 'producerId', 'control']);
      return { index: batch.index, producerId: BigInt(batch.producerId), control: batch.control };
    });
    const aborted = (txn.aborted as Json[]).map(({ producerId, firstOffset }) => ({
      producerId: BigInt(producerId),
      firstOffset,
    }));
    return { batches, aborted };
  }

  #expectAnswer(step: Json, run: (done: (error: number) => void) => void): void {
    fields(step.expect, ['error', 'pending', 'writes']);
    const heldBefore = this.#held.length;
    this.#writes = [];
    let answer: number | undefined;
    let mine: Held[] = [];
    run((error) => {
      answer = error;
      for (const held of mine) held.answered = error;
    });
    // The writes held by this step are the ones whose completion answers its caller.
    mine = this.#held.slice(heldBefore);
    if (step.expect.pending) this.#differences.equal('pending', answer === undefined, true);
    else this.#differences.equal('error', answer === undefined ? 'pending' : nameOrNull(answer), step.expect.error);
    if (step.expect.writes) this.#expectWrites(step.expect.writes);
  }

  #expectWrites(expected: readonly Json[]): void {
    const attributes = ({ state, deliveryCount }: Json): Json => ({ state, deliveryCount });
    const normal = (write: Json): Json => {
      fields(write, ['startOffset', 'deliveryCompleteCount', 'stateBatches']);
      const ranges = (write.stateBatches as Json[]).map((batch) => ({
        ...batch,
        first: batch.firstOffset,
        last: batch.lastOffset,
      }));
      return this.#level === 'strict' ? write : { ...write, stateBatches: flatten(ranges, attributes) };
    };
    const actual = this.#writes.map((write) => ({
      ...write,
      stateBatches: write.stateBatches.map((batch) => ({ ...batch, state: recordStateName(batch.state) })),
    }));
    this.#differences.equal('writes', actual.map(normal), expected.map(normal));
  }

  #expectState(expected: Json): void {
    const always = ['startOffset', 'nextFetchOffset', 'canAcquire'];
    const recommended = ['endOffset', 'deliveryCompleteCount', 'inFlightRecords'];
    fields(expected, [...always, ...recommended, 'batches']);
    const partition = this.#partition;
    const actual: Json = {
      startOffset: partition.startOffset,
      endOffset: partition.endOffset,
      nextFetchOffset: partition.nextFetchOffset(),
      canAcquire: partition.canAcquire(),
      deliveryCompleteCount: partition.deliveryCompleteCount,
      inFlightRecords: partition.inFlightRecords,
    };
    for (const field of this.#level === 'required' ? always : [...always, ...recommended]) {
      if (field in expected) this.#differences.equal(field, actual[field], expected[field]);
    }
    if (expected.batches) this.#expectBatches([...partition.batches].map(batchJson), expected.batches);
  }

  #expectBatches(actual: Json[], expected: Json[]): void {
    if (this.#level === 'strict') this.#differences.equal('batches', actual, expected);
    const from = this.#level === 'required' ? this.#partition.startOffset : 0;
    const attributes = ({ state, deliveryCount, member, pending }: Json): Json => ({
      state,
      deliveryCount,
      member,
      ...(this.#level === 'required' ? {} : { pending }),
    });
    const visible = (batches: Json[]) =>
      new Map([...flatten(units(batches), attributes)].filter(([offset]) => offset >= from));
    this.#differences.equal('offsets', visible(actual), visible(expected));
  }
}

export const runSharePartitionScenario = Scenario.run;
