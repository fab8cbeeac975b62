/**
 * The fetch scheduler: the one place that reads objects. It collects the ranges that fetches, share fetches and readahead
 * want within a turn of the event loop, has them planned together object by object, and runs the GETs.
 *
 * - A range is joined byte by byte with GETs that are queued or in flight: only what nobody is reading yet is read.
 * - Raw bytes have one owner (see `RangeRead`): a read is a view of the landing slab, or, where it overlaps somebody
 *   else's bytes or spans several landings, a copy made at the moment the bytes land, before anyone rewrites them.
 * - A failed GET fails the reads whose own bytes it was reading; those that only shared it are read once more, apart.
 *   Nothing of a failed GET is kept.
 * - The last reader leaving cancels the GET. GETs and their bytes are bounded; `ReadQueue` shares them out.
 * - A read that finds no memory waits for it, for a bounded time: two fetches each holding half of what the other needs
 *   both go on with the half they have.
 *
 * Main thread; constructed and closed by the fetch service.
 */
import { ApiError } from '../common/errors.ts';
import { type Deferred, deferred, once } from '../common/lifecycle.ts';
import type { Time, Timer } from '../common/time.ts';
import { type ObjectStorage, StorageError } from '../storage/object-storage.ts';
import type { FetchMemory } from './fetch-memory.ts';
import { type ObjectRange, planRangedGets, type RangeCostModel } from './fetch-planner.ts';
import {
  type Interval,
  type LandedBytes,
  Landing,
  RangedGet,
  RangeRead,
  type ReadPriority,
  subtract,
} from './range-read.ts';
import { ReadQueue } from './read-queue.ts';

export interface FetchSchedulerOptions {
  readonly objectStorage: ObjectStorage;
  readonly memory: FetchMemory;
  readonly time: Time;
  readonly costModel: RangeCostModel;
  /** GETs in flight at most. */
  readonly maxGets: number;
  /** Bytes of GETs in flight at most; a single larger read goes alone. */
  readonly maxBytesInFlight: number;
  /** How long reads are collected while at least half of the GETs are busy; 0 collects within the turn only. */
  readonly collectWindowMs: number;
  /** How long a read waits for memory before it fails with `OutOfFetchMemory`. */
  readonly memoryWaitMs: number;
}

/** No slab could be had in time. The fetch answers with what it has. */
export class OutOfFetchMemory extends Error {
  override readonly name = 'OutOfFetchMemory';
}

/** What of a range is being read already, in bytes, and the ranges that are not. */
export interface RangeCoverage {
  readonly inFlight: number;
  readonly queued: number;
  readonly missing: readonly ObjectRange[];
}

/** A read under way. */
export interface ReadTicket {
  /** Rejects with StorageError, OutOfFetchMemory, or the reason it was cancelled with. */
  readonly bytes: Promise<LandedBytes>;
  /** Somebody more urgent waits for it now. */
  raise(priority: ReadPriority): void;
  /** Nobody waits for it any more. */
  cancel(reason: unknown): void;
}

/** What waits for one object, and what of it is being read. */
interface ObjectReads {
  readonly queued: Set<RangeRead>;
  readonly gets: Set<RangedGet>;
  /** The plan for everything queued and not isolated; undefined when that changed. */
  plan: ObjectRange[] | undefined;
}

const RANK: Record<ReadPriority, number> = { hot: 0, cold: 1, readahead: 2 };

/** Errors that say the same of every range of the object, or that repeating makes worse. */
const HOPELESS: ReadonlySet<string> = new Set(['not-found', 'denied', 'closed', 'throttled']);

export class FetchScheduler {
  readonly #options: FetchSchedulerOptions;
  readonly #objects = new Map<string, ObjectReads>();
  readonly #queue = new ReadQueue();
  /** GETs that have their slab and wait for their turn. */
  #ready: RangedGet[] = [];
  #running = 0;
  #coldGets = 0;
  #bytesInFlight = 0;
  #isScheduled = false;
  #starvingSinceMs: number | undefined;
  #starvingTimer: Timer | undefined;
  #closing: Deferred<void> | undefined;
  #rangedGets = 0;
  #rangedGetBytes = 0;

