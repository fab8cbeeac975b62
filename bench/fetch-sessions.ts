/**
 * What a Fetch of many idle partitions costs over TCP: as part of an incremental session (KIP-227), against the same in
 * full, as clients without sessions send it. CPU time of the process, the client's own part included.
 */
import { InMemoryDisklessCoordinator, InMemoryObjectStorage, openEngine } from '../src/index.ts';
import { fetch } from '../src/protocol/messages/fetch.ts';
import { startKafkaServer } from '../src/server.ts';
import { WireClient } from '../test/server/wire-client.ts';
import { plainBatch } from '../test/support/record-batches.ts';
import type { BenchContext } from './harness.ts';

const VERSION = 17;
const atOnce = { maxWaitMs: 0, minBytes: 0 };

export default async function fetchSessions(bench: BenchContext): Promise<void> {
  await idle(bench, bench.smoke ? 10 : 500, 100);
}

async function idle(bench: BenchContext, topicCount: number, partitionsEach: number): Promise<void> {
  await using objectStorage = new InMemoryObjectStorage();
  await using coordinator = new InMemoryDisklessCoordinator();
  await using engine = await openEngine({ objectStorage, coordinator }, { produceCommitIntervalMs: 0 });
  const names = Array.from({ length: topicCount }, (_, index) => `topic-${index}`);
  const created = await engine.createTopics(names.map((name) => ({ name, partitions: partitionsEach })));
  await using server = await startKafkaServer(engine, { coordinator, listen: { host: '127.0.0.1', port: 0 } });
  using client = await WireClient.connect(server.listener);

  const partitions = Array.from({ length: partitionsEach }, (_, partition) => ({
    partition,
    fetchOffset: 0n,
    partitionMaxBytes: 1 << 20,
  }));
  const topics = created.map(({ topicId }) => ({ topicId, partitions }));
  const ask = (request: object) => client.call(fetch, VERSION, { ...atOnce, topics: [], ...request });
  const { sessionId } = await ask({ sessionEpoch: 0, topics });
  let sessionEpoch = 1;
  const next = (waiting = {}) => ask({ sessionId, sessionEpoch: sessionEpoch++, ...waiting });
  await next({ maxWaitMs: bench.smoke ? 50 : 5_000, minBytes: 1 }); // looks at every partition once more, and finds it at its end

  const told = async (answer: ReturnType<typeof ask>) =>
    (await answer).responses.reduce(
      (sum, { partitions: of }) => sum + of.filter(({ records }) => records?.length).length,
      0,
    );
  const name = `${topicCount * partitionsEach} partitions`;
  const inFull = { 'full fetch': () => told(ask({ topics })) };
  const common = { amount: 1, unit: 'fetches/CPU-s', clock: 'cpu', baselines: inFull } as const;
  await bench.contest({ name: `idle/${name}`, subject: () => told(next()), ...common });

  const topicIdPartition = { topicId: created[0]!.topicId, partition: 0 };
  await engine.append([{ topicIdPartition, records: plainBatch(1, 100) }]);
  await bench.contest({ name: `one of them has news/${name}`, subject: () => told(next()), ...common });
}
