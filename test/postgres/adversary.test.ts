/**
 * Many idempotent producers through two brokers on one database, with connections cut before and after commits at random.
 * Whoever gets no answer repeats the commit, or gives its key up and sends the batches again under another one, or turns to
 * the other broker without knowing what became of the first attempt. Every batch must be there once, where it was said to be.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Random, randomInt, seededRandom } from '../../src/common/random.ts';
import type { TopicIdPartition } from '../../src/common/topic-id-partition.ts';
import {
  type CommitBatch,
  CoordinatorError,
  type DisklessCoordinator,
} from '../../src/coordinator/diskless-coordinator.ts';
import { openPostgresCoordinator } from '../../src/postgres.ts';
import { batch, by, file, findFrom, topic } from '../coordinator/fixture.ts';
import { newSchema, usePostgres } from './postgres-harness.ts';
import { TcpProxy } from './tcp-proxy.ts';

const { server } = usePostgres();
const PARTITIONS = 4;
const PRODUCERS = 6;
const COMMITS = 40;

type Planned = Omit<CommitBatch, 'position'>;

describe.skipIf(process.env.SHOAL_POSTGRES_URL)('two brokers over bad connections', () => {
  const proxies: TcpProxy[] = [];
  const coordinators: DisklessCoordinator[] = [];
  beforeEach(async () => {
    const schema = newSchema();
    for (let i = 0; i < 2; i += 1) {
      const proxy = await TcpProxy.listen(server().port);
      proxies.push(proxy);
      const connectionString = `postgres://postgres@127.0.0.1:${proxy.port}/postgres`;
      coordinators.push(await openPostgresCoordinator({ connectionString, schema }));
    }
  });
  afterEach(async () => {
    await Promise.all(coordinators.splice(0).map((coordinator) => coordinator.close()));
    await Promise.all(proxies.splice(0).map((proxy) => proxy.close()));
  });

  /** Sends the batches until they are acknowledged, in ways that a broker and its producers might. */
  async function sendUntilAnswered(planned: Planned[], random: Random): Promise<bigint[]> {
    let request = file(planned);
    for (;;) {
      const coordinator = coordinators[randomInt(random, 0, 1)]!;
      const proxy = proxies[coordinators.indexOf(coordinator)]!;
      if (random.next() < 0.3)
        proxy.cutOn = { text: request.objectKey, when: random.next() < 0.5 ? 'before' : 'after' };
      try {
        const { batches } = await coordinator.commitFile(request);
        for (const { error } of batches) expect(error).toBe(0);
        return batches.map(({ baseOffset }) => baseOffset);
      } catch (error) {
        if (!(error instanceof CoordinatorError) || error.kind !== 'unavailable') throw error;
        const way = randomInt(random, 0, 2);
        if (way === 1) await giveUp(request.objectKey);
        if (way > 0) request = file(planned);
      }
    }
  }

  /** Until it is answered; whether it was committed after all is for the sequences to say. */
  async function giveUp(objectKey: string): Promise<void> {
    for (;;) {
      try {
        await coordinators[0]!.abandonFile(objectKey);
        return;
      } catch (error) {
        if (!(error instanceof CoordinatorError) || error.kind !== 'unavailable') throw error;
      }
    }
  }

  it('keep every batch once, at its offset, in its producer’s order', { timeout: 120_000 }, async () => {
    const seed = Number(process.env.SHOAL_SEED ?? Math.floor(Math.random() * 2 ** 31));
    process.stdout.write(`adversary seed ${seed}\n`);
    const partitions = await topic(coordinators[0]!, PARTITIONS);
    const acknowledged = new Map<TopicIdPartition, { offset: bigint; records: number; producer: number }[]>(
      partitions.map((of) => [of, []]),
    );
    const produce = async (producer: number): Promise<void> => {
      const random = seededRandom(seed + producer);
      const sequences = partitions.map((): number => (producer === 0 ? 2_147_483_600 : 0));
      for (let commit = 0; commit < COMMITS; commit += 1) {
        const planned = partitions.flatMap((of, index) =>
          Array.from({ length: randomInt(random, 0, 3) }, () => {
            const records = randomInt(random, 1, 5);
            const sequence = sequences[index]!;
            sequences[index] = (sequence + records) % 2 ** 31;
            return batch(of, records, by(BigInt(producer), 0, sequence));
          }),
        ) as Planned[];
        if (planned.length === 0) continue;
        const offsets = await sendUntilAnswered(planned, random);
        for (const [index, { topicIdPartition, lastOffsetDelta }] of planned.entries()) {
          acknowledged.get(topicIdPartition)!.push({ offset: offsets[index]!, records: lastOffsetDelta + 1, producer });
        }
      }
    };
    await Promise.all(Array.from({ length: PRODUCERS }, (_, producer) => produce(producer)));
    expect(proxies.reduce((cuts, proxy) => cuts + proxy.cuts, 0)).toBeGreaterThan(10);
    for (const of of partitions) await expectTiled(of, acknowledged.get(of)!);
  });

  /** Acknowledged batches and stored coordinates both cover the log from 0 to its end, each offset once. */
  async function expectTiled(of: TopicIdPartition, batches: { offset: bigint; records: number; producer: number }[]) {
    for (let producer = 0; producer < PRODUCERS; producer += 1) {
      const own = batches.filter((one) => one.producer === producer).map(({ offset }) => offset);
      expect(own).toEqual([...own].sort((a, b) => (a < b ? -1 : 1)));
    }
    const { coordinates, highWatermark } = await findFrom(coordinators[0]!, of, 0n);
    let next = 0n;
    for (const { offset, records } of batches.sort((a, b) => (a.offset < b.offset ? -1 : 1))) {
      expect(offset).toBe(next);
      next += BigInt(records);
    }
    expect(next).toBe(highWatermark);
    let stored = 0n;
    for (const { baseOffset, lastOffset } of coordinates) {
      expect(baseOffset).toBe(stored);
      stored = lastOffset + 1n;
    }
    expect(stored).toBe(highWatermark);
  }
});
