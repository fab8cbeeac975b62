/** What a broker hands to `append`, and what it gets back. */
import type { ErrorCode } from '../common/errors.ts';
import type { TopicIdPartition } from '../common/topic-id-partition.ts';
import type { RecordError } from '../record/validation.ts';

/** The records of one partition: exactly one v2 record batch, as a producer sent it. */
export interface AppendPartition {
  readonly topicIdPartition: TopicIdPartition;
  /** Borrowed until the promise settles; copied once, never modified. */
  readonly records: Uint8Array;
}

export interface AppendOptions {
  /** How long the caller waits, milliseconds. Past it the answer is REQUEST_TIMED_OUT; the batch may still be committed. */
  readonly timeoutMs?: number;
}

/** Result i belongs to partition i. */
export interface AppendResult {
  readonly topicIdPartition: TopicIdPartition;
  readonly error: ErrorCode;
  /** What is wrong, for the producer; "" when nothing is. */
  readonly message: string;
  readonly recordErrors: readonly RecordError[];
  /** −1 with an error. */
  readonly baseOffset: bigint;
  /** −1 under CreateTime. */
  readonly logAppendTimeMs: bigint;
  readonly logStartOffset: bigint;
}
