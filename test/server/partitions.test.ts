/** CreatePartitions and DeleteRecords over the wire, and what clients see of them. */
import { describe, expect, it } from 'vitest';
import { Errors } from '../../src/common/errors.ts';
import type { Uuid } from '../../src/common/uuid.ts';
import { consumerGroupHeartbeat } from '../../src/protocol/messages/consumer-group-heartbeat.ts';
import { createPartitions } from '../../src/protocol/messages/create-partitions.ts';
import { deleteRecords } from '../../src/protocol/messages/delete-records.ts';
import { fetch } from '../../src/protocol/messages/fetch.ts';
import { listOffsets } from '../../src/protocol/messages/list-offsets.ts';
import { metadata } from '../../src/protocol/messages/metadata.ts';
import { plainBatch } from '../support/record-batches.ts';
import { ServerFixture, type ServerFixtureOptions } from './server-fixture.ts';
import type { WireClient } from './wire-client.ts';

async function open(options: ServerFixtureOptions = {}) {
  const fixture = await ServerFixture.open({ ...options, server: { nodeId: 3, ...options.server } });
  return { fixture, client: await fixture.client() };
}

describe('CreatePartitions', () => {
  it.each([0, 1, 2, 3])('v%d grows topics or says why not', async (version) => {
    const { client, fixture } = await open();
    for (const name of ['grow', 'same', 'less', 'twice', 'assigned', 'elsewhere', 'few', 'many']) {
      await fixture.parts.createTopic(name, 2);
    }
    const topic = (name: string, count: number, brokers: number[][] | null = null) => ({
      name,
      count,
      assignments: brokers?.map((brokerIds) => ({ brokerIds })) ?? null,
    });
    const { results } = await client.call(createPartitions, version, {
      topics: [
        topic('grow', 5),
        topic('same', 2),
        topic('less', 1),
        topic('twice', 3),
        topic('twice', 4),
        topic('missing', 3),
        topic('assigned', 4, [[3], [3]]),
        topic('elsewhere', 4, [[3], [4]]),
        topic('few', 4, [[3]]),
        topic('many', -1),
      ],
      timeoutMs: 10_000,
      validateOnly: false,
    });
    expect(results.map(({ name, errorCode }) => [name, errorCode])).toEqual([
      ['grow', 0],
      ['same', Errors.INVALID_PARTITIONS],
      ['less', Errors.INVALID_PARTITIONS],
      ['twice', Errors.INVALID_REQUEST],
      ['twice', Errors.INVALID_REQUEST],
      ['missing', Errors.UNKNOWN_TOPIC_OR_PARTITION],
      ['assigned', 0],
      ['elsewhere', Errors.INVALID_REPLICA_ASSIGNMENT],
      ['few', Errors.INVALID_REPLICA_ASSIGNMENT],
      ['many', Errors.INVALID_PARTITIONS],
    ]);
    for (const { errorCode, errorMessage } of results) expect(errorMessage === null).toBe(errorCode === 0);
    expect(results[1]!.errorMessage).toContain('has 2 partitions already');
    const counts = new Map((await fixture.parts.engine.listTopics()).map(({ name, partitions }) => [name, partitions]));
    expect([counts.get('grow'), counts.get('assigned'), counts.get('less')]).toEqual([5, 4, 2]);
  });

  it('only checks with validate_only, and refuses too many at once', async () => {
    const { client, fixture } = await open();
    await fixture.parts.createTopic('t', 2);
    const grow = async (count: number, validateOnly: boolean) => {
      const topics = [{ name: 't', count, assignments: null }];
      return (await client.call(createPartitions, 3, { topics, timeoutMs: 0, validateOnly })).results[0]!;
    };
    expect((await grow(3, true)).errorCode).toBe(0);
    expect((await grow(2, true)).errorCode).toBe(Errors.INVALID_PARTITIONS);
    expect((await grow(20_000, false)).errorCode).toBe(Errors.POLICY_VIOLATION);
    expect(await fixture.parts.engine.listTopics()).toMatchObject([{ partitions: 2 }]);
  });

  it('is seen by producers, consumers and groups', async () => {
    const { client, fixture } = await open();
    const topicId = await fixture.parts.createTopic('t', 1);
    const heartbeat = (memberId: string, memberEpoch: number, topicPartitions: Assigned | null = null) =>
      client.call(consumerGroupHeartbeat, 1, {
        groupId: 'g',
        memberId,
        memberEpoch,
        rebalanceTimeoutMs: memberEpoch === 0 ? 60_000 : -1,
        subscribedTopicNames: memberEpoch === 0 ? ['t'] : null,
        topicPartitions: memberEpoch === 0 ? [] : topicPartitions,
      });
    const joined = await heartbeat('m', 0);
    expect(joined.assignment).toEqual({ topicPartitions: [{ topicId, partitions: [0] }] });
    await client.call(createPartitions, 3, {
      topics: [{ name: 't', count: 3, assignments: null }],
      timeoutMs: 10_000,
      validateOnly: false,
    });
    expect((await client.call(metadata, 12, { topics: [{ name: 't' }] })).topics[0]!.partitions).toHaveLength(3);
    const [appended] = await fixture.parts.engine.append([
      { topicIdPartition: { topicId, partition: 2 }, records: plainBatch(1, 10) },
    ]);
    expect(appended).toMatchObject({ error: 0, baseOffset: 0n });
    const reassigned = await heartbeat('m', joined.memberEpoch);
    expect(reassigned.memberEpoch).toBeGreaterThan(joined.memberEpoch);
    expect(reassigned.assignment).toEqual({ topicPartitions: [{ topicId, partitions: [0, 1, 2] }] });
  });
});

