/**
 * The fetch planner: turns wanted byte ranges into the cheapest set of ranged GETs. Pure; main thread, microseconds for a
 * usual fetch, tens of milliseconds for 100,000 ranges (its callers plan one object at a time).
 *
 * Why the plan is the cheapest there is. Inside one object let the wanted bytes be runs with gaps between them. A plan
 * skips some of the gaps; what lies between two skipped gaps is one span, which costs its bytes and ⌈span/max⌉ requests.
 *
 * - Skipping a gap adds at most one request, so a gap above `requestCostBytes` is always skipped. That splits an object
 *   into clusters that do not influence each other.
 * - A cluster no longer than `maxRangeBytes` is one GET: skipping a gap in it would add a request and save no more than
 *   that costs.
 * - A longer cluster is cut by dynamic programming over its runs (`CutSolver`). Merging first and splitting afterwards is
 *   not enough: with request cost 5 and maximum 10, [0,8) and [12,20) cost 26 as two GETs, 30 as a merged span.
 */

/** Some bytes of one object. */
export interface ObjectRange {
  readonly objectKey: string;
  /** First byte, counted from 0. */
  readonly position: number;
  /** Bytes. */
  readonly size: number;
}

/** What a GET costs. */
export interface RangeCostModel {
  /** The price of one request, expressed in bytes read; 0 or more. */
  readonly requestCostBytes: number;
  /** The largest range that one GET may ask for; 1 or more, or Infinity. */
  readonly maxRangeBytes: number;
}

/** More GETs than this cannot come from a real log; refused before they are allocated. */
const MAX_PLANNED_GETS = 2 ** 24;

/**
 * The cheapest ranged GETs that read every wanted byte, where a plan costs GETs × `requestCostBytes` + bytes read; among
 * equals one with the fewest GETs. `wanted` may repeat and overlap; size 0 is ignored; its order does not matter. The
 * ranges returned do not overlap and are ordered by object key (UTF-16 code units), then position. A cut may fall at any
 * byte.
 * @throws RangeError for positions, sizes or a model that are not safe integers in their bounds
 */
export function planRangedGets(wanted: readonly ObjectRange[], model: RangeCostModel): ObjectRange[] {
  checkModel(model);
  const { objectKeys, first, starts, ends } = groupByObject(wanted);
  const plan: ObjectRange[] = [];
  for (let object = 0; object < objectKeys.length; object++) {
    const from = first[object]!;
    const to = first[object + 1]!;
    sortSlice(starts, from, to);
    sortSlice(ends, from, to);
    planObject(objectKeys[object]!, starts, ends, mergeRuns(starts, ends, from, to), from, model, plan);
  }
  return plan;
}

/** @throws RangeError naming the setting and its bounds */
function checkModel({ requestCostBytes, maxRangeBytes }: RangeCostModel): void {
  if (!Number.isSafeInteger(requestCostBytes) || requestCostBytes < 0) {
    throw new RangeError(`requestCostBytes is ${requestCostBytes}: a safe integer of 0 or more is needed`);
  }
  if (maxRangeBytes !== Infinity && (!Number.isSafeInteger(maxRangeBytes) || maxRangeBytes < 1)) {
    throw new RangeError(`maxRangeBytes is ${maxRangeBytes}: a safe integer of 1 or more, or Infinity, is needed`);
  }
}

/** Starts and ends of all ranges, those of one object side by side, objects in the order of their keys. */
interface GroupedRanges {
  readonly objectKeys: string[];
  /** Where an object's ranges begin in `starts` and `ends`; one more entry than there are objects. */
  readonly first: Int32Array;
  readonly starts: Float64Array;
  readonly ends: Float64Array;
}

