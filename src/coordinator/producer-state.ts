/**
 * Kafka's rules for idempotent producers, as pure functions over immutable state: what a partition remembers of a
 * producer id, and whether its next batch is new, a duplicate, or wrong.
 *
 * Source of the rules: ProducerStateManager, ProducerAppendInfo and ProducerStateEntry of Apache Kafka. One deliberate
 * difference: idleness is counted from the coordinator's clock at the last append, not from the producer's own
 * timestamps, so that a producer replaying old records is not forgotten between two batches.
 */
import { type ErrorCode, Errors } from '../common/errors.ts';
import type { ProducerStateDescription } from './diskless-coordinator.ts';

/** Kafka remembers this many batches per producer and partition; clients keep as many in flight at most. */
export const BATCHES_REMEMBERED = 5;

/** Kafka's default of `producer.id.expiration.ms`. */
export const DEFAULT_PRODUCER_ID_EXPIRATION_MS = 86_400_000;

/** Sequences start over after it. */
export const MAX_SEQUENCE = 2_147_483_647;

/** One appended batch of a producer. */
export interface ProducerBatch {
  readonly firstSequence: number;
  readonly lastSequence: number;
  readonly firstOffset: bigint;
  /** Its max timestamp; under LogAppendTime the append time. */
  readonly timestamp: bigint;
  readonly timestampType: 0 | 1;
}

export interface ProducerState {
  readonly producerEpoch: number;
  /** One to five, oldest first, all of `producerEpoch`. */
  readonly batches: readonly ProducerBatch[];
  /** By the coordinator's clock. */
  readonly lastAppendTimeMs: bigint;
}

/** What a batch says about its producer; `producerId` is at least 0. */
export interface SequencedBatch {
  readonly producerEpoch: number;
  readonly baseSequence: number;
  readonly lastOffsetDelta: number;
}

export type ProducerVerdict =
  | { readonly kind: 'append' }
  | { readonly kind: 'duplicate'; readonly of: ProducerBatch }
  | { readonly kind: 'error'; readonly error: ErrorCode };

const APPEND: ProducerVerdict = { kind: 'append' };
const FENCED: ProducerVerdict = { kind: 'error', error: Errors.INVALID_PRODUCER_EPOCH };
const OUT_OF_ORDER: ProducerVerdict = { kind: 'error', error: Errors.OUT_OF_ORDER_SEQUENCE_NUMBER };

/** The sequence `increment` after `sequence`; sequences run from 0 to 2147483647 and start over. */
export function incrementSequence(sequence: number, increment: number): number {
  const next = sequence + increment;
  return next > MAX_SEQUENCE ? next - MAX_SEQUENCE - 1 : next;
}

/**
 * Judges the next batch of a producer. Duplicates are looked for first, as Kafka does. Without state any sequence is
 * accepted: the state may have expired, or gone with deleted records, and the producer must be able to continue.
 */
export function judge(state: ProducerState | undefined, batch: SequencedBatch): ProducerVerdict {
  if (state === undefined) return APPEND;
  if (batch.producerEpoch < state.producerEpoch) return FENCED;
  if (batch.producerEpoch > state.producerEpoch) return batch.baseSequence === 0 ? APPEND : OUT_OF_ORDER;
  const lastSequence = incrementSequence(batch.baseSequence, batch.lastOffsetDelta);
  const of = state.batches.find(
    (known) => known.firstSequence === batch.baseSequence && known.lastSequence === lastSequence,
  );
  if (of) return { kind: 'duplicate', of };
  const expected = incrementSequence(state.batches.at(-1)!.lastSequence, 1);
  return batch.baseSequence === expected ? APPEND : OUT_OF_ORDER;
}

/** The state after an accepted batch; a new epoch forgets the batches of the old one. */
export function remember(
  state: ProducerState | undefined,
  producerEpoch: number,
  batch: ProducerBatch,
  appendTimeMs: bigint,
): ProducerState {
  const known = state?.producerEpoch === producerEpoch ? state.batches : [];
  const kept = known.length < BATCHES_REMEMBERED ? known : known.slice(known.length - BATCHES_REMEMBERED + 1);
  return { producerEpoch, batches: [...kept, batch], lastAppendTimeMs: appendTimeMs };
}

/** Whether a producer was idle for so long that it counts as never seen. */
export function isExpired(state: ProducerState, nowMs: bigint, expirationMs: number): boolean {
  return nowMs - state.lastAppendTimeMs >= BigInt(expirationMs);
}

/** The producers that have not expired, by id. */
export function describeProducers(
  producers: ReadonlyMap<bigint, ProducerState>,
  nowMs: bigint,
  expirationMs: number,
): ProducerStateDescription[] {
  return [...producers]
    .filter(([, state]) => !isExpired(state, nowMs, expirationMs))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([producerId, { producerEpoch, batches }]) => {
      const { lastSequence, timestamp } = batches.at(-1)!;
      return { producerId, producerEpoch, lastSequence, lastTimestampMs: timestamp };
    });
}
