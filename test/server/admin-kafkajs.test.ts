/** Topics, configs, partitions and offsets by kafkajs's admin client. */
import {
  AclOperationTypes,
  AclPermissionTypes,
  AclResourceTypes,
  type Admin,
  ConfigResourceTypes,
  Kafka,
  logLevel,
  ResourcePatternTypes,
} from 'kafkajs';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { ServerFixture } from './server-fixture.ts';

let kafka: Kafka;
let admin: Admin;

beforeEach(async () => {
  const { server } = await ServerFixture.open();
  const { host, port } = server.listener;
  kafka = new Kafka({ clientId: 'test', brokers: [`${host}:${port}`], logLevel: logLevel.NOTHING });
  admin = kafka.admin();
  await admin.connect();
});

afterEach(() => admin.disconnect());

async function configs(topic: string, names: string[]) {
  const resources = [{ type: ConfigResourceTypes.TOPIC, name: topic, configNames: names }];
  const { resources: described } = await admin.describeConfigs({ resources, includeSynonyms: true });
  return Object.fromEntries(described[0]!.configEntries.map((entry) => [entry.configName, entry]));
}

it('creates, describes, alters and deletes topics', async () => {
  const configEntries = [{ name: 'retention.ms', value: '60000' }];
  await admin.createTopics({ topics: [{ topic: 't', numPartitions: 2, configEntries }], waitForLeaders: true });
  expect(await configs('t', ['retention.ms', 'segment.bytes'])).toMatchObject({
    'retention.ms': { configValue: '60000', readOnly: false },
    'segment.bytes': { configValue: '1073741824', readOnly: true },
  });
  const alter = (entries: { name: string; value: string }[], validateOnly = false) =>
    admin.alterConfigs({
      validateOnly,
      resources: [{ type: ConfigResourceTypes.TOPIC, name: 't', configEntries: entries }],
    });
  await alter([{ name: 'compression.type', value: 'lz4' }], true);
  expect((await configs('t', ['retention.ms']))['retention.ms']).toMatchObject({ configValue: '60000' });
  await alter([{ name: 'compression.type', value: 'lz4' }]);
  expect(await configs('t', ['retention.ms', 'compression.type'])).toMatchObject({
    'retention.ms': { configValue: '604800000' },
    'compression.type': { configValue: 'lz4' },
  });
  await expect(alter([{ name: 'compresion.type', value: 'lz4' }])).rejects.toMatchObject({ type: 'INVALID_CONFIG' });
  await admin.createPartitions({ topicPartitions: [{ topic: 't', count: 4 }] });
  const { topics } = await admin.fetchTopicMetadata({ topics: ['t'] });
  expect(topics[0]!.partitions).toHaveLength(4);
  await expect(admin.createPartitions({ topicPartitions: [{ topic: 't', count: 4 }] })).rejects.toMatchObject({
    type: 'INVALID_PARTITIONS',
  });
  await admin.deleteTopics({ topics: ['t'] });
  expect(await admin.listTopics()).toEqual([]);
});

it('deletes records', async () => {
  await admin.createTopics({ topics: [{ topic: 't', numPartitions: 1 }], waitForLeaders: true });
  const producer = kafka.producer();
  await producer.connect();
  await producer.send({ topic: 't', messages: Array.from({ length: 5 }, (_, index) => ({ value: `${index}` })) });
  await producer.disconnect();
  // kafkajs finds the partition's leader only for topics that it has looked at.
  expect(await admin.fetchTopicOffsets('t')).toMatchObject([{ low: '0', high: '5' }]);
  await admin.deleteTopicRecords({ topic: 't', partitions: [{ partition: 0, offset: '3' }] });
  expect(await admin.fetchTopicOffsets('t')).toMatchObject([{ low: '3', high: '5' }]);
  await admin.deleteTopicRecords({ topic: 't', partitions: [{ partition: 0, offset: '-1' }] });
  expect(await admin.fetchTopicOffsets('t')).toMatchObject([{ low: '5', high: '5' }]);
});

it('describes the cluster, which has no ACLs and moves no partitions', async () => {
  const { brokers, controller } = await admin.describeCluster();
  expect(brokers).toMatchObject([{ nodeId: 0 }]);
  expect(controller).toBe(0);
  expect((await admin.listPartitionReassignments({})).topics).toEqual([]);
  const everything = {
    resourceType: AclResourceTypes.ANY,
    resourcePatternType: ResourcePatternTypes.ANY,
    operation: AclOperationTypes.ANY,
    permissionType: AclPermissionTypes.ANY,
  };
  await expect(admin.describeAcls(everything)).rejects.toMatchObject({ type: 'SECURITY_DISABLED' });
});

it('is told that the listener is no place for SASL', async () => {
  const { brokers } = await admin.describeCluster();
  const { host, port } = brokers[0]!;
  const sasl = { mechanism: 'plain' as const, username: 'u', password: 'p' };
  const other = new Kafka({ brokers: [`${host}:${port}`], sasl, logLevel: logLevel.NOTHING, retry: { retries: 0 } });
  await expect(other.admin().connect()).rejects.toThrow(/SASL/i);
});
