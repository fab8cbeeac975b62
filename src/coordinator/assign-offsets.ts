/**
 * The heart of commitFile, pure: which batches of a segment are accepted, the offsets they get, and the coordinates that
 * adjacent accepted ones become. It reads what a store knows of the partitions and returns what would change; the store
 * writes that down and applies it to its memory only then, so a failed write leaves nothing behind.
 */
import { Errors } from '../common/errors.ts';
import { partitionKey, type TopicIdPartition } from '../common/topic-id-partition.ts';
import type { CommitBatch, CommitBatchResult, TimestampType } from './diskless-coordinator.ts';
import {
  incrementSequence,
  isExpired,
  judge,
  type ProducerBatch,
  type ProducerState,
  remember,
} from './producer-state.ts';

/** Adjacent batches become one coordinate up to this many bytes. */
export const DEFAULT_MAX_COORDINATE_BYTES = 1 << 20;

/** What commits need to know of a partition; held in memory by the stores. */
export interface LogHead {
  readonly topicIdPartition: TopicIdPartition;
  logStartOffset: bigint;
  highWatermark: bigint;
  leaderEpoch: number;
  /** The append time of the last commit, so that LogAppendTime never goes back; −1 before the first. */
  lastAppendTimeMs: bigint;
  readonly producers: Map<bigint, ProducerState>;
}

/** A batch of an idempotent producer inside a coordinate: enough to rebuild the producer state from the log. */
export interface ProducerAppend {
  readonly producerId: bigint;
  readonly producerEpoch: number;
  readonly batch: ProducerBatch;
}

/** A coordinate about to be stored. */
export interface NewCoordinate {
  readonly position: number;
  size: number;
  readonly baseOffset: bigint;
  lastOffset: bigint;
  readonly timestampType: TimestampType;
  /** When it was committed, also under CreateTime: retention falls back on it where records have no timestamp. */
  readonly appendTimeMs: bigint;
  maxTimestamp: bigint;
  offsetOfMaxTimestamp: bigint;
  readonly leaderEpoch: number;
  readonly producerAppends: ProducerAppend[];
}

/** A partition's part of a commit, not applied yet. */
export interface StagedLog {
  readonly head: LogHead;
  highWatermark: bigint;
  appendTimeMs: bigint;
  readonly producers: Map<bigint, ProducerState>;
  readonly coordinates: NewCoordinate[];
}

export interface AssignOffsetsOptions {
  readonly nowMs: bigint;
  readonly maxCoordinateBytes: number;
  readonly producerIdExpirationMs: number;
  /** The partition's head, or undefined where there is none. */
  readonly headOf: (of: TopicIdPartition) => LogHead | undefined;
}

export interface AssignedOffsets {
  readonly results: CommitBatchResult[];
  /** The partitions in which something was accepted. */
  readonly logs: StagedLog[];
}

const UNKNOWN_PARTITION: CommitBatchResult = Object.freeze({
  error: Errors.UNKNOWN_TOPIC_OR_PARTITION,
  baseOffset: -1n,
  logAppendTimeMs: -1n,
  logStartOffset: -1n,
  duplicate: false,
});

function stage(head: LogHead, nowMs: bigint): StagedLog {
  const appendTimeMs = nowMs > head.lastAppendTimeMs ? nowMs : head.lastAppendTimeMs;
  return { head, highWatermark: head.highWatermark, appendTimeMs, producers: new Map(), coordinates: [] };
}

/** The partition of a batch; batches of one partition lie side by side, so the last one is nearly always the same. */
function stagedLogs(options: AssignOffsetsOptions): {
  readonly of: (topicIdPartition: TopicIdPartition) => StagedLog | undefined;
  readonly all: Map<string, StagedLog | undefined>;
} {
  const all = new Map<string, StagedLog | undefined>();
  let last: { topicIdPartition: TopicIdPartition; log: StagedLog | undefined } | undefined;
  const lookUp = (of: TopicIdPartition): StagedLog | undefined => {
    const key = partitionKey(of);
    if (all.has(key)) return all.get(key);
    const head = options.headOf(of);
    const log = head && stage(head, options.nowMs);
    all.set(key, log);
    return log;
  };
  const of = (topicIdPartition: TopicIdPartition): StagedLog | undefined => {
    const { topicId, partition } = topicIdPartition;
    if (last?.topicIdPartition.topicId !== topicId || last.topicIdPartition.partition !== partition) {
      last = { topicIdPartition, log: lookUp(topicIdPartition) };
    }
    return last.log;
  };
  return { of, all };
}

function producerOf(log: StagedLog, producerId: bigint, options: AssignOffsetsOptions): ProducerState | undefined {
  const state = log.producers.get(producerId) ?? log.head.producers.get(producerId);
  return state && isExpired(state, options.nowMs, options.producerIdExpirationMs) ? undefined : state;
}

