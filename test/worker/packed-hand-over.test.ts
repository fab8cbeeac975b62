/** Hand-overs come out of the other thread's clone as they went in. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Errors } from '../../src/common/errors.ts';
import type { ValidationOptions } from '../../src/record/validation.ts';
import type { RecordTask, RecordTaskResult } from '../../src/worker/messages.ts';
import { packResults, packTasks, unpackResults, unpackTasks } from '../../src/worker/packed-hand-over.ts';
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

const verdict = (error: fc.Arbitrary<number>, rebuilt: fc.Arbitrary<Uint8Array | undefined>, message = '') =>
  fc.record({
    kind: fc.constant('validate' as const),
    verdict: fc.record({
      error: error as fc.Arbitrary<typeof Errors.NONE>,
      message: fc.constant(message),
      recordIndex: fc.constant(-1),
      sizeBytes: uint32,
      rebuilt,
      attributes: fc.integer({ min: 0, max: 0xffff }),
      lastOffsetDelta: int32,
      recordCount: int32,
      maxTimestamp: long,
      offsetOfMaxTimestampDelta: int32,
      producerId: long,
      producerEpoch: fc.integer({ min: -1, max: 0x7fff }),
      baseSequence: int32,
      crc: uint32,
    }),
  });

const result: fc.Arbitrary<RecordTaskResult> = fc.oneof(
  verdict(fc.constant(Errors.NONE), fc.constant(undefined)),
  verdict(fc.constant(Errors.NONE), fc.uint8Array()),
  verdict(fc.constant(Errors.INVALID_RECORD), fc.constant(undefined), 'record 3: no'),
  fc.record({ kind: fc.constant('find' as const), found: fc.constant(undefined) }),
  fc.record({ kind: fc.constant('failed' as const), message: fc.string() }),
);

describe('packed hand-over', () => {
  it('carries every kind of task', () => {
    fc.assert(
      fc.property(fc.array(task), (tasks) => {
        expect(unpackTasks(structuredClone(packTasks(tasks)))).toEqual(tasks);
      }),
    );
  });

  it('carries every kind of result, in order', () => {
    fc.assert(
      fc.property(fc.array(result), (results) => {
        expect(unpackResults(structuredClone(packResults(results)))).toEqual(results);
      }),
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
