/**
 * Run by ../chaos.test.ts as a process of its own, and killed at any moment: an engine over a shared database and a shared
 * folder, which does what it is told by messages. Its background jobs run as fast as they can.
 */
import { LocalDirectoryObjectStorage, openEngine, type TopicIdPartition } from '../../../src/index.ts';
import { openPostgresCoordinator } from '../../../src/postgres.ts';
import { readRecords } from '../../support/read-records.ts';

/** Objects that nothing refers to, and those that no commit knows, live this long. */
export const GRACE_MS = 3_000;
/** As short as this for the same reason: the statement that waits for a lock gives up. */
export const STATEMENT_TIMEOUT_MS = 2_000;

export interface Operations {
  append: { partitions: { of: TopicIdPartition; records: Uint8Array }[]; timeoutMs: number };
  fetch: { of: TopicIdPartition; offset: bigint; maxWaitMs: number };
  listOffsets: { of: TopicIdPartition; timestamp: bigint }[];
  deleteRecords: { of: TopicIdPartition; beforeOffset: bigint };
  createTopic: { name: string; partitions: number; configs: Record<string, string> };
  createPartitions: { topicId: string; partitions: number };
  deleteTopic: { topicId: string };
  topics: null;
  producerIds: null;
  stop: null;
}

export interface Answers {
  append: { error: number; baseOffset: bigint }[];
  fetch: {
    error: number;
    highWatermark: bigint;
    logStartOffset: bigint;
    records: { offset: bigint; timestamp: bigint; value: string }[];
  };
  listOffsets: { error: number; offset: bigint; timestamp: bigint }[];
  deleteRecords: { error: number; lowWatermark: bigint };
  createTopic: { error: number; topicId: string | undefined };
  createPartitions: { error: number };
  deleteTopic: { error: number };
  topics: { topicId: string; name: string; partitions: number }[];
  producerIds: bigint[];
  stop: null;
}

export type Order = { [O in keyof Operations]: { id: number; operation: O; body: Operations[O] } }[keyof Operations];

async function main(connectionString: string, folder: string, nodeId: number): Promise<void> {
  const coordinator = await openPostgresCoordinator({
    connectionString,
    connectTimeoutMs: STATEMENT_TIMEOUT_MS,
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
  });
  const objectStorage = await LocalDirectoryObjectStorage.open(folder);
  const engine = await openEngine(
    { coordinator, objectStorage },
    {
      nodeId,
      workerThreads: 0,
      produceCommitIntervalMs: 5,
      produceUploadDeadlineMs: 1_000,
      produceCommitDeadlineMs: 2_000,
      retentionCheckIntervalMs: 100,
      fileDeletionIntervalMs: 200,
      fileDeletionGraceMs: GRACE_MS,
      orphanSearchIntervalMs: 500,
      orphanGraceMs: GRACE_MS,
    },
  );
  const perform: { [O in keyof Operations]: (body: Operations[O]) => Promise<Answers[O]> } = {
    append: ({ partitions, timeoutMs }) =>
      engine.append(
        partitions.map(({ of, records }) => ({ topicIdPartition: of, records })),
        { timeoutMs },
      ),
    fetch: async ({ of, offset, maxWaitMs }) => {
      const maxBytes = 1 << 20;
      const params = { minBytes: 1, maxWaitMs, maxBytes, isolation: 'read_uncommitted' } as const;
      const result = await engine.fetch(params, [{ topicIdPartition: of, fetchOffset: offset, maxBytes }]);
      const { error, highWatermark, logStartOffset, records } = result.partitions[0]!;
      const read = readRecords(records).map(({ offset, timestamp, value }) => ({ offset, timestamp, value: value! }));
      result.release();
      return { error, highWatermark, logStartOffset, records: read };
    },
    listOffsets: (asked) => engine.listOffsets(asked.map(({ of, timestamp }) => ({ topicIdPartition: of, timestamp }))),
    deleteRecords: async ({ of, beforeOffset }) =>
      (await engine.deleteRecords([{ topicIdPartition: of, beforeOffset }]))[0]!,
    createTopic: async ({ name, partitions, configs }) => {
      const [made] = await engine.createTopics([{ name, partitions, configs }]);
      return { error: made!.error, topicId: made!.topicId };
    },
    createPartitions: async (growth) => (await engine.createPartitions([growth]))[0]!,
    deleteTopic: async ({ topicId }) => (await engine.deleteTopics([topicId]))[0]!,
    topics: async () =>
      (await coordinator.listTopics()).map(({ topicId, name, partitions }) => ({ topicId, name, partitions })),
    producerIds: async () => {
      const { firstProducerId, size } = await coordinator.allocateProducerIdBlock(3);
      return Array.from({ length: size }, (_, i) => firstProducerId + BigInt(i));
    },
    stop: async () => {
      await engine.close();
      await coordinator.close();
      return null;
    },
  };
  process.on('message', ({ id, operation, body }: Order) => {
    (perform[operation] as (body: unknown) => Promise<unknown>)(body).then(
      (answer) => {
        process.send!({ id, answer });
        if (operation === 'stop') process.disconnect();
      },
      (error: unknown) => process.send!({ id, failure: String(error) }),
    );
  });
  process.on('disconnect', () => process.exit());
  process.send!({ ready: true });
}

const [connectionString, folder, nodeId] = process.argv.slice(2);
if (nodeId !== undefined) await main(connectionString!, folder!, Number(nodeId));
