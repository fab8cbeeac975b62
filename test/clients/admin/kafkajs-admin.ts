/** The admin scenario (admin.test.ts) with kafkajs. */
import { once } from 'node:events';
import { ConfigResourceTypes, type Consumer, Kafka, logLevel } from 'kafkajs';
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

export async function kafkajsAdmin({ address, topic, group, base, records }: AdminScenario): Promise<AdminAnswers> {
  const kafka = new Kafka({
    clientId: topic,
    brokers: [address],
    logLevel: logLevel.NOTHING,
    retry: { retries: 2 },
  });
  const admin = kafka.admin();
  await admin.connect();
  const create = (configEntries: { name: string; value: string }[], name = topic) =>
    admin.createTopics({ topics: [{ topic: name, numPartitions: 3, configEntries }] });
  const topicResource = { type: ConfigResourceTypes.TOPIC, name: topic };
  const alter = (configEntries: { name: string; value: string }[]) =>
    admin.alterConfigs({ validateOnly: false, resources: [{ ...topicResource, configEntries }] });
  const retention = async (): Promise<string> => {
    const resources = [{ ...topicResource, configNames: ['retention.ms'] }];
    const answer = await admin.describeConfigs({ includeSynonyms: false, resources });
    return answer.resources[0]!.configEntries[0]!.configValue;
  };
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
  const retentions = [await retention()];
  await alter([{ name: 'retention.ms', value: '7200000' }]);
  retentions.push(await retention());
  await alter([]);
  retentions.push(await retention());
  const badConfig = await errorOf(alter([{ name: 'retention.ms', value: 'abc' }]));

  const producer = kafka.producer();
  await producer.connect();
  const messages = [0, 1, 2, 3].flatMap((partition) =>
    Array.from({ length: records }, (_, i) => ({ partition, value: `${i}`, timestamp: String(base + i * 1000) })),
  );
  await producer.send({ topic, messages });
  await producer.disconnect();
  const ends = await admin.fetchTopicOffsets(topic);
  const at = await admin.fetchTopicOffsetsByTimestamp(topic, base + 5000);

  const consumer = kafka.consumer({ groupId: group });
  await readAll(consumer, topic, 4 * records);
  const [described] = (await admin.describeGroups([group])).groups;
  const nonEmpty = await errorOf(admin.deleteGroups([group]));
  await consumer.disconnect();
  const offsets = async (): Promise<number[]> => {
    const [found] = await admin.fetchOffsets({ groupId: group, topics: [topic] });
    return numbers(found!.partitions.map(({ partition, offset }) => ({ partition, value: offset })));
  };
  const committed = await offsets();
  await admin.setOffsets({
    groupId: group,
    topic,
    partitions: [
      { partition: 0, offset: '0' },
      { partition: 1, offset: '5' },
    ],
  });
  const reset = await offsets();
  const groupListed = (await admin.listGroups()).groups.some(({ groupId }) => groupId === group);
  await admin.deleteGroups([group]);
  const groupGone = await errorOf(admin.deleteGroups([group]));

  const deleteRecords = (partition: number, offset: string) =>
    admin.deleteTopicRecords({ topic, partitions: [{ partition, offset }] });
  await deleteRecords(0, '4');
  await deleteRecords(1, '-1');
  const lowWatermarks = numbers(
    (await admin.fetchTopicOffsets(topic)).map(({ partition, low }) => ({ partition, value: low })),
  );
  const beyond = await errorOf(deleteRecords(2, '99'));

  const cluster = await admin.describeCluster();
  const acls = await errorOf(
    admin.describeAcls({ resourceType: 1, resourcePatternType: 1, operation: 1, permissionType: 1 }),
  );
  await admin.deleteTopics({ topics: [topic] });
  const unknownTopic = await errorOf(admin.deleteTopics({ topics: [topic] }));
  await admin.disconnect();
  return {
    ...{ createdAgain, unknownConfig, listed, partitions: before.length, leader: before[0]!.leader, grown, fewer },
    ...{ retentions, badConfig },
    earliest: numbers(ends.map(({ partition, low }) => ({ partition, value: low }))),
    latest: numbers(ends.map(({ partition, high }) => ({ partition, value: high }))),
    at: numbers(at.map(({ partition, offset }) => ({ partition, value: offset }))),
    ...{
      state: described!.state,
      members: described!.members.length,
      nonEmpty,
      committed,
      reset,
      groupListed,
      groupGone,
    },
    ...{ lowWatermarks, beyond, clusterId: cluster.clusterId, controller: cluster.controller!, acls, unknownTopic },
    brokers: cluster.brokers.map(({ nodeId, host, port }) => `${nodeId}@${host}:${port}`),
  };
}