type Assigned = readonly { topicId: Uuid; partitions: number[] }[];

async function earliest(client: WireClient, partitionIndex: number): Promise<bigint> {
  const topics = [{ name: 't', partitions: [{ partitionIndex, timestamp: -2n }] }];
  const answer = await client.call(listOffsets, 5, { replicaId: -1, isolationLevel: 0, topics });
  return answer.topics[0]!.partitions[0]!.offset;
}

describe('DeleteRecords', () => {
  it.each([0, 1, 2])('v%d moves the log start, into a batch or to the end', async (version) => {
    const { client, fixture } = await open();
    const topicId = await fixture.parts.createTopic('t', 4);
    const records = plainBatch(10, 10);
    await fixture.parts.engine.append(
      [0, 1, 2].map((partition) => ({ topicIdPartition: { topicId, partition }, records: Buffer.from(records) })),
    );
    const partitions = [
      { partitionIndex: 0, offset: 4n },
      { partitionIndex: 1, offset: -1n },
      { partitionIndex: 2, offset: 11n },
      { partitionIndex: 3, offset: 0n },
      { partitionIndex: 3, offset: -2n },
      { partitionIndex: 9, offset: 0n },
    ];
    const answer = await client.call(deleteRecords, version, {
      topics: [
        { name: 't', partitions },
        { name: 'missing', partitions: [{ partitionIndex: 0, offset: 0n }] },
      ],
      timeoutMs: 10_000,
    });
    expect(answer.topics).toEqual([
      {
        name: 't',
        partitions: [
          { partitionIndex: 0, lowWatermark: 4n, errorCode: 0 },
          { partitionIndex: 1, lowWatermark: 10n, errorCode: 0 },
          { partitionIndex: 2, lowWatermark: -1n, errorCode: Errors.OFFSET_OUT_OF_RANGE },
          { partitionIndex: 3, lowWatermark: 0n, errorCode: 0 },
          { partitionIndex: 3, lowWatermark: -1n, errorCode: Errors.OFFSET_OUT_OF_RANGE },
          { partitionIndex: 9, lowWatermark: -1n, errorCode: Errors.UNKNOWN_TOPIC_OR_PARTITION },
        ],
      },
      {
        name: 'missing',
        partitions: [{ partitionIndex: 0, lowWatermark: -1n, errorCode: Errors.UNKNOWN_TOPIC_OR_PARTITION }],
      },
    ]);
    expect(await earliest(client, 0)).toBe(4n);
    expect(await earliest(client, 1)).toBe(10n);
    expect(await earliest(client, 2)).toBe(0n);
  });

  it('leaves what is below unreadable, and the rest readable', async () => {
    const { client, fixture } = await open();
    const topicId = await fixture.parts.createTopic('t', 1);
    const records = plainBatch(10, 10);
    await fixture.parts.engine.append([{ topicIdPartition: { topicId, partition: 0 }, records }]);
    const partitions = [{ partitionIndex: 0, offset: 4n }];
    await client.call(deleteRecords, 2, { topics: [{ name: 't', partitions }], timeoutMs: 10_000 });
    const fetched = async (fetchOffset: bigint) => {
      const { responses } = await client.call(fetch, 4, {
        maxWaitMs: 0,
        minBytes: 0,
        topics: [{ topic: 't', partitions: [{ partition: 0, fetchOffset, partitionMaxBytes: 1_000_000 }] }],
      });
      return responses[0]!.partitions[0]!;
    };
    expect((await fetched(3n)).errorCode).toBe(Errors.OFFSET_OUT_OF_RANGE);
    const rest = await fetched(4n);
    expect(rest).toMatchObject({ errorCode: 0, highWatermark: 10n });
    expect(rest.records!.byteLength).toBeGreaterThan(0);
  });
});
