/**
 * What `data/schema-1.sql` holds: the dump of a schema of version 1 after `fill` was played on it by the code of that
 * version. Played again on the in-memory reference, it says what a migrated coordinator must answer.
 */
import type { TopicIdPartition } from '../../src/common/topic-id-partition.ts';
import type { CommitFileRequest, DisklessCoordinator } from '../../src/coordinator/diskless-coordinator.ts';
import { batch, by, file, retainAll, type SettableTime } from '../coordinator/fixture.ts';

const TOPICS = ['TWlncmF0aW9uVG9waWNBQQ', 'TWlncmF0aW9uVG9waWNCQg', 'TWlncmF0aW9uVG9waWNDQw'] as const;
const [A, B, GONE] = TOPICS;

export const PARTITIONS: readonly TopicIdPartition[] = [A, B].flatMap((topicId) =>
  [0, 1].map((partition) => ({ topicId, partition })),
);

/** Every commit of `fill`, the one that is answered first in front. */
export function commits(): CommitFileRequest[] {
  const [a0, a1, b0, b1] = PARTITIONS as [TopicIdPartition, TopicIdPartition, TopicIdPartition, TopicIdPartition];
  const numbered = (index: number, batches: Parameters<typeof file>[0]): CommitFileRequest =>
    file(batches, { objectKey: `migrated/${index}`, segmentSequence: index });
  const rounds = Array.from({ length: 70 }, (_, i) =>
    numbered(i, [
      batch(a0, 2, { ...by(7n, 1, 2 * i), maxTimestamp: BigInt(1_000 + ((i * 37) % 70)) }),
      batch(a1, 1, { ...by(BigInt(100 + (i % 9)), 0, Math.floor(i / 9)), position: 300 }),
      batch(b0, 3, { timestampType: 1, position: 500 }),
    ]),
  );
  return [
    ...rounds,
    // A duplicate, a gap, an unknown partition, a fenced epoch, and a batch of very many sequences.
    numbered(70, [
      batch(a0, 2, by(7n, 1, 138)),
      batch(a0, 2, by(7n, 1, 150)),
      batch({ topicId: A, partition: 9 }, 1),
      batch(a0, 1, by(7n, 0, 140)),
      batch(b1, 2 ** 30, by(8n, 0, 0)),
      batch(b1, 2 ** 30, by(8n, 0, 2 ** 30)),
      batch(b1, 5, by(8n, 0, 0)),
      batch(b1, 1, { timestampType: 1, ...by(9n, 4, 0) }),
    ]),
    numbered(71, [batch({ topicId: GONE, partition: 0 }, 1)]),
  ];
}

/** One topic of three is deleted, one log is cut, some keys are given up and one object is gone. */
export async function fill(coordinator: DisklessCoordinator, time: SettableTime): Promise<void> {
  const configs = { 'retention.ms': '-1' };
  await coordinator.createTopics(
    TOPICS.map((topicId, index) => ({ topicId, name: `topic-${index}`, partitions: 2, configs })),
  );
  for (const request of commits()) {
    time.ms += 10;
    await coordinator.commitFile(request);
  }
  await coordinator.deleteTopics([GONE]);
  await coordinator.deleteRecords([{ topicIdPartition: PARTITIONS[0]!, beforeOffset: 11n }]);
  await retainAll(coordinator);
  await coordinator.abandonFile('migrated/given-up');
  await coordinator.abandonFile('migrated/given-up-and-deleted');
  await coordinator.deleteFiles(['migrated/given-up-and-deleted', 'migrated/71']);
  await coordinator.allocateProducerIdBlock(1_000);
  await coordinator.registerUploader(3);
  await coordinator.storeGroup({ groupId: 'g', type: 'consumer', epoch: 4, state: 'state' });
  const [topicIdPartition] = PARTITIONS;
  await coordinator.commitOffsets('g', [
    { topicIdPartition: topicIdPartition!, offset: 12n, leaderEpoch: 0, metadata: 'm', commitTimeMs: 5 },
  ]);
}
