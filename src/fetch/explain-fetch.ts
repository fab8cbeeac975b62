/**
 * Explains what a fetch would do, without doing it: local or direct and why, coordinates, plan, what is covered already,
 * bytes, predicted latency and dollars. Asks the coordinator once and reads nothing. Main thread; keeps nothing.
 */
import { counted } from '../common/counted.ts';
import { type ErrorCode, Errors, errorName } from '../common/errors.ts';
import { type PartitionKey, partitionKey, type TopicIdPartition } from '../common/topic-id-partition.ts';
import type { BatchCoordinate, DisklessCoordinator, FindBatchesResult } from '../coordinator/diskless-coordinator.ts';
import type { CoordinateReader } from './coordinate-reader.ts';
import { type ObjectRange, planRangedGets } from './fetch-planner.ts';
import type { FetchScheduler } from './fetch-scheduler.ts';
import type { FetchSettings } from './fetch-settings.ts';
import { wantedShare } from './fetch-slot.ts';
import type { LocalLog } from './local-log.ts';

export interface ExplainFetchRequest {
  readonly topicIdPartition: TopicIdPartition;
  readonly fetchOffset: bigint;
  /** The fetch's limit in bytes. @default 1 MiB */
  readonly maxBytes?: number;
}

/** Where a coordinate's bytes would come from. */
export type CoordinateSource = 'local view' | 'in flight' | 'object storage' | 'gone';

export interface ExplainedCoordinate {
  readonly objectKey: string;
  readonly position: number;
  readonly size: number;
  readonly baseOffset: bigint;
  readonly lastOffset: bigint;
  readonly source: CoordinateSource;
}

/**
 * Sizes in bytes. `local`: served from this process' memory. `direct`: read from object storage. `wait`: at the log's end.
 * `error`: refused with `error`.
 */
export interface FetchExplanation {
  readonly topicIdPartition: TopicIdPartition;
  readonly fetchOffset: bigint;
  readonly maxBytes: number;
  readonly decision: 'local' | 'direct' | 'wait' | 'error';
  readonly reason: string;
  readonly error: ErrorCode;
  readonly logStartOffset: bigint;
  readonly highWatermark: bigint;
  /** The contiguous local run at the log's end; undefined when this process holds nothing of the partition. */
  readonly local:
    | { readonly localLogStart: bigint; readonly localLogEnd: bigint; readonly inSync: boolean }
    | undefined;
  readonly coordinates: readonly ExplainedCoordinate[];
  readonly objects: number;
  /** What the consumer would get, of the coordinates' bytes. */
  readonly wantedBytes: number;
  readonly localBytes: number;
  readonly inFlightBytes: number;
  readonly queuedBytes: number;
  /** The GETs it would add. */
  readonly gets: readonly ObjectRange[];
  readonly readBytes: number;
  /** Read, but not wanted by this fetch: gaps, and batches before the offset. */
  readonly wastedBytes: number;
  readonly predictedLatencyMs: number;
  readonly predictedDollars: number;
}

export interface ExplainFetchParts {
  readonly coordinator: DisklessCoordinator;
  readonly settings: FetchSettings;
  /** Absent where nothing is held yet, as in a process that only explains. */
  readonly localLog?: LocalLog;
  readonly reader?: CoordinateReader;
  readonly scheduler?: FetchScheduler;
}

