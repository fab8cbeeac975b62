/**
 * Commits on their way between the threads, as columns of numbers: cloning thousands of small objects would cost the main
 * thread more than everything else about a commit.
 */
import type { TopicIdPartition } from '../../common/topic-id-partition.ts';
import type { CommitBatch, CommitFileRequest, TimestampType } from '../diskless-coordinator.ts';

export interface PackedCommit extends Omit<CommitFileRequest, 'batches'> {
  /** Each partition once, in order of appearance. */
  readonly partitions: readonly TopicIdPartition[];
  /** `NUMBERS` values a batch. */
  readonly numbers: Float64Array;
  /** Max timestamp and producer id of each batch; the request was validated, so they fit. */
  readonly bigints: BigInt64Array;
}

const NUMBERS = 8;
const BIGINTS = 2;

export function batchesIn({ bigints }: PackedCommit): number {
  return bigints.length / BIGINTS;
}

export function packCommit(request: CommitFileRequest): PackedCommit {
  const { batches, ...header } = request;
  const partitions: TopicIdPartition[] = [];
  const numbers = new Float64Array(batches.length * NUMBERS);
  const bigints = new BigInt64Array(batches.length * BIGINTS);
  for (const [index, batch] of batches.entries()) {
    const { topicId, partition } = batch.topicIdPartition;
    const last = partitions.at(-1);
    if (last?.partition !== partition || last.topicId !== topicId) partitions.push({ topicId, partition });
    const at = index * NUMBERS;
    numbers[at] = partitions.length - 1;
    numbers[at + 1] = batch.position;
    numbers[at + 2] = batch.size;
    numbers[at + 3] = batch.lastOffsetDelta;
    numbers[at + 4] = batch.offsetOfMaxTimestampDelta;
    numbers[at + 5] = batch.timestampType;
    numbers[at + 6] = batch.producerEpoch;
    numbers[at + 7] = batch.baseSequence;
    bigints[index * BIGINTS] = batch.maxTimestamp;
    bigints[index * BIGINTS + 1] = batch.producerId;
  }
  return { ...header, partitions, numbers, bigints };
}

export function unpackCommit(packed: PackedCommit): CommitFileRequest {
  const { partitions, numbers, bigints, ...header } = packed;
  const batches = Array.from({ length: batchesIn(packed) }, (_, index): CommitBatch => {
    const at = index * NUMBERS;
    return {
      topicIdPartition: partitions[numbers[at]!]!,
      position: numbers[at + 1]!,
      size: numbers[at + 2]!,
      lastOffsetDelta: numbers[at + 3]!,
      offsetOfMaxTimestampDelta: numbers[at + 4]!,
      timestampType: numbers[at + 5] as TimestampType,
      producerEpoch: numbers[at + 6]!,
      baseSequence: numbers[at + 7]!,
      maxTimestamp: bigints[index * BIGINTS]!,
      producerId: bigints[index * BIGINTS + 1]!,
    };
  });
  return { ...header, batches };
}
