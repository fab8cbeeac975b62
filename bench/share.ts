/**
 * Queues: what it costs to acquire and acknowledge a record with 2,000 in flight, and that the other share partitions of
 * the host do not matter; what a share partition costs that nobody uses; what ten thousand locks cost.
 *
 * The share service and its persister are the real ones, over a memory coordinator; the log is one that has whatever is
 * read (`support/share-host.ts`), so that nothing but the share side is measured.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Errors } from '../src/common/errors.ts';
import type { Persister } from '../src/share/persister.ts';
import { type BenchContext, quantile } from './harness.ts';
import { type Acknowledge, ShareHost } from './support/share-host.ts';

const IN_FLIGHT = 2000;
/** Share partitions that have records in flight; all others on the host are at rest. */
const ACTIVE = 16;
const UNMEASURED = { baseline: null, ratio: null, rounds: 1, p25: null, p75: null };

/** How records come and how a member speaks of them. */
interface Workload {
  readonly name: string;
  readonly unit: string;
  /** What one request acquires and acknowledges, and how many units that is. */
  readonly portion: number;
  readonly units: number;
  readonly batchRecords: number;
  readonly acknowledge: Acknowledge;
}

const accept = (firstOffset: bigint, lastOffset: bigint) => [{ firstOffset, lastOffset, acknowledgeTypes: [1] }];

/** A word for each record: every third is rejected, so that no two neighbours can be treated as one. */
const eachRecord: Acknowledge = (firstOffset, lastOffset) => {
  const acknowledgeTypes = Array.from({ length: Number(lastOffset - firstOffset) + 1 }, (_, i) =>
    i % 3 === 0 ? 3 : 1,
  );
  return [{ firstOffset, lastOffset, acknowledgeTypes }];
};

const workloads: readonly Workload[] = [
  { name: 'batch', unit: 'batches/CPU-s', portion: 500, units: 1, batchRecords: 500, acknowledge: accept },
  { name: 'record', unit: 'records/CPU-s', portion: 500, units: 500, batchRecords: 500, acknowledge: eachRecord },
  { name: 'record-a-request', unit: 'records/CPU-s', portion: 1, units: 1, batchRecords: 1, acknowledge: accept },
];

export default async function share(bench: BenchContext): Promise<void> {
  const sizes = bench.smoke ? [20] : [100, 10_000];
  for (const workload of workloads) await acquireAndAcknowledge(bench, workload, sizes);
  await atRest(bench, bench.smoke ? 1000 : 10_000);
  await locks(bench, bench.smoke ? 400 : 10_000);
}

async function acquireAndAcknowledge(bench: BenchContext, workload: Workload, sizes: readonly number[]): Promise<void> {
  for (const partitions of sizes) {
    const [one, many] = [await busyHost(workload, 1), await busyHost(workload, partitions)];
    await bench.contest({
      name: `acquire+acknowledge/${workload.name}/${partitions}`,
      unit: workload.unit,
      amount: workload.units,
      clock: 'cpu',
      subject: turns(many, workload),
      baselines: { '1 share partition': turns(one, workload) },
    });
    one.close();
    many.close();
  }
}

/** A host whose active share partitions have 2,000 records in flight. */
async function busyHost({ portion, batchRecords }: Workload, partitions: number): Promise<ShareHost> {
  const host = await new ShareHost({
    partitions,
    batches: Math.ceil(500 / batchRecords),
    records: batchRecords,
  }).open();
  for (const member of host.members.slice(0, ACTIVE)) await member.fill(IN_FLIGHT, portion);
  return host;
}

/** The members of the active share partitions, one after the other. */
function turns(host: ShareHost, { portion, acknowledge }: Workload): () => Promise<number> {
  const active = host.members.slice(0, ACTIVE);
  let turn = 0;
  return () => active[turn++ % active.length]!.take(portion, acknowledge);
}

/** Says yes to everything: what it would keep belongs to the coordinator. */
const forgetful: Persister = {
  initialize: async () => Errors.NONE,
  initializeNew: async () => Errors.NONE,
  takeOver: async () => {
    const state = { stateEpoch: 0, leaderEpoch: 1, startOffset: 0, deliveryCompleteCount: 0, stateBatches: [] };
    return { error: Errors.NONE, state: { ...state, snapshotEpoch: 0, updatesSinceSnapshot: 0 } };
  },
  write: async () => Errors.NONE,
  summarize: async () => [],
  delete: async () => [],
};

/** Heap of a share partition all of whose records were acknowledged, with the session of its member. */
async function atRest(bench: BenchContext, partitions: number): Promise<void> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const used = (): number => {
    collect();
    return process.memoryUsage().heapUsed;
  };
  // Once for nothing: the code that it runs takes memory too, the first time.
  (await hostAtRest(partitions)).close();
  const before = used();
  const host = await hostAtRest(partitions);
  bench.row({ name: `at-rest/${partitions}`, value: (used() - before) / partitions, unit: 'bytes', ...UNMEASURED });
  host.close();
}

async function hostAtRest(partitions: number): Promise<ShareHost> {
  const host = await new ShareHost({ partitions, batches: 1, records: 500, persister: forgetful }).open();
  for (const member of host.members) {
    await member.take(500);
    await member.take(0, accept);
  }
  // The locks of what was acknowledged end, and their entries go.
  await host.time.advance(60_000);
  return host;
}

/** One lock for each record, all of them ending at the same time: in 5 share partitions, and in one each. */
async function locks(bench: BenchContext, count: number): Promise<void> {
  for (const partitions of [5, count]) {
    const each = count / partitions;
    // Records that come back again and again, and are neither throttled nor archived.
    const host = new ShareHost({
      partitions,
      batches: Math.min(each, 500),
      records: 1,
      batchSize: 1,
      maxDeliveryCount: 1000,
    });
    await host.open();
    const times: number[] = [];
    let timers = 0;
    for (let round = bench.smoke ? 2 : 11; round > 0; round--) {
      for (const member of host.members) await member.fill(each, Math.min(each, 500));
      timers = Math.max(timers, host.time.armed);
      const before = process.cpuUsage();
      // The persister's answers have come by the next turn: the coordinator is in memory.
      await host.time.advance(30_000);
      const { user, system } = process.cpuUsage(before);
      times.push((user + system) / 1e3);
    }
    const name = `locks-end/${count}-in-${partitions}`;
    const [value, p25, p75] = [0.5, 0.25, 0.75].map((q) => quantile(times, q)) as [number, number, number];
    bench.row({ name, value, unit: 'CPU-ms', baseline: null, ratio: null, rounds: times.length, p25, p75 });
    bench.row({ name: `timers/${count}-in-${partitions}`, value: timers, unit: 'timers', ...UNMEASURED });
    host.close();
  }
}
