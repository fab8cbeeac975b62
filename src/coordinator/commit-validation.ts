/**
 * What a commit must look like before any implementation touches its store. A request that fails here is a bug of the
 * caller (the produce path wrote the segment itself), so the whole of it is refused with `invalid`.
 */
import type { TopicIdPartition } from '../common/topic-id-partition.ts';
import { isUuid } from '../common/uuid.ts';
import { type CommitBatch, type CommitFileRequest, CoordinatorError } from './diskless-coordinator.ts';

const MAX_OBJECT_KEY_LENGTH = 512;
/** A record batch's header alone. */
const MIN_BATCH_SIZE = 61;
const MAX_INT32 = 2_147_483_647;
const MAX_INT64 = 2n ** 63n - 1n;

function isInt(value: number, min: number, max: number): boolean {
  return Number.isInteger(value) && value >= min && value <= max;
}

function refuse(message: string): never {
  throw new CoordinatorError('invalid', message);
}

export function validateObjectKey(objectKey: string): void {
  if (typeof objectKey !== 'string' || objectKey.length === 0 || objectKey.length > MAX_OBJECT_KEY_LENGTH) {
    refuse(`object key must have 1 to ${MAX_OBJECT_KEY_LENGTH} characters`);
  }
  if (objectKey.includes('\0')) refuse('object key must not hold a NUL character');
}

function partitionFault({ topicId, partition }: TopicIdPartition): string | undefined {
  return isUuid(topicId) && isInt(partition, 0, MAX_INT32) ? undefined : `"${topicId}-${partition}" is no partition`;
}

/** What is wrong with a batch that follows one ending at `previousEnd`, or undefined. */
function batchFault(batch: CommitBatch, previousEnd: number, sizeBytes: number): string | undefined {
  if (!isInt(batch.size, MIN_BATCH_SIZE, MAX_INT32)) return `size ${batch.size} is below ${MIN_BATCH_SIZE}`;
  if (!isInt(batch.position, previousEnd, sizeBytes - batch.size)) {
    return `position ${batch.position} size ${batch.size} overlaps its predecessor or passes the object's end`;
  }
  if (!isInt(batch.lastOffsetDelta, 0, MAX_INT32)) return `last offset delta ${batch.lastOffsetDelta}`;
  if (batch.maxTimestamp < -1n || batch.maxTimestamp > MAX_INT64) return `max timestamp ${batch.maxTimestamp}`;
  if (!isInt(batch.offsetOfMaxTimestampDelta, 0, batch.lastOffsetDelta)) {
    return `offset of max timestamp ${batch.offsetOfMaxTimestampDelta} lies outside the batch`;
  }
  if (batch.timestampType !== 0 && batch.timestampType !== 1) return `timestamp type ${batch.timestampType}`;
  return producerFault(batch);
}

function producerFault({ producerId, producerEpoch, baseSequence }: CommitBatch): string | undefined {
  if (producerId === -1n) {
    return producerEpoch === -1 && baseSequence === -1 ? undefined : 'an epoch or a sequence without a producer id';
  }
  const valid = producerId >= 0n && producerId <= MAX_INT64;
  if (valid && isInt(producerEpoch, 0, 32_767) && isInt(baseSequence, 0, MAX_INT32)) return undefined;
  return `producer id ${producerId} epoch ${producerEpoch} sequence ${baseSequence}`;
}

/** @throws CoordinatorError `invalid` */
export function validateCommit(request: CommitFileRequest): void {
  validateObjectKey(request.objectKey);
  if (!isInt(request.sizeBytes, 1, Number.MAX_SAFE_INTEGER)) refuse(`object size ${request.sizeBytes}`);
  if (!isInt(request.formatVersion, 0, 255)) refuse(`segment format version ${request.formatVersion}`);
  for (const field of ['uploaderId', 'uploaderEpoch', 'segmentSequence', 'createdMs'] as const) {
    if (!isInt(request[field], 0, Number.MAX_SAFE_INTEGER)) refuse(`${field} ${request[field]}`);
  }
  if (request.batches.length === 0) refuse('a segment without batches');
  let end = 0;
  let partition: TopicIdPartition | undefined;
  for (const [index, batch] of request.batches.entries()) {
    const fault =
      (batch.topicIdPartition === partition ? undefined : partitionFault(batch.topicIdPartition)) ??
      batchFault(batch, end, request.sizeBytes);
    if (fault !== undefined) refuse(`batch ${index} of ${request.objectKey}: ${fault}`);
    end = batch.position + batch.size;
    partition = batch.topicIdPartition;
  }
}
