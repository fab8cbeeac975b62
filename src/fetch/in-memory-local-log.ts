/**
 * The local view in memory: runs by partition and offset, evicted by slab.
 *
 * Memory comes back only when a slab's last run goes, so slabs are the unit of accounting and eviction: a slab counts
 * with all its bytes however little of it is used, plus fixed overheads per slab and run. Two queues, each first in,
 * first out: `tail` and `scan`. Scans may always have a quarter of the room and take more only while the tail leaves it
 * free, so a consumer that reads from the beginning evicts what it read itself. Main thread; owned by the fetch service.
 */
import { type PartitionKey, partitionKey } from '../common/topic-id-partition.ts';
import type { RewrittenRun } from '../worker/rewritten-run.ts';
import type { Slab } from '../worker/slab-pool.ts';
import type { FetchMemory } from './fetch-memory.ts';
import type { LocalLog, LocalLogBounds, RunOrigin } from './local-log.ts';

/** What a run, and a slab, cost on the heap besides the bytes: 295 and 477 measured on Node 20, rounded up. */
const RUN_OVERHEAD_BYTES = 320;
const SLAB_OVERHEAD_BYTES = 512;
/** Partitions of which only the bounds are known; beyond that the ones known longest are forgotten. */
const MAX_EMPTY_PARTITIONS = 200_000;

const NO_RUNS: readonly RewrittenRun[] = [];

class PartitionRuns implements LocalLogBounds {
  /** By offset; they never overlap, but there may be gaps. */
  readonly runs: RewrittenRun[] = [];
  logStartOffset: bigint | undefined;
  highWatermark = 0n;

  get isEmpty(): boolean {
    return this.runs.length === 0;
  }

  get localLogEnd(): bigint {
    const last = this.runs.at(-1);
    return last ? last.lastOffset + 1n : this.highWatermark;
  }

  get inSync(): boolean {
    return this.localLogEnd >= this.highWatermark;
  }
}

/** A slab and the runs that lie in it; holds one reference for all of them. */
interface Block {
  readonly slab: Slab;
  origin: RunOrigin;
  readonly entries: Map<RewrittenRun, PartitionRuns>;
}

export class InMemoryLocalLog implements LocalLog {
  readonly #memory: FetchMemory;
  readonly #maxBytes: number;
  readonly #partitions = new Map<PartitionKey, PartitionRuns>();
  readonly #blocks = { tail: new Map<Slab, Block>(), scan: new Map<Slab, Block>() };
  readonly #bytes = { tail: 0, scan: 0 };

  /** Registers itself as what `memory` reclaims from. */
  constructor(memory: FetchMemory, maxBytes: number) {
    this.#memory = memory;
    this.#maxBytes = maxBytes;
    memory.reclaim = () => this.#evictOne();
  }

  get sizeBytes(): number {
    return this.#bytes.tail + this.#bytes.scan;
  }

  append(run: RewrittenRun, origin: RunOrigin): void {
    const partition = this.#partition(partitionKey(run.topicIdPartition));
    if (run.lastOffset + 1n > partition.highWatermark) partition.highWatermark = run.lastOffset + 1n;
    const at = upperBound(partition.runs, run.baseOffset);
    const before = partition.runs[at - 1];
    const after = partition.runs[at];
    const overlaps =
      (before && before.lastOffset >= run.baseOffset) ||
      (after && after.baseOffset <= run.lastOffset) ||
      (partition.logStartOffset !== undefined && run.lastOffset < partition.logStartOffset);
    if (overlaps || !this.#admit(run, origin, partition)) {
      run.slab.release();
      return;
    }
    // Admission may have evicted runs of this very partition.
    partition.runs.splice(upperBound(partition.runs, run.baseOffset), 0, run);
  }

  read(key: PartitionKey, offset: bigint, maxBytes: number): readonly RewrittenRun[] {
    const runs = this.#partitions.get(key)?.runs;
    if (!runs) return NO_RUNS;
    let at = upperBound(runs, offset) - 1;
    if (at < 0 || runs[at]!.lastOffset < offset) return NO_RUNS;
    const found = [runs[at]!];
    let bytes = 0;
    for (at++; at < runs.length && bytes < maxBytes; at++) {
      const run = runs[at]!;
      if (run.baseOffset !== runs[at - 1]!.lastOffset + 1n) break;
      found.push(run);
      bytes += run.bytes.length;
    }
    return found;
  }

  covering(key: PartitionKey, baseOffset: bigint, lastOffset: bigint): readonly RewrittenRun[] {
    const runs = this.#partitions.get(key)?.runs;
    if (!runs) return NO_RUNS;
    const first = upperBound(runs, baseOffset) - 1;
    if (first < 0) return NO_RUNS;
    for (let at = first, next = baseOffset; at < runs.length; at++) {
      const run = runs[at]!;
      if (run.lastOffset < next || (at > first && run.baseOffset !== next)) return NO_RUNS;
      if (run.lastOffset >= lastOffset) return runs.slice(first, at + 1);
      next = run.lastOffset + 1n;
    }
    return NO_RUNS;
  }

  bounds(key: PartitionKey): LocalLogBounds | undefined {
    return this.#partitions.get(key);
  }

  localLogStart(key: PartitionKey): bigint | undefined {
    const partition = this.#partitions.get(key);
    if (!partition) return undefined;
    const { runs, highWatermark } = partition;
    let first = runs.length - 1;
    while (first > 0 && runs[first - 1]!.lastOffset + 1n === runs[first]!.baseOffset) first--;
    return runs[first]?.baseOffset ?? highWatermark;
  }

