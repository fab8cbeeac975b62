/**
 * Acknowledging records: the checks on a request and the moves it makes in a share partition's window (KIP-932,
 * KIP-1222). Pure; nothing here is durable, the share partition writes and then commits or undoes what was touched.
 */
import { type ErrorCode, Errors } from '../common/errors.ts';
import { beginTransition, type InFlightBatch, type InFlightUnit } from './in-flight-batch.ts';
import { RecordState } from './record-state.ts';
import type { ShareWindow } from './share-window.ts';

/** Acknowledgement types of the wire. */
export const AcknowledgeType = { GAP: 0, ACCEPT: 1, RELEASE: 2, REJECT: 3, RENEW: 4 } as const;

/** Offsets and what the member says of them: one type for all, or one per offset. */
export interface AcknowledgementBatch {
  readonly first: number;
  readonly last: number;
  readonly types: readonly number[];
}

/** Why a record goes to the dead-letter queue. */
export type DeadLetterCause = 'CLIENT_REJECT' | 'DELIVERY_COUNT_EXCEEDED';

/** Offsets whose state was moved; `cause` when they are on their way to the dead-letter queue. */
export interface Touched {
  readonly batch: InFlightBatch;
  readonly first: number;
  readonly last: number;
  readonly cause: DeadLetterCause | undefined;
}

export interface AcknowledgePolicy {
  readonly maxDeliveryCount: number;
  readonly renewEnabled: boolean;
  readonly deadLetters: boolean;
  readonly lockDeadlineMs: number;
  readonly writeId: number;
}

/**
 * The checks that concern the request alone, per partition; any failure is INVALID_REQUEST and nothing is applied.
 * Ranges must rise without overlapping (Kafka lets a range begin at the last offset of the one before it, whose
 * acknowledgement then fails with INVALID_RECORD_STATE: so do we, since clients see the difference).
 */
export function validateAcknowledgements(
  batches: readonly AcknowledgementBatch[],
  apiVersion: number,
  isRenewAck: boolean,
): ErrorCode {
  const highest = apiVersion >= 2 ? AcknowledgeType.RENEW : AcknowledgeType.REJECT;
  let previousLast = -1;
  for (const { first, last, types } of batches) {
    const rising = first <= last && first >= previousLast;
    const counted = types.length === 1 || (types.length > 0 && types.length === last - first + 1);
    const known = types.every((type) => Number.isInteger(type) && type >= 0 && type <= highest);
    if (!rising || !counted || !known) return Errors.INVALID_REQUEST;
    if (!isRenewAck && types.includes(AcknowledgeType.RENEW)) return Errors.INVALID_REQUEST;
    previousLast = last;
  }
  return Errors.NONE;
}

/** Known types, one for all offsets or at least one for each: what applying a range relies on, whoever checked it before. */
function isWellFormed({ first, last, types }: AcknowledgementBatch): boolean {
  const known = types.every((type) => Number.isInteger(type) && type >= 0 && type <= AcknowledgeType.RENEW);
  return known && first <= last && (types.length === 1 || (types.length > 1 && types.length > last - first));
}

/** Where a record goes when it comes back without having been processed. */
export function stateAfterReturn(
  deliveryCount: number,
  belowStart: boolean,
  policy: { readonly maxDeliveryCount: number; readonly deadLetters: boolean },
): RecordState {
  if (belowStart) return RecordState.ARCHIVED;
  if (deliveryCount < policy.maxDeliveryCount) return RecordState.AVAILABLE;
  return policy.deadLetters ? RecordState.ARCHIVING : RecordState.ARCHIVED;
}

function stateAfter(type: number, deliveryCount: number, policy: AcknowledgePolicy): RecordState {
  if (type === AcknowledgeType.ACCEPT) return RecordState.ACKNOWLEDGED;
  if (type === AcknowledgeType.RELEASE) return stateAfterReturn(deliveryCount, false, policy);
  if (type === AcknowledgeType.REJECT && policy.deadLetters) return RecordState.ARCHIVING;
  return RecordState.ARCHIVED;
}

/** One partition's acknowledgements being applied. After an error the caller undoes what `touched` names. */
export class Acknowledgement {
  readonly touched: Touched[] = [];
  readonly #window: ShareWindow;
  readonly #memberId: string;
  readonly #policy: AcknowledgePolicy;
  readonly #onRenewed: (batch: InFlightBatch) => void;

  constructor(
    window: ShareWindow,
    memberId: string,
    policy: AcknowledgePolicy,
    onRenewed: (batch: InFlightBatch) => void,
  ) {
    this.#window = window;
    this.#memberId = memberId;
    this.#policy = policy;
    this.#onRenewed = onRenewed;
  }