/** Whether a batch continues a coordinate: byte-adjacent, of one kind, and within the bound. */
function continues(last: NewCoordinate | undefined, batch: CommitBatch, maxBytes: number): last is NewCoordinate {
  return (
    last !== undefined &&
    last.position + last.size === batch.position &&
    last.timestampType === batch.timestampType &&
    last.size + batch.size <= maxBytes
  );
}

/** Gives the batch the partition's next offsets and adds it to the last coordinate or to a new one. */
function append(log: StagedLog, batch: CommitBatch, maxCoordinateBytes: number): NewCoordinate {
  const baseOffset = log.highWatermark;
  const lastOffset = baseOffset + BigInt(batch.lastOffsetDelta);
  const logAppend = batch.timestampType === 1;
  const maxTimestamp = logAppend ? log.appendTimeMs : batch.maxTimestamp;
  const offsetOfMaxTimestamp = logAppend ? baseOffset : baseOffset + BigInt(batch.offsetOfMaxTimestampDelta);
  log.highWatermark = lastOffset + 1n;
  const last = log.coordinates.at(-1);
  if (continues(last, batch, maxCoordinateBytes)) {
    last.size += batch.size;
    last.lastOffset = lastOffset;
    if (maxTimestamp > last.maxTimestamp) Object.assign(last, { maxTimestamp, offsetOfMaxTimestamp });
    return last;
  }
  const coordinate: NewCoordinate = {
    position: batch.position,
    size: batch.size,
    baseOffset,
    lastOffset,
    timestampType: batch.timestampType,
    appendTimeMs: log.appendTimeMs,
    maxTimestamp,
    offsetOfMaxTimestamp,
    leaderEpoch: log.head.leaderEpoch,
    producerAppends: [],
  };
  log.coordinates.push(coordinate);
  return coordinate;
}

function noteProducer(
  log: StagedLog,
  coordinate: NewCoordinate,
  batch: CommitBatch,
  state: ProducerState | undefined,
): void {
  const timestamp = batch.timestampType === 1 ? log.appendTimeMs : batch.maxTimestamp;
  const appended: ProducerBatch = {
    firstSequence: batch.baseSequence,
    lastSequence: incrementSequence(batch.baseSequence, batch.lastOffsetDelta),
    firstOffset: log.highWatermark - BigInt(batch.lastOffsetDelta) - 1n,
    timestamp,
    timestampType: batch.timestampType,
  };
  log.producers.set(batch.producerId, remember(state, batch.producerEpoch, appended, log.appendTimeMs));
  coordinate.producerAppends.push({
    producerId: batch.producerId,
    producerEpoch: batch.producerEpoch,
    batch: appended,
  });
}

function commitBatch(log: StagedLog, batch: CommitBatch, options: AssignOffsetsOptions): CommitBatchResult {
  const { logStartOffset } = log.head;
  const idempotent = batch.producerId >= 0n;
  const state = idempotent ? producerOf(log, batch.producerId, options) : undefined;
  const verdict = idempotent ? judge(state, batch) : undefined;
  if (verdict?.kind === 'error') {
    return { error: verdict.error, baseOffset: -1n, logAppendTimeMs: -1n, logStartOffset, duplicate: false };
  }
  if (verdict?.kind === 'duplicate') {
    const { firstOffset, timestamp, timestampType } = verdict.of;
    const logAppendTimeMs = timestampType === 1 ? timestamp : -1n;
    return { error: Errors.NONE, baseOffset: firstOffset, logAppendTimeMs, logStartOffset, duplicate: true };
  }
  const baseOffset = log.highWatermark;
  const coordinate = append(log, batch, options.maxCoordinateBytes);
  if (idempotent) noteProducer(log, coordinate, batch, state);
  const logAppendTimeMs = batch.timestampType === 1 ? log.appendTimeMs : -1n;
  return { error: Errors.NONE, baseOffset, logAppendTimeMs, logStartOffset, duplicate: false };
}

/** Results are in the order of `batches`. Nothing that `headOf` returned is changed. */
export function assignOffsets(batches: readonly CommitBatch[], options: AssignOffsetsOptions): AssignedOffsets {
  const staged = stagedLogs(options);
  const results = batches.map((batch) => {
    const log = staged.of(batch.topicIdPartition);
    return log === undefined ? UNKNOWN_PARTITION : commitBatch(log, batch, options);
  });
  const logs = [...staged.all.values()].filter((log) => log !== undefined && log.coordinates.length > 0);
  return { results, logs: logs as StagedLog[] };
}

/** Makes a staged part the partition's state, once it is stored. */
export function applyStaged(log: StagedLog): void {
  log.head.highWatermark = log.highWatermark;
  log.head.lastAppendTimeMs = log.appendTimeMs;
  for (const [producerId, state] of log.producers) log.head.producers.set(producerId, state);
}
