/**
 * Throttled redelivery (KIP-932's follow-up in 4.2): the more often records came back, the fewer of them go out together,
 * so that a good record next to a poison one gets its chance before both are archived. Pure.
 */
import { type InFlightBatch, type InFlightUnit, isAcquirable } from './in-flight-batch.ts';

/** The delivery count from which an available record is throttled. */
export function throttleThreshold(maxDeliveryCount: number): number {
  return Math.max(2, Math.ceil(maxDeliveryCount / 2));
}

/** Whether a batch holds a record in [from, to] that could be taken and came back too often. */
export function isThrottled(batch: InFlightBatch, from: number, to: number, maxDeliveryCount: number): boolean {
  const threshold = throttleThreshold(maxDeliveryCount);
  return batch.findOffset(from, to, (unit) => isAcquirable(unit) && unit.deliveryCount >= threshold) >= 0;
}

/** Decides, record by record, how much of one batch goes out in one acquisition. */
export class BatchAllowance {
  readonly #maxDeliveryCount: number;
  readonly #batchSize: number;
  #cap = Number.POSITIVE_INFINITY;
  #taken = 0;

  constructor(batchSize: number, maxDeliveryCount: number) {
    this.#batchSize = batchSize;
    this.#maxDeliveryCount = maxDeliveryCount;
  }

  /** Last attempts are delivered alone: a record at its last one is not added to others. */
  mayTake(unit: InFlightUnit): boolean {
    const lastAttempt = this.#maxDeliveryCount > 2 && unit.deliveryCount === this.#maxDeliveryCount - 1;
    return this.#taken < this.#cap && !(lastAttempt && this.#taken > 0);
  }

  /** Notes a taken record by its delivery count before; false when nothing may follow it. */
  noteTaken(deliveryCountBefore: number): boolean {
    this.#taken++;
    const threshold = throttleThreshold(this.#maxDeliveryCount);
    if (this.#cap === Number.POSITIVE_INFINITY && deliveryCountBefore >= threshold) {
      this.#cap = Math.max(1, this.#batchSize >> (deliveryCountBefore - threshold + 1));
    }
    const wasLastAttempt = this.#maxDeliveryCount > 2 && deliveryCountBefore + 1 === this.#maxDeliveryCount;
    return !wasLastAttempt && this.#taken < this.#cap;
  }
}
