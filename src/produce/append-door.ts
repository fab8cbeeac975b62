/**
 * The door of the append path: requests come in when there is memory for them, first come first served, and wait outside
 * without being copied until then. Main thread.
 *
 * Bounded three ways: by the `append` account of the slab pool, by the number of waiting requests and by their bytes.
 */
import { type ErrorCode, Errors } from '../common/errors.ts';
import { type Deferred, deferred } from '../common/lifecycle.ts';
import type { PartitionKey } from '../common/topic-id-partition.ts';
import type { Slab, SlabPool } from '../worker/slab-pool.ts';

/** Share of the account that requests may fill: batches that are recompressed need a second slab for a moment. */
const ADMITTED_SHARE = 0.75;

/** A request at the door. */
export interface DoorRequest {
  /** Sizes of the slabs it needs, one per partition. */
  readonly sizes: readonly number[];
  readonly sizeBytes: number;
  readonly partitions: ReadonlySet<PartitionKey>;
  /** Takes over the slabs. Runs before anyone behind it gets in. */
  admit(slabs: readonly Slab[]): void;
  refuse(error: ErrorCode, message: string): void;
}

export interface AppendDoorOptions {
  readonly slabs: SlabPool;
  readonly maxWaitingRequests: number;
  readonly maxWaitingBytes: number;
  /** Somebody has to wait: what is buffered should be on its way. */
  readonly onFull: () => void;
}

export class AppendDoor {
  readonly #options: AppendDoorOptions;
  /** In order of arrival. */
  readonly #waiting = new Set<DoorRequest>();
  #waitingBytes = 0;
  #room: Deferred<void> | undefined;

  constructor(options: AppendDoorOptions) {
    this.#options = options;
  }

  /** Bytes of requests that wait outside; they are the caller's memory. */
  get waitingBytes(): number {
    return this.#waitingBytes;
  }

  get waitingRequests(): number {
    return this.#waiting.size;
  }

  /** Admits or refuses the request now, or later. */
  enter(request: DoorRequest): void {
    const { slabs, maxWaitingRequests, maxWaitingBytes, onFull } = this.#options;
    const capacity = slabs.capacityBytes('append');
    if (request.sizeBytes > capacity) {
      const message = `the request holds ${request.sizeBytes} bytes of records; at most ${capacity} fit, send less at once`;
      request.refuse(Errors.MESSAGE_TOO_LARGE, message);
      return;
    }
    const leased = this.#waiting.size === 0 ? this.#leaseAll(request) : undefined;
    if (leased) {
      request.admit(leased);
      return;
    }
    if (this.#waiting.size >= maxWaitingRequests || this.#waitingBytes + request.sizeBytes > maxWaitingBytes) {
      request.refuse(Errors.KAFKA_STORAGE_ERROR, 'too much is waiting to be appended; try again later');
      return;
    }
    this.#waiting.add(request);
    this.#waitingBytes += request.sizeBytes;
    onFull();
  }

  /** Lets in whoever fits, in order. To be called whenever memory was given back. */
  pump(): void {
    for (const request of this.#waiting) {
      const leased = this.#leaseAll(request);
      if (!leased) break;
      this.#remove(request);
      request.admit(leased);
    }
    if (this.#waiting.size > 0) return;
    this.#room?.resolve();
    this.#room = undefined;
  }

  /** Resolves when nobody waits: at once, or when the last one got in. */
  whenRoom(): Promise<void> {
    if (this.#waiting.size === 0) return Promise.resolve();
    this.#room ??= deferred();
    return this.#room.promise;
  }

  /**
   * Refuses a request that has waited too long, and those behind it for the same partitions, as their order would be lost
   * otherwise. False when it was let in already.
   */
  expire(expired: DoorRequest, error: ErrorCode, message: string): boolean {
    if (!this.#waiting.has(expired)) return false;
    const { partitions } = expired;
    let isBehind = false;
    this.#refuse(error, message, (request) => {
      isBehind ||= request === expired;
      return isBehind && overlap(request.partitions, partitions);
    });
    return true;
  }

  /** Refuses whoever waits with one of these partitions; undefined means everyone. */
  refuseWaiting(partitions: ReadonlySet<PartitionKey> | undefined, error: ErrorCode, message: string): void {
    this.#refuse(error, message, (request) => !partitions || overlap(request.partitions, partitions));
  }

  /** Asks about every waiting request in order, and lets others in only after all of them were judged. */
  #refuse(error: ErrorCode, message: string, isRefused: (request: DoorRequest) => boolean): void {
    for (const request of this.#waiting) {
      if (!isRefused(request)) continue;
      this.#remove(request);
      request.refuse(error, message);
    }
    this.pump();
  }

  #remove(request: DoorRequest): void {
    this.#waiting.delete(request);
    this.#waitingBytes -= request.sizeBytes;
  }

  /** All slabs of a request, or none: a request that held some while it waits could block another one for ever. */
  #leaseAll({ sizes, sizeBytes }: DoorRequest): Slab[] | undefined {
    const { slabs } = this.#options;
    const held = slabs.leasedBytes('append');
    if (held > 0 && held + sizeBytes > slabs.capacityBytes('append') * ADMITTED_SHARE) return undefined;
    const leased: Slab[] = [];
    for (const size of sizes) {
      const slab = slabs.lease(size, 'append');
      if (!slab) {
        for (const taken of leased) taken.release();
        return undefined;
      }
      leased.push(slab);
    }
    return leased;
  }
}

function overlap(a: ReadonlySet<PartitionKey>, b: ReadonlySet<PartitionKey>): boolean {
  for (const key of a) if (b.has(key)) return true;
  return false;
}
