/**
 * The Diskless Coordinator (KIP-1164): it gives batches their offsets and is the only source of truth
 * for what is committed.
 *
 * One interface, three implementations (`in-memory-`, `sqlite-`, `postgres-diskless-coordinator.ts`) and one contract
 * suite (test/contract/). The memory one is the readable reference model. Called from the main thread; none of its
 * operations blocks it. Whoever constructs a coordinator closes it.
 *
 * Offsets, producer ids and timestamps are bigint; byte positions, sizes, sequences and epochs are numbers.
 * Failures that concern one partition are values in its result. A promise rejects only with a `CoordinatorError`.
 */
import type { ErrorCode } from '../common/errors.ts';
import type { PartitionKey, TopicIdPartition } from '../common/topic-id-partition.ts';
import type { Uuid } from '../common/uuid.ts';
import type { GroupStore } from './group-store.ts';
import type { ProducerIdStore } from './producer-id-store.ts';
import type { ShareStateStore } from './share-state-store.ts';
import type { TopicStore } from './topic-store.ts';

export interface DisklessCoordinator extends TopicStore, ProducerIdStore, GroupStore, ShareStateStore, AsyncDisposable {
  /** What it is and where, for logs and `shoal serve`'s greeting; never holds a secret. */
  readonly description: string;

  /** The cluster's id: made when the coordinator's storage was created, the same ever since. */
  readonly clusterId: Uuid;

  /**
   * Aborts when it can never answer again (its thread died), the reason being a CoordinatorError: close it and open
   * another. What only is unreachable for now does not count. Left out by those to whom it cannot happen.
   */
  readonly failed?: AbortSignal | undefined;

  /**
   * Registers an uploader (a running engine) and returns its epoch: greater than every epoch given out before for this
   * node id. It goes into each footer, so that a rebuild from the bucket can order segments.
   */
  registerUploader(nodeId: number): Promise<{ epoch: number }>;

  /**
   * Commits an uploaded segment: checks producer state, assigns base offsets, makes the batches findable; durable when
   * it resolves. Atomic: a crash leaves all of it or nothing. A batch with an error takes no offset and does not affect
   * the others. Idempotent by object key: repeating it, also after a restart, returns the first result.
   * @throws CoordinatorError `abandoned` (the key was given up; nothing was committed), `invalid`, or `unavailable`
   *   (outcome unknown: repeat the same call until it answers, or give the key up with `abandonFile`)
   */
  commitFile(request: CommitFileRequest): Promise<CommitFileResult>;

  /**
   * Gives an object key up, durably, so that no late commit of it can succeed; only after this may an error be answered
   * for its batches or the object be deleted. When the key turns out to be committed, nothing changes and the commit's
   * result is returned.
   */
  abandonFile(objectKey: string): Promise<AbandonFileResult>;

  /**
   * Where the batches of some partitions lie, spending `maxBytes` over the partitions in the order given. Result i
   * belongs to request i. Cost follows the result, not the depth of the log.
   */
  findBatches(request: FindBatchesRequest): Promise<FindBatchesResult[]>;

  /** Kafka's ListOffsets at the granularity of coordinates; the engine narrows a timestamp down to the record. */
  listOffsets(requests: readonly ListOffsetsRequest[]): Promise<ListOffsetsResult[]>;

  /**
   * Moves log start offsets forward (Kafka's DeleteRecords); nothing below is readable from then on. Coordinates wholly
   * below are dropped by `enforceRetention`.
   */
  deleteRecords(requests: readonly DeleteRecordsRequest[]): Promise<DeleteRecordsResult[]>;

