/** What admin clients ask besides topics, configs and groups, over the wire. */
import { describe, expect, it } from 'vitest';
import { Errors } from '../../src/common/errors.ts';
import { describeAcls } from '../../src/protocol/messages/describe-acls.ts';
import { describeCluster } from '../../src/protocol/messages/describe-cluster.ts';
import { describeLogDirs } from '../../src/protocol/messages/describe-log-dirs.ts';
import { describeProducers } from '../../src/protocol/messages/describe-producers.ts';
import { describeTopicPartitions } from '../../src/protocol/messages/describe-topic-partitions.ts';
import { electLeaders } from '../../src/protocol/messages/elect-leaders.ts';
import { listPartitionReassignments } from '../../src/protocol/messages/list-partition-reassignments.ts';
import { metadata } from '../../src/protocol/messages/metadata.ts';
import { saslHandshake } from '../../src/protocol/messages/sasl-handshake.ts';
import { plainBatch } from '../support/record-batches.ts';
import { ServerFixture } from './server-fixture.ts';

async function open() {
  const fixture = await ServerFixture.open({ server: { nodeId: 3, rack: 'r1' } });
  return { fixture, client: await fixture.client() };
}

describe('DescribeCluster', () => {
  it.each([0, 1, 2])('v%d tells what Metadata tells', async (version) => {
    const { fixture, client } = await open();
    const { host, port } = fixture.server.listener;
    const asked = await client.call(describeCluster, version, { includeClusterAuthorizedOperations: true });
    expect(asked).toMatchObject({
      errorCode: 0,
      clusterId: fixture.parts.metadata.clusterId,
      controllerId: 3,
      brokers: [{ brokerId: 3, host, port, rack: 'r1', isFenced: false }],
      clusterAuthorizedOperations: 8096,
    });
    const quiet = await client.call(describeCluster, version, { includeClusterAuthorizedOperations: false });
    expect(quiet.clusterAuthorizedOperations).toBe(-2147483648);
  });

  it('is no controller', async () => {
    const { client } = await open();
    const ask = async (endpointType: number) =>
      (await client.call(describeCluster, 1, { includeClusterAuthorizedOperations: false, endpointType })).errorCode;
    expect(await ask(2)).toBe(Errors.MISMATCHED_ENDPOINT_TYPE);
    expect(await ask(3)).toBe(Errors.UNSUPPORTED_ENDPOINT_TYPE);
  });
});

describe('Metadata', () => {
  it('tells the authorized operations when it is asked for them', async () => {
    const { fixture, client } = await open();
    await fixture.parts.createTopic('t');
    const ask = (asked: boolean) =>
      client.call(metadata, 9, {
        topics: [{ name: 't' }],
        includeClusterAuthorizedOperations: asked,
        includeTopicAuthorizedOperations: asked,
      });
    expect(await ask(true)).toMatchObject({
      clusterAuthorizedOperations: 8096,
      topics: [{ topicAuthorizedOperations: 3576 }],
    });
    expect(await ask(false)).toMatchObject({
      clusterAuthorizedOperations: -2147483648,
      topics: [{ topicAuthorizedOperations: -2147483648 }],
    });
  });
});

