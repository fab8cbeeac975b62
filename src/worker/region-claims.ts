/**
 * Which thread owns which region of the kernel's memory, and whether it is at work: rows of shared memory that the worker
 * writes and the main thread watches. A region is free again only after its thread has exited, so that a thread that is
 * being killed never shares one.
 *
 * Row of region i, int32s: owner's thread id (0 = free; the main thread owns region 0 and needs no row), then a counter
 * that is odd while a task is running.
 */
import { assert } from '../common/assert.ts';
import { CLAIM_BYTES, CLAIMS } from '../record/kernel-layout.ts';
import type { KernelMemory } from '../record/record-kernel.ts';

const OWNER = 0;
const COUNTER = 1;

export class RegionClaims {
  readonly #rows: Int32Array;
  readonly #regions: number;

  constructor(memory: KernelMemory) {
    this.#regions = memory.regions;
    this.#rows = new Int32Array(memory.memory.buffer, CLAIMS, (memory.regions * CLAIM_BYTES) / 4);
  }

  #at(region: number, field: number): number {
    return (region * CLAIM_BYTES) / 4 + field;
  }

  /** Worker side: takes a free region for this thread. */
  claim(threadId: number): number {
    for (let region = 1; region < this.#regions; region++) {
      if (Atomics.compareExchange(this.#rows, this.#at(region, OWNER), 0, threadId) === 0) return region;
    }
    assert(false, 'there is a region for every worker, and one more for each that is being replaced');
  }

  /** Worker side: around a task. */
  toggleBusy(region: number): void {
    Atomics.add(this.#rows, this.#at(region, COUNTER), 1);
  }

  /** Main side: the thread has exited. */
  release(threadId: number): void {
    const region = this.regionOf(threadId);
    if (region === undefined) return;
    const counter = this.#at(region, COUNTER);
    if (Atomics.load(this.#rows, counter) % 2 !== 0) Atomics.add(this.#rows, counter, 1);
    Atomics.store(this.#rows, this.#at(region, OWNER), 0);
  }

  /** Main side: the counter of a thread's region while it is running a task, else undefined. */
  busyCounter(threadId: number): number | undefined {
    const region = this.regionOf(threadId);
    if (region === undefined) return undefined;
    const counter = Atomics.load(this.#rows, this.#at(region, COUNTER));
    return counter % 2 === 0 ? undefined : counter;
  }

  regionOf(threadId: number): number | undefined {
    for (let region = 1; region < this.#regions; region++) {
      if (Atomics.load(this.#rows, this.#at(region, OWNER)) === threadId) return region;
    }
    return undefined;
  }
}
