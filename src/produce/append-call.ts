/**
 * One call of `append`: collects its partitions' results in request order and resolves when the last one is in, or when
 * the caller has waited long enough. Main thread.
 */
import { type ErrorCode, Errors } from '../common/errors.ts';
import { deferred } from '../common/lifecycle.ts';
import { type PartitionKey, partitionKey } from '../common/topic-id-partition.ts';
import type { Slab } from '../worker/slab-pool.ts';
import type { DoorRequest } from './append-door.ts';
import type { AppendPartition, AppendResult } from './append-request.ts';
import { failedAppend } from './pending-batch.ts';

export class AppendCall implements DoorRequest {
  readonly sizes: readonly number[];
  readonly sizeBytes: number;
  readonly #entries: readonly AppendPartition[];
  readonly #onAdmitted: (slabs: readonly Slab[]) => void;
  readonly #results: (AppendResult | undefined)[];
  readonly #answered = deferred<AppendResult[]>();
  #missing: number;

  constructor(entries: readonly AppendPartition[], onAdmitted: (call: AppendCall, slabs: readonly Slab[]) => void) {
    this.#entries = entries;
    this.#onAdmitted = (slabs) => onAdmitted(this, slabs);
    this.#results = new Array(entries.length);
    this.#missing = entries.length;
    this.sizes = entries.map((entry) => Math.max(1, entry.records.length));
    this.sizeBytes = this.sizes.reduce((sum, size) => sum + size, 0);
  }

  /** Asked for only when something waits or fails. */
  get partitions(): ReadonlySet<PartitionKey> {
    return new Set(this.#entries.map((entry) => partitionKey(entry.topicIdPartition)));
  }

  get entries(): readonly AppendPartition[] {
    return this.#entries;
  }

  /** Result i belongs to entry i. */
  get answer(): Promise<AppendResult[]> {
    return this.#answered.promise;
  }

  admit(slabs: readonly Slab[]): void {
    this.#onAdmitted(slabs);
  }

  refuse(error: ErrorCode, message: string): void {
    this.#failUnanswered(error, message);
  }

  /** The caller's patience is over; batches that were placed may still be committed. */
  expire(timeoutMs: number): void {
    this.#failUnanswered(Errors.REQUEST_TIMED_OUT, `not committed within ${timeoutMs} ms; it may still be`);
  }

  /** Takes one partition's result; one that comes after the call was answered is dropped. */
  settle(index: number, result: AppendResult): void {
    if (this.#results[index]) return;
    this.#results[index] = result;
    this.#missing -= 1;
    if (this.#missing === 0) this.#answered.resolve(this.#results as AppendResult[]);
  }

  #failUnanswered(error: ErrorCode, message: string): void {
    this.#entries.forEach(({ topicIdPartition }, index) => {
      this.settle(index, failedAppend(topicIdPartition, error, message));
    });
  }
}