  constructor(options: FetchSchedulerOptions) {
    this.#options = options;
    options.memory.onFreed(() => {
      if (this.#starvingSinceMs !== undefined) this.#schedule();
    });
  }

  /** GETs started since it was constructed, and their bytes. */
  get stats(): { readonly rangedGets: number; readonly rangedGetBytes: number; readonly inFlight: number } {
    return { rangedGets: this.#rangedGets, rangedGetBytes: this.#rangedGetBytes, inFlight: this.#running };
  }

  /** Wants some bytes, at least one. They arrive in a slab that the caller releases. */
  read(range: ObjectRange, priority: ReadPriority): ReadTicket {
    const read = new RangeRead(range, priority);
    if (this.#closing) {
      read.fail(closedError());
    } else {
      const object = this.#object(read.objectKey);
      this.#join(read, object);
      this.#enqueue(read, object);
    }
    return {
      bytes: read.outcome.promise,
      raise: (to) => this.#raise(read, to),
      cancel: (reason) => this.#cancel(read, reason),
    };
  }

  /** How many bytes of a range are in flight or queued already, and which ones are not; for explanations. */
  coverage({ objectKey, position, size }: ObjectRange): RangeCoverage {
    const object = this.#objects.get(objectKey);
    let missing: Interval[] = [{ start: position, end: position + size }];
    const take = (intervals: Iterable<Interval>): number => {
      const before = bytesOf(missing);
      for (const interval of intervals) missing = missing.flatMap((piece) => subtract(piece, interval));
      return before - bytesOf(missing);
    };
    const inFlight = take(object?.gets ?? []);
    const queued = take([...(object?.queued ?? [])].flatMap((read) => read.missing));
    return {
      inFlight,
      queued,
      missing: missing.map(({ start, end }) => ({ objectKey, position: start, size: end - start })),
    };
  }

  /** Fails what waits, cancels what is in flight, and resolves when the storage has let go of every slab. */
  readonly close = once(async (): Promise<void> => {
    this.#closing = deferred();
    this.#starvingTimer?.cancel();
    for (const object of [...this.#objects.values()]) {
      const reads = new Set([...object.queued, ...[...object.gets].flatMap((get) => [...get.reads])]);
      for (const read of reads) this.#cancel(read, closedError());
    }
    if (this.#running > 0) await this.#closing.promise;
  });

  #object(objectKey: string): ObjectReads {
    let object = this.#objects.get(objectKey);
    if (!object) {
      object = { queued: new Set(), gets: new Set(), plan: undefined };
      this.#objects.set(objectKey, object);
    }
    return object;
  }

  #forgetIfIdle(objectKey: string): void {
    const object = this.#objects.get(objectKey);
    if (object && object.queued.size === 0 && object.gets.size === 0) this.#objects.delete(objectKey);
  }

  #enqueue(read: RangeRead, object: ObjectReads): void {
    if (!read.isQueued) return;
    object.queued.add(read);
    object.plan = undefined;
    this.#queue.push(read);
    this.#schedule();
  }

  /** Rides along with whatever is in flight. */
  #join(read: RangeRead, object: ObjectReads): void {
    for (const get of object.gets) {
      if (!get.controller.signal.aborted && overlaps(get, read)) this.#attach(read, [...object.gets], get.landing);
      if (!read.isQueued) return;
    }
  }

