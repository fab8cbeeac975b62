/** Metadata, CreateTopics, DeleteTopics, ListOffsets and InitProducerId over the wire. */
import { describe, expect, it } from 'vitest';
import { Errors } from '../../src/common/errors.ts';
import { ZERO_UUID } from '../../src/common/uuid.ts';
import { createTopics } from '../../src/protocol/messages/create-topics.ts';
import { deleteTopics } from '../../src/protocol/messages/delete-topics.ts';
import { initProducerId } from '../../src/protocol/messages/init-producer-id.ts';
import { listOffsets } from '../../src/protocol/messages/list-offsets.ts';
import { metadata } from '../../src/protocol/messages/metadata.ts';
import { ServerFixture, type ServerFixtureOptions } from './server-fixture.ts';

async function open(options: ServerFixtureOptions = {}) {
  const fixture = await ServerFixture.open({ ...options, server: { nodeId: 3, rack: 'r1', ...options.server } });
  return { fixture, client: await fixture.client() };
}

describe('Metadata', () => {
  it.each([0, 1, 4, 9, 13])('v%d creates a topic that it is asked for', async (version) => {
    const { client, fixture } = await open({ server: { settings: { numPartitions: 2 } } });
    const answer = await client.call(metadata, version, { topics: [{ name: 'new' }] });
    const { host, port } = fixture.server.listener;
    expect(answer.brokers).toMatchObject([{ nodeId: 3, host, port }]);
    expect(answer.topics).toMatchObject([
      { errorCode: 0, name: 'new', partitions: [{ partitionIndex: 0, leaderId: 3 }, {}] },
    ]);
    if (version >= 1) expect(answer.controllerId).toBe(3);
    if (version >= 1) expect(answer.brokers[0]!.rack).toBe('r1');
    if (version >= 2) expect(answer.clusterId).toBe(fixture.parts.metadata.clusterId);
    expect(await fixture.parts.engine.listTopics()).toMatchObject([{ name: 'new', partitions: 2 }]);
  });

  it('lists all topics for null, and for an empty list only in version 0', async () => {
    const { client, fixture } = await open();
    await fixture.parts.createTopic('a');
    await fixture.parts.createTopic('b');
    const names = ({ topics }: { topics: readonly { name: string | null }[] }) => topics.map(({ name }) => name);
    expect(names(await client.call(metadata, 0, { topics: [] }))).toEqual(['a', 'b']);
    expect(names(await client.call(metadata, 12, { topics: null }))).toEqual(['a', 'b']);
    expect(names(await client.call(metadata, 12, { topics: [] }))).toEqual([]);
  });

  it('creates nothing when the client, or the broker, does not allow it', async () => {
    const { client, fixture } = await open();
    const asked = { topics: [{ name: 'new' }], allowAutoTopicCreation: false };
    expect((await client.call(metadata, 4, asked)).topics).toMatchObject([
      { errorCode: 3, name: 'new', partitions: [] },
    ]);
    const strict = await open({ server: { settings: { autoCreateTopicsEnable: false } } });
    expect((await strict.client.call(metadata, 1, { topics: [{ name: 'new' }] })).topics).toMatchObject([
      { errorCode: 3 },
    ]);
    expect(await fixture.parts.engine.listTopics()).toEqual([]);
    expect(await strict.fixture.parts.engine.listTopics()).toEqual([]);
  });

  it('refuses names that are none, and does not create internal topics', async () => {
    const { client } = await open();
    const names = ['', '.', 'a b', 'x'.repeat(250), '__consumer_offsets', 'good', 'good'];
    const { topics } = await client.call(metadata, 9, { topics: names.map((name) => ({ name })) });
    expect(topics.map(({ errorCode }) => errorCode)).toEqual([17, 17, 17, 17, 3, 0]);
  });

  it('finds a topic by its id', async () => {
    const { client, fixture } = await open();
    const topicId = await fixture.parts.createTopic('t');
    const topics = [
      { topicId, name: null },
      { topicId: 'unknown-id-of-22-charA', name: null },
    ];
    expect((await client.call(metadata, 12, { topics })).topics).toMatchObject([
      { errorCode: 0, name: 't', topicId },
      { errorCode: Errors.UNKNOWN_TOPIC_ID, name: null },
    ]);
  });
});

