/** That no lookup or deletion step depends on the depth of the log. */
import type { TopicIdPartition } from '../../src/common/topic-id-partition.ts';
import type { CommitBatch, DisklessCoordinator } from '../../src/coordinator/diskless-coordinator.ts';
import type { BenchContext } from '../harness.ts';
import { BATCH_BYTES, createTopic, random, request } from './workload.ts';

const COORDINATES_PER_FILE = 5_000;

/** A log of so many coordinates, with timestamps that rise but for a spread of thousands of coordinates. */
class DeepLog {
  readonly coordinator: DisklessCoordinator;
  readonly depth: number;
  readonly of: TopicIdPartition;
  #start = 0;

  constructor(coordinator: DisklessCoordinator, depth: number, of: TopicIdPartition) {
    this.coordinator = coordinator;
    this.depth = depth;
    this.of = of;
  }

  static async fill(coordinator: DisklessCoordinator, depth: number): Promise<DeepLog> {
    const [of] = await createTopic(coordinator, 1, { 'retention.bytes': '0' });
    for (let done = 0; done < depth; done += COORDINATES_PER_FILE) {
      const count = Math.min(COORDINATES_PER_FILE, depth - done);
      // A byte between two batches keeps them apart: one coordinate each.
      const batches = Array.from({ length: count }, (_, i): CommitBatch => {
        return {
          topicIdPartition: of!,
          position: 1 + i * (BATCH_BYTES + 1),
          size: BATCH_BYTES,
          lastOffsetDelta: 9,
          maxTimestamp: BigInt(Math.max(0, done + i + Math.floor(random.next() * 4_000))),
          offsetOfMaxTimestampDelta: 3,
          timestampType: 0,
          producerId: -1n,
          producerEpoch: -1,
          baseSequence: -1,
        };
      });
      await coordinator.commitFile(request(batches));
    }
    return new DeepLog(coordinator, depth, of!);
  }

  /** The coordinates of 64 KiB somewhere in the log. */
  async find(): Promise<number> {
    const index = this.#start + Math.floor(random.next() * (this.depth - this.#start - 200));
    const partitions = [{ topicIdPartition: this.of, fetchOffset: BigInt(index) * 10n, maxBytes: 65_536 }];
    const [found] = await this.coordinator.findBatches({ partitions, maxBytes: 65_536 });
    return found!.coordinates.length;
  }

  async listByTime(): Promise<number> {
    const timestamp = BigInt(Math.floor(random.next() * (this.depth - 1)));
    const [found] = await this.coordinator.listOffsets([{ topicIdPartition: this.of, timestamp }]);
    if (!found || found.timestamp < timestamp) throw new Error('no offset for a time inside the log');
    return 1;
  }

  /** Moves the log start offset on by one coordinate. */
  async deleteRecords(): Promise<number> {
    this.#start += 1;
    const beforeOffset = BigInt(this.#start) * 10n;
    const [deleted] = await this.coordinator.deleteRecords([{ topicIdPartition: this.of, beforeOffset }]);
    if (deleted!.lowWatermark !== beforeOffset) throw new Error('the log start offset did not move');
    return 1;
  }

  /** Drops 20 coordinates. */
  async retentionStep(): Promise<number> {
    const { coordinatesDeleted } = await this.coordinator.enforceRetention({ maxCoordinates: 20 });
    this.#start += coordinatesDeleted;
    if (coordinatesDeleted !== 20) throw new Error(`a step dropped ${coordinatesDeleted} coordinates`);
    return coordinatesDeleted;
  }
}

/**
 * Lookups and deletions on a log of a million coordinates against the same on one of ten thousand; each coordinator holds one
 * of them. `kind` goes into the rows' names.
 */
export async function benchDepth(
  bench: BenchContext,
  kind: string,
  [forDeep, forShallow]: readonly [DisklessCoordinator, DisklessCoordinator],
): Promise<void> {
  const [deepSize, shallowSize] = bench.smoke ? [20_000, 5_000] : [1_000_000, 10_000];
  const deep = await DeepLog.fill(forDeep, deepSize);
  const shallow = await DeepLog.fill(forShallow, shallowSize);
  const label = deepSize === 1_000_000 ? '1M' : `${deepSize}`;
  const contest = async (
    name: string,
    run: (log: DeepLog) => Promise<number>,
    roundMs: number,
    rounds?: number,
  ): Promise<void> => {
    await bench.contest({
      name: `${name}/${kind}${label}`,
      unit: 'calls/s',
      amount: 1,
      subject: () => run(deep),
      baselines: { [`at-${shallowSize}`]: () => run(shallow) },
      same: () => true,
      roundMs: bench.smoke ? 2 : roundMs,
      ...(rounds !== undefined && !bench.smoke && { rounds }),
    });
  };
  await contest('find-batches', (log) => log.find(), 60);
  // Times at random: which pages are in memory already differs from round to round.
  await contest('list-offsets', (log) => log.listByTime(), 60, 51);
  await contest('delete-records', (log) => log.deleteRecords(), 20);
  await contest('retention-step', (log) => log.retentionStep(), 10);
}