export async function explainFetch(parts: ExplainFetchParts, request: ExplainFetchRequest): Promise<FetchExplanation> {
  const { topicIdPartition, fetchOffset, maxBytes = 1024 * 1024 } = request;
  const local = parts.localLog && localOf(parts.localLog, partitionKey(topicIdPartition));
  const [found] = await parts.coordinator.findBatches({
    partitions: [{ topicIdPartition, fetchOffset, maxBytes }],
    maxBytes,
  });
  const coordinates = found!.coordinates.map((coordinate) => locate(parts, topicIdPartition, coordinate));
  const direct = coordinates.filter(({ source }) => source === 'object storage' || source === 'in flight');
  const coverage = direct.map(
    (range) => parts.scheduler?.coverage(range) ?? { inFlight: 0, queued: 0, missing: [range] },
  );
  const { fetchRequestCostBytes: requestCostBytes, fetchMaxRangeBytes: maxRangeBytes } = parts.settings;
  const gets = planRangedGets(
    coverage.flatMap(({ missing }) => missing),
    { requestCostBytes, maxRangeBytes },
  );
  const wantedOf = (some: readonly ExplainedCoordinate[]): number => wantedBytes(some, fetchOffset);
  const coveredBytes = sum(coverage.map(({ inFlight, queued }) => inFlight + queued));
  const readBytes = sum(gets.map(({ size }) => size));
  return {
    topicIdPartition,
    fetchOffset,
    maxBytes,
    ...decide(found!, local, fetchOffset, direct.length),
    error: found!.error,
    logStartOffset: found!.logStartOffset,
    highWatermark: found!.highWatermark,
    local,
    coordinates,
    objects: new Set(coordinates.map(({ objectKey }) => objectKey)).size,
    wantedBytes: wantedOf(coordinates),
    localBytes: wantedOf(coordinates.filter(({ source }) => source === 'local view')),
    inFlightBytes: sum(coverage.map(({ inFlight }) => inFlight)),
    queuedBytes: sum(coverage.map(({ queued }) => queued)),
    gets,
    readBytes,
    wastedBytes: Math.max(0, readBytes + coveredBytes - wantedOf(direct)),
    predictedLatencyMs: predictLatencyMs(gets, coveredBytes, parts.settings),
    predictedDollars: predictDollars(gets.length, readBytes, parts.settings),
  };
}

function locate(parts: ExplainFetchParts, of: TopicIdPartition, coordinate: BatchCoordinate): ExplainedCoordinate {
  const { objectKey, position, size, baseOffset, lastOffset } = coordinate;
  let source: CoordinateSource = 'object storage';
  if (parts.localLog?.covering(partitionKey(of), baseOffset, lastOffset).length) source = 'local view';
  else if (parts.reader?.isPending(coordinate)) source = 'in flight';
  else if (parts.reader?.isGone(objectKey)) source = 'gone';
  return { objectKey, position, size, baseOffset, lastOffset, source };
}

function localOf(localLog: LocalLog, key: PartitionKey): FetchExplanation['local'] {
  const bounds = localLog.bounds(key);
  const localLogStart = localLog.localLogStart(key);
  if (!bounds || localLogStart === undefined || localLogStart >= bounds.localLogEnd) return undefined;
  return { localLogStart, localLogEnd: bounds.localLogEnd, inSync: bounds.inSync };
}

/** Which way it goes, and the reason in a sentence. */
function decide(
  { error, highWatermark, logStartOffset, coordinates }: FindBatchesResult,
  local: FetchExplanation['local'],
  fetchOffset: bigint,
  directReads: number,
): Pick<FetchExplanation, 'decision' | 'reason'> {
  if (error === Errors.OFFSET_OUT_OF_RANGE) {
    return {
      decision: 'error',
      reason: `the coordinator's log runs from ${logStartOffset} to ${highWatermark}, which does not hold ${fetchOffset}`,
    };
  }
  if (error !== Errors.NONE) return { decision: 'error', reason: `the coordinator answers ${errorName(error)}` };
  if (coordinates.length === 0) {
    return { decision: 'wait', reason: `${fetchOffset} is the high watermark: the fetch waits for a commit` };
  }
  if (directReads === 0) return { decision: 'local', reason: 'all batches are in the local view' };
  if (!local) return { decision: 'direct', reason: 'the local view holds nothing of this partition' };
  if (fetchOffset < local.localLogStart) {
    return { decision: 'direct', reason: `${fetchOffset} lies before the local log start ${local.localLogStart}` };
  }
  return {
    decision: 'direct',
    reason: `the local view ends at ${local.localLogEnd} and is behind the high watermark ${highWatermark}`,
  };
}

