/**
 * Random producers against a storage and a coordinator that fail before, after and instead of what they are asked for.
 * Whatever happens: offsets are dense, what was acknowledged is read at its offset, what was refused is not there, a
 * producer's order is the log's order, nothing is there twice. fast-check prints the seed of a failure.
 */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Errors } from '../../src/common/errors.ts';
import { type Random, seededRandom } from '../../src/common/random.ts';
import type { TopicIdPartition } from '../../src/common/topic-id-partition.ts';
import { CoordinatorError } from '../../src/coordinator/diskless-coordinator.ts';
import type { AppendResult } from '../../src/produce/append-request.ts';
import { StorageError } from '../../src/storage/object-storage.ts';
import { batchOf, EngineFixture, idempotent } from '../support/engine-fixture.ts';
import type { TestBatch } from '../support/record-batches.ts';
import { tellsSeed } from '../support/tells-seed.ts';
import { untilCovered } from '../support/until-covered.ts';

/** Decides call by call what goes wrong; quiet at rate 0. */
class Faults {
  injected = 0;
  rate = 0;
  random: Random = seededRandom(0);

  happens(share: number): boolean {
    if (this.rate === 0 || this.random.next() >= this.rate * share) return false;
    this.injected += 1;
    return true;
  }

  /** A pause of up to `mostMs`, so that what began later may end earlier. */
  async delay(mostMs: number): Promise<void> {
    const pauseMs = this.rate === 0 ? 0 : this.random.next() * mostMs;
    if (pauseMs >= 1) await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

async function faultyFixture(faults: Faults): Promise<EngineFixture> {
  return EngineFixture.open({
    // A batch or two to a segment.
    settings: { produceUploadDeadlineMs: 30, produceCommitDeadlineMs: 10, produceBufferMaxBytes: 200 },
    storage: (real) => ({
      put: async (key, body, options) => {
        await faults.delay(8);
        if (faults.happens(0.1)) throw new StorageError('denied', 'injected: for good');
        if (faults.happens(0.3)) throw new StorageError('unavailable', 'injected: not stored');
        await real.put(key, body, options);
        if (faults.happens(0.3)) throw new StorageError('timeout', 'injected: stored, the answer was lost');
      },
    }),
    coordinator: (real) => ({
      commitFile: async (request) => {
        if (faults.happens(0.5)) throw new CoordinatorError('unavailable', 'injected: not committed');
        const result = await real.commitFile(request);
        if (faults.happens(0.5)) throw new CoordinatorError('unavailable', 'injected: committed, the answer was lost');
        return result;
      },
      abandonFile: async (key) => {
        if (faults.happens(0.3)) throw new CoordinatorError('unavailable', 'injected: not abandoned');
        const result = await real.abandonFile(key);
        if (faults.happens(0.3)) throw new CoordinatorError('unavailable', 'injected: abandoned, the answer was lost');
        return result;
      },
    }),
  });
}

interface Sent {
  readonly values: string[];
  readonly result: AppendResult;
}

/** An idempotent producer: up to `window` batches in flight, what failed is sent again in order. */
async function produce(
  fixture: EngineFixture,
  to: TopicIdPartition,
  producerId: bigint,
  batches: readonly number[],
  window: number,
): Promise<Sent[]> {
  const sent: Sent[] = [];
  let next = 0;
  let sequence = 0;
  while (next < batches.length) {
    const inFlight: { values: string[]; answer: Promise<AppendResult> }[] = [];
    let at = sequence;
    for (const count of batches.slice(next, next + window)) {
      const values = Array.from({ length: count }, (_, i) => `${producerId}:${at + i}`);
      inFlight.push({ values, answer: fixture.append(to, idempotent(producerId, at, ...values)) });
      at += count;
    }
    let failed = false;
    for (const { values, answer } of inFlight) {
      const result = await answer;
      if (result.error !== Errors.NONE) failed = true;
      else {
        // A successor that is in the log makes the retry of its predecessor impossible.
        expect(failed, `${values[0]} was acknowledged after a predecessor failed`).toBe(false);
        sent.push({ values, result });
        sequence += values.length;
        next += 1;
      }
    }
  }
  return sent;
}

/**
 * Sends each batch once, all at the same moment, and without a producer id that would keep their order: what is accepted
 * lies in the order of the calls, and behind one that failed nothing is accepted that was placed when it failed.
 */
async function fire(fixture: EngineFixture, to: TopicIdPartition, name: string, count: number): Promise<Sent[]> {
  const calls = Array.from({ length: count }, async (_, index) => {
    const values = [`${name}:${index}`];
    const batch: TestBatch = batchOf(...values);
    return { values, result: await fixture.append(to, batch) };
  });
  const sent = await Promise.all(calls);
  const accepted = sent.filter(({ result }) => result.error === Errors.NONE);
  expect(sent.slice(0, accepted.length), 'nothing accepted behind a failure').toEqual(accepted);
  const offsets = accepted.map(({ result }) => result.baseOffset);
  expect(offsets, 'the order of the calls').toEqual(offsets.toSorted((a, b) => Number(a - b)));
  return sent;
}

const plan = fc.record({
  seed: fc.nat(),
  rate: fc.constantFrom(0.1, 0.4, 0.8),
  window: fc.integer({ min: 1, max: 5 }),
  producers: fc.array(fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 8 }), {
    minLength: 1,
    maxLength: 4,
  }),
  once: fc.nat({ max: 12 }),
});