  /**
   * One bounded step of everything that drops coordinates: those of deleted topics, those below a log start offset, then
   * retention by time and size (`retention.ms`, `retention.bytes` of the topic, else `log.retention.ms`,
   * `log.retention.bytes` of the scope `broker`, else 7 days and no limit; only where `cleanup.policy` has `delete`):
   * oldest first, by the coordinator's clock and the batches' max timestamps. A log keeps at least `retention.bytes`.
   * Call again while `more`; a pass over all partitions has ended when it is false.
   */
  enforceRetention(request: EnforceRetentionRequest): Promise<EnforceRetentionResult>;

  /**
   * Objects that may be deleted now: no coordinate refers to them since at least `graceMs`, or they were abandoned that
   * long ago. At most `limit`.
   */
  filesToDelete(request: { readonly graceMs: number; readonly limit: number }): Promise<string[]>;

  /**
   * Notes that the storage no longer has these objects. Their rows stay as tombstones until `forgetFiles`: a late commit
   * of an abandoned key is refused, one of a committed key gets its first result. Unknown keys are ignored.
   * @throws CoordinatorError `invalid` when a coordinate refers to one of them; nothing is noted then
   */
  deleteFiles(objectKeys: readonly string[]): Promise<void>;

  /**
   * Forgets tombstones of objects that are known to be gone from storage for `olderThanMs`, oldest first, at most `limit`;
   * how many. Late commits of their keys are refused for their age then (see `tombstones.ts`).
   * @throws CoordinatorError `invalid` for an age that is not safe
   */
  forgetFiles(request: { readonly olderThanMs: number; readonly limit: number }): Promise<number>;

  /** What is known of some objects, in request order; undefined for a key never seen. */
  describeFiles(objectKeys: readonly string[]): Promise<(FileDescription | undefined)[]>;

  /**
   * How much of the object storage topics take: bytes that coordinates refer to, by partition; undefined for a topic that
   * there is not. In request order.
   */
  logSizes(topicIds: readonly Uuid[]): Promise<(readonly bigint[] | undefined)[]>;

  /** The producer state of partitions, for DescribeProducers and tests, in request order. */
  describeProducers(partitions: readonly TopicIdPartition[]): Promise<ProducerStateDescription[][]>;

  /**
   * Tells of committed changes: by this process as soon as they are durable, by others when they are heard of. Listeners
   * are called on the main thread, must be fast and must not throw. Returns the unsubscribe function.
   */
  onChange(listener: (change: CoordinatorChange) => void): () => void;

  /** Waits for what is in flight, then frees the store. A second call returns the first one's promise. */
  close(): Promise<void>;
}

/** Attributes bit 3 of a batch. 0: CreateTime, the producer's. 1: LogAppendTime, the coordinator's. */
export type TimestampType = 0 | 1;

/** One record batch of a segment, in the order in which it lies there (topic id, partition, arrival). */
export interface CommitBatch {
  readonly topicIdPartition: TopicIdPartition;
  /** Where the batch begins in the object, bytes. */
  readonly position: number;
  /** Its whole size in bytes, header included; at least 61. */
  readonly size: number;
  /** Offsets it takes, less one. */
  readonly lastOffsetDelta: number;
  /** The greatest record timestamp, −1 when it has none. Under LogAppendTime what the producer had. */
  readonly maxTimestamp: bigint;
  /** Offset of the first record with `maxTimestamp`, counted from the batch's base offset. */
  readonly offsetOfMaxTimestampDelta: number;
  readonly timestampType: TimestampType;
  /** −1 without idempotence; then epoch and sequence are −1 too. */
  readonly producerId: bigint;
  readonly producerEpoch: number;
  readonly baseSequence: number;
}

export interface CommitFileRequest {
  readonly objectKey: string;
  /** Segment format version, the object's first byte. */
  readonly formatVersion: number;
  readonly sizeBytes: number;
  readonly uploaderId: number;
  readonly uploaderEpoch: number;
  /** Counts this uploader's segments, from 0 in each epoch. */
  readonly segmentSequence: number;
  /** When the segment was made, before its PUT, by the uploader's clock. One of a day ago counts as given up. */
  readonly createdMs: number;
  readonly batches: readonly CommitBatch[];
}

