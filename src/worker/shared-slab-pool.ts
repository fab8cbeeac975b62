/**
 * The slabs of one shared memory: leases with a reference count and a generation tag, paid for by two accounts.
 *
 * Main thread. Owned by the record pool, whose `close()` calls `assertAllReturned`.
 */
import { assert } from '../common/assert.ts';
import { AddressAllocator, roundUpToGranule } from './address-allocator.ts';
import type { Slab, SlabAccount, SlabPool } from './slab-pool.ts';

export interface SlabMemory {
  readonly buffer: ArrayBuffer | SharedArrayBuffer;
  readonly address: number;
  readonly size: number;
}

/** Address space beyond the accounts' sum, so that a full account is refused by its limit and not by fragmentation. */
export const FRAGMENTATION_ALLOWANCE = 1.25;

export class SharedSlabPool implements SlabPool {
  readonly #buffer: ArrayBuffer;
  readonly #allocator: AddressAllocator;
  readonly #capacity: Record<SlabAccount, number>;
  readonly #leased: Record<SlabAccount, number> = { append: 0, fetch: 0 };
  /** Generation of the lease that owns an address now. A handle of an earlier one must not touch it. */
  readonly #generations = new Map<number, number>();
  #generation = 0;

  constructor(memory: SlabMemory, capacityBytes: Record<SlabAccount, number>) {
    this.#buffer = memory.buffer as ArrayBuffer;
    this.#allocator = new AddressAllocator(memory.address, memory.size);
    this.#capacity = capacityBytes;
  }

  capacityBytes(account: SlabAccount): number {
    return this.#capacity[account];
  }

  leasedBytes(account: SlabAccount): number {
    return this.#leased[account];
  }

  lease(sizeBytes: number, account: SlabAccount): Slab | undefined {
    assert(Number.isSafeInteger(sizeBytes) && sizeBytes >= 0, 'a lease has a size in whole bytes');
    const rounded = roundUpToGranule(sizeBytes);
    if (rounded > this.#capacity[account] - this.#leased[account]) return undefined;
    const address = this.#allocator.allocate(rounded);
    if (address === undefined) return undefined;
    this.#leased[account] += rounded;
    const generation = ++this.#generation;
    this.#generations.set(address, generation);
    return new LeasedSlab(this, Buffer.from(this.#buffer, address, sizeBytes), { rounded, generation, account });
  }

  /** @internal Called by slabs. */
  move(rounded: number, from: SlabAccount, to: SlabAccount): boolean {
    if (from === to) return true;
    if (rounded > this.#capacity[to] - this.#leased[to]) return false;
    this.#leased[from] -= rounded;
    this.#leased[to] += rounded;
    return true;
  }

  /** @internal Called by slabs. */
  isCurrent(address: number, generation: number): boolean {
    return this.#generations.get(address) === generation;
  }

  /** @internal Called by slabs. */
  giveBack(address: number, rounded: number, account: SlabAccount): void {
    this.#generations.delete(address);
    this.#leased[account] -= rounded;
    this.#allocator.free(address, rounded);
  }

  /** @throws AssertionError naming how much is still out. */
  assertAllReturned(): void {
    const { append, fetch } = this.#leased;
    assert(
      this.#generations.size === 0 && append === 0 && fetch === 0,
      `every slab was released at close: ${this.#generations.size} are still leased (append ${append}, fetch ${fetch} bytes)`,
    );
  }
}

interface Lease {
  readonly rounded: number;
  readonly generation: number;
  account: SlabAccount;
}

class LeasedSlab implements Slab {
  readonly bytes: Uint8Array;
  readonly #pool: SharedSlabPool;
  readonly #lease: Lease;
  #references = 1;

  constructor(pool: SharedSlabPool, bytes: Uint8Array, lease: Lease) {
    this.#pool = pool;
    this.bytes = bytes;
    this.#lease = lease;
  }

  retain(): void {
    this.#assertLive();
    this.#references++;
  }

  release(): void {
    this.#assertLive();
    if (--this.#references > 0) return;
    this.#pool.giveBack(this.bytes.byteOffset, this.#lease.rounded, this.#lease.account);
  }

  transfer(to: SlabAccount): boolean {
    this.#assertLive();
    if (!this.#pool.move(this.#lease.rounded, this.#lease.account, to)) return false;
    this.#lease.account = to;
    return true;
  }

  #assertLive(): void {
    const live = this.#references > 0 && this.#pool.isCurrent(this.bytes.byteOffset, this.#lease.generation);
    assert(live, 'a slab is not touched after its last release');
  }
}
