/**
 * What a commit comes to if every batch of it is accepted, as nearly always, worked out before the database is asked:
 * offsets are counted from the end of each log, which only the database knows. Pure. The database checks that it may be so
 * and otherwise judges the batches itself (`commit-function.ts`).
 */
import { type PartitionKey, partitionKey, type TopicIdPartition } from '../../common/topic-id-partition.ts';
import { ByteReader, ByteWriter } from '../byte-codec.ts';
import type { CommitBatch, CommitBatchResult, TimestampType } from '../diskless-coordinator.ts';
import { BATCHES_REMEMBERED, incrementSequence } from '../producer-state.ts';

/** From this many sequences on, five batches may go once around, and only the database's own judging tells them apart. */
export const HUGE_BATCH = 400_000_000;

/** The greatest timestamp that is remembered of a producer's batch: twice of it must fit into 64 bits. */
export const MAX_STAMPED = 2n ** 62n - 1n;

/** A partition of the file. */
export interface PlannedLog {
  readonly number: number;
  readonly key: PartitionKey;
  readonly topicIdPartition: TopicIdPartition;
  /** Offsets taken. */
  span: number;
  coordinates: number;
  bytes: number;
  /** The greatest timestamp under CreateTime, −1 for none. */
  maxTimestamp: bigint;
  hasLogAppendTime: boolean;
  last: PlannedCoordinate | undefined;
  readonly chains: Map<bigint, Chain>;
}

export interface PlannedCoordinate {
  readonly log: number;
  readonly position: number;
  size: number;
  readonly base: number;
  lastOffset: number;
  readonly timestampType: TimestampType;
  maxTimestamp: bigint;
  maxTimestampOffset: number;
}

interface ChainBatch {
  readonly firstSequence: number;
  readonly lastSequence: number;
  readonly offset: number;
  /** Twice the timestamp; undefined under LogAppendTime, whose time is not known yet. */
  readonly stamp: bigint | undefined;
}

/** The batches of one producer in one partition. */
export interface Chain {
  readonly number: number;
  readonly log: number;
  readonly producerId: bigint;
  readonly producerEpoch: number;
  readonly firstSequence: number;
  count: number;
  last: ChainBatch;
  /** The last of them, as many as are remembered; only where there are several. */
  readonly recent: ChainBatch[];
}

/** Where a batch's result is found: its log, and its offset from that log's end. */
interface Place {
  readonly log: number;
  readonly offset: number;
  readonly timestampType: TimestampType;
}

/** Numbers count from 1, as PostgreSQL's arrays do. */
export class CommitPlan {
  readonly logs: PlannedLog[] = [];
  readonly coordinates: PlannedCoordinate[] = [];
  readonly chains: Chain[] = [];
  /** By batch; a chain of 0 is none. */
  readonly places: Place[] = [];
  readonly chainOf: number[] = [];
  /** Whether the batches of each chain follow one another. */
  isPlain = true;
  readonly #byKey = new Map<PartitionKey, PlannedLog>();
  readonly #maxCoordinateBytes: number;

  constructor(batches: readonly CommitBatch[], maxCoordinateBytes: number) {
    this.#maxCoordinateBytes = maxCoordinateBytes;
    let log: PlannedLog | undefined;
    for (const batch of batches) {
      log = isOf(log, batch) ? log : this.#logOf(batch.topicIdPartition);
      this.chainOf.push(batch.producerId < 0n ? 0 : this.#follow(log, batch));
      this.#append(log, batch);
    }
  }

  #logOf(topicIdPartition: TopicIdPartition): PlannedLog {
    const key = partitionKey(topicIdPartition);
    let log = this.#byKey.get(key);
    if (!log) {
      log = newLog(this.logs.length + 1, key, topicIdPartition);
      this.#byKey.set(key, log);
      this.logs.push(log);
    }
    return log;
  }