export interface CommitBatchResult {
  /**
   * NONE; UNKNOWN_TOPIC_OR_PARTITION; OUT_OF_ORDER_SEQUENCE_NUMBER; INVALID_PRODUCER_EPOCH. A duplicate is NONE.
   */
  readonly error: ErrorCode;
  /** The offset of its first record; for a duplicate the one it got the first time; −1 with an error. */
  readonly baseOffset: bigint;
  /** The append time under LogAppendTime, −1 under CreateTime or with an error. */
  readonly logAppendTimeMs: bigint;
  readonly logStartOffset: bigint;
  /** Its producer had this batch committed before; these bytes of the object are dead. */
  readonly duplicate: boolean;
}

export interface CommitFileResult {
  /** In the order of the request's batches. */
  readonly batches: readonly CommitBatchResult[];
}

export type AbandonFileResult =
  | { readonly outcome: 'abandoned' }
  | ({ readonly outcome: 'committed' } & CommitFileResult);

/** A run of adjacent batches of one partition inside one object, and the offsets it was given. */
export interface BatchCoordinate {
  readonly objectKey: string;
  readonly position: number;
  readonly size: number;
  readonly baseOffset: bigint;
  /** The last offset of the run. Batches inside are numbered by a running offset that must end here. */
  readonly lastOffset: bigint;
  readonly timestampType: TimestampType;
  /** What LogAppendTime batches get injected; −1 under CreateTime. */
  readonly logAppendTimeMs: bigint;
  /** The greatest timestamp of its records, −1 when none has one; under LogAppendTime the append time. */
  readonly maxTimestamp: bigint;
  /** What is injected as partition leader epoch. */
  readonly leaderEpoch: number;
}

export interface FindBatchesRequest {
  readonly partitions: readonly {
    readonly topicIdPartition: TopicIdPartition;
    readonly fetchOffset: bigint;
    /** This partition's own limit in bytes. */
    readonly maxBytes: number;
  }[];
  /** The whole request's limit in bytes, spent in the order of `partitions`. */
  readonly maxBytes: number;
  /** Return the request's first coordinate even when the limits are 0 (KIP-74). @default true */
  readonly minOneBatch?: boolean;
}

export interface FindBatchesResult {
  /** NONE (also at the high watermark: then without coordinates), OFFSET_OUT_OF_RANGE, UNKNOWN_TOPIC_OR_PARTITION. */
  readonly error: ErrorCode;
  readonly logStartOffset: bigint;
  readonly highWatermark: bigint;
  /** Equal to the high watermark as long as there are no transactions. */
  readonly lastStableOffset: bigint;
  /**
   * By rising offset, the first one holding the fetch offset. The one that crosses a limit is included, so a limit of 0
   * gives none. Of the first one, only the share from the fetch offset on counts, by offsets.
   */
  readonly coordinates: readonly BatchCoordinate[];
}

/** Kafka's special timestamps. */
export const ListOffsetsTimestamp = {
  latest: -1n,
  earliest: -2n,
  maxTimestamp: -3n,
  earliestLocal: -4n,
  latestTiered: -5n,
} as const;

export interface ListOffsetsRequest {
  readonly topicIdPartition: TopicIdPartition;
  /** A time in milliseconds, or one of `ListOffsetsTimestamp`. */
  readonly timestamp: bigint;
  /**
   * For a time and the max timestamp: look only at coordinates whose last offset is at least this. With unordered
   * CreateTime the coordinate that straddles the log start may owe its max timestamp to deleted records; the engine then
   * asks again from `coordinate.lastOffset + 1`.
   */
  readonly fromOffset?: bigint;
}

