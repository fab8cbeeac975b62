/** Hand-overs come out of the other thread's clone as they went in. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { refuse, soundVerdict } from '../../src/record/batch-verdict.ts';
import { RECORDS } from '../../src/record/kernel-layout.ts';
import type { ValidationOptions } from '../../src/record/validation.ts';
import type { RecordTask, RecordTaskResult } from '../../src/worker/messages.ts';
import { packTasks, runPacked, unpackResults } from '../../src/worker/packed-hand-over.ts';
import { KAFKA_DEFAULTS } from '../support/test-kernel.ts';

const shared = [1000, 2000].map((maxMessageBytes): ValidationOptions => ({ ...KAFKA_DEFAULTS, maxMessageBytes }));

const long = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
const int32 = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 });
const uint32 = fc.integer({ min: 0, max: 2 ** 32 - 1 });
const place = { address: uint32, size: uint32 };

const task: fc.Arbitrary<RecordTask> = fc.oneof(
  fc.record({ kind: fc.constant('validate' as const), ...place, options: fc.constantFrom(...shared) }),
  fc.record({ kind: fc.constant('find' as const), ...place, timestamp: long, fromOffset: long }),
  fc.record({
    kind: fc.constant('assign' as const),
    ...place,
    options: fc.record({
      baseOffset: long,
      lastOffset: fc.option(long, { nil: undefined }),
      leaderEpoch: int32,
      logAppendTimeMs: long,
    }),
  }),
);

const refusal = refuse('INVALID_RECORD', 'no', 3);

/** One task and what it comes to, given that a header of random bytes lies at its address. */
const outcome: fc.Arbitrary<(view: DataView, address: number) => RecordTaskResult> = fc.oneof(
  fc.tuple(int32, int32).map(
    ([delta, size]) =>
      (view: DataView, address: number) =>
        ({ kind: 'validate', verdict: soundVerdict(view, address, delta, size) }) as const,
  ),
  fc
    .uint8Array()
    .map(
      (rebuilt) => (view: DataView, address: number) =>
        ({ kind: 'validate', verdict: soundVerdict(view, address, 1, 0, rebuilt) }) as const,
    ),
  fc.constant(() => ({ kind: 'validate', verdict: refusal }) as const),
  fc.constant(() => ({ kind: 'find', found: undefined }) as const),
  fc.string().map((message) => () => ({ kind: 'failed', message }) as const),
);

describe('packed hand-over', () => {
  it('carries every kind of task', () => {
    fc.assert(
      fc.property(fc.array(task), (tasks) => {
        const arrived: RecordTask[] = [];
        runPacked(structuredClone(packTasks(tasks)), (task) => {
          arrived.push(task);
          return { kind: 'find', found: undefined };
        });
        expect(arrived).toEqual(tasks);
      }),
    );
  });

  it('carries every kind of result, in order', () => {
    fc.assert(
      fc.property(
        fc.array(outcome, { maxLength: 20 }),
        fc.uint8Array({ minLength: 20 * RECORDS, maxLength: 20 * RECORDS }),
        (outcomes, headers) => {
          const view = new DataView(headers.buffer, headers.byteOffset);
          const results = outcomes.map((result, i) => result(view, i * RECORDS));
          const tasks = outcomes.map(
            (_, i): RecordTask => ({ kind: 'validate', address: i * RECORDS, size: RECORDS, options: shared[0]! }),
          );
          const packed = runPacked(packTasks(tasks), (task) => results[task.address / RECORDS]!);
          expect(unpackResults(tasks, structuredClone(packed), view)).toEqual(results);
        },
      ),
    );
  });

  it('sends options once, however many tasks share them', () => {
    const tasks = Array.from({ length: 100 }, (_, i) => ({
      kind: 'validate' as const,
      address: i,
      size: 1,
      options: shared[i % 2]!,
    }));
    expect(packTasks(tasks).jobs.length).toBe(2);
  });
});