  #follow(log: PlannedLog, batch: CommitBatch): number {
    const { producerId, producerEpoch, baseSequence, lastOffsetDelta } = batch;
    const lastSequence = incrementSequence(baseSequence, lastOffsetDelta);
    const stamp =
      batch.timestampType === 1
        ? undefined
        : (batch.maxTimestamp < MAX_STAMPED ? batch.maxTimestamp : MAX_STAMPED) * 2n;
    const next = { firstSequence: baseSequence, lastSequence, offset: log.span, stamp };
    if (lastOffsetDelta >= HUGE_BATCH) this.isPlain = false;
    const chain = log.chains.get(producerId);
    if (!chain) return this.#begin(log, batch, next);
    const follows = incrementSequence(chain.last.lastSequence, 1) === baseSequence;
    if (!follows || producerEpoch !== chain.producerEpoch) this.isPlain = false;
    if (chain.count === 1) chain.recent.push(chain.last);
    else if (chain.recent.length === BATCHES_REMEMBERED) chain.recent.shift();
    chain.recent.push(next);
    chain.last = next;
    chain.count += 1;
    return chain.number;
  }

  #begin(log: PlannedLog, { producerId, producerEpoch, baseSequence }: CommitBatch, last: ChainBatch): number {
    const number = this.chains.length + 1;
    const firstSequence = baseSequence;
    const chain = { number, log: log.number, producerId, producerEpoch, firstSequence, count: 1, last, recent: [] };
    log.chains.set(producerId, chain);
    this.chains.push(chain);
    return number;
  }

  #append(log: PlannedLog, batch: CommitBatch): void {
    const { timestampType, maxTimestamp, size } = batch;
    const offset = log.span;
    this.places.push({ log: log.number, offset, timestampType });
    log.span = offset + batch.lastOffsetDelta + 1;
    log.bytes += size;
    if (timestampType === 1) log.hasLogAppendTime = true;
    else if (maxTimestamp > log.maxTimestamp) log.maxTimestamp = maxTimestamp;
    const { last } = log;
    if (!last || !continues(last, batch, this.#maxCoordinateBytes)) {
      log.coordinates += 1;
      log.last = newCoordinate(log.number, offset, batch);
      this.coordinates.push(log.last);
      return;
    }
    last.size += size;
    last.lastOffset = offset + batch.lastOffsetDelta;
    if (timestampType === 1 || maxTimestamp <= last.maxTimestamp) return;
    last.maxTimestamp = maxTimestamp;
    last.maxTimestampOffset = offset + batch.offsetOfMaxTimestampDelta;
  }

  /** The places as they are stored with the commit, for whoever asks again without the request. */
  layout(): Uint8Array {
    for (const { log, offset, timestampType } of this.places) {
      writer.number(log * 2 + timestampType);
      writer.number(offset);
    }
    return writer.finish();
  }
}

const writer = new ByteWriter();

/** @throws RangeError for bytes that `layout` did not make */
export function decodeLayout(bytes: Uint8Array): Place[] {
  const reader = new ByteReader(bytes);
  const places: Place[] = [];
  while (!reader.atEnd) {
    const head = reader.number();
    const timestampType = (head & 1) as TimestampType;
    places.push({ log: (head - timestampType) / 2, offset: reader.number(), timestampType });
  }
  return places;
}

/** What each log of a commit was like: where it ended before, its append time, its log start offset. */
export interface CommittedLogs {
  readonly bases: readonly bigint[];
  readonly appendTimesMs: readonly bigint[];
  readonly logStartOffsets: readonly bigint[];
}

export function resultsOf(places: readonly Place[], logs: CommittedLogs): CommitBatchResult[] {
  return places.map(({ log, offset, timestampType }) => ({
    error: 0,
    baseOffset: logs.bases[log - 1]! + BigInt(offset),
    logAppendTimeMs: timestampType === 1 ? logs.appendTimesMs[log - 1]! : -1n,
    logStartOffset: logs.logStartOffsets[log - 1]!,
    duplicate: false,
  }));
}

function isOf(log: PlannedLog | undefined, { topicIdPartition }: CommitBatch): log is PlannedLog {
  return (
    log !== undefined &&
    log.topicIdPartition.partition === topicIdPartition.partition &&
    log.topicIdPartition.topicId === topicIdPartition.topicId
  );
}

function newLog(number: number, key: PartitionKey, topicIdPartition: TopicIdPartition): PlannedLog {
  return {
    number,
    key,
    topicIdPartition,
    span: 0,
    coordinates: 0,
    bytes: 0,
    maxTimestamp: -1n,
    hasLogAppendTime: false,
    last: undefined,
    chains: new Map(),
  };
}

/** Under LogAppendTime the timestamp is the append time, which the first record has as well as any. */
function newCoordinate(log: number, offset: number, batch: CommitBatch): PlannedCoordinate {
  const { timestampType } = batch;
  return {
    log,
    position: batch.position,
    size: batch.size,
    base: offset,
    lastOffset: offset + batch.lastOffsetDelta,
    timestampType,
    maxTimestamp: timestampType === 1 ? -1n : batch.maxTimestamp,
    maxTimestampOffset: timestampType === 1 ? offset : offset + batch.offsetOfMaxTimestampDelta,
  };
}

function continues(last: PlannedCoordinate, batch: CommitBatch, maxBytes: number): boolean {
  return (
    last.position + last.size === batch.position &&
    last.timestampType === batch.timestampType &&
    last.size + batch.size <= maxBytes
  );
}
