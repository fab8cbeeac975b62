/**
 * Append and fetch through a whole engine in process, against copying the same bytes once in the same run: what the way
 * through costs beyond moving the bytes. Storage and coordinator are in memory, so that the engine's own cost shows.
 *
 * `MiB/s` is wall time; `MiB/CPU-s` and `CPU-s/GiB` count user and system time of all threads of the process.
 */
import {
  type DisklessEngine,
  Errors,
  InMemoryDisklessCoordinator,
  InMemoryObjectStorage,
  openEngine,
  type TopicIdPartition,
} from '../src/index.ts';
import { apis } from '../src/protocol/apis.ts';
import { encodeRequest } from '../src/protocol/frames.ts';
import { startKafkaServer } from '../src/server.ts';
import { FloodClient } from '../test/server/flood-client.ts';
import { plainBatch } from '../test/support/record-batches.ts';
import type { BenchContext, Side } from './harness.ts';

const KIB = 1024;
const MIB = 1024 * KIB;
const PARTITIONS = 4;
/** The records' timestamps are fixed and old; retention would take them away in the middle of a long run. */
const BENCH_TOPIC = { name: 'bench', partitions: PARTITIONS, configs: { 'retention.ms': '-1' } };

/** `batches` of `batchBytes` each in flight at a time, spread over the partitions. */
interface Workload {
  readonly name: string;
  readonly batchBytes: number;
  readonly batches: number;
}

export default async function endToEnd(bench: BenchContext): Promise<void> {
  const scale = bench.smoke ? 1 : 8;
  await inProcess(bench, { name: '1KiB', batchBytes: KIB, batches: 128 * scale });
  await inProcess(bench, { name: '16KiB', batchBytes: 16 * KIB, batches: 64 * scale });
  await inProcess(bench, { name: '256KiB', batchBytes: 256 * KIB, batches: 4 * scale });
  await overTcp(bench, { name: '16KiB', batchBytes: 16 * KIB, batches: 64 * scale });
  if (!bench.smoke) await overTcp(bench, { name: '256KiB', batchBytes: 256 * KIB, batches: 4 * scale });
}

async function inProcess(bench: BenchContext, workload: Workload): Promise<void> {
  const records = plainBatch(Math.max(1, Math.floor(workload.batchBytes / KIB)), 1000);
  await using objectStorage = new InMemoryObjectStorage();
  await using coordinator = new InMemoryDisklessCoordinator();
  // No waiting for company: a segment closes as soon as the batches of one round are placed.
  await using engine = await openEngine({ objectStorage, coordinator }, { produceCommitIntervalMs: 0 });
  await using cold = await openEngine({ objectStorage, coordinator }, { fetchLocalViewBytes: 0 });
  const [topic] = await engine.createTopics([BENCH_TOPIC]);
  const partitions = Array.from({ length: PARTITIONS }, (_, partition) => ({ topicId: topic!.topicId, partition }));
  const copy = copier(records, workload.batches);
  const append = () => appendAll(engine, partitions, records, workload.batches);
  await contests(bench, `append/${workload.name}`, records.length * workload.batches, copy, async () => {
    const bytes = await append();
    // What is measured is appending; the memory of the storage must not fill up meanwhile.
    for await (const { key } of objectStorage.list()) await objectStorage.delete([key]);
    return bytes;
  });
  const fetchOffset = (await engine.listOffsets([{ topicIdPartition: partitions[0]!, timestamp: -1n }]))[0]!.offset;
  await append();
  await engine.flush();
  const fetch = (from: DisklessEngine) => () => fetchAll(from, partitions, fetchOffset, workload.batches);
  const size = records.length * workload.batches;
  await contests(bench, `fetch-local/${workload.name}`, size, copy, fetch(engine));
  await contests(bench, `fetch-direct/${workload.name}`, size, copy, fetch(cold));
}

/**
 * The same through the host's sockets, by a client that sends frames made beforehand and only counts what comes back.
 * Its own CPU time is in the figures, since it runs in the same process: once over the bytes in the kernel, no more.
 */