/** A counting sort by object: two passes over the list, no object allocated for a range. */
function groupByObject(wanted: readonly ObjectRange[]): GroupedRanges {
  const idByKey = new Map<string, number>();
  const idOf = new Int32Array(wanted.length);
  for (let i = 0; i < wanted.length; i++) {
    const range = wanted[i]!;
    idOf[i] = checkedSize(range) === 0 ? -1 : idFor(idByKey, range.objectKey);
  }
  const objectKeys = [...idByKey.keys()].sort();
  const rankOf = new Int32Array(objectKeys.length);
  for (let rank = 0; rank < objectKeys.length; rank++) rankOf[idByKey.get(objectKeys[rank]!)!] = rank;
  const first = new Int32Array(objectKeys.length + 1);
  for (const id of idOf) if (id >= 0) first[rankOf[id]! + 1]!++;
  for (let rank = 0; rank < objectKeys.length; rank++) first[rank + 1]! += first[rank]!;

  const next = first.slice();
  const starts = new Float64Array(first[objectKeys.length]!);
  const ends = new Float64Array(starts.length);
  for (let i = 0; i < wanted.length; i++) {
    if (idOf[i]! < 0) continue;
    const slot = next[rankOf[idOf[i]!]!]!++;
    ends[slot] = wanted[i]!.position + wanted[i]!.size;
    starts[slot] = ends[slot]! - wanted[i]!.size; // −0 becomes 0
  }
  return { objectKeys, first, starts, ends };
}

function idFor(idByKey: Map<string, number>, key: string): number {
  const known = idByKey.get(key);
  if (known !== undefined) return known;
  idByKey.set(key, idByKey.size);
  return idByKey.size - 1;
}

function checkedSize({ objectKey, position, size }: ObjectRange): number {
  const valid = Number.isSafeInteger(position) && Number.isSafeInteger(size) && position >= 0 && size >= 0;
  if (!valid || !Number.isSafeInteger(position + size)) {
    throw new RangeError(`wanted position ${position} size ${size} of "${objectKey}" is not a range of safe integers`);
  }
  return size;
}

/** Sorts a part of an array in place; calling into the engine's sort costs more than it saves on a few numbers. */
function sortSlice(values: Float64Array, from: number, to: number): void {
  if (to - from > 24) {
    values.subarray(from, to).sort();
    return;
  }
  for (let i = from + 1; i < to; i++) {
    const value = values[i]!;
    let at = i;
    for (; at > from && values[at - 1]! > value; at--) values[at] = values[at - 1]!;
    values[at] = value;
  }
}

/**
 * Joins overlapping and touching ranges in place, from `from` on; returns the end of the joined runs. Starts and ends were
 * sorted apart: there is a gap before the k-th start exactly when k ends lie below it.
 */
function mergeRuns(starts: Float64Array, ends: Float64Array, from: number, to: number): number {
  let run = from;
  for (let i = from + 1; i < to; i++) {
    if (starts[i]! <= ends[i - 1]!) continue;
    ends[run++] = ends[i - 1]!;
    starts[run] = starts[i]!;
  }
  ends[run] = ends[to - 1]!;
  return run + 1;
}

/** Splits an object's runs into clusters and plans each. */
function planObject(
  objectKey: string,
  starts: Float64Array,
  ends: Float64Array,
  to: number,
  from: number,
  model: RangeCostModel,
  plan: ObjectRange[],
): void {
  for (let low = from, high = from; low < to; low = high) {
    do high++;
    while (high < to && starts[high]! - ends[high - 1]! <= model.requestCostBytes);
    const size = ends[high - 1]! - starts[low]!;
    if (size <= model.maxRangeBytes) plan.push({ objectKey, position: starts[low]!, size });
    else cutCluster(objectKey, starts.subarray(low, high), ends.subarray(low, high), model, plan);
  }
}

function cutCluster(
  objectKey: string,
  starts: Float64Array,
  ends: Float64Array,
  model: RangeCostModel,
  plan: ObjectRange[],
): void {
  const { maxRangeBytes } = model;
  for (const [low, high] of new CutSolver(starts, ends, model).spans()) {
    const end = ends[high]!;
    if (plan.length + (end - starts[low]!) / maxRangeBytes > MAX_PLANNED_GETS) {
      throw new RangeError(
        `more than ${MAX_PLANNED_GETS} GETs of at most ${maxRangeBytes} bytes would be needed: raise maxRangeBytes`,
      );
    }
    for (let position = starts[low]!; position < end; position += maxRangeBytes) {
      plan.push({ objectKey, position, size: Math.min(maxRangeBytes, end - position) });
    }
  }
}

/**
 * Finds the gaps to skip in one cluster, in O(n log n).
 *
 * Let best(j) be the cheapest cost of the runs up to j; its last span begins at some run i, so
 * best(j) = min over i of best(i−1) + gaps inside i..j + requests × ⌈(end j − start i)/max⌉. With start i = x·max + u and
 * end j = y·max + v, that ceiling is y − x, plus one when u < v. So every i has a key that does not depend on j, and j
 * takes the smaller of: the least key of all plus one request, and the least key among those with u ≥ v, which a Fenwick
 * tree over the sorted remainders answers.
 *
 * A cost is kept as gap bytes and a count of requests. Both stay exact integers, and so does every comparison: where the
 * product below exceeds 2^53 and rounds, the difference it is compared with cannot reach it.
 */
