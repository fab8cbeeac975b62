/**
 * Random histories of a whole fetch side: this process and others commit, GETs fail, bytes are damaged, logs are cut,
 * memory is short, consumers come and go. Every consumer must see every record of its partitions once, in order, with
 * its value, and no error that the history does not explain.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Errors } from '../../src/common/errors.ts';
import { randomInt, seededRandom } from '../../src/common/random.ts';
import type { TopicIdPartition } from '../../src/common/topic-id-partition.ts';
import { StorageError } from '../../src/storage/object-storage.ts';
import { settle } from '../support/manual-time.ts';
import { readRecords } from '../support/read-records.ts';
import { buildBatch } from '../support/record-batches.ts';
import { tellsSeed } from '../support/tells-seed.ts';
import { untilCovered } from '../support/until-covered.ts';
import { FetchFixture } from './fetch-fixture.ts';

const PARTITIONS = 3;

interface Tally {
  failures: number;
  damages: number;
  served: number;
  cuts: number;
  aborts: number;
}

async function runHistory(seed: number, tally: Tally): Promise<void> {
  const random = seededRandom(seed);
  const chance = (probability: number): boolean => random.next() < probability;
  let isCalm = false;
  const fixture = await FetchFixture.open({
    fetchCapacityBytes: randomInt(random, 1, 4) * 256 * 1024,
    settings: {
      fetchReadaheadMaxBytes: chance(0.5) ? 64 * 1024 : 0,
      fetchMaxInFlightGets: randomInt(random, 1, 4),
      fetchRequestCostBytes: randomInt(random, 0, 5000),
      fetchMaxRangeBytes: randomInt(random, 4096, 20_000),
      fetchMemoryWaitMs: 1,
    },
    beforeGet: async () => {
      await settle(randomInt(random, 0, 3));
      if (isCalm || !chance(0.1)) return;
      tally.failures++;
      throw new StorageError('timeout', 'injected');
    },
    afterGet: (_key, _position, bytes) => {
      if (isCalm || !chance(0.05)) return;
      tally.damages++;
      bytes[randomInt(random, 0, bytes.length - 1)]! ^= 1 << randomInt(random, 0, 7);
    },
  });
  const partitions = await fixture.createTopic(PARTITIONS);
  const written: string[][] = partitions.map(() => []);
  const logStart = partitions.map(() => 0n);

  const batchFor = (partition: number): Buffer => {
    const values = Array.from({ length: randomInt(random, 1, 4) }, () => {
      const size = chance(0.1) ? randomInt(random, 1000, 8000) : randomInt(random, 0, 60);
      return `${written[partition]!.length}:${'x'.repeat(size)}`;
    });
    return buildBatch({ records: values.map((value) => ({ value })) });
  };
  const write = async (): Promise<void> => {
    const content = partitions
      .map((topicIdPartition, i): [TopicIdPartition, Buffer[]] => {
        const batches = Array.from({ length: randomInt(random, 0, 3) }, () => batchFor(i));
        for (const batch of batches) written[i]!.push(...readRecords([batch]).map(({ value }) => value!));
        return [topicIdPartition, batches];
      })
      .filter(([, batches]) => batches.length > 0);
    if (content.length > 0) await (chance(0.5) ? fixture.writeOwn(content) : fixture.write(content));
  };
  const cut = async (): Promise<void> => {
    const i = randomInt(random, 0, PARTITIONS - 1);
    const beforeOffset = BigInt(randomInt(random, 0, written[i]!.length));
    if (beforeOffset <= logStart[i]!) return;
    const [result] = await fixture.coordinator.deleteRecords([{ topicIdPartition: partitions[i]!, beforeOffset }]);
    expect(result!.error).toBe(Errors.NONE);
    logStart[i] = beforeOffset;
    tally.cuts++;
  };

  /** One consumer's life: fetches until it has seen everything and the history has ended. */
  const consume = async (isEnded: () => boolean): Promise<void> => {
    const next = partitions.map(() => 0n);
    const isDone = (): boolean => isEnded() && next.every((offset, i) => offset >= BigInt(written[i]!.length));
    // Of fetches asked in calm the first may still share a read that was damaged, twice, before it.
    let calmFetches = 0;
    for (let round = 0; !isDone(); round++) {
      if (isCalm) calmFetches++;
      expect(round, `a consumer is stuck at ${next}`).toBeLessThan(3000);
      const order = partitions.map((_, i) => (i + round) % PARTITIONS);
      const controller = new AbortController();
      if (!isCalm && chance(0.05)) {
        tally.aborts++;
        setImmediate(() => controller.abort(new Error('gone')));
      }
      const maxBytes = randomInt(random, 1, 20_000);
      const params = { maxBytes, minBytes: randomInt(random, 1, 2000), maxWaitMs: randomInt(random, 0, 3) };
      const asked = [...next];
      const result = await fixture
        .fetch(
          order.map((i) => [partitions[i]!, asked[i]!, randomInt(random, 1, 20_000)]),
          params,
          controller.signal,
        )
        .catch((error: Error) => {
          if (error.message !== 'gone') throw error;
          return undefined;
        });
      if (!result) continue;
      if (chance(0.3)) await settle(2);
      for (const [k, data] of result.partitions.entries()) {
        const i = order[k]!;
        if (data.error === Errors.OFFSET_OUT_OF_RANGE) {
          expect(asked[i]! < logStart[i]!).toBe(true);
          next[i] = logStart[i]!;
          continue;
        }
        if (calmFetches > 1 && data.error !== Errors.NONE) expect(data.error).toBe(Errors.KAFKA_STORAGE_ERROR);
        expect([Errors.NONE, Errors.KAFKA_STORAGE_ERROR, Errors.CORRUPT_MESSAGE]).toContain(data.error);
        for (const { offset, value } of readRecords(data.records)) {
          if (offset < asked[i]!) continue; // the batch that holds the fetch offset begins before it
          expect(offset).toBe(next[i]);
          expect(value).toBe(written[i]![Number(offset)]);
          next[i] = offset + 1n;
          tally.served++;
        }
      }
      result.release();
    }
  };

  let isEnded = false;
  const unfollow = fixture.service.follow(chance(0.3) ? [partitions[0]!] : []);
  const consumers = Array.from({ length: 3 }, () => consume(() => isEnded));
  for (let step = 0; step < 25; step++) {
    await write();
    if (chance(0.1)) await cut();
    await settle(randomInt(random, 0, 4));
  }
  isCalm = true;
  isEnded = true;
  await Promise.all(consumers);
  unfollow();
  await fixture.close(); // asserts that every slab came back
}

describe('random histories of the fetch side', () => {
  it('show every consumer every record once, in order', async () => {
    const tally: Tally = { failures: 0, damages: 0, served: 0, cuts: 0, aborts: 0 };
    const property = fc.asyncProperty(fc.integer(), (seed) => runHistory(seed, tally));
    await untilCovered(
      () => Math.min(...Object.values(tally)) > 0,
      () => fc.assert(property, { ...tellsSeed(), numRuns: 15, endOnFailure: true }),
    );
    expect(Math.min(...Object.values(tally))).toBeGreaterThan(0);
  });
});
