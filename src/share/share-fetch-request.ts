/** What a broker asks `shareFetch` and `shareAcknowledge` for, and what it gets back (KIP-932, API keys 78 and 79). */
import type { ErrorCode } from '../common/errors.ts';
import type { TopicIdPartition } from '../common/topic-id-partition.ts';
import type { AcquireMode } from './acquire.ts';

/** Offsets and what the member says of them: one type for all, or one per offset (0 gap … 4 renew). */
export interface ShareAcknowledgementBatch {
  readonly firstOffset: bigint;
  readonly lastOffset: bigint;
  readonly acknowledgeTypes: readonly number[];
}

export interface SharePartitionRequest {
  readonly topicIdPartition: TopicIdPartition;
  readonly acknowledgements: readonly ShareAcknowledgementBatch[];
}

interface ShareRequest {
  readonly groupId: string;
  /** 1 to 36 characters, chosen by the client. */
  readonly memberId: string;
  readonly sessionEpoch: number;
  /** The version the client spoke; decides which acknowledgement types exist. */
  readonly apiVersion: number;
  readonly isRenewAck: boolean;
  readonly partitions: readonly SharePartitionRequest[];
}

export interface ShareFetchRequest extends ShareRequest {
  readonly maxWaitMs: number;
  readonly minBytes: number;
  readonly maxBytes: number;
  readonly maxRecords: number;
  readonly batchSize: number;
  readonly acquireMode: AcquireMode;
  /** Partitions to take out of the session. */
  readonly forgotten: readonly TopicIdPartition[];
}

export interface ShareAcknowledgeRequest extends ShareRequest {}

export interface ShareAcquiredRecords {
  readonly firstOffset: bigint;
  readonly lastOffset: bigint;
  readonly deliveryCount: number;
}

export interface ShareFetchPartitionData {
  readonly topicIdPartition: TopicIdPartition;
  readonly error: ErrorCode;
  readonly acknowledgeError: ErrorCode;
  /** Whole log batches, views to be released; the client filters by `acquiredRecords`. */
  readonly records: readonly Uint8Array[];
  readonly acquiredRecords: readonly ShareAcquiredRecords[];
}

export interface ShareFetchResult {
  /** Of the whole request; then there are no partitions. */
  readonly error: ErrorCode;
  readonly message: string;
  readonly acquisitionLockTimeoutMs: number;
  readonly partitions: readonly ShareFetchPartitionData[];
  /** Gives the bytes back, once they are written or copied. */
  release(): void;
}

export interface ShareAcknowledgeResult {
  readonly error: ErrorCode;
  readonly message: string;
  readonly acquisitionLockTimeoutMs: number;
  readonly partitions: readonly { readonly topicIdPartition: TopicIdPartition; readonly error: ErrorCode }[];
}
