/**
 * A segment that takes no more batches: on its way through validation, upload and commit. Main thread. It owns its
 * batches' slabs until `release`, which nobody calls while a worker or a PUT may still read them.
 */
import { assert } from '../common/assert.ts';
import type { ErrorCode } from '../common/errors.ts';
import { comparePartitions, type PartitionKey } from '../common/topic-id-partition.ts';
import type { CommitBatch, CommitFileRequest } from '../coordinator/diskless-coordinator.ts';
import type { SlabPool } from '../worker/slab-pool.ts';
import { packSmallBatches } from './batch-packing.ts';
import type { PendingBatch } from './pending-batch.ts';
import {
  type Crc32c,
  type EncodedSegment,
  encodeSegment,
  SEGMENT_FORMAT_VERSION,
  type SegmentBatch,
  type SegmentOrigin,
} from './segment-format.ts';

/** A commit and the batches it is for: result i of the coordinator belongs to batch i. */
export interface SegmentCommit {
  readonly request: CommitFileRequest;
  readonly batches: readonly PendingBatch[];
}

export class ClosedSegment {
  readonly sequence: number;
  readonly partitions: ReadonlySet<PartitionKey>;
  readonly #batches: readonly PendingBatch[];
  /** The batches that were encoded, in the order of the object. */
  #laidOut: readonly PendingBatch[] = [];

  constructor(sequence: number, batches: readonly PendingBatch[]) {
    this.sequence = sequence;
    this.#batches = batches;
    this.partitions = new Set(batches.map((batch) => batch.key));
  }

  get batches(): readonly PendingBatch[] {
    return this.#batches;
  }

  /** Whether any batch is still to be committed. */
  get live(): boolean {
    return this.#batches.some((batch) => batch.live);
  }

  /** Resolves when every verdict is in and no worker reads the bytes. */
  async validated(): Promise<void> {
    await Promise.all(this.#batches.map((batch) => batch.validation));
  }

  /** Sorts what passed by topic id, partition, arrival, packs what is small and lays it out. */
  encode(origin: SegmentOrigin, checksums: Crc32c, slabs: SlabPool): EncodedSegment {
    this.#laidOut = this.#batches
      .filter((batch) => batch.live)
      .sort((a, b) => comparePartitions(a.topicIdPartition, b.topicIdPartition) || a.place - b.place);
    packSmallBatches(this.#laidOut, slabs);
    return encodeSegment(this.#laidOut.map(segmentBatch), origin, checksums);
  }

  /** What to commit: batches that failed since they were encoded stay in the object as dead bytes. */
  commitOf(objectKey: string, encoded: EncodedSegment, origin: SegmentOrigin): SegmentCommit {
    assert(encoded.positions.length === this.#laidOut.length, 'a commit belongs to the layout that was uploaded');
    const batches: PendingBatch[] = [];
    const commits: CommitBatch[] = [];
    this.#laidOut.forEach((batch, index) => {
      if (!batch.live) return;
      batches.push(batch);
      commits.push(commitBatch(batch, encoded.positions[index]!));
    });
    const request = {
      objectKey,
      formatVersion: SEGMENT_FORMAT_VERSION,
      sizeBytes: encoded.sizeBytes,
      uploaderId: origin.uploaderId,
      uploaderEpoch: origin.uploaderEpoch,
      segmentSequence: origin.segmentSequence,
      createdMs: origin.createdMs,
      batches: commits,
    };
    return { request, batches };
  }

  /** Answers every batch that has no answer yet. */
  fail(error: ErrorCode, message: string): void {
    for (const batch of this.#batches) batch.fail(error, message);
  }

  /** Gives back every slab that was not handed on. */
  release(): void {
    for (const batch of this.#batches) batch.release();
  }
}

function segmentBatch({ topicIdPartition, bytes, verdict }: PendingBatch): SegmentBatch {
  const { recordCount, maxTimestamp, crc } = verdict;
  return { topicIdPartition, bytes, recordCount, maxTimestamp, crc };
}

function commitBatch({ topicIdPartition, bytes, verdict, timestampType }: PendingBatch, position: number): CommitBatch {
  const { lastOffsetDelta, maxTimestamp, offsetOfMaxTimestampDelta, producerId, producerEpoch, baseSequence } = verdict;
  return {
    topicIdPartition,
    position,
    size: bytes.length,
    lastOffsetDelta,
    maxTimestamp,
    offsetOfMaxTimestampDelta,
    timestampType,
    producerId,
    producerEpoch,
    baseSequence,
  };
}
