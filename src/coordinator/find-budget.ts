/** How findBatches spends its limits: pure, shared by all implementations. */
import type { ErrorCode } from '../common/errors.ts';
import type { BatchCoordinate, FindBatchesRequest, FindBatchesResult } from './diskless-coordinator.ts';

/** Bounds one answer, so that planning a fetch of tiny batches stays short; the next fetch goes on where it ended. */
export const MAX_COORDINATES_PER_FIND = 4096;

/** The bytes of a coordinate that a fetch from `fetchOffset` can be given, by its share of offsets. */
function bytesFrom(coordinate: BatchCoordinate, fetchOffset: bigint): number {
  if (fetchOffset <= coordinate.baseOffset) return coordinate.size;
  const offsets = coordinate.lastOffset - coordinate.baseOffset + 1n;
  const wanted = coordinate.lastOffset - fetchOffset + 1n;
  return Number((BigInt(coordinate.size) * wanted + offsets - 1n) / offsets);
}

export class FindBudget {
  #bytes: number;
  #coordinates = MAX_COORDINATES_PER_FIND;
  /** Whether the request's first coordinate is due even above the limits. */
  #owesOne: boolean;

  constructor(request: FindBatchesRequest) {
    this.#bytes = request.maxBytes;
    this.#owesOne = request.minOneBatch ?? true;
  }

  /** The limit in bytes for a partition asked for next; 0 when nothing may be read for it. */
  limitFor(maxBytes: number): number {
    if (this.#coordinates === 0) return 0;
    return Math.max(Math.min(maxBytes, this.#bytes), this.#owesOne ? 1 : 0);
  }

  /** Takes what the limits allow from a partition's coordinates, which begin with the one holding `fetchOffset`. */
  take(maxBytes: number, fetchOffset: bigint, coordinates: Iterable<BatchCoordinate>): BatchCoordinate[] {
    const limit = this.limitFor(maxBytes);
    const taken: BatchCoordinate[] = [];
    if (limit <= 0) return taken;
    let used = 0;
    for (const coordinate of coordinates) {
      taken.push(coordinate);
      used += bytesFrom(coordinate, fetchOffset);
      this.#coordinates -= 1;
      if (used >= limit || this.#coordinates === 0) break;
    }
    this.#bytes -= used;
    if (taken.length > 0) this.#owesOne = false;
    return taken;
  }
}

/** Without coordinates; −1 for the offsets of a partition that does not exist. */
export function findResult(
  error: ErrorCode,
  log?: { readonly logStartOffset: bigint; readonly highWatermark: bigint },
): FindBatchesResult {
  const highWatermark = log?.highWatermark ?? -1n;
  const logStartOffset = log?.logStartOffset ?? -1n;
  return { error, logStartOffset, highWatermark, lastStableOffset: highWatermark, coordinates: [] };
}