  noteBounds(key: PartitionKey, logStartOffset: bigint, highWatermark: bigint): void {
    const partition = this.#partition(key);
    if (highWatermark > partition.highWatermark) partition.highWatermark = highWatermark;
    this.#moveLogStart(partition, logStartOffset);
  }

  // Both are kept for partitions not known yet, too: the coordinator's answer that is on its way may be older.
  noteHighWatermark(key: PartitionKey, highWatermark: bigint): void {
    const partition = this.#partition(key);
    if (highWatermark > partition.highWatermark) partition.highWatermark = highWatermark;
  }

  noteLogStart(key: PartitionKey, logStartOffset: bigint): void {
    this.#moveLogStart(this.#partition(key), logStartOffset);
  }

  distrustBounds(): void {
    for (const partition of this.#partitions.values()) partition.logStartOffset = undefined;
  }

  retainPartitions(exists: (key: PartitionKey) => boolean): void {
    for (const [key, partition] of this.#partitions) {
      if (exists(key)) continue;
      for (const run of [...partition.runs]) this.#drop(run);
      this.#partitions.delete(key);
    }
  }

  close(): void {
    for (const origin of ['tail', 'scan'] as const) {
      for (const block of this.#blocks[origin].values()) this.#evict(block);
    }
    this.#partitions.clear();
  }

  #partition(key: PartitionKey): PartitionRuns {
    let partition = this.#partitions.get(key);
    if (!partition) {
      if (this.#partitions.size >= MAX_EMPTY_PARTITIONS) this.#forgetEmptyPartition();
      partition = new PartitionRuns();
      this.#partitions.set(key, partition);
    }
    return partition;
  }

  #forgetEmptyPartition(): void {
    for (const [key, { runs }] of this.#partitions) {
      if (runs.length > 0) continue;
      this.#partitions.delete(key);
      return;
    }
  }

  #moveLogStart(partition: PartitionRuns, logStartOffset: bigint): void {
    // Notifications and answers overtake each other; a log start never goes back.
    if (partition.logStartOffset === undefined || logStartOffset > partition.logStartOffset) {
      partition.logStartOffset = logStartOffset;
    }
    while (partition.runs.length > 0 && partition.runs[0]!.lastOffset < partition.logStartOffset) {
      this.#drop(partition.runs[0]!);
    }
  }

  /** Puts a run into its slab's block, making room first. False: there is none, and nothing was added. */
  #admit(run: RewrittenRun, origin: RunOrigin, partition: PartitionRuns): boolean {
    const { slab } = run;
    const known = this.#blocks.tail.get(slab) ?? this.#blocks.scan.get(slab);
    const addedBytes = RUN_OVERHEAD_BYTES + (known ? 0 : heldBytes(slab));
    while (this.sizeBytes + addedBytes > this.#maxBytes) {
      if (!this.#evictOne(known)) return false;
    }
    const block = known ?? { slab, origin, entries: new Map() };
    if (known)
      slab.release(); // the block holds one reference for all its runs
    else this.#blocks[origin].set(slab, block);
    block.entries.set(run, partition);
    this.#bytes[block.origin] += addedBytes;
    if (origin === 'tail' && block.origin === 'scan') this.#promote(block);
    return true;
  }

  #promote(block: Block): void {
    const bytes = bytesOf(block);
    this.#blocks.scan.delete(block.slab);
    this.#bytes.scan -= bytes;
    block.origin = 'tail';
    this.#blocks.tail.set(block.slab, block);
    this.#bytes.tail += bytes;
  }

  /** Frees one slab; false when all that is left is `spared` or pinned by answers, which would free nothing. */
  #evictOne(spared?: Block): boolean {
    const scanFirst = this.#bytes.scan > this.#maxBytes / 4 || this.#blocks.tail.size === 0;
    const victim = scanFirst
      ? (this.#oldest('scan', spared) ?? this.#oldest('tail', spared))
      : (this.#oldest('tail', spared) ?? this.#oldest('scan', spared));
    if (victim) this.#evict(victim);
    return victim !== undefined;
  }

  #oldest(origin: RunOrigin, spared: Block | undefined): Block | undefined {
    for (const block of this.#blocks[origin].values()) {
      if (block !== spared && !this.#memory.isPinned(block.slab)) return block;
    }
    return undefined;
  }

  #evict(block: Block): void {
    for (const run of [...block.entries.keys()]) this.#drop(run);
  }

  /** Takes a run out; with the last one its slab is released. */
  #drop(run: RewrittenRun): void {
    const block = this.#blocks.tail.get(run.slab) ?? this.#blocks.scan.get(run.slab)!;
    const { runs } = block.entries.get(run)!;
    const at = upperBound(runs, run.baseOffset) - 1;
    if (runs[at] === run) runs.splice(at, 1);
    block.entries.delete(run);
    this.#bytes[block.origin] -= RUN_OVERHEAD_BYTES;
    if (block.entries.size > 0) return;
    this.#blocks[block.origin].delete(block.slab);
    this.#bytes[block.origin] -= heldBytes(block.slab);
    block.slab.release();
  }
}

function heldBytes(slab: Slab): number {
  return slab.bytes.length + SLAB_OVERHEAD_BYTES;
}

function bytesOf(block: Block): number {
  return heldBytes(block.slab) + block.entries.size * RUN_OVERHEAD_BYTES;
}

/** How many runs begin at or before `offset`. */
function upperBound(runs: readonly RewrittenRun[], offset: bigint): number {
  let low = 0;
  let high = runs.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (runs[middle]!.baseOffset <= offset) low = middle + 1;
    else high = middle;
  }
  return low;
}