describe('CreateTopics', () => {
  const topic = { numPartitions: 1, replicationFactor: -1, assignments: [], configs: [] };

  it.each([2, 5, 7])('v%d creates each topic or says why not', async (version) => {
    const { client, fixture } = await open({ server: { settings: { numPartitions: 5 } } });
    await fixture.parts.createTopic('old');
    const topics = [
      { ...topic, name: 'one', numPartitions: 4, replicationFactor: 1 },
      { ...topic, name: 'default', numPartitions: -1, configs: [{ name: 'retention.ms', value: ' +1000' }] },
      { ...topic, name: 'old' },
      { ...topic, name: 'bad name' },
      { ...topic, name: '__consumer_offsets' },
      { ...topic, name: 'twice' },
      { ...topic, name: 'twice' },
      { ...topic, name: 'none', numPartitions: 0 },
      { ...topic, name: 'copies', replicationFactor: 3 },
      { ...topic, name: 'assigned', numPartitions: -1, assignments: [{ partitionIndex: 0, brokerIds: [1] }] },
      {
        ...topic,
        name: 'placed',
        numPartitions: -1,
        assignments: [0, 1].map((partitionIndex) => ({ partitionIndex, brokerIds: [3] })),
      },
      { ...topic, name: 'counted', assignments: [{ partitionIndex: 0, brokerIds: [3] }] },
      { ...topic, name: 'gap', numPartitions: -1, assignments: [{ partitionIndex: 1, brokerIds: [3] }] },
      { ...topic, name: 'streams', configs: [{ name: 'segment.bytes', value: '52428800' }] },
      { ...topic, name: 'tiered', configs: [{ name: 'remote.storage.enable', value: 'true' }] },
      { ...topic, name: 'compacted', configs: [{ name: 'cleanup.policy', value: 'compact,delete' }] },
      { ...topic, name: 'misspelt', configs: [{ name: 'retention.msec', value: '1' }] },
      { ...topic, name: 'null', configs: [{ name: 'retention.ms', value: null }] },
    ];
    const { topics: answers } = await client.call(createTopics, version, { topics });
    expect(answers.map(({ name, errorCode }) => [name, errorCode])).toEqual([
      ['one', 0],
      ['default', 0],
      ['old', Errors.TOPIC_ALREADY_EXISTS],
      ['bad name', Errors.INVALID_TOPIC_EXCEPTION],
      ['__consumer_offsets', Errors.INVALID_TOPIC_EXCEPTION],
      ['twice', Errors.INVALID_REQUEST],
      ['twice', Errors.INVALID_REQUEST],
      ['none', Errors.INVALID_PARTITIONS],
      ['copies', Errors.INVALID_REPLICATION_FACTOR],
      ['assigned', Errors.INVALID_REPLICA_ASSIGNMENT],
      ['placed', 0],
      ['counted', Errors.INVALID_REQUEST],
      ['gap', Errors.INVALID_REPLICA_ASSIGNMENT],
      ['streams', 0],
      ['tiered', Errors.INVALID_CONFIG],
      ['compacted', Errors.INVALID_CONFIG],
      ['misspelt', Errors.INVALID_CONFIG],
      ['null', Errors.INVALID_CONFIG],
    ]);
    for (const { errorCode, errorMessage } of answers) expect(errorMessage === null).toBe(errorCode === 0);
    if (version >= 5) expect(answers[1]).toMatchObject({ numPartitions: 5, replicationFactor: 1 });
    const made = await fixture.parts.engine.listTopics();
    expect(made.map(({ name, partitions }) => [name, partitions])).toEqual([
      ['default', 5],
      ['old', 1],
      ['one', 4],
      ['placed', 2],
      ['streams', 1],
    ]);
    expect(fixture.logged).toContain('topic configs without effect were left out');
    expect([made[0]!.configs, made[4]!.configs]).toEqual([{ 'retention.ms': '1000' }, {}]);
    const configs = new Map(answers[1]!.configs?.map((config) => [config.name, config]));
    if (version < 5) return;
    expect(configs.get('retention.ms')).toMatchObject({ value: '1000', readOnly: false, configSource: 1 });
    expect(configs.get('segment.bytes')).toMatchObject({ value: '1073741824', readOnly: true, configSource: 5 });
    if (version >= 7) expect(answers[0]!.topicId).toBe(made[2]!.topicId);
  });

  it('only checks with validateOnly', async () => {
    const { client, fixture } = await open();
    const topics = [
      { ...topic, name: 'fine' },
      { ...topic, name: 'bad name' },
    ];
    const { topics: answers } = await client.call(createTopics, 5, { topics, validateOnly: true });
    expect(answers.map(({ errorCode }) => errorCode)).toEqual([0, Errors.INVALID_TOPIC_EXCEPTION]);
    expect(await fixture.parts.engine.listTopics()).toEqual([]);
  });

  it('bounds the partitions of one request', async () => {
    const { client, fixture } = await open();
    const topics = [1, 2].map((n) => ({ ...topic, name: `t${n}`, numPartitions: 6000 }));
    const { topics: answers } = await client.call(createTopics, 7, { topics });
    expect(answers.map(({ errorCode }) => errorCode)).toEqual([Errors.POLICY_VIOLATION, Errors.POLICY_VIOLATION]);
    expect(await fixture.parts.engine.listTopics()).toEqual([]);
  });
});