  /** Applies ranges in order, stopping at the first that fails. */
  apply(batches: readonly AcknowledgementBatch[]): ErrorCode {
    for (const batch of batches) {
      const error = this.#applyRange(batch);
      if (error !== Errors.NONE) return error;
    }
    return Errors.NONE;
  }

  #applyRange(range: AcknowledgementBatch): ErrorCode {
    const { batches, startOffset } = this.#window;
    if (!isWellFormed(range)) return Errors.INVALID_REQUEST;
    // Below the start everything is settled, whoever held it.
    if (range.last < startOffset) return Errors.NONE;

    const straddles = range.first < startOffset;
    const floor = batches.floor(range.first) ?? (straddles ? batches.floor(startOffset) : undefined);
    if (!floor) return Errors.INVALID_RECORD_STATE;
    const from = batches.indexFrom(floor.first);
    let to = from;
    while (to + 1 < batches.length && batches.at(to + 1).first <= range.last) to++;
    const final = batches.at(to);
    if (final.last < range.first || final.last < range.last) return Errors.INVALID_REQUEST;

    for (let index = from; index <= to; index++) {
      const batch = batches.at(index);
      // A range that begins in a hole has nothing to do with the batch below the hole.
      if (batch.last < Math.max(startOffset, range.first)) continue;
      const error = this.#applyToBatch(batch, range);
      if (error !== Errors.NONE) return error;
    }
    return Errors.NONE;
  }

  /** Whether the member may acknowledge this unit. */
  #holds(unit: InFlightUnit): boolean {
    return unit.state === RecordState.ACQUIRED && unit.pending === undefined && unit.memberId === this.#memberId;
  }

  #applyToBatch(batch: InFlightBatch, range: AcknowledgementBatch): ErrorCode {
    const { startOffset } = this.#window;
    const whole = batch.whole;
    if (whole) {
      if (!this.#holds(whole)) return Errors.INVALID_RECORD_STATE;
      const covered = range.first <= batch.first && batch.last <= range.last;
      if (covered && range.types.length === 1 && batch.first >= startOffset) {
        return this.#applyToUnit(batch, whole, batch.first, batch.last, range.types[0]!);
      }
      batch.split();
    }
    const end = Math.min(range.last, batch.last);
    for (let offset = Math.max(range.first, startOffset, batch.first); offset <= end; offset++) {
      const type = range.types.length === 1 ? range.types[0]! : range.types[offset - range.first]!;
      const error = this.#applyToUnit(batch, batch.unitAt(offset), offset, offset, type);
      if (error !== Errors.NONE) return error;
    }
    return Errors.NONE;
  }

  #applyToUnit(batch: InFlightBatch, unit: InFlightUnit, first: number, last: number, type: number): ErrorCode {
    if (!this.#holds(unit)) return Errors.INVALID_RECORD_STATE;
    if (type === AcknowledgeType.RENEW) {
      if (!this.#policy.renewEnabled) return Errors.INVALID_RECORD_STATE;
      unit.lockDeadlineMs = this.#policy.lockDeadlineMs;
      this.#onRenewed(batch);
      return Errors.NONE;
    }
    const to = stateAfter(type, unit.deliveryCount, this.#policy);
    const rejected = type === AcknowledgeType.REJECT;
    this.#move(batch, unit, first, last, to, rejected ? 'CLIENT_REJECT' : 'DELIVERY_COUNT_EXCEEDED');
    return Errors.NONE;
  }

  #move(
    batch: InFlightBatch,
    unit: InFlightUnit,
    first: number,
    last: number,
    to: RecordState,
    cause: DeadLetterCause,
  ): void {
    this.#window.noteTransition(unit.state, to, first, last);
    beginTransition(unit, to, this.#policy.writeId);
    this.touched.push({ batch, first, last, cause: to === RecordState.ARCHIVING ? cause : undefined });
  }

  /** Releases everything the member holds (its session closed or its connection was lost). */
  releaseAll(): void {
    const { batches, startOffset } = this.#window;
    for (const batch of batches) {
      if (batch.whole && !this.#holds(batch.whole)) continue;
      // A batch that straddles the start goes two ways.
      if (batch.whole && batch.first < startOffset && startOffset <= batch.last) batch.split();
      batch.visit(batch.first, batch.last, (unit, first, last) => {
        if (!this.#holds(unit)) return;
        const to = stateAfterReturn(unit.deliveryCount, last < startOffset, this.#policy);
        this.#move(batch, unit, first, last, to, 'DELIVERY_COUNT_EXCEEDED');
      });
    }
  }
}
