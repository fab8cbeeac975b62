/** Who is told of a change when its maker dies or loses the answer, and what a broker does that has not been told. */
import { describe, expect, it } from 'vitest';
import { partitionKey, type TopicIdPartition } from '../../src/common/topic-id-partition.ts';
import type { CoordinatorChange, DisklessCoordinator } from '../../src/coordinator/diskless-coordinator.ts';
import { batch, file, retainAll, topic } from '../coordinator/fixture.ts';
import { useBrokers } from './brokers-fixture.ts';
import { usePostgres } from './postgres-harness.ts';

const { server } = usePostgres();

/** What a listener that looks where it is told to, or everywhere after a probe, comes to know. */
class Listener {
  readonly highWatermarks = new Map<string, bigint>();
  readonly logStartOffsets = new Map<string, bigint>();
  topics = 0;
  probes = 0;

  constructor(coordinator: DisklessCoordinator) {
    coordinator.onChange((change) => this.#onChange(change));
  }

  #onChange(change: CoordinatorChange): void {
    if (change.kind === 'commit') for (const [key, end] of change.highWatermarks) this.highWatermarks.set(key, end);
    if (change.kind === 'log-start')
      for (const [key, start] of change.logStartOffsets) this.logStartOffsets.set(key, start);
    if (change.kind === 'topics') this.topics += 1;
    if (change.kind === 'probe') this.probes += 1;
  }

  async hears(of: TopicIdPartition, highWatermark: bigint): Promise<void> {
    await expect
      .poll(() => this.probes > 0 || this.highWatermarks.get(partitionKey(of)) === highWatermark, { timeout: 20_000 })
      .toBe(true);
  }
}

describe.skipIf(process.env.SHOAL_POSTGRES_URL)('brokers on one PostgreSQL database', () => {
  const brokers = useBrokers(server);
  const { open } = brokers;
  const openThroughProxy = () => open({ connectionString: brokers.throughProxy(), statementTimeoutMs: 2_000 });

  it('hear of a commit whose answer was lost, its maker too', async () => {
    const [one, two] = [await openThroughProxy(), await open()];
    const [a] = (await topic(one)) as [TopicIdPartition];
    const [maker, other] = [new Listener(one), new Listener(two)];
    const request = file([batch(a, 3)]);
    brokers.proxy.cutOn = { text: request.objectKey, when: 'after' };
    await expect(one.commitFile(request)).rejects.toMatchObject({ kind: 'unavailable' });
    await other.hears(a, 3n);
    await maker.hears(a, 3n);
    expect(other.probes).toBe(0);
  });

  it('hear of a commit whose maker died before it could tell anybody', async () => {
    const [one, two] = [await openThroughProxy(), await open()];
    const [a] = (await topic(one)) as [TopicIdPartition];
    const other = new Listener(two);
    one.onChange(() => {
      brokers.proxy.silent = true;
    });
    await one.commitFile(file([batch(a, 3)]));
    await other.hears(a, 3n);
    expect(other.probes).toBe(0);
  });

  it('hear of deleted records and of a topic whose making lost its answer', async () => {
    const [one, two] = [await openThroughProxy(), await open()];
    const [a] = (await topic(one)) as [TopicIdPartition];
    await one.commitFile(file([batch(a, 3)]));
    const [maker, other] = [new Listener(one), new Listener(two)];
    const probed = async (probes: number): Promise<void> => {
      await expect.poll(() => maker.probes, { timeout: 20_000 }).toBeGreaterThanOrEqual(probes);
    };
    brokers.proxy.cutOn = { text: 'delete_records', when: 'after' };
    await expect(one.deleteRecords([{ topicIdPartition: a, beforeOffset: 2n }])).rejects.toMatchObject({
      kind: 'unavailable',
    });
    await probed(1);
    await expect.poll(() => other.logStartOffsets.get(partitionKey(a)), { timeout: 20_000 }).toBe(2n);
    const before = other.topics;
    brokers.proxy.cutOn = { text: 'COMMIT', when: 'after' };
    await expect(topic(one)).rejects.toMatchObject({ kind: 'unavailable' });
    await probed(2);
    await expect.poll(() => other.topics, { timeout: 20_000 }).toBeGreaterThan(before);
    expect(await two.listTopics()).toHaveLength(2);
    expect(await one.listTopics()).toHaveLength(2);
  });

  it('drop records by the settings that the database has, not by those that they have heard of', async () => {
    const [one, two] = [await open(), await open()];
    const [a] = (await topic(one, 1, { 'retention.ms': '1000' })) as [TopicIdPartition];
    await one.commitFile(file([batch(a, 3, { maxTimestamp: 0n })]));
    // Written past the coordinator: nobody is told.
    await server().query(`UPDATE "${brokers.schema}".topics SET configs = '{"retention.ms": "-1"}'`);
    expect((await retainAll(two)).coordinatesDeleted).toBe(0);
    await server().query(`UPDATE "${brokers.schema}".topics SET configs = '{}'`);
    await server().query(`INSERT INTO "${brokers.schema}".configs VALUES ('broker', '{"log.retention.ms": "-1"}')`);
    expect((await retainAll(two)).coordinatesDeleted).toBe(0);
  });
});