describe('DeleteTopics', () => {
  it('deletes by name', async () => {
    const { client, fixture } = await open();
    await fixture.parts.createTopic('a');
    await fixture.parts.createTopic('b');
    const { responses } = await client.call(deleteTopics, 4, { topicNames: ['a', 'none', 'b', 'b'], timeoutMs: 1 });
    expect(responses.map(({ name, errorCode }) => [name, errorCode])).toEqual([
      ['a', 0],
      ['none', 3],
      ['b', 42],
      ['b', 42],
    ]);
    expect((await fixture.parts.engine.listTopics()).map(({ name }) => name)).toEqual(['b']);
  });

  it('deletes by name or id, not both and not neither', async () => {
    const { client, fixture } = await open();
    const [a, b] = [await fixture.parts.createTopic('a'), await fixture.parts.createTopic('b')];
    const topics = [
      { name: null, topicId: a },
      { name: 'b', topicId: b },
      { name: null, topicId: ZERO_UUID },
      { name: null, topicId: 'unknown-id-of-22-charA' },
    ];
    const { responses } = await client.call(deleteTopics, 6, { topics, timeoutMs: 1 });
    expect(responses.map(({ errorCode }) => errorCode)).toEqual([0, 42, 42, Errors.UNKNOWN_TOPIC_ID]);
    expect(responses[0]).toMatchObject({ name: 'a', topicId: a });
    expect((await fixture.parts.engine.listTopics()).map(({ name }) => name)).toEqual(['b']);
  });
});

describe('ListOffsets', () => {
  const asked = (partitionIndex: number, timestamp: bigint) => ({ partitionIndex, timestamp });

  it('answers times and special timestamps, by version', async () => {
    const { client, fixture } = await open();
    const topicId = await fixture.parts.createTopic('t', 2);
    await fixture.parts.append(
      { topicId, partition: 0 },
      { records: [{ value: 'a' }, { value: 'b', timestampDelta: 10 }], baseTimestamp: 1000n },
    );
    const ask = async (version: number, ...timestamps: bigint[]) => {
      const answers = [];
      for (const timestamp of timestamps) {
        const { topics } = await client.call(listOffsets, version, {
          topics: [{ name: 't', partitions: [asked(0, timestamp)] }],
        });
        const { errorCode, offset, timestamp: found } = topics[0]!.partitions[0]!;
        answers.push([errorCode, offset, found]);
      }
      return answers;
    };
    expect(await ask(1, -1n, -2n, 1000n, 1001n, 1011n)).toEqual([
      [0, 2n, -1n],
      [0, 0n, -1n],
      [0, 0n, 1000n],
      [0, 1n, 1010n],
      [0, -1n, -1n],
    ]);
    expect(await ask(6, -3n)).toEqual([[35, -1n, -1n]]);
    expect(await ask(7, -3n, -4n)).toEqual([
      [0, 1n, 1010n],
      [35, -1n, -1n],
    ]);
    expect(await ask(11, -5n, -6n, -7n)).toEqual([
      [0, -1n, -1n],
      [0, -1n, -1n],
      [35, -1n, -1n],
    ]);
  });

  it('answers unknown partitions with 3 and duplicates with 42', async () => {
    const { client, fixture } = await open();
    await fixture.parts.createTopic('t', 2);
    const topics = [
      { name: 't', partitions: [asked(0, -1n), asked(1, -1n), asked(1, -2n), asked(2, -1n)] },
      { name: 'none', partitions: [asked(0, -1n)] },
    ];
    const answer = await client.call(listOffsets, 5, { topics });
    expect(answer.topics.flatMap(({ partitions }) => partitions.map(({ errorCode }) => errorCode))).toEqual([
      0, 42, 42, 3, 3,
    ]);
  });
});

describe('InitProducerId', () => {
  it.each([0, 2, 5])('v%d gives each producer an id of its own, also after a restart', async (version) => {
    const { client, fixture } = await open();
    const asked = { transactionalId: null, transactionTimeoutMs: 1 };
    const first = await client.call(initProducerId, version, asked);
    const second = await client.call(
      initProducerId,
      version,
      version < 3 ? asked : { ...asked, producerId: first.producerId, producerEpoch: 4 },
    );
    const again = await open({ over: fixture.parts });
    const third = await again.client.call(initProducerId, version, asked);
    const ids = [first, second, third].map(({ errorCode, producerId, producerEpoch }) => [
      errorCode,
      producerEpoch,
      producerId,
    ]);
    expect(ids.map(([error, epoch]) => [error, epoch])).toEqual([
      [0, 0],
      [0, 0],
      [0, 0],
    ]);
    expect(new Set(ids.map(([, , id]) => id)).size).toBe(3);
  });

  it('refuses transactional producers for good', async () => {
    const { client, fixture } = await open();
    const answer = await client.call(initProducerId, 4, { transactionalId: 'tx', transactionTimeoutMs: 1 });
    expect(answer).toMatchObject({ errorCode: Errors.INVALID_REQUEST, producerId: -1n });
    expect(fixture.logged.join()).toContain('transactions are not built yet');
  });
});
