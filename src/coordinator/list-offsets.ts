/** How ListOffsets is answered from coordinates: pure, shared by the embedded implementations. */
import { Errors } from '../common/errors.ts';
import {
  type BatchCoordinate,
  type ListOffsetsRequest,
  type ListOffsetsResult,
  ListOffsetsTimestamp,
} from './diskless-coordinator.ts';

/** What a store can tell of one partition. */
export interface ListOffsetsLog {
  readonly logStartOffset: bigint;
  readonly highWatermark: bigint;
  readonly leaderEpoch: number;
  /** The first coordinate with `lastOffset` ≥ `fromOffset` and a max timestamp of at least `timestamp`. */
  firstAtLeast(timestamp: bigint, fromOffset: bigint): BatchCoordinate | undefined;
  /**
   * The first coordinate with `lastOffset` ≥ `fromOffset` that has the greatest max timestamp of those, where that is not
   * −1; with the offset of that record.
   */
  greatest(fromOffset: bigint): { readonly coordinate: BatchCoordinate; readonly offset: bigint } | undefined;
}

export const UNKNOWN_LOG: ListOffsetsResult = Object.freeze({
  error: Errors.UNKNOWN_TOPIC_OR_PARTITION,
  timestamp: -1n,
  offset: -1n,
  leaderEpoch: -1,
});

const NOTHING: ListOffsetsResult = Object.freeze({ error: Errors.NONE, timestamp: -1n, offset: -1n, leaderEpoch: -1 });

function max(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}

function byTime(log: ListOffsetsLog, { timestamp, fromOffset = 0n }: ListOffsetsRequest): ListOffsetsResult {
  const coordinate = log.firstAtLeast(timestamp, max(log.logStartOffset, fromOffset));
  if (!coordinate) return NOTHING;
  const { maxTimestamp, baseOffset, leaderEpoch } = coordinate;
  const offset = max(baseOffset, log.logStartOffset);
  return { error: Errors.NONE, timestamp: maxTimestamp, offset, leaderEpoch, coordinate };
}

function byMaxTimestamp(log: ListOffsetsLog, { fromOffset = 0n }: ListOffsetsRequest): ListOffsetsResult {
  const greatest = log.greatest(max(log.logStartOffset, fromOffset));
  if (!greatest) return NOTHING;
  const { coordinate, offset } = greatest;
  const { maxTimestamp, leaderEpoch } = coordinate;
  const found = { error: Errors.NONE, timestamp: maxTimestamp, leaderEpoch };
  if (offset >= log.logStartOffset) return { ...found, offset };
  // Under LogAppendTime the others have the same.
  return { ...found, offset: log.logStartOffset, ...(coordinate.timestampType === 0 && { coordinate }) };
}

export function answerListOffsets(log: ListOffsetsLog, request: ListOffsetsRequest): ListOffsetsResult {
  const { leaderEpoch } = log;
  switch (request.timestamp) {
    case ListOffsetsTimestamp.latest:
      return { error: Errors.NONE, timestamp: -1n, offset: log.highWatermark, leaderEpoch };
    case ListOffsetsTimestamp.earliest:
    case ListOffsetsTimestamp.earliestLocal:
      return { error: Errors.NONE, timestamp: -1n, offset: log.logStartOffset, leaderEpoch };
    case ListOffsetsTimestamp.maxTimestamp:
      return byMaxTimestamp(log, request);
    case ListOffsetsTimestamp.latestTiered:
      return NOTHING;
    default:
      return request.timestamp < 0n ? { ...UNKNOWN_LOG, error: Errors.UNSUPPORTED_VERSION } : byTime(log, request);
  }
}
