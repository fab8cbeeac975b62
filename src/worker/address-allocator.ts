/**
 * Which bytes of an address range are free: best fit over size classes, free neighbours joined at once. Knows addresses
 * only, touches no memory. Main thread.
 */
import { assert } from '../common/assert.ts';

/** Everything is a multiple of it, so that two leases never share a cache line. */
const GRANULE_BYTES = 64;

interface FreeBlock {
  readonly address: number;
  readonly size: number;
}

/** Four classes per doubling: a block of class c serves every request of a class below it. */
function classOf(size: number): number {
  const granules = size / GRANULE_BYTES;
  const doubling = Math.floor(Math.log2(granules));
  return doubling * 4 + Math.floor((granules / 2 ** doubling - 1) * 4);
}

export function roundUpToGranule(bytes: number): number {
  return Math.max(GRANULE_BYTES, Math.ceil(bytes / GRANULE_BYTES) * GRANULE_BYTES);
}

export class AddressAllocator {
  readonly #byStart = new Map<number, FreeBlock>();
  readonly #byEnd = new Map<number, FreeBlock>();
  /** Free blocks by class. A Set hands out the one freed longest ago or last; either is fine within a class. */
  readonly #classes: Set<FreeBlock>[] = [];

  constructor(address: number, size: number) {
    const classes = classOf(Math.max(GRANULE_BYTES, size)) + 1;
    for (let i = 0; i < classes; i++) this.#classes.push(new Set());
    const usable = Math.floor(size / GRANULE_BYTES) * GRANULE_BYTES;
    if (usable > 0) this.#add(address, usable);
  }

  /** Number of free blocks; 1 when everything is free and joined. */
  get freeBlocks(): number {
    return this.#byStart.size;
  }

  /** Address of `size` free bytes (a multiple of the granule), or undefined. */
  allocate(size: number): number | undefined {
    const block = this.#find(size);
    if (!block) return undefined;
    this.#remove(block);
    if (block.size > size) this.#add(block.address + size, block.size - size);
    return block.address;
  }

  /** Takes back what `allocate` gave; joined with free neighbours on both sides. */
  free(address: number, size: number): void {
    assert(!this.#byStart.has(address), 'freed bytes were leased');
    const before = this.#byEnd.get(address);
    const after = this.#byStart.get(address + size);
    if (before) this.#remove(before);
    if (after) this.#remove(after);
    this.#add(before?.address ?? address, size + (before?.size ?? 0) + (after?.size ?? 0));
  }

  /** The request's own class may hold blocks a little too small; every class above it fits. */
  #find(size: number): FreeBlock | undefined {
    const own = classOf(size);
    for (const block of this.#classes[own] ?? []) if (block.size >= size) return block;
    for (let c = own + 1; c < this.#classes.length; c++) for (const block of this.#classes[c]!) return block;
    return undefined;
  }

  #add(address: number, size: number): void {
    const block = { address, size };
    this.#byStart.set(address, block);
    this.#byEnd.set(address + size, block);
    this.#classes[classOf(size)]!.add(block);
  }

  #remove(block: FreeBlock): void {
    this.#byStart.delete(block.address);
    this.#byEnd.delete(block.address + block.size);
    this.#classes[classOf(block.size)]!.delete(block);
  }
}
