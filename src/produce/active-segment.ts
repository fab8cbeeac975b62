/**
 * The segment that requests are being placed in. Placing reserves the order of a partition's batches before they are
 * validated: a small batch checked at once never overtakes a large one in a worker. Main thread.
 */
import { ClosedSegment } from './closed-segment.ts';
import type { PendingBatch } from './pending-batch.ts';

export class ActiveSegment {
  /** Counts this uploader's segments; one that turns out to hold nothing valid leaves a gap. */
  readonly sequence: number;
  readonly #batches: PendingBatch[] = [];
  #sizeBytes = 0;

  constructor(sequence: number) {
    this.sequence = sequence;
  }

  get empty(): boolean {
    return this.#batches.length === 0;
  }

  /** Bytes as they came, before validation dropped or rebuilt any. */
  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  get batchCount(): number {
    return this.#batches.length;
  }

  /** Places the batches of one request; they are not split over segments. */
  add(batches: readonly PendingBatch[], sizeBytes: number): void {
    this.#batches.push(...batches);
    this.#sizeBytes += sizeBytes;
  }

  /** Batches placed so far, in order. */
  get batches(): readonly PendingBatch[] {
    return this.#batches;
  }

  close(): ClosedSegment {
    return new ClosedSegment(this.sequence, this.#batches);
  }
}
