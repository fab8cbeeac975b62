/** The admin scenario (admin.test.ts) with kafkajs. */
import { once } from 'node:events';
import { type Admin, ConfigResourceTypes, type Consumer, Kafka, logLevel } from 'kafkajs';
import type { AdminAnswers, AdminScenario } from './admin-scenario.ts';

interface KafkajsError {
  readonly type?: string;
  readonly cause?: KafkajsError;
  readonly errors?: readonly KafkajsError[];
  readonly groups?: readonly { readonly error: KafkajsError }[];
  readonly partitions?: readonly { readonly error: KafkajsError }[];
}

/** Kafkajs has errors of several topics, groups or partitions in one, and wraps what it gave up to try again. */
const typeOf = (error: KafkajsError): string | undefined =>
  error.type ??
  [error.cause, error.errors?.[0], error.groups?.[0]?.error, error.partitions?.[0]?.error]
    .filter((inner) => inner !== undefined)
    .map(typeOf)[0];

/** The name of the error that the call ends with. */
async function errorOf(call: Promise<unknown>): Promise<string> {
  try {
    await call;
    return 'none';
  } catch (error) {
    return typeOf(error as KafkajsError) ?? String(error);
  }
}

const numbers = (rows: readonly { partition: number; value: string }[]): number[] =>
  [...rows].sort((a, b) => a.partition - b.partition).map(({ value }) => Number(value));

async function readAll(consumer: Consumer, topic: string, records: number): Promise<void> {
  let read = 0;
  await consumer.connect();
  await consumer.subscribe({ topic, fromBeginning: true });
  const done = new AbortController();
  const ended = once(done.signal, 'abort');
  await consumer.run({
    autoCommitThreshold: 1,
    eachMessage: async () => {
      read++;
      if (read === records) setTimeout(() => done.abort(), 500);
    },
  });
  await ended;
}

type Configs = { name: string; value: string }[];

async function topicSteps(admin: Admin, topic: string) {
  const create = (configEntries: Configs, name = topic) =>
    admin.createTopics({ topics: [{ topic: name, numPartitions: 3, configEntries }] });
  const partitions = async () => (await admin.fetchTopicMetadata({ topics: [topic] })).topics[0]!.partitions;
  const grow = (count: number) => admin.createPartitions({ topicPartitions: [{ topic, count }] });
  await create([{ name: 'retention.ms', value: '3600000' }]);
  const createdAgain = (await create([])) ? 'none' : 'TOPIC_ALREADY_EXISTS';
  const unknownConfig = await errorOf(create([{ name: 'retention.mss', value: '1' }], 'bad'));
  const listed = (await admin.listTopics()).includes(topic);
  const before = await partitions();
  await grow(4);
  const grown = (await partitions()).length;
  const fewer = await errorOf(grow(2));
  return { createdAgain, unknownConfig, listed, partitions: before.length, leader: before[0]!.leader, grown, fewer };
}

async function configSteps(admin: Admin, topic: string) {
  const resource = { type: ConfigResourceTypes.TOPIC, name: topic };
  const alter = (configEntries: Configs) =>
    admin.alterConfigs({ validateOnly: false, resources: [{ ...resource, configEntries }] });
  const retention = async (): Promise<string> => {
    const resources = [{ ...resource, configNames: ['retention.ms'] }];
    const answer = await admin.describeConfigs({ includeSynonyms: false, resources });
    return answer.resources[0]!.configEntries[0]!.configValue;
  };
  const retentions = [await retention()];
  await alter([{ name: 'retention.ms', value: '7200000' }]);
  retentions.push(await retention());
  await alter([]);
  retentions.push(await retention());
  return { retentions, badConfig: await errorOf(alter([{ name: 'retention.ms', value: 'abc' }])) };
}

async function offsetSteps(kafka: Kafka, admin: Admin, { topic, base, records }: AdminScenario) {
  const producer = kafka.producer();
  await producer.connect();
  const messages = [0, 1, 2, 3].flatMap((partition) =>
    Array.from({ length: records }, (_, i) => ({ partition, value: `${i}`, timestamp: String(base + i * 1000) })),
  );
  await producer.send({ topic, messages });
  await producer.disconnect();
  const ends = await admin.fetchTopicOffsets(topic);
  const at = await admin.fetchTopicOffsetsByTimestamp(topic, base + 5000);
  return {
    earliest: numbers(ends.map(({ partition, low }) => ({ partition, value: low }))),
    latest: numbers(ends.map(({ partition, high }) => ({ partition, value: high }))),
    at: numbers(at.map(({ partition, offset }) => ({ partition, value: offset }))),
  };
}

async function groupSteps(kafka: Kafka, admin: Admin, { topic, group, records }: AdminScenario) {
  const offsets = async (): Promise<number[]> => {
    const [found] = await admin.fetchOffsets({ groupId: group, topics: [topic] });
    return numbers(found!.partitions.map(({ partition, offset }) => ({ partition, value: offset })));
  };
  const consumer = kafka.consumer({ groupId: group });
  await readAll(consumer, topic, 4 * records);
  const [described] = (await admin.describeGroups([group])).groups;
  const nonEmpty = await errorOf(admin.deleteGroups([group]));
  await consumer.disconnect();
  const committed = await offsets();
  const wanted = ['0', '5'].map((offset, partition) => ({ partition, offset }));
  await admin.setOffsets({ groupId: group, topic, partitions: wanted });
  const reset = await offsets();
  const groupListed = (await admin.listGroups()).groups.some(({ groupId }) => groupId === group);
  await admin.deleteGroups([group]);
  const groupGone = await errorOf(admin.deleteGroups([group]));
  const { state, members } = described!;
  return { state, members: members.length, nonEmpty, committed, reset, groupListed, groupGone };
}

async function deletionSteps(admin: Admin, topic: string) {
  const deleteRecords = (partition: number, offset: string) =>
    admin.deleteTopicRecords({ topic, partitions: [{ partition, offset }] });
  await deleteRecords(0, '4');
  await deleteRecords(1, '-1');
  const ends = await admin.fetchTopicOffsets(topic);
  const lowWatermarks = numbers(ends.map(({ partition, low }) => ({ partition, value: low })));
  const beyond = await errorOf(deleteRecords(2, '99'));
  await admin.deleteTopics({ topics: [topic] });
  return { lowWatermarks, beyond, unknownTopic: await errorOf(admin.deleteTopics({ topics: [topic] })) };
}

async function clusterSteps(admin: Admin) {
  const { clusterId, controller, brokers } = await admin.describeCluster();
  const everything = { resourceType: 1, resourcePatternType: 1, operation: 1, permissionType: 1 };
  return {
    clusterId,
    controller: controller!,
    brokers: brokers.map(({ nodeId, host, port }) => `${nodeId}@${host}:${port}`),
    acls: await errorOf(admin.describeAcls(everything)),
  };
}

export async function kafkajsAdmin(scenario: AdminScenario): Promise<AdminAnswers> {
  const { address, topic } = scenario;
  const options = { clientId: topic, brokers: [address], logLevel: logLevel.NOTHING, retry: { retries: 2 } };
  const kafka = new Kafka(options);
  const admin = kafka.admin();
  await admin.connect();
  const answers = {
    ...(await topicSteps(admin, topic)),
    ...(await configSteps(admin, topic)),
    ...(await offsetSteps(kafka, admin, scenario)),
    ...(await groupSteps(kafka, admin, scenario)),
    ...(await clusterSteps(admin)),
    ...(await deletionSteps(admin, topic)),
  };
  await admin.disconnect();
  return answers;
}
