/**
 * Commits on their way between the threads, as columns of numbers: cloning thousands of small objects would cost the main
 * thread more than everything else about a commit. A small commit has one object and one buffer to clone, for the same reason.
 */
import type { TopicIdPartition } from '../../common/topic-id-partition.ts';
import type { Uuid } from '../../common/uuid.ts';
import type { CommitBatch, CommitFileRequest, TimestampType } from '../diskless-coordinator.ts';

export interface PackedCommit {
  readonly objectKey: string;
  /** Each topic once for every run of its batches, in order of appearance. */
  readonly topicIds: readonly Uuid[];
  /** Two 64-bit integers a batch, the request's own numbers, and `NUMBERS` a batch. Validated before, so they all fit. */
  readonly columns: ArrayBuffer;
}

const BIGINTS = 2;
const HEADER_NUMBERS = 6;
const NUMBERS = 9;
const BYTES = 8;
const BYTES_PER_BATCH = (BIGINTS + NUMBERS) * BYTES;

export function batchesIn({ columns }: PackedCommit): number {
  return (columns.byteLength - HEADER_NUMBERS * BYTES) / BYTES_PER_BATCH;
}

function viewsOf(columns: ArrayBuffer, batches: number): { bigints: BigInt64Array; numbers: Float64Array } {
  const bigints = new BigInt64Array(columns, 0, batches * BIGINTS);
  return { bigints, numbers: new Float64Array(columns, bigints.byteLength) };
}

export function packCommit(request: CommitFileRequest): PackedCommit {
  const { batches, objectKey } = request;
  const topicIds: Uuid[] = [];
  const columns = new ArrayBuffer(HEADER_NUMBERS * BYTES + batches.length * BYTES_PER_BATCH);
  const { bigints, numbers } = viewsOf(columns, batches.length);
  numbers[0] = request.formatVersion;
  numbers[1] = request.sizeBytes;
  numbers[2] = request.uploaderId;
  numbers[3] = request.uploaderEpoch;
  numbers[4] = request.segmentSequence;
  numbers[5] = request.createdMs;
  for (const [index, batch] of batches.entries()) {
    const { topicId, partition } = batch.topicIdPartition;
    if (topicIds.at(-1) !== topicId) topicIds.push(topicId);
    const at = HEADER_NUMBERS + index * NUMBERS;
    numbers[at] = topicIds.length - 1;
    numbers[at + 1] = partition;
    numbers[at + 2] = batch.position;
    numbers[at + 3] = batch.size;
    numbers[at + 4] = batch.lastOffsetDelta;
    numbers[at + 5] = batch.offsetOfMaxTimestampDelta;
    numbers[at + 6] = batch.timestampType;
    numbers[at + 7] = batch.producerEpoch;
    numbers[at + 8] = batch.baseSequence;
    bigints[index * BIGINTS] = batch.maxTimestamp;
    bigints[index * BIGINTS + 1] = batch.producerId;
  }
  return { objectKey, topicIds, columns };
}

export function unpackCommit(packed: PackedCommit): CommitFileRequest {
  const { objectKey, topicIds, columns } = packed;
  const count = batchesIn(packed);
  const { bigints, numbers } = viewsOf(columns, count);
  const batches: CommitBatch[] = [];
  let topicIdPartition: TopicIdPartition | undefined;
  for (let index = 0; index < count; index += 1) {
    const at = HEADER_NUMBERS + index * NUMBERS;
    const [topicId, partition] = [topicIds[numbers[at]!]!, numbers[at + 1]!];
    if (topicIdPartition?.partition !== partition || topicIdPartition.topicId !== topicId) {
      topicIdPartition = { topicId, partition };
    }
    batches.push({
      topicIdPartition,
      position: numbers[at + 2]!,
      size: numbers[at + 3]!,
      lastOffsetDelta: numbers[at + 4]!,
      offsetOfMaxTimestampDelta: numbers[at + 5]!,
      timestampType: numbers[at + 6] as TimestampType,
      producerEpoch: numbers[at + 7]!,
      baseSequence: numbers[at + 8]!,
      maxTimestamp: bigints[index * BIGINTS]!,
      producerId: bigints[index * BIGINTS + 1]!,
    });
  }
  return {
    objectKey,
    formatVersion: numbers[0]!,
    sizeBytes: numbers[1]!,
    uploaderId: numbers[2]!,
    uploaderEpoch: numbers[3]!,
    segmentSequence: numbers[4]!,
    createdMs: numbers[5]!,
    batches,
  };
}