export interface ListOffsetsResult {
  /** NONE, UNKNOWN_TOPIC_OR_PARTITION, or UNSUPPORTED_VERSION for a negative timestamp that means nothing. */
  readonly error: ErrorCode;
  /** −1 where Kafka answers none (latest, earliest) and where nothing matches. */
  readonly timestamp: bigint;
  /**
   * −1 where nothing matches. For a time the coordinate's first offset that is not deleted; for the max timestamp the
   * first record that has it. Never below the log start offset.
   */
  readonly offset: bigint;
  /** −1 where nothing matches. */
  readonly leaderEpoch: number;
  /**
   * For a time: the first coordinate with such a record; the engine reads it to find the very record. For the max
   * timestamp: the one that has it, where that record is deleted; the engine then looks at the others in it and behind it.
   */
  readonly coordinate?: BatchCoordinate;
}

export interface DeleteRecordsRequest {
  readonly topicIdPartition: TopicIdPartition;
  /** Everything below it goes; −1 means up to the high watermark. It may lie inside a batch. */
  readonly beforeOffset: bigint;
}

export interface DeleteRecordsResult {
  /** NONE, UNKNOWN_TOPIC_OR_PARTITION, OFFSET_OUT_OF_RANGE (above the high watermark). */
  readonly error: ErrorCode;
  /** The log start offset afterwards; −1 with an error. */
  readonly lowWatermark: bigint;
}

export interface EnforceRetentionRequest {
  /** Coordinates to drop at most in this step. */
  readonly maxCoordinates: number;
}

export interface EnforceRetentionResult {
  readonly coordinatesDeleted: number;
  readonly bytesDeleted: number;
  /** Partitions whose log start offset moved. */
  readonly partitions: readonly TopicIdPartition[];
  readonly more: boolean;
}

/** `uploaded`: coordinates refer to it. `deleting`: none does. `deleted`, `abandoned`: tombstones. */
export type FileState = 'uploaded' | 'deleting' | 'deleted' | 'abandoned';

export interface FileDescription {
  readonly objectKey: string;
  readonly state: FileState;
  readonly sizeBytes: number;
  /** Bytes that coordinates still refer to. */
  readonly liveBytes: number;
  /** When it was committed or abandoned, by the coordinator's clock. */
  readonly sinceMs: number;
}

export interface ProducerStateDescription {
  readonly producerId: bigint;
  readonly producerEpoch: number;
  readonly lastSequence: number;
  readonly lastTimestampMs: bigint;
}

/**
 * What changed. `changeNumber` rises with every change and survives restarts. `probe` means that changes may have been
 * missed (a connection was lost): whoever waits must look again.
 */
export type CoordinatorChange =
  | {
      readonly kind: 'commit';
      readonly changeNumber: number;
      readonly highWatermarks: ReadonlyMap<PartitionKey, bigint>;
    }
  | {
      readonly kind: 'log-start';
      readonly changeNumber: number;
      readonly logStartOffsets: ReadonlyMap<PartitionKey, bigint>;
    }
  | { readonly kind: 'topics'; readonly changeNumber: number }
  | { readonly kind: 'probe'; readonly changeNumber: number };

/**
 * - `abandoned`: the key was given up before. Nothing of it is or will be committed.
 * - `invalid`: the request contradicts itself or an earlier commit of that key, or holds what the store cannot keep (an id
 *   longer than PostgreSQL's indexes take); nothing was done, and repeating it does not help.
 * - `unavailable`: the store did not answer. Whether a write happened is unknown.
 * - `fenced`: a newer owner has taken over; nothing was done.
 * - `no-space`: the store's disk is full; nothing was done.
 * - `closed`: `close()` was called; nothing was done.
 */
export type CoordinatorErrorKind = 'abandoned' | 'invalid' | 'unavailable' | 'fenced' | 'no-space' | 'closed';

export class CoordinatorError extends Error {
  override readonly name = 'CoordinatorError';
  readonly kind: CoordinatorErrorKind;

  constructor(kind: CoordinatorErrorKind, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.kind = kind;
  }
}
