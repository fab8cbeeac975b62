/** What an admin client was told has happened is there after a kill −9 right behind the answer. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createPartitions } from '../../src/protocol/messages/create-partitions.ts';
import { createTopics } from '../../src/protocol/messages/create-topics.ts';
import { deleteRecords } from '../../src/protocol/messages/delete-records.ts';
import { describeConfigs } from '../../src/protocol/messages/describe-configs.ts';
import { listOffsets } from '../../src/protocol/messages/list-offsets.ts';
import { metadata } from '../../src/protocol/messages/metadata.ts';
import { produce } from '../../src/protocol/messages/produce.ts';
import { ConfigResourceType } from '../../src/server/configs/config-target.ts';
import { parseEndpoint } from '../../src/server/listener.ts';
import { plainBatch } from '../support/record-batches.ts';
import { HostProcess } from './host-process.ts';
import { setConfigs } from './set-configs.ts';
import { WireClient } from './wire-client.ts';

const { topic: TOPIC, broker: BROKER, group: GROUP } = ConfigResourceType;

let folder: string;
let host: HostProcess;
let client: WireClient;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'shoal-admin-kill-'));
  await start();
});

afterEach(async () => {
  client.socket.destroy();
  await host.stop('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

async function start(): Promise<void> {
  host = await HostProcess.start({ data: join(folder, 'data') });
  client = await WireClient.connect(parseEndpoint(host.address));
}

async function killAndStartAgain(): Promise<void> {
  await host.stop('SIGKILL');
  await start();
}

const settings = [
  [TOPIC, 't', 'max.message.bytes', '2000'],
  [GROUP, 'g', 'share.delivery.count.limit', '7'],
  [BROKER, '', 'log.retention.ms', '86400000000'],
] as const;

it('configs, partitions and deleted records survive', async () => {
  // The batch is old; retention would take it.
  const configs = [{ name: 'retention.ms', value: '-1' }];
  const topic = { name: 't', numPartitions: 1, replicationFactor: 1, assignments: [], configs };
  await client.call(createTopics, 7, { topics: [topic] });
  const topicData = [{ name: 't', partitionData: [{ index: 0, records: [plainBatch(5, 10)] }] }];
  await client.call(produce, 9, { acks: -1, timeoutMs: 30_000, transactionalId: null, topicData });
  for (const [resourceType, resourceName, name, value] of settings) {
    expect((await setConfigs(client, resourceType, resourceName, { [name]: value })).errorMessage).toBeNull();
  }
  const grown = { topics: [{ name: 't', count: 3, assignments: null }], timeoutMs: 30_000, validateOnly: false };
  expect((await client.call(createPartitions, 3, grown)).results[0]!.errorCode).toBe(0);
  const deleted = { topics: [{ name: 't', partitions: [{ partitionIndex: 0, offset: 4n }] }], timeoutMs: 30_000 };
  expect((await client.call(deleteRecords, 2, deleted)).topics[0]!.partitions[0]!.errorCode).toBe(0);

  await killAndStartAgain();

  for (const [resourceType, resourceName, name, value] of settings) {
    const resources = [{ resourceType, resourceName, configurationKeys: [name] }];
    const { results } = await client.call(describeConfigs, 4, { resources });
    expect(results[0]!.configs).toMatchObject([{ name, value }]);
  }
  expect((await client.call(metadata, 12, { topics: [{ name: 't' }] })).topics[0]!.partitions).toHaveLength(3);
  const topics = [{ name: 't', partitions: [{ partitionIndex: 0, timestamp: -2n }] }];
  const earliest = await client.call(listOffsets, 5, { replicaId: -1, isolationLevel: 0, topics });
  expect(earliest.topics[0]!.partitions[0]!.offset).toBe(4n);
});
