import { describe, expect, it } from 'vitest';
import { Errors } from '../../src/common/errors.ts';
import { fetch } from '../../src/protocol/messages/fetch.ts';
import { batchOf } from '../support/engine-fixture.ts';
import { readRecords } from '../support/read-records.ts';
import { ServerFixture } from './server-fixture.ts';

async function open() {
  const fixture = await ServerFixture.open();
  const topicId = await fixture.parts.createTopic('t', 2);
  await fixture.parts.append({ topicId, partition: 0 }, batchOf('a', 'b'));
  await fixture.parts.append({ topicId, partition: 0 }, batchOf('c'));
  return { fixture, topicId, client: await fixture.client() };
}

const wait = { maxWaitMs: 0, minBytes: 0 };
const from = (partition: number, fetchOffset: bigint) => ({ partition, fetchOffset, partitionMaxBytes: 1 << 20 });
const values = (records: Uint8Array | null) => readRecords([records!]).map(({ value }) => value);

describe('Fetch', () => {
  it.each([4, 7, 11, 12])('v%d reads by topic name', async (version) => {
    const { client } = await open();
    const topics = [{ topic: 't', partitions: [from(0, 1n), from(1, 0n), from(2, 0n)] }];
    const { responses, sessionId, errorCode } = await client.call(fetch, version, { ...wait, topics });
    expect([sessionId, errorCode]).toEqual([0, 0]);
    const [first, empty, none] = responses[0]!.partitions;
    expect(first).toMatchObject({ errorCode: 0, highWatermark: 3n, lastStableOffset: 3n, abortedTransactions: null });
    expect(values(first!.records)).toEqual(['a', 'b', 'c']);
    expect(empty).toMatchObject({ errorCode: 0, highWatermark: 0n, records: Buffer.alloc(0) });
    expect(none).toMatchObject({ errorCode: Errors.UNKNOWN_TOPIC_OR_PARTITION, highWatermark: -1n });
  });

  it.each([13, 17, 18])('v%d reads by topic id', async (version) => {
    const { client, topicId } = await open();
    const topics = [
      { topicId, partitions: [from(0, 2n)] },
      { topicId: 'unknown-id-of-22-charA', partitions: [from(0, 0n)] },
    ];
    const { responses } = await client.call(fetch, version, { ...wait, topics });
    expect(values(responses[0]!.partitions[0]!.records)).toEqual(['c']);
    expect(responses[1]!.partitions[0]!.errorCode).toBe(Errors.UNKNOWN_TOPIC_ID);
  });

  it('answers offsets outside the log with OFFSET_OUT_OF_RANGE', async () => {
    const { client } = await open();
    const topics = [{ topic: 't', partitions: [from(0, 4n), from(0, -1n), from(0, 3n)] }];
    const { responses } = await client.call(fetch, 11, { ...wait, topics });
    expect(responses[0]!.partitions.map(({ errorCode }) => errorCode)).toEqual([1, 1, 0]);
  });

  it('waits for bytes, and is woken by a commit', async () => {
    const { client, fixture, topicId } = await open();
    const topics = [{ topic: 't', partitions: [from(1, 0n)] }];
    const waiting = client.call(fetch, 11, { maxWaitMs: 60_000, minBytes: 1, topics });
    while (fixture.parts.engine.stats().parkedFetches === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    await fixture.parts.append({ topicId, partition: 1 }, batchOf('news'));
    expect(values((await waiting).responses[0]!.partitions[0]!.records)).toEqual(['news']);
  });

  it('does not wait when a partition is unknown', async () => {
    const { client } = await open();
    const topics = [{ topic: 't', partitions: [from(1, 0n), from(9, 0n)] }];
    const { responses } = await client.call(fetch, 11, { maxWaitMs: 60_000, minBytes: 1, topics });
    expect(responses[0]!.partitions.map(({ errorCode }) => errorCode)).toEqual([0, 3]);
  });

  it('gives memory back: after the answer was written, and when the client leaves while it waits', async () => {
    const { client, fixture } = await open();
    const topics = [{ topic: 't', partitions: [from(0, 0n)] }];
    await client.call(fetch, 11, { ...wait, topics });
    const waiting = await fixture.client();
    waiting.send(fetch, 11, { maxWaitMs: 60_000, minBytes: 1, topics: [{ topic: 't', partitions: [from(1, 0n)] }] });
    while (fixture.parts.engine.stats().parkedFetches === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    waiting.socket.destroy();
    while (fixture.parts.engine.stats().parkedFetches > 0) await new Promise((resolve) => setTimeout(resolve, 1));
    await fixture.server.destroy();
    // The engine asserts at close that every slab came back.
    await fixture.parts.engine.close();
  });

  it('cuts waiting fetches off when the server drains', async () => {
    const { client, fixture } = await open();
    client.send(fetch, 11, { maxWaitMs: 600_000, minBytes: 1, topics: [{ topic: 't', partitions: [from(1, 0n)] }] });
    while (fixture.parts.engine.stats().parkedFetches === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    await fixture.server.close();
    expect(await client.nextFrame()).toBeUndefined();
  });

  it('checks the epochs of the client against ours, and says where a foreign log diverges', async () => {
    const { client, fixture } = await open();
    const ask = async (fetchOffset: bigint, currentLeaderEpoch: number, lastFetchedEpoch: number, version = 16) => {
      const partitions = [{ ...from(0, fetchOffset), currentLeaderEpoch, lastFetchedEpoch }];
      const topicId = (await fixture.parts.engine.listTopics())[0]!.topicId;
      const answer = await client.call(fetch, version, { ...wait, topics: [{ topicId, partitions }] });
      return { ...answer.responses[0]!.partitions[0]!, endpoints: answer.nodeEndpoints };
    };
    expect(await ask(3n, 0, 0)).toMatchObject({ errorCode: 0, divergingEpoch: { epoch: -1, endOffset: -1n } });
    expect(await ask(5n, 0, 0)).toMatchObject({ errorCode: 0, divergingEpoch: { epoch: 0, endOffset: 3n } });
    expect(await ask(5n, 0, -1)).toMatchObject({ errorCode: Errors.OFFSET_OUT_OF_RANGE });
    expect(await ask(3n, 0, 7)).toMatchObject({ errorCode: Errors.OFFSET_OUT_OF_RANGE });
    expect(await ask(3n, 1, -1)).toMatchObject({ errorCode: Errors.UNKNOWN_LEADER_EPOCH, endpoints: [] });
    const { host, port } = fixture.server.listener;
    expect(await ask(3n, -2, -1)).toMatchObject({
      errorCode: Errors.FENCED_LEADER_EPOCH,
      currentLeader: { leaderId: 0, leaderEpoch: 0 },
      endpoints: [{ nodeId: 0, host, port, rack: null }],
    });
    expect((await ask(3n, -2, -1, 15)).endpoints).toEqual([]);
  });

  it('refuses an isolation level that does not exist', async () => {
    const { client } = await open();
    const topics = [{ topic: 't', partitions: [from(0, 0n)] }];
    expect(await client.call(fetch, 11, { ...wait, isolationLevel: 5, topics })).toMatchObject({ errorCode: 42 });
    const old = await client.call(fetch, 4, { ...wait, isolationLevel: 5, topics });
    expect(old.responses[0]!.partitions[0]!.errorCode).toBe(42);
  });
});