describe('DescribeTopicPartitions', () => {
  it('goes through all partitions in pages', async () => {
    const { fixture, client } = await open();
    const counts = { a: 3, b: 1, c: 5 };
    for (const [name, partitions] of Object.entries(counts)) await fixture.parts.createTopic(name, partitions);
    for (const limit of [1, 2, 3, 4, 100]) {
      const seen: string[] = [];
      let cursor: { topicName: string; partitionIndex: number } | null = null;
      let pages = 0;
      do {
        const answer: Awaited<ReturnType<typeof ask>> = await ask(cursor);
        const page = answer.topics.flatMap(({ name, partitions }) =>
          partitions.map(({ partitionIndex }) => `${name}-${partitionIndex}`),
        );
        expect(page.length).toBeLessThanOrEqual(limit);
        seen.push(...page);
        cursor = answer.nextCursor;
        pages++;
      } while (cursor);
      expect(seen).toEqual(['a-0', 'a-1', 'a-2', 'b-0', 'c-0', 'c-1', 'c-2', 'c-3', 'c-4']);
      expect(pages).toBe(Math.ceil(9 / limit));
      async function ask(from: typeof cursor) {
        return client.call(describeTopicPartitions, 0, { topics: [], responsePartitionLimit: limit, cursor: from });
      }
    }
  });

  it('describes the topics asked for, once each and by name', async () => {
    const { fixture, client } = await open();
    const topicId = await fixture.parts.createTopic('t', 1);
    const { topics, nextCursor } = await client.call(describeTopicPartitions, 0, {
      topics: ['t', 'missing', 'a b', 't'].map((name) => ({ name })),
    });
    expect(nextCursor).toBeNull();
    expect(topics).toMatchObject([
      { name: 'a b', errorCode: Errors.INVALID_TOPIC_EXCEPTION, partitions: [] },
      { name: 'missing', errorCode: Errors.UNKNOWN_TOPIC_OR_PARTITION, partitions: [] },
      { name: 't', errorCode: 0, topicId, topicAuthorizedOperations: 3576 },
    ]);
    expect(topics[2]!.partitions).toEqual([
      {
        errorCode: 0,
        partitionIndex: 0,
        leaderId: 3,
        leaderEpoch: 0,
        replicaNodes: [3],
        isrNodes: [3],
        eligibleLeaderReplicas: [],
        lastKnownElr: [],
        offlineReplicas: [],
      },
    ]);
  });

  it('ends a page also among topics that there are not', async () => {
    const { client } = await open();
    const topics = ['a', 'b', 'c'].map((name) => ({ name }));
    const answer = await client.call(describeTopicPartitions, 0, { topics, responsePartitionLimit: 2 });
    expect(answer.topics.map(({ name }) => name)).toEqual(['a', 'b']);
    expect(answer.nextCursor).toEqual({ topicName: 'c', partitionIndex: 0 });
  });

  it('goes on after a topic that has gone, and refuses a cursor that points nowhere', async () => {
    const { fixture, client } = await open();
    for (const name of ['a', 'c']) await fixture.parts.createTopic(name, 2);
    const pageAfter = async (topicName: string, partitionIndex: number) => {
      const cursor = { topicName, partitionIndex };
      const { topics } = await client.call(describeTopicPartitions, 0, { topics: [], cursor });
      return topics.map(({ name, partitions }) => [name, partitions.length]);
    };
    expect(await pageAfter('b', 1)).toEqual([['c', 2]]);
    expect(await pageAfter('c', 1)).toEqual([['c', 1]]);
    expect(await pageAfter('c', 7)).toEqual([['c', 0]]);
    expect(await pageAfter('d', 0)).toEqual([]);
    const cursor = { topicName: 'a', partitionIndex: -1 };
    const { topics } = await client.call(describeTopicPartitions, 0, { topics: [{ name: 'a' }], cursor });
    expect(topics).toMatchObject([{ name: 'a', errorCode: Errors.INVALID_REQUEST }]);
  });
});

describe('DescribeProducers', () => {
  it('tells the producer state that commits are judged by', async () => {
    const { fixture, client } = await open();
    const topicId = await fixture.parts.createTopic('t', 2);
    const producer = { producerId: 8n, producerEpoch: 2, baseSequence: 0 };
    const records = plainBatch(4, 10, producer);
    await fixture.parts.engine.append([{ topicIdPartition: { topicId, partition: 1 }, records }]);
    const { topics } = await client.call(describeProducers, 0, {
      topics: [
        { name: 't', partitionIndexes: [0, 1, 2] },
        { name: 'missing', partitionIndexes: [0] },
      ],
    });
    const none = { errorMessage: null, activeProducers: [] };
    expect(topics).toMatchObject([
      {
        name: 't',
        partitions: [
          { partitionIndex: 0, errorCode: 0, ...none },
          {
            partitionIndex: 1,
            errorCode: 0,
            activeProducers: [
              { producerId: 8n, producerEpoch: 2, lastSequence: 3, coordinatorEpoch: -1, currentTxnStartOffset: -1n },
            ],
          },
          { partitionIndex: 2, errorCode: Errors.UNKNOWN_TOPIC_OR_PARTITION, ...none },
        ],
      },
      { name: 'missing', partitions: [{ errorCode: Errors.UNKNOWN_TOPIC_OR_PARTITION, ...none }] },
    ]);
  });
});