async function overTcp(bench: BenchContext, workload: Workload): Promise<void> {
  const records = plainBatch(Math.max(1, Math.floor(workload.batchBytes / KIB)), 1000);
  await using objectStorage = new InMemoryObjectStorage();
  await using coordinator = new InMemoryDisklessCoordinator();
  await using engine = await openEngine({ objectStorage, coordinator }, { produceCommitIntervalMs: 0 });
  await engine.createTopics([BENCH_TOPIC]);
  const topicId = (await engine.listTopics())[0]!.topicId;
  await using server = await startKafkaServer(engine, { coordinator, listen: { host: '127.0.0.1', port: 0 } });
  await using client = await FloodClient.connect(server.listener);
  const size = records.length * workload.batches;
  const copy = copier(records, workload.batches);
  const produceFrames = Array.from({ length: workload.batches }, (_, i) => produceFrame(records, i % PARTITIONS));
  const appendAll = async () => {
    await client.send(produceFrames, workload.batches);
    for await (const { key } of objectStorage.list()) await objectStorage.delete([key]);
    return size;
  };
  await contests(bench, `append-tcp/${workload.name}`, size, copy, appendAll);
  const end = (await engine.listOffsets([{ topicIdPartition: { topicId, partition: 0 }, timestamp: -1n }]))[0]!.offset;
  await client.send(produceFrames, workload.batches);
  const fetchFrames = [fetchFrame(end)];
  const fetchAll = async () => {
    const bytes = await client.send(fetchFrames, 1);
    if (bytes < size) throw new Error(`${bytes} bytes were fetched of ${size}`);
    return size;
  };
  await contests(bench, `fetch-tcp/${workload.name}`, size, copy, fetchAll);
}

function produceFrame(records: Uint8Array, index: number): Uint8Array {
  const topicData = [{ name: 'bench', partitionData: [{ index, records: [records] }] }];
  const header = { version: 9, correlationId: 1, clientId: 'bench' };
  return Buffer.concat(encodeRequest(apis.produce, header, { acks: -1, timeoutMs: 30_000, topicData }));
}

function fetchFrame(fetchOffset: bigint): Uint8Array {
  const partition = (index: number) => ({ partition: index, fetchOffset, partitionMaxBytes: 64 * MIB });
  const topics = [{ topic: 'bench', partitions: Array.from({ length: PARTITIONS }, (_, index) => partition(index)) }];
  const header = { version: 11, correlationId: 1, clientId: 'bench' };
  return Buffer.concat(encodeRequest(apis.fetch, header, { maxWaitMs: 1000, minBytes: 1, maxBytes: 64 * MIB, topics }));
}

/** The same contest by wall clock and by CPU time, and what a GiB costs. */
async function contests(bench: BenchContext, name: string, bytes: number, copy: Side, subject: Side): Promise<void> {
  const shared = { amount: bytes / MIB, subject, baselines: { copy } };
  await bench.contest({ ...shared, name, unit: 'MiB/s' });
  const [cpu] = await bench.contest({ ...shared, name: `${name}/cpu`, unit: 'MiB/CPU-s', clock: 'cpu' });
  const cost = { ...cpu!, name: `${name}/cost`, value: KIB / cpu!.value, unit: 'CPU-s/GiB' };
  bench.row({ ...cost, baseline: null, ratio: null, p25: null, p75: null });
}

/** Copies the same bytes once, into memory that is there already. */
function copier(records: Uint8Array, batches: number): Side {
  const into = new Uint8Array(records.length * batches);
  return async () => {
    for (let i = 0; i < batches; i++) into.set(records, i * records.length);
    return into.length;
  };
}

async function appendAll(
  engine: DisklessEngine,
  partitions: readonly TopicIdPartition[],
  records: Uint8Array,
  batches: number,
): Promise<number> {
  const calls = Array.from({ length: batches }, (_, index) =>
    engine.append([{ topicIdPartition: partitions[index % partitions.length]!, records }]),
  );
  const results = (await Promise.all(calls)).flat();
  const failed = results.find(({ error }) => error !== Errors.NONE);
  if (failed) throw new Error(`append answered ${failed.error}: ${failed.message}`);
  return records.length * batches;
}

async function fetchAll(
  engine: DisklessEngine,
  partitions: readonly TopicIdPartition[],
  fetchOffset: bigint,
  batches: number,
): Promise<number> {
  const budget = { minBytes: 1, maxWaitMs: 1000, maxBytes: 64 * MIB, isolation: 'read_uncommitted' as const };
  const asked = partitions.map((topicIdPartition) => ({ topicIdPartition, fetchOffset, maxBytes: 64 * MIB }));
  const result = await engine.fetch(budget, asked);
  let bytes = 0;
  for (const { records } of result.partitions) for (const view of records) bytes += view.length;
  result.release();
  if (bytes === 0) throw new Error(`nothing was fetched of ${batches} batches`);
  return bytes;
}
