/**
 * ListOffsets, exact to the record: the coordinator names the coordinate whose records decide, and that one is read
 * through the fetch side. Main thread; holds no state.
 */
import { ApiError, Errors } from '../common/errors.ts';
import {
  type BatchCoordinate,
  type DisklessCoordinator,
  type ListOffsetsResult,
  ListOffsetsTimestamp,
} from '../coordinator/diskless-coordinator.ts';
import type { FetchService } from '../fetch/fetch-service.ts';
import type { RecordPool, TimestampedOffset } from '../worker/record-pool.ts';
import { answered } from './coordinator-failure.ts';
import type { ListOffsetsPartition, ListOffsetsPartitionResult } from './diskless-engine.ts';

export interface OffsetLookupParts {
  readonly coordinator: DisklessCoordinator;
  readonly fetchService: FetchService;
  readonly recordPool: RecordPool;
}

/** Result i belongs to request i; a coordinate that cannot be read costs only its own partition. */
export async function listOffsets(
  parts: OffsetLookupParts,
  requests: readonly ListOffsetsPartition[],
): Promise<ListOffsetsPartitionResult[]> {
  const results = await answered(parts.coordinator.listOffsets(requests));
  return Promise.all(results.map((result, index) => narrow(parts, requests[index]!, result)));
}

async function narrow(
  parts: OffsetLookupParts,
  request: ListOffsetsPartition,
  result: ListOffsetsResult,
): Promise<ListOffsetsPartitionResult> {
  try {
    if (request.timestamp === ListOffsetsTimestamp.maxTimestamp && result.coordinate)
      return await greatestLeft(parts, request, { ...result, coordinate: result.coordinate });
    for (let candidate = result; ; ) {
      const { error, timestamp, offset, leaderEpoch, coordinate } = candidate;
      if (error !== Errors.NONE || !coordinate) return { error, timestamp, offset, leaderEpoch };
      const found = await findInCoordinate(parts, request, coordinate, offset);
      if (found) return { error, ...found, leaderEpoch };
      // It had such a record when it was committed: that one lies below the log start offset, and the next may do.
      const [next] = await answered(
        parts.coordinator.listOffsets([{ ...request, fromOffset: coordinate.lastOffset + 1n }]),
      );
      candidate = next!;
    }
  } catch (failure) {
    if (!(failure instanceof ApiError)) throw failure;
    return { error: failure.errorCode, timestamp: -1n, offset: -1n, leaderEpoch: -1 };
  }
}

/**
 * The first record with the greatest timestamp of those that are not deleted, where the one that has it in its coordinate
 * is: among the others there, and behind it. A run can only be asked for a record of at least some time: bisection.
 */
async function greatestLeft(
  parts: OffsetLookupParts,
  request: ListOffsetsPartition,
  { coordinate, offset, leaderEpoch }: ListOffsetsResult & { readonly coordinate: BatchCoordinate },
): Promise<ListOffsetsPartitionResult> {
  const [after] = await answered(
    parts.coordinator.listOffsets([{ ...request, fromOffset: coordinate.lastOffset + 1n }]),
  );
  const behind = await narrow(parts, request, after!);
  let found: TimestampedOffset | undefined;
  let [least, most] = [behind.timestamp < 0n ? 0n : behind.timestamp, coordinate.maxTimestamp];
  while (least <= most) {
    const timestamp = (least + most) / 2n;
    const candidate = await findInCoordinate(parts, { ...request, timestamp }, coordinate, offset);
    if (candidate) {
      found = candidate;
      least = candidate.timestamp + 1n;
    } else most = timestamp - 1n;
  }
  return found ? { error: Errors.NONE, ...found, leaderEpoch } : behind;
}

/** The first record at or above `fromOffset` in a coordinate, which may begin below the log start offset. */
async function findInCoordinate(
  { fetchService, recordPool }: OffsetLookupParts,
  { topicIdPartition, timestamp }: ListOffsetsPartition,
  coordinate: BatchCoordinate,
  fromOffset: bigint,
): Promise<TimestampedOffset | undefined> {
  const run = await fetchService.readCoordinate(topicIdPartition, coordinate);
  try {
    return await recordPool.offsetForTimestamp(run.bytes, timestamp, fromOffset);
  } finally {
    run.slab.release();
  }
}
