/**
 * The fetch planner: its time against grouping and sorting the same list, and what its plans cost under the model against
 * the two ways of Inkless: one bounding range per object and fetch, and aligned blocks of 16 MiB shared by all. Then what
 * a fetch from the local view costs, against copying its bytes.
 */
import { type Random, randomInt, seededRandom } from '../src/common/random.ts';
import {
  type DisklessEngine,
  InMemoryDisklessCoordinator,
  InMemoryObjectStorage,
  type ObjectRange,
  openEngine,
  planRangedGets,
  type RangeCostModel,
  type TopicIdPartition,
} from '../src/index.ts';
import { plainBatch } from '../test/support/record-batches.ts';
import type { BenchContext } from './harness.ts';

const KIB = 1024;
const MIB = 1024 * KIB;
const BLOCK_BYTES = 16 * MIB;

const MODEL: RangeCostModel = { requestCostBytes: MIB / 2, maxRangeBytes: BLOCK_BYTES };

export default async function fetchPlanner(bench: BenchContext): Promise<void> {
  await planningTime(bench);
  for (const workload of workloads(bench.smoke)) planCost(bench, workload);
  await fetchFromCache(bench);
}

async function planningTime(bench: BenchContext): Promise<void> {
  const random = seededRandom(11);
  const coordinates = bench.smoke ? 2_000 : 100_000;
  const wanted = Array.from({ length: coordinates }, () => ({
    objectKey: `segments/${randomInt(random, 0, coordinates / 10 - 1) * 7919}`,
    position: randomInt(random, 0, 4 * MIB),
    size: 16 * KIB,
  }));
  await bench.contest({
    name: 'plan/100k',
    unit: 'ranges/s',
    amount: coordinates,
    subject: () => planRangedGets(wanted, MODEL),
    baselines: { 'group-and-sort': () => groupAndSort(wanted) },
    same: (plan, grouped) => isCovered(grouped as ObjectRange[][], plan as ObjectRange[]),
    roundMs: bench.smoke ? 2 : 300,
  });
}

function groupAndSort(wanted: readonly ObjectRange[]): ObjectRange[][] {
  const byObject = new Map<string, ObjectRange[]>();
  for (const range of wanted) {
    const group = byObject.get(range.objectKey);
    if (group) group.push(range);
    else byObject.set(range.objectKey, [range]);
  }
  return [...byObject.keys()].sort().map((key) => byObject.get(key)!.sort((a, b) => a.position - b.position));
}

/** Both saw the same ranges: every one of the groups lies in the plan, in its order. */
function isCovered(groups: readonly ObjectRange[][], plan: readonly ObjectRange[]): boolean {
  let at = 0;
  const isRead = (range: ObjectRange): boolean => {
    while (at < plan.length && !holds(plan[at]!, range)) at++;
    return at < plan.length;
  };
  return groups.every((group) => group.every(isRead));
}

function holds(read: ObjectRange, range: ObjectRange): boolean {
  return (
    read.objectKey === range.objectKey &&
    read.position <= range.position &&
    range.position + range.size <= read.position + read.size
  );
}

/** Fetches that are there at the same time, and the objects they read from, all of one size. */
interface Workload {
  readonly name: string;
  /** Each window's fetches meet in the scheduler. */
  readonly windows: readonly (readonly (readonly ObjectRange[])[])[];
  readonly objectBytes: number;
}

/** A segment in which `partitions` lie side by side; the runs of those asked for. */
function runsOf(objectKey: string, partitions: readonly number[], runBytes: number): ObjectRange[] {
  return partitions.map((partition) => ({ objectKey, position: 1 + partition * runBytes, size: runBytes }));
}

function range(from: number, to: number, step = 1): number[] {
  return Array.from({ length: Math.ceil((to - from) / step) }, (_, i) => from + i * step);
}

function workloads(smoke: boolean): Workload[] {
  const random = seededRandom(23);
  return [
    {
      // 200 partitions of one new segment, read by 20 consumers of 10 each, partitions dealt out in turn.
      name: 'tail-200-partitions',
      windows: [range(0, 20).map((consumer) => runsOf('a', range(consumer, 200, 20), 20 * KIB))],
      objectBytes: 4 * MIB,
    },
    {
      // One consumer, one run in each of 1,000 segments.
      name: 'lagging-1000-segments',
      windows: [[range(0, 1000).flatMap((segment) => runsOf(`s${segment}`, [segment % 200], 16 * KIB))]],
      objectBytes: 4 * MIB,
    },
    {
      // One consumer of two partitions that lie at the two ends of an 8 MiB segment.
      name: 'opposite-ends',
      windows: [[runsOf('a', [0, 511], 16 * KIB)]],
      objectBytes: 8 * MIB,
    },
    {
      // Fifty consumers, each of four out of fifty partitions that are side by side in one segment of 200.
      name: '50-consumers-one-segment',
      windows: [
        range(0, 50).map((c) =>
          runsOf(
            'a',
            range(0, 4).map((i) => 75 + ((c * 7 + i * 13) % 50)),
            20 * KIB,
          ),
        ),
      ],
      objectBytes: 4 * MIB,
    },
    { name: 'mixed-trace-10000', windows: mixedTrace(random, smoke ? 20 : 500), objectBytes: 4 * MIB },
  ];
}

/**
 * 10,000 fetches, twenty at a time, as a cluster sees them: most read at the tail, where the last few segments are wanted
 * by many; some lag and want one run from each of many segments; a few read whole stretches of old segments.
 */
