/** What a busy broker commits, made beforehand: segments of many idempotent producers over many partitions. */
import { seededRandom } from '../../src/common/random.ts';
import type { TopicIdPartition } from '../../src/common/topic-id-partition.ts';
import { randomUuid } from '../../src/common/uuid.ts';
import type {
  CommitBatch,
  CommitFileRequest,
  DisklessCoordinator,
} from '../../src/coordinator/diskless-coordinator.ts';

export const random = seededRandom(7);
export const BATCH_BYTES = 900;
const PRODUCERS = 100;
let files = 0;

export async function createTopic(
  coordinator: DisklessCoordinator,
  partitions: number,
  configs: Record<string, string> = {},
): Promise<TopicIdPartition[]> {
  const topicId = randomUuid(random);
  const [created] = await coordinator.createTopics([
    { topicId, name: topicId, partitions, configs: { 'retention.ms': '-1', ...configs } },
  ]);
  if (created!.error !== 0) throw new Error(`createTopics answered ${created!.error}`);
  return Array.from({ length: partitions }, (_, partition) => ({ topicId, partition }));
}

export function request(batches: readonly CommitBatch[]): CommitFileRequest {
  files += 1;
  const last = batches.at(-1)!;
  return {
    objectKey: `${randomUuid(random)}/${files}`,
    formatVersion: 0,
    sizeBytes: last.position + last.size + 1,
    uploaderId: 1,
    uploaderEpoch: 1,
    segmentSequence: files,
    createdMs: Date.now(),
    batches,
  };
}

/** Makes segments as a busy broker does: each partition's batches side by side, from many idempotent producers. */
export class Producers {
  readonly #sequences = new Map<string, number>();
  readonly #partitions: readonly TopicIdPartition[];
  readonly #now = BigInt(Date.now());
  #turn = 0;

  constructor(partitions: readonly TopicIdPartition[]) {
    this.#partitions = partitions;
  }

  segment(batches: number, partitions: readonly TopicIdPartition[] = this.#partitions): CommitFileRequest {
    const perPartition = batches / partitions.length;
    const made: CommitBatch[] = [];
    for (let index = 0; index < partitions.length; index += 1) {
      const upTo = Math.round((index + 1) * perPartition);
      while (made.length < upTo) made.push(this.#batch(partitions[index]!, made.length));
    }
    return request(made);
  }

  #batch(topicIdPartition: TopicIdPartition, index: number): CommitBatch {
    this.#turn += 1;
    const producerId = BigInt(this.#turn % PRODUCERS);
    const key = `${topicIdPartition.partition} ${producerId}`;
    const baseSequence = this.#sequences.get(key) ?? 0;
    this.#sequences.set(key, baseSequence + 10);
    return {
      topicIdPartition,
      position: 1 + index * BATCH_BYTES,
      size: BATCH_BYTES,
      lastOffsetDelta: 9,
      maxTimestamp: this.#now + BigInt(this.#turn),
      offsetOfMaxTimestampDelta: 9,
      timestampType: 0,
      producerId,
      producerEpoch: 0,
      baseSequence,
    };
  }
}

/** Commits prepared segments one after the other; asserts that every batch was accepted. */
export function committing(coordinator: DisklessCoordinator, segments: CommitFileRequest[]): () => Promise<number> {
  return async () => {
    const next = segments.pop();
    if (!next) throw new Error('prepare more segments');
    const { batches } = await coordinator.commitFile(next);
    if (batches.some(({ error, duplicate }) => error !== 0 || duplicate)) throw new Error('a batch was refused');
    return batches.length;
  };
}