function wantedBytes(coordinates: readonly ExplainedCoordinate[], fetchOffset: bigint): number {
  return Math.ceil(sum(coordinates.map((coordinate) => coordinate.size * wantedShare(coordinate, fetchOffset))));
}

/** GETs run side by side up to the limit; what others have in flight is expected within one GET's time. */
function predictLatencyMs(gets: readonly ObjectRange[], coveredBytes: number, settings: FetchSettings): number {
  const { expectedFirstByteMs, expectedBytesPerSecond, fetchMaxInFlightGets } = settings;
  const timeOf = (bytes: number): number => expectedFirstByteMs + (bytes / expectedBytesPerSecond) * 1000;
  const waves: number[] = [];
  for (const [i, { size }] of gets.entries()) {
    const wave = Math.floor(i / fetchMaxInFlightGets);
    waves[wave] = Math.max(waves[wave] ?? 0, timeOf(size));
  }
  return Math.max(sum(waves), coveredBytes > 0 ? timeOf(coveredBytes) : 0);
}

function predictDollars(gets: number, bytes: number, settings: FetchSettings): number {
  return (gets / 1000) * settings.priceDollarsPer1000Gets + (bytes / 2 ** 30) * settings.priceDollarsPerGib;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** The explanation for JSON: offsets, which may exceed what a JSON number holds, as decimal text. */
export function explanationJson(explanation: FetchExplanation): unknown {
  const json = JSON.stringify(explanation, (_key, value: unknown) => (typeof value === 'bigint' ? `${value}` : value));
  return { ...JSON.parse(json), errorName: errorName(explanation.error) };
}

/** The explanation for people, a few lines. `name` is what to call the partition; by default its key. */
export function explanationText(
  explanation: FetchExplanation,
  name: string = partitionKey(explanation.topicIdPartition),
): string {
  const { fetchOffset, maxBytes, decision, reason, coordinates, local, gets } = explanation;
  const lines = [
    `fetch of ${name} from offset ${fetchOffset}, at most ${bytesText(maxBytes)}: ${decision}`,
    `  because ${reason}`,
    `  log: start ${explanation.logStartOffset}, high watermark ${explanation.highWatermark}`,
    local
      ? `  local view: ${local.localLogStart} to ${local.localLogEnd}, ${local.inSync ? 'in sync' : 'not in sync'}`
      : '  local view: nothing',
  ];
  if (coordinates.length > 0) {
    lines.push(`  ${counted(coordinates.length, 'coordinate')} in ${counted(explanation.objects, 'object')}:`);
    for (const { baseOffset, lastOffset, objectKey, position, size, source } of coordinates) {
      lines.push(`    ${baseOffset}..${lastOffset}  ${objectKey}+${position}, ${bytesText(size)}  (${source})`);
    }
    lines.push(
      `  covered already: ${bytesText(explanation.localBytes)} local, ${bytesText(explanation.inFlightBytes)} in flight, ` +
        `${bytesText(explanation.queuedBytes)} queued`,
      `  plan: ${counted(gets.length, 'GET')}`,
    );
    for (const { objectKey, position, size } of gets) lines.push(`    ${objectKey}+${position}, ${bytesText(size)}`);
    lines.push(
      `  ${bytesText(explanation.wantedBytes)} wanted, ${bytesText(explanation.readBytes)} read, ` +
        `${bytesText(explanation.wastedBytes)} of it wasted`,
      `  predicted: ${explanation.predictedLatencyMs.toFixed(1)} ms, ${dollarsText(explanation.predictedDollars)}`,
    );
  }
  return lines.join('\n');
}

function dollarsText(dollars: number): string {
  return dollars === 0 ? 'no charge' : `$${dollars.toFixed(8)}`;
}

function bytesText(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  return bytes < 1024 * 1024 ? `${(bytes / 1024).toFixed(1)} KiB` : `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
}
