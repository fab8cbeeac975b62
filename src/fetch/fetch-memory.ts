/**
 * The fetch side's share of the slab pool: leases for GETs, made possible by evicting the local view, and a count of the
 * slabs that unfinished answers pin.
 *
 * The pool's `fetch` account bounds everything: GETs in flight, the local view and pins. A slow reader's pins are memory
 * that nothing can reclaim, so past `pinLimitBytes` answers no longer pin slabs but take small copies (see
 * `fetch-answer.ts`), and past `maxPinnedBytes` they get nothing until somebody lets go. Main thread; owned by the fetch service.
 */
import { assert } from '../common/assert.ts';
import type { Slab, SlabPool } from '../worker/slab-pool.ts';

/** Past the pin limit an answer gets at most this much, or one batch, as a copy. */
const COPY_BYTES = 64 * 1024;

/** Frees memory that can be had back (the local view); returns whether it freed any. */
export type Reclaim = (wantedBytes: number) => boolean;

export class FetchMemory {
  readonly capacityBytes: number;
  /** From here on answers take small copies instead of pinning shared slabs. */
  readonly pinLimitBytes: number;
  /** Copies included, pins never go beyond this: the rest stays for GETs and the local view. */
  readonly maxPinnedBytes: number;
  readonly #slabs: SlabPool;
  readonly #pins = new Map<Slab, number>();
  readonly #freedListeners: (() => void)[] = [];
  #reclaim: Reclaim = () => false;
  #pinnedBytes = 0;

  constructor(slabs: SlabPool) {
    this.#slabs = slabs;
    this.capacityBytes = slabs.capacityBytes('fetch');
    this.pinLimitBytes = Math.floor(this.capacityBytes / 2);
    this.maxPinnedBytes = Math.floor(this.capacityBytes * 0.75);
  }

  get leasedBytes(): number {
    return this.#slabs.leasedBytes('fetch');
  }

  /** Bytes of slabs that at least one answer pins. */
  get pinnedBytes(): number {
    return this.#pinnedBytes;
  }

  set reclaim(reclaim: Reclaim) {
    this.#reclaim = reclaim;
  }

  /** Calls back whenever a lease that failed may succeed now. */
  onFreed(listener: () => void): void {
    this.#freedListeners.push(listener);
  }

  /** A slab, evicting what can be evicted; undefined when everything else is in use. */
  lease(sizeBytes: number): Slab | undefined {
    for (;;) {
      const slab = this.#slabs.lease(sizeBytes, 'fetch');
      if (slab || !this.#reclaim(sizeBytes)) return slab;
    }
  }

  /** Makes the `fetch` account pay for a slab of the append path, evicting what can be evicted. */
  adopt(slab: Slab): boolean {
    for (;;) {
      if (slab.transfer('fetch')) return true;
      if (!this.#reclaim(slab.bytes.length)) return false;
    }
  }

  /** Holds a slab for an answer. */
  pin(slab: Slab): void {
    slab.retain();
    const pins = this.#pins.get(slab) ?? 0;
    if (pins === 0) this.#pinnedBytes += slab.bytes.length;
    this.#pins.set(slab, pins + 1);
  }

  /** How much an answer may copy now: it shrinks with what is left, so that very many slow readers get a little each. */
  get copyBytes(): number {
    return Math.min(COPY_BYTES, Math.floor((this.maxPinnedBytes - this.#pinnedBytes) / 512));
  }

  /** A slab for an answer's own copy, pinned from the start; undefined when answers hold too much already. */
  leasePinned(sizeBytes: number): Slab | undefined {
    if (this.#pinnedBytes + sizeBytes > this.maxPinnedBytes) return undefined;
    const slab = this.lease(sizeBytes);
    if (!slab) return undefined;
    this.pin(slab);
    slab.release(); // the pin is the only holder
    return slab;
  }

  unpin(slab: Slab): void {
    const pins = this.#pins.get(slab);
    assert(pins !== undefined, 'only a pinned slab is unpinned');
    if (pins > 1) this.#pins.set(slab, pins - 1);
    else {
      this.#pins.delete(slab);
      this.#pinnedBytes -= slab.bytes.length;
    }
    slab.release();
    if (pins === 1) this.notifyFreed();
  }

  isPinned(slab: Slab): boolean {
    return this.#pins.has(slab);
  }

  /** Whether an answer may pin this slab: it is pinned already, or the limit is not reached. */
  mayPin(slab: Slab): boolean {
    return this.#pins.has(slab) || this.#pinnedBytes < this.pinLimitBytes;
  }

  notifyFreed(): void {
    for (const listener of this.#freedListeners) listener();
  }
}
