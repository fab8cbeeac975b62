/**
 * ListOffsets, exact to the record: the coordinator names the coordinate whose records decide, and that one is read
 * through the fetch side. Main thread; holds no state.
 */
import { ApiError, Errors } from '../common/errors.ts';
import type { DisklessCoordinator, ListOffsetsResult } from '../coordinator/diskless-coordinator.ts';
import type { FetchService } from '../fetch/fetch-service.ts';
import type { RecordPool } from '../worker/record-pool.ts';
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
  const { error, timestamp, offset, leaderEpoch, coordinate } = result;
  if (error !== Errors.NONE || !coordinate) return { error, timestamp, offset, leaderEpoch };
  try {
    const run = await parts.fetchService.readCoordinate(request.topicIdPartition, coordinate);
    try {
      // The coordinate may begin below the log start offset; the coordinator's offset does not.
      const found = await parts.recordPool.offsetForTimestamp(run.bytes, request.timestamp, offset);
      return { error, timestamp: found?.timestamp ?? -1n, offset: found?.offset ?? -1n, leaderEpoch };
    } finally {
      run.slab.release();
    }
  } catch (failure) {
    if (!(failure instanceof ApiError)) throw failure;
    return { error: failure.errorCode, timestamp: -1n, offset: -1n, leaderEpoch: -1 };
  }
}