  /**
   * Lets GETs of one landing carry what they can of a read. False when that takes a slab of its own and there is none: the
   * read stays queued, whole.
   */
  #attach(read: RangeRead, gets: readonly RangedGet[], landing: Landing): boolean {
    const carriers = gets.filter(
      (get) => get.landing === landing && !get.controller.signal.aborted && read.missing.some((m) => overlaps(get, m)),
    );
    if (carriers.length === 0) return true;
    let missing = read.missing;
    for (const get of carriers) missing = missing.flatMap((piece) => subtract(piece, get));
    const isView = missing.length === 0 && !read.ownSlab && read.gets.size === 0 && landing.canHold(read);
    if (isView) {
      read.landing = landing;
      landing.reads.add(read);
    } else if (!read.ownSlab) {
      read.ownSlab = this.#options.memory.lease(read.size);
      if (!read.ownSlab) return false;
    }
    read.missing = missing;
    for (const get of carriers) {
      get.reads.add(read);
      read.gets.add(get);
    }
    return true;
  }

  #raise(read: RangeRead, to: ReadPriority): void {
    if (RANK[to] >= RANK[read.priority]) return;
    read.priority = to;
    if (!read.isQueued) return;
    this.#queue.push(read);
    this.#schedule();
  }

  #cancel(read: RangeRead, reason: unknown): void {
    if (read.settled) return;
    const object = this.#object(read.objectKey);
    this.#detach(read, object);
    if (object.queued.delete(read)) object.plan = undefined;
    read.fail(reason);
    this.#forgetIfIdle(read.objectKey);
  }

  /** Takes a read off the GETs that carry it; a GET that nobody needs any more is given up. */
  #detach(read: RangeRead, object: ObjectReads): void {
    for (const get of read.gets) {
      get.reads.delete(read);
      if (get.reads.size > 0) continue;
      if (get.running) get.controller.abort(new Error('nobody waits for this range any more'));
      else {
        this.#ready = this.#ready.filter((other) => other !== get);
        this.#settle(get, object);
      }
    }
    read.gets.clear();
  }

  #schedule(): void {
    if (this.#isScheduled || this.#closing) return;
    this.#isScheduled = true;
    const run = (): void => {
      this.#isScheduled = false;
      this.#dispatch();
    };
    const isBusy = this.#running * 2 >= this.#options.maxGets;
    if (isBusy && this.#options.collectWindowMs > 0) this.#options.time.setTimer(this.#options.collectWindowMs, run);
    else setImmediate(run);
  }

  /** Starts GETs until none is free or nothing that waits finds room. */
  #dispatch(): void {
    const blocked = new Set<ReadPriority>();
    while (!this.#closing && this.#running < this.#options.maxGets) {
      const get = this.#ready.shift();
      if (get) {
        void this.#run(get);
        continue;
      }
      const read = this.#queue.next(this.#coldGets < this.#maxColdGets, blocked);
      if (!read) return;
      if (!this.#launch(read)) blocked.add(read.priority);
    }
  }

  /** One GET in four is kept for hot reads. */
  get #maxColdGets(): number {
    return Math.max(1, this.#options.maxGets - Math.ceil(this.#options.maxGets / 4));
  }

  /** Makes the GETs that a read needs, sharing them with everything queued for that object. False: there is no room. */
  #launch(read: RangeRead): boolean {
    const object = this.#object(read.objectKey);
    const chain = nextChain(read, this.#planFor(read, object));
    if (!this.#hasRoom(chain, read.priority)) return false;
    const landing = this.#land(chain) ?? this.#landAlone(read, object, chain);
    if (!landing) return this.#starve(read, object);
    this.#starvingSinceMs = undefined;
    const gets = chain.map(({ start, end }) => new RangedGet(read.objectKey, { start, end }, landing, read.priority));
    for (const get of gets) {
      object.gets.add(get);
      this.#ready.push(get);
      this.#bytesInFlight += get.size;
      if (get.priority !== 'hot') this.#coldGets++;
    }
    this.#carry(read, object, gets, landing);
    return true;
  }

  #planFor(read: RangeRead, object: ObjectReads): ObjectRange[] {
    if (read.isolated) return planRangedGets(asRanges(read), this.#options.costModel);
    object.plan ??= planRangedGets(
      [...object.queued].filter((queued) => !queued.isolated).flatMap(asRanges),
      this.#options.costModel,
    );
    return object.plan;
  }

  #hasRoom(chain: readonly Interval[], priority: ReadPriority): boolean {
    const limit = this.#options.maxBytesInFlight * (priority === 'hot' ? 1 : 0.75);
    return this.#bytesInFlight === 0 || this.#bytesInFlight + bytesOf(chain) <= limit;
  }

  #land(chain: readonly Interval[]): Landing | undefined {
    const stretch = { start: chain[0]!.start, end: chain.at(-1)!.end };
    const slab = this.#options.memory.lease(stretch.end - stretch.start);
    return slab && new Landing(stretch, slab);
  }

  /** Under memory pressure a read goes without its neighbours. Replaces the chain's ranges. */
  #landAlone(read: RangeRead, object: ObjectReads, chain: Interval[]): Landing | undefined {
    const alone = nextChain(read, planRangedGets(asRanges(read), this.#options.costModel));
    if (bytesOf(alone) >= bytesOf(chain)) return undefined;
    object.plan = undefined;
    chain.splice(0, chain.length, ...alone);
    return this.#land(chain);
  }

  /** No memory: waits for some, until the time is up. */
  #starve(read: RangeRead, object: ObjectReads): boolean {
    const { time, memoryWaitMs, memory } = this.#options;
    const nowMs = time.monotonicMs();
    this.#starvingSinceMs ??= nowMs;
    const isHopeless = read.size > memory.capacityBytes;
    if (!isHopeless && nowMs - this.#starvingSinceMs < memoryWaitMs) {
      this.#starvingTimer ??= time.setTimer(memoryWaitMs, () => {
        this.#starvingTimer = undefined;
        this.#dispatch();
      });
      return false;
    }
    this.#detach(read, object);
    object.queued.delete(read);
    object.plan = undefined;
    read.fail(
      new OutOfFetchMemory(
        `${read.size} bytes of ${read.objectKey} found no room in the ${memory.capacityBytes} bytes for fetches`,
      ),
    );
    this.#forgetIfIdle(read.objectKey);
    return true;
  }

  /** Puts the read, and everything queued that the new GETs also cover, on them. */
  #carry(first: RangeRead, object: ObjectReads, gets: readonly RangedGet[], landing: Landing): void {
    const others = [...object.queued].filter(
      (read) => read !== first && read.isolated === first.isolated && (!first.isolated || isSame(read, first)),
    );
    let allCarried = true;
    for (const read of [first, ...others]) {
      if (!overlaps(read, landing)) continue;
      allCarried = this.#attach(read, gets, landing) && allCarried;
      if (!read.isQueued) object.queued.delete(read);
    }
    if (first.isolated) return; // the plan is that of the others
    const isLaunched = (range: ObjectRange): boolean => gets.some((get) => get.start === range.position);
    object.plan = allCarried ? object.plan?.filter((range) => !isLaunched(range)) : undefined;
  }

  async #run(get: RangedGet): Promise<void> {
    get.running = true;
    this.#running++;
    this.#rangedGets++;
    this.#rangedGetBytes += get.size;
    let failure: { error: unknown } | undefined;
    try {
      const range = { position: get.start, size: get.size };
      const options = { into: get.landing.bytes(get), signal: get.controller.signal };
      await this.#options.objectStorage.getRange(get.objectKey, range, options);
    } catch (error) {
      failure = { error };
    }
    this.#running--;
    const object = this.#object(get.objectKey);
    if (failure) this.#fail(get, object, failure.error);
    else this.#deliver(get);
    this.#settle(get, object);
    if (this.#running === 0) this.#closing?.resolve();
    this.#dispatch();
  }

  /** Copies first: once a read is handed over, its owner rewrites the landing's bytes. */
  #deliver(get: RangedGet): void {
    for (const read of get.reads) if (read.ownSlab) get.copyTo(read);
    for (const read of get.reads) {
      read.gets.delete(get);
      if (read.isComplete) read.complete();
    }
  }

  /**
   * Whoever wanted just these bytes fails with the GET. Whoever wanted a part of them may do better alone: what could not
   * be read may be a neighbour's.
   */
  #fail(get: RangedGet, object: ObjectReads, error: unknown): void {
    const isHopeless = error instanceof StorageError && HOPELESS.has(error.kind);
    for (const read of [...get.reads]) {
      this.#detach(read, object);
      if (object.queued.delete(read)) object.plan = undefined;
      if (isHopeless || read.isolated || get.isWithin(read)) {
        read.fail(error);
        continue;
      }
      read.isolated = true;
      read.abandonPlace();
      object.queued.add(read);
      this.#queue.unshift(read);
    }
  }

  #settle(get: RangedGet, object: ObjectReads): void {
    object.gets.delete(get);
    this.#bytesInFlight -= get.size;
    if (get.priority !== 'hot') this.#coldGets--;
    get.landing.getSettled();
    this.#forgetIfIdle(get.objectKey);
  }
}

const closedError = (): ApiError => new ApiError('KAFKA_STORAGE_ERROR', 'the engine is closed');

const overlaps = (a: Interval, b: Interval): boolean => a.start < b.end && b.start < a.end;

const isSame = (a: Interval, b: Interval): boolean => a.start === b.start && a.end === b.end;

function bytesOf(intervals: readonly Interval[]): number {
  return intervals.reduce((sum, { start, end }) => sum + end - start, 0);
}

function asRanges({ objectKey, missing }: RangeRead): ObjectRange[] {
  return missing.map(({ start, end }) => ({ objectKey, position: start, size: end - start }));
}

/** The planned ranges that carry a read's first missing bytes, as far as they adjoin each other: one landing. */
function nextChain(read: RangeRead, plan: readonly ObjectRange[]): Interval[] {
  const { start, end } = read.missing[0]!;
  const chain: Interval[] = [];
  for (const { position, size } of plan) {
    if (position + size > start && position < end) chain.push({ start: position, end: position + size });
  }
  return chain;
}