class CutSolver {
  readonly #starts: Float64Array;
  readonly #ends: Float64Array;
  readonly #max: number;
  readonly #requestCostBytes: number;
  /** Of a span that begins at run i: gap bytes read, and requests made, before it, less its own start's share. */
  readonly #keyBytes: Float64Array;
  readonly #keyRequests: Float64Array;
  readonly #remainders: Float64Array;
  /** Fenwick tree over the ranks of the remainders, greatest first: the best run of each block, −1 for none. */
  readonly #tree: Int32Array;

  constructor(starts: Float64Array, ends: Float64Array, model: RangeCostModel) {
    this.#starts = starts;
    this.#ends = ends;
    this.#max = model.maxRangeBytes;
    this.#requestCostBytes = model.requestCostBytes;
    this.#keyBytes = new Float64Array(starts.length);
    this.#keyRequests = new Float64Array(starts.length);
    this.#remainders = starts.map((start) => start % model.maxRangeBytes).sort();
    this.#tree = new Int32Array(starts.length + 1).fill(-1);
  }

  /** The spans to read, as first and last run, in order. */
  spans(): [low: number, high: number][] {
    const beginning = this.#solve();
    const spans: [number, number][] = [];
    for (let high = this.#starts.length - 1; high >= 0; high = beginning[high]! - 1) {
      spans.push([beginning[high]!, high]);
    }
    return spans.reverse();
  }

  /** For each run, where the last span of the cheapest plan up to it begins. */
  #solve(): Int32Array {
    const beginning = new Int32Array(this.#starts.length);
    let bestOfAll = 0;
    let gapsBefore = 0;
    let bytes = 0;
    let requests = 0;
    for (let j = 0; j < this.#starts.length; j++) {
      if (j > 0) gapsBefore += this.#starts[j]! - this.#ends[j - 1]!;
      const remainder = this.#starts[j]! % this.#max;
      this.#keyBytes[j] = bytes - gapsBefore;
      this.#keyRequests[j] = requests - (this.#starts[j]! - remainder) / this.#max;
      this.#insert(j, remainder);
      if (this.#isBetter(j, bestOfAll, 0)) bestOfAll = j;

      const overhang = this.#ends[j]! % this.#max;
      const fitting = this.#bestWithRemainderFrom(overhang);
      const extra = fitting < 0 || this.#isBetter(bestOfAll, fitting, 1) ? 1 : 0;
      const begin = extra === 1 ? bestOfAll : fitting;
      beginning[j] = begin;
      bytes = this.#keyBytes[begin]! + gapsBefore;
      requests = this.#keyRequests[begin]! + (this.#ends[j]! - overhang) / this.#max + extra;
    }
    return beginning;
  }

  /** Whether a span from run `a`, with `extra` requests more, is cheaper than one from `b`; fewer requests break a tie. */
  #isBetter(a: number, b: number, extra: number): boolean {
    const requests = this.#keyRequests[b]! - this.#keyRequests[a]! - extra;
    const difference = this.#keyBytes[a]! - this.#keyBytes[b]! - this.#requestCostBytes * requests;
    return difference < 0 || (difference === 0 && requests > 0);
  }

  #insert(run: number, remainder: number): void {
    for (let rank = this.#rankOf(remainder); rank < this.#tree.length; rank += rank & -rank) {
      const holder = this.#tree[rank]!;
      if (holder < 0 || this.#isBetter(run, holder, 0)) this.#tree[rank] = run;
    }
  }

  #bestWithRemainderFrom(least: number): number {
    let best = -1;
    for (let rank = this.#rankOf(least); rank > 0; rank -= rank & -rank) {
      const run = this.#tree[rank]!;
      if (run >= 0 && (best < 0 || this.#isBetter(run, best, 0))) best = run;
    }
    return best;
  }

  /** How many remainders are at or above `least`: the rank of the smallest such one, counted from the greatest. */
  #rankOf(least: number): number {
    let low = 0;
    let high = this.#remainders.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#remainders[middle]! < least) low = middle + 1;
      else high = middle;
    }
    return this.#remainders.length - low;
  }
}