function mixedTrace(random: Random, windows: number): ObjectRange[][][] {
  return range(0, windows).map((window) =>
    range(0, 20).map(() => {
      const kind = random.next();
      const partition = randomInt(random, 0, 199);
      if (kind < 0.7) {
        const mine = range(0, 8).map((i) => (partition + i * 23) % 200);
        return [window, window + 1].flatMap((segment) => runsOf(`tail${segment}`, mine, 20 * KIB));
      }
      const oldest = randomInt(random, 0, 5000);
      if (kind < 0.95) return range(0, 30).flatMap((i) => runsOf(`old${oldest + i}`, [partition], 20 * KIB));
      return range(0, 3).flatMap((i) => runsOf(`old${oldest + i}`, range(0, 200, 2), 20 * KIB));
    }),
  );
}

function costOf(gets: readonly ObjectRange[]): number {
  return gets.reduce((sum, { size }) => sum + size + MODEL.requestCostBytes, 0);
}

/** One range from the first byte wanted to the last, for each object and each fetch. */
function boundingRanges(fetches: readonly (readonly ObjectRange[])[]): ObjectRange[] {
  return fetches.flatMap((wanted) =>
    groupAndSort(wanted).map((group) => {
      const { objectKey, position } = group[0]!;
      return { objectKey, position, size: Math.max(...group.map((one) => one.position + one.size)) - position };
    }),
  );
}

/** Whole blocks, each once for all fetches, cut off at the object's end. */
function alignedBlocks(fetches: readonly (readonly ObjectRange[])[], objectBytes: number): ObjectRange[] {
  const blocks = new Map<string, ObjectRange>();
  for (const { objectKey, position, size } of fetches.flat()) {
    for (let at = position - (position % BLOCK_BYTES); at < position + size; at += BLOCK_BYTES) {
      const block = { objectKey, position: at, size: Math.min(BLOCK_BYTES, objectBytes + 1 - at) };
      blocks.set(`${objectKey}@${at}`, block);
    }
  }
  return [...blocks.values()];
}

function planCost(bench: BenchContext, { name, windows, objectBytes }: Workload): void {
  let ours = 0;
  const costs = { 'bounding-range-per-object': 0, 'aligned-16MiB-blocks': 0 };
  for (const fetches of windows) {
    ours += costOf(planRangedGets(fetches.flat(), MODEL));
    costs['bounding-range-per-object'] += costOf(boundingRanges(fetches));
    costs['aligned-16MiB-blocks'] += costOf(alignedBlocks(fetches, objectBytes));
  }
  for (const [baseline, cost] of Object.entries(costs)) {
    bench.row({
      name,
      value: ours / MIB,
      unit: 'MiB cost',
      baseline,
      ratio: cost / ours,
      rounds: 1,
      p25: null,
      p75: null,
    });
  }
}

async function fetchFromCache(bench: BenchContext): Promise<void> {
  const batch = plainBatch(64, 1000 - 8);
  const batches = Math.floor((8 * MIB) / batch.length);
  await using objectStorage = new InMemoryObjectStorage();
  await using coordinator = new InMemoryDisklessCoordinator();
  await using engine = await openEngine({ objectStorage, coordinator }, { produceCommitIntervalMs: 0 });
  const [topic] = await engine.createTopics([{ name: 'bench', partitions: 1 }]);
  const partition = { topicId: topic!.topicId, partition: 0 };
  const appends = range(0, batches).map(() => engine.append([{ topicIdPartition: partition, records: batch }]));
  await engine.flush();
  await Promise.all(appends);

  const expected = await checkedContent(engine, partition, batches * batch.length);
  const source = Buffer.from(expected);
  const target = Buffer.alloc(source.length);
  await bench.contest({
    name: 'fetch-from-cache/64KiB-batches',
    unit: 'MiB/s',
    amount: source.length / MIB,
    subject: () => fetchBytes(engine, partition, source.length),
    baselines: { memcpy: async () => source.copy(target) },
  });
  await fetchCpu(bench, engine, partition, batch.length);
}

/** The records in one piece, after checking that a fetch returns all of them. */
async function checkedContent(engine: DisklessEngine, partition: TopicIdPartition, size: number): Promise<Buffer> {
  const result = await engine.fetch(fetchParams(size), [
    { topicIdPartition: partition, fetchOffset: 0n, maxBytes: size },
  ]);
  const content = Buffer.concat(result.partitions[0]!.records);
  result.release();
  if (content.length !== size) throw new Error(`a fetch of ${size} bytes returned ${content.length}`);
  return content;
}

const fetchParams = (maxBytes: number) =>
  ({ minBytes: 1, maxWaitMs: 0, maxBytes, isolation: 'read_uncommitted' }) as const;

async function fetchBytes(engine: DisklessEngine, topicIdPartition: TopicIdPartition, maxBytes: number) {
  const result = await engine.fetch(fetchParams(maxBytes), [{ topicIdPartition, fetchOffset: 0n, maxBytes }]);
  let bytes = 0;
  for (const records of result.partitions[0]!.records) bytes += records.length;
  result.release();
  return bytes;
}

/** User and system time of one fetch of 64 KiB, in microseconds. */
async function fetchCpu(bench: BenchContext, engine: DisklessEngine, partition: TopicIdPartition, size: number) {
  const calls = bench.smoke ? 100 : 20_000;
  const before = process.cpuUsage();
  for (let i = 0; i < calls; i++) await fetchBytes(engine, partition, size);
  const { user, system } = process.cpuUsage(before);
  const row = { baseline: null, ratio: null, rounds: 1, p25: null, p75: null };
  bench.row({ name: 'fetch-cpu/64KiB', value: (user + system) / calls, unit: 'us CPU', ...row });
}
