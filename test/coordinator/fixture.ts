/** What coordinator tests share: a clock that is set by hand, ids, and commits written briefly. */
import { seededRandom } from '../../src/common/random.ts';
import type { Time } from '../../src/common/time.ts';
import type { TopicIdPartition } from '../../src/common/topic-id-partition.ts';
import { randomUuid, type Uuid } from '../../src/common/uuid.ts';
import type {
  CommitBatch,
  CommitFileRequest,
  DisklessCoordinator,
} from '../../src/coordinator/diskless-coordinator.ts';

/** A wall clock that moves only when it is told to. */
export class SettableTime implements Time {
  ms = 1_700_000_000_000;

  nowMs(): number {
    return this.ms;
  }
  monotonicMs(): number {
    return this.ms;
  }
  setTimer(): { cancel(): void } {
    throw new Error('coordinators arm no timers');
  }
}

const random = seededRandom(20_260_101);

export function newUuid(): Uuid {
  return randomUuid(random);
}

/** A batch of `records` records without idempotence, CreateTime; what differs is given. */
export function batch(
  topicIdPartition: TopicIdPartition,
  records: number,
  more: Partial<CommitBatch> = {},
): Omit<CommitBatch, 'position'> & { position?: number } {
  return {
    topicIdPartition,
    size: 100,
    lastOffsetDelta: records - 1,
    maxTimestamp: 1_000n,
    offsetOfMaxTimestampDelta: 0,
    timestampType: 0,
    producerId: -1n,
    producerEpoch: -1,
    baseSequence: -1,
    ...more,
  };
}

/** The producer's part of a batch. */
export function by(producerId: bigint, producerEpoch: number, baseSequence: number): Partial<CommitBatch> {
  return { producerId, producerEpoch, baseSequence };
}

let files = 0;
/** For commits whose age is not what a test is about. */
const NEVER_OLD = Number.MAX_SAFE_INTEGER;

/** A commit of batches that lie side by side, under a fresh key unless one is given. */
export function file(
  batches: readonly (Omit<CommitBatch, 'position'> & { position?: number })[],
  more: Partial<CommitFileRequest> = {},
): CommitFileRequest {
  let end = 1;
  const placed = batches.map((one) => {
    const position = one.position ?? end;
    end = position + one.size;
    return { ...one, position };
  });
  files += 1;
  return {
    objectKey: `segments/${files.toString().padStart(8, '0')}`,
    formatVersion: 0,
    sizeBytes: end + 64,
    uploaderId: 1,
    uploaderEpoch: 1,
    segmentSequence: files,
    createdMs: NEVER_OLD,
    batches: placed,
    ...more,
  };
}

/** A new topic's partitions, kept for ever unless configs are given. */
export async function topic(
  coordinator: DisklessCoordinator,
  partitions = 1,
  configs: Record<string, string> = { 'retention.ms': '-1' },
): Promise<TopicIdPartition[]> {
  const topicId = newUuid();
  await coordinator.createTopics([{ topicId, name: `topic-${topicId}`, partitions, configs }]);
  return Array.from({ length: partitions }, (_, partition) => ({ topicId, partition }));
}

/** Everything from an offset on, with limits that do not bind. */
export async function findFrom(coordinator: DisklessCoordinator, of: TopicIdPartition, fetchOffset: bigint) {
  const maxBytes = 1 << 30;
  const request = { partitions: [{ topicIdPartition: of, fetchOffset, maxBytes }], maxBytes };
  return (await coordinator.findBatches(request))[0]!;
}

/** Runs retention to the end of a pass and sums it up. */
export async function retainAll(coordinator: DisklessCoordinator, maxCoordinates = 10_000) {
  const total = { coordinatesDeleted: 0, bytesDeleted: 0, steps: 0, partitions: [] as TopicIdPartition[] };
  for (let more = true; more; total.steps += 1) {
    const step = await coordinator.enforceRetention({ maxCoordinates });
    total.coordinatesDeleted += step.coordinatesDeleted;
    total.bytesDeleted += step.bytesDeleted;
    total.partitions.push(...step.partitions);
    more = step.more;
  }
  return total;
}