it('DescribeProducers refuses more partitions than anybody has', async () => {
  const { client } = await open();
  const partitionIndexes = Array.from({ length: 100_001 }, () => 0);
  const { topics } = await client.call(describeProducers, 0, { topics: [{ name: 't', partitionIndexes }] });
  expect(topics[0]!.partitions[0]).toMatchObject({ errorCode: Errors.INVALID_REQUEST });
});

describe('DescribeLogDirs', () => {
  it.each([1, 2, 3, 4, 5])('v%d tells what each partition takes', async (version) => {
    const { fixture, client } = await open();
    const topicId = await fixture.parts.createTopic('t', 2);
    await fixture.parts.createTopic('other', 1);
    const records = plainBatch(4, 10);
    const bytes = BigInt(records.byteLength);
    await fixture.parts.engine.append([{ topicIdPartition: { topicId, partition: 1 }, records }]);
    const partition = (partitionIndex: number, partitionSize: bigint) => ({
      partitionIndex,
      partitionSize,
      offsetLag: 0n,
      isFutureKey: false,
    });
    const all = await client.call(describeLogDirs, version, { topics: null });
    expect(all).toMatchObject({ errorCode: 0, results: [{ errorCode: 0, totalBytes: -1n, usableBytes: -1n }] });
    expect(all.results[0]!.topics).toEqual([
      { name: 'other', partitions: [partition(0, 0n)] },
      { name: 't', partitions: [partition(0, 0n), partition(1, bytes)] },
    ]);
    const asked = [
      { topic: 't', partitions: [1, 7] },
      { topic: 'missing', partitions: [0] },
    ];
    const some = await client.call(describeLogDirs, version, { topics: asked });
    expect(some.results[0]!.topics).toEqual([{ name: 't', partitions: [partition(1, bytes)] }]);
  });
});

describe('ElectLeaders', () => {
  it.each([0, 1, 2])('v%d finds every leader elected', async (version) => {
    const { fixture, client } = await open();
    await fixture.parts.createTopic('t', 1);
    const ask = (topicPartitions: { topic: string; partitions: number[] }[] | null, electionType = 0) =>
      client.call(electLeaders, version, { topicPartitions, ...(version > 0 && { electionType }) });
    const all = await ask(null);
    expect(all).toMatchObject({ errorCode: 0, replicaElectionResults: [{ topic: 't', partitionResult: [] }] });
    const some = await ask([
      { topic: 't', partitions: [0, 1] },
      { topic: 'missing', partitions: [0] },
    ]);
    const codes = some.replicaElectionResults.map(({ partitionResult }) =>
      partitionResult.map(({ errorCode }) => errorCode),
    );
    const { ELECTION_NOT_NEEDED, UNKNOWN_TOPIC_OR_PARTITION } = Errors;
    expect(codes).toEqual([[ELECTION_NOT_NEEDED, UNKNOWN_TOPIC_OR_PARTITION], [UNKNOWN_TOPIC_OR_PARTITION]]);
    if (version > 0) expect((await ask(null, 9)).errorCode).toBe(Errors.INVALID_REQUEST);
  });
});

it('ListPartitionReassignments finds none', async () => {
  const { client } = await open();
  const topics = [{ name: 't', partitionIndexes: [0] }];
  expect(await client.call(listPartitionReassignments, 0, { topics })).toMatchObject({ errorCode: 0, topics: [] });
});

it.each([1, 2, 3])('DescribeAcls v%d says that there are none', async (version) => {
  const { client } = await open();
  const answer = await client.call(describeAcls, version, {
    resourceTypeFilter: 1,
    resourceNameFilter: null,
    principalFilter: null,
    hostFilter: null,
    operation: 1,
    permissionType: 1,
  });
  expect(answer).toMatchObject({ errorCode: Errors.SECURITY_DISABLED, resources: [] });
});

it.each([0, 1])('SaslHandshake v%d is refused, and the connection goes on', async (version) => {
  const { client } = await open();
  const answer = await client.call(saslHandshake, version, { mechanism: 'PLAIN' });
  expect(answer).toEqual({ errorCode: Errors.ILLEGAL_SASL_STATE, mechanisms: [] });
  expect((await client.call(metadata, 9, { topics: [] })).brokers).toHaveLength(1);
});
