/**
 * Runs one share-partition scenario (`"kind": "share-partition"`) against the real SharePartition, with a manual clock, a
 * persister that answers as told, and a dead-letter queue that can be held. Collects differences instead of throwing.
 */
import { Errors } from '../../src/common/errors.ts';
import type { AcquireMode } from '../../src/share/acquire.ts';
import type { InFlightBatch } from '../../src/share/in-flight-batch.ts';
import { recordStateName } from '../../src/share/record-state.ts';
import {
  type DeadLetter,
  SharePartition,
  type SharePartitionConfig,
  type StateWrite,
} from '../../src/share/share-partition.ts';
import { type Differences, describedFields, expectation, fields, type Json, type Level, oneOf } from './compare.ts';
import { batchJson, errorCode, flatten, nameOrNull, stateBatchFromJson, units } from './scenario-json.ts';

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

const STATE_FIELDS = [
  'startOffset',
  'endOffset',
  'nextFetchOffset',
  'canAcquire',
  'deliveryCompleteCount',
  'inFlightRecords',
  'batches',
];

const ACQUIRE_MODES: readonly AcquireMode[] = ['batch_optimized', 'record_limit'];

function checkConfig(config: Json): void {
  fields(config, CONFIG_FIELDS);
  if (config.acquireMode !== undefined) oneOf('acquire mode', config.acquireMode, ACQUIRE_MODES);
  if (config.isolation !== undefined) oneOf('isolation', config.isolation, ['read_uncommitted', 'read_committed']);
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
  /** While locks end: the batches that had a lock an offset before. */
  #lockedPerOffset: InFlightBatch[] = [];
  #deadLetterMode = 'ok';
  #heldDeadLetters: (() => void)[] = [];
  readonly #enqueued: DeadLetter[] = [];

  static run(json: Json, level: Level, differences: Differences): void {
    describedFields(json, ['kind', 'config', 'initial', 'expectInit', 'steps']);
    checkConfig(json.config);
    fields(json.initial, ['startOffset', 'stateBatches']);
    if (!Array.isArray(json.steps ?? [])) throw new Error('steps are no list');
    const scenario = Scenario.#load(json, level, differences);
    if (json.expectInit !== undefined)
      differences.equal('init', { error: scenario ? null : 'INIT_FAILED' }, json.expectInit);
    else if (!scenario) differences.add('initialisation failed');
    if (!scenario) return;
    if (!json.expectInit && !json.steps?.length) throw new Error('a scenario without steps shows nothing');
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
    if (this.#persister.mode === 'hold') this.#hold(write, done);
    else done(this.#persister.mode === 'fail' ? this.#persister.error : Errors.NONE);
  }

  /** Scenarios number held writes as Kafka sends them: one a lock when locks end, where we send one a batch. */
  #hold(write: StateWrite, done: (error: number) => void): void {
    const first = write.stateBatches[0]!.firstOffset;
    const isPerLock = this.#lockedPerOffset.some((batch) => batch.contains(first));
    let isAnswered = false;
    const once = (error: number): void => {
      if (!isAnswered) done(error);
      isAnswered = true;
    };
    for (let lock = isPerLock ? write.stateBatches.length : 1; lock > 0; lock--) this.#held.push({ write, done: once });
  }

  /** Copies end one by one, as in Kafka: each is archived by a write of its own. */
  #deadLetter(letters: readonly DeadLetter[], done: (copied: readonly DeadLetter[]) => void): void {
    for (const letter of letters) {
      this.#enqueued.push(letter);
      if (this.#deadLetterMode === 'hold') this.#heldDeadLetters.push(() => done([letter]));
      else done([letter]);
    }
  }

  #step(step: Json): void {
    const run = this.#operations[step.op as string];
    if (!run) throw new Error(`unknown operation ${step.op}`);
    const { note: _note, about: _about, comment: _comment, ...rest } = step;
    run(rest);
  }

  /** Compares what the step expects; what it leaves out is not looked at. */
  #expect(expected: Json, actual: Json): void {
    for (const [name, value] of Object.entries(actual))
      if (name in expected) this.#differences.equal(name, value, expected[name]);
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
      const expected = expectation(step, ['acquired', 'nextFetchOffset']);
      const logBatches = (step.batches as [number, number][]).map(([first, last]) => ({ first, last }));
      const request = {
        memberId: step.member,
        mode: oneOf('acquire mode', step.acquireMode ?? this.#mode, ACQUIRE_MODES),
        batchSize: step.batchSize,
        maxRecords: step.maxRecords,
        fetchOffset: step.fetchOffset,
        logBatches,
      };
      const acquired = this.#partition.acquire(request, step.txn && this.#transactions(step.txn));
      this.#expect(expected, { acquired, nextFetchOffset: this.#partition.nextFetchOffset() });
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
      this.#lockedPerOffset = [...this.#partition.batches].filter((batch) => !batch.whole);
      this.#partition.expireLocks();
      this.#lockedPerOffset = [];
    },
    logStartOffset: (step) => {
      fields(step, ['op', 'offset']);
      this.#partition.moveToLogStart(step.offset);
    },
    persister: (step) => {
      fields(step, ['op', 'mode', 'error']);
      oneOf('persister mode', step.mode, ['ok', 'fail', 'hold']);
      if (step.mode === 'fail' && !step.error) throw new Error('a persister that fails needs an error');
      this.#persister = { mode: step.mode, error: errorCode(step.error ?? null) };
    },
    completeWrite: (step) => {
      fields(step, ['op', 'index', 'error', 'expect']);
      const [held] = this.#held.splice(step.index, 1);
      if (!held) throw new Error(`no held write ${step.index}`);
      const expected = expectation(step, ['error', 'writes']);
      this.#writes = [];
      held.done(errorCode(step.error ?? null));
      this.#expect(expected, { error: held.answered === undefined ? 'no caller' : nameOrNull(held.answered) });
      this.#expectWrites(expected);
    },
    setConfig: ({ op: _op, ...config }) => {
      checkConfig(config);
      this.#configure(config);
    },
    dlq: (step) => {
      fields(step, ['op', 'mode']);
      this.#deadLetterMode = oneOf('dlq mode', step.mode, ['ok', 'hold']);
    },
    completeDlq: (step) => {
      fields(step, ['op', 'index', 'expect']);
      const expected = expectation(step, ['writes']);
      const [done] = this.#heldDeadLetters.splice(step.index, 1);
      if (!done) throw new Error(`no held dead-letter copy ${step.index}`);
      this.#writes = [];
      done();
      this.#expectWrites(expected);
    },
    dlqState: (step) => {
      fields(step, ['op', 'expect']);
      const { enqueued } = expectation(step, ['enqueued']);
      if (!enqueued) throw new Error('dlqState expects enqueued');
      const attributes = ({ deliveryCount, cause }: Json): Json => ({ deliveryCount, cause });
      if (this.#level === 'strict') this.#differences.equal('enqueued', this.#enqueued, enqueued);
      else
        this.#differences.equal(
          'enqueued',
          flatten(this.#enqueued as Json[], attributes),
          flatten(enqueued, attributes),
        );
    },
    state: (step) => {
      fields(step, ['op', 'expect']);
      this.#expectState(expectation(step, STATE_FIELDS));
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
    const expected = expectation(step, ['error', 'pending', 'writes']);
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
    this.#expect(expected, {
      pending: answer === undefined,
      error: answer === undefined ? 'pending' : nameOrNull(answer),
    });
    this.#expectWrites(expected);
  }

  #expectWrites({ writes: expected }: Json): void {
    if (!expected) return;
    const attributes = ({ state, deliveryCount }: Json): Json => ({ state, deliveryCount });
    const normal = (write: Json): Json => {
      fields(write, ['startOffset', 'deliveryCompleteCount', 'stateBatches']);
      const ranges = (write.stateBatches as Json[]).map((batch) => {
        fields(batch, ['firstOffset', 'lastOffset', 'state', 'deliveryCount']);
        return { ...batch, first: batch.firstOffset, last: batch.lastOffset };
      });
      return this.#level === 'strict' ? write : { ...write, stateBatches: flatten(ranges, attributes) };
    };
    const actual = this.#writes.map((write) => ({
      ...write,
      stateBatches: write.stateBatches.map((batch) => ({ ...batch, state: recordStateName(batch.state) })),
    }));
    this.#differences.equal('writes', actual.map(normal), (expected as Json[]).map(normal));
  }

  #expectState(expected: Json): void {
    const partition = this.#partition;
    this.#expect(expected, {
      startOffset: partition.startOffset,
      nextFetchOffset: partition.nextFetchOffset(),
      canAcquire: partition.canAcquire(),
    });
    if (this.#level !== 'required') {
      this.#expect(expected, {
        endOffset: partition.endOffset,
        deliveryCompleteCount: partition.deliveryCompleteCount,
        inFlightRecords: partition.inFlightRecords,
      });
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