it('keeps its promises whatever storage and coordinator do', async () => {
  const faults = new Faults();
  const fixture = await faultyFixture(faults);
  let run = 0;
  let refused = 0;
  const property = fc.asyncProperty(plan, async ({ seed, rate, window, producers, once }) => {
    faults.random = seededRandom(seed);
    faults.rate = 0;
    const topicId = await fixture.createTopic(`run-${run++}`, 2);
    faults.rate = rate;
    const partition = (index: number) => ({ topicId, partition: index % 2 });
    // Retries need an end: after a while everything works again.
    const calm = setTimeout(() => {
      faults.rate = 0;
    }, 100);
    const lanes = producers.map((batches, index) =>
      produce(fixture, partition(index), BigInt(run * 100 + index), batches, window),
    );
    const fired = fire(fixture, partition(0), 'once', once);
    const [sent, single] = await Promise.all([Promise.all(lanes), fired]);
    clearTimeout(calm);
    faults.rate = 0;
    for (const index of [0, 1]) {
      const records = await fixture.readAll(partition(index));
      expect(records.map(({ offset }) => offset)).toEqual(records.map((_, at) => BigInt(at)));
      const values = records.map(({ value }) => value);
      expect(new Set(values).size, 'nothing twice').toBe(values.length);
      for (const { values: own, result } of [...sent.flat(), ...single]) {
        if (result.topicIdPartition.partition !== index) continue;
        if (result.error === Errors.NONE) {
          expect(values.slice(Number(result.baseOffset), Number(result.baseOffset) + own.length)).toEqual(own);
        } else {
          refused += 1;
          expect(result.error).toBe(Errors.KAFKA_STORAGE_ERROR);
          expect(values, 'refused').not.toContain(own[0]);
        }
      }
    }
    for (const lane of sent) {
      const offsets = lane.map(({ result }) => result.baseOffset);
      expect(offsets).toEqual(offsets.toSorted((a, b) => Number(a - b)));
    }
  });
  await untilCovered(
    () => faults.injected > 50 && refused > 0 && fixture.engine.stats().segmentsAbandoned > 0,
    () => fc.assert(property, { ...tellsSeed(), numRuns: 40 }),
  );
  expect(faults.injected).toBeGreaterThan(50);
  expect(refused).toBeGreaterThan(0);
  expect(fixture.engine.stats().segmentsAbandoned).toBeGreaterThan(0);
});
