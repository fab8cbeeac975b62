/** Incremental fetch sessions (KIP-227) over the wire, as the Java client drives them. */
import { describe, expect, it } from 'vitest';
import { Errors } from '../../src/common/errors.ts';
import type { RequestToSend } from '../../src/protocol/api.ts';
import { fetch } from '../../src/protocol/messages/fetch.ts';
import { batchOf } from '../support/engine-fixture.ts';
import { readRecords } from '../support/read-records.ts';
import { ServerFixture, type ServerFixtureOptions } from './server-fixture.ts';

type FetchRequest = RequestToSend<typeof fetch>;

const atOnce = { maxWaitMs: 0, minBytes: 0 };
const patient = { maxWaitMs: 60_000, minBytes: 1 };
const from = (partition: number, fetchOffset: bigint) => ({ partition, fetchOffset, partitionMaxBytes: 1 << 20 });

async function open(options: ServerFixtureOptions = {}) {
  const fixture = await ServerFixture.open(options);
  const topicId = await fixture.parts.createTopic('t', 4);
  const client = await fixture.client();
  const call = (request: Partial<FetchRequest>, version = 12) =>
    client.call(fetch, version, { ...atOnce, topics: [], ...request });
  return { fixture, topicId, client, call, append: appender(fixture, topicId) };
}

function appender(fixture: ServerFixture, topicId: string) {
  return (partition: number, ...values: string[]) => fixture.parts.append({ topicId, partition }, batchOf(...values));
}

type Answer = Awaited<ReturnType<Awaited<ReturnType<typeof open>>['call']>>;

/** `[partition, its values, or its error]` in the order of the answer. */
function told({ responses }: Answer): [number, string | number][] {
  return responses.flatMap(({ partitions }) =>
    partitions.map(({ partitionIndex, errorCode, records }): [number, string | number] => {
      const values = records?.length ? readRecords([records]).map(({ value }) => value) : [];
      return [partitionIndex, errorCode === 0 ? values.join() : errorCode];
    }),
  );
}

const all = [0, 1, 2, 3].map((partition) => from(partition, 0n));
const parked = async ({ parts }: ServerFixture) => {
  while (parts.engine.stats().parkedFetches > 0) await new Promise((resolve) => setTimeout(resolve, 1));
};

describe.each([
  ['by name', 12],
  ['by id', 17],
])('a session that names topics %s', (_name, version) => {
  it('answers in full first, then only what changed', async () => {
    const { call, append, topicId, fixture } = await open();
    const topic = version === 12 ? { topic: 't' } : { topicId };
    await append(2, 'a');
    const first = await call({ sessionEpoch: 0, topics: [{ ...topic, partitions: all }] }, version);
    const { sessionId } = first;
    expect(sessionId).toBeGreaterThan(0);
    expect(told(first)).toEqual([
      [0, ''],
      [1, ''],
      [2, 'a'],
      [3, ''],
    ]);
    const moved = { sessionId, sessionEpoch: 1, topics: [{ ...topic, partitions: [from(2, 1n)] }] };
    const second = await call(moved, version);
    expect(second).toMatchObject({ errorCode: 0, sessionId, responses: [] });
    await append(3, 'b');
    const third = await call({ ...patient, sessionId, sessionEpoch: 2 }, version);
    expect(third.responses).toMatchObject([{ topic: topic.topic ?? '', topicId: topic.topicId ?? expect.anything() }]);
    expect(told(third)).toEqual([[3, 'b']]);
    // The client has not said that it has it: it gets it again.
    expect(told(await call({ ...patient, sessionId, sessionEpoch: 3 }, version))).toEqual([[3, 'b']]);
    await parked(fixture);
  });

  it('answers UNKNOWN_TOPIC for a topic that is deleted, at once', async () => {
    const { call, topicId, client, fixture } = await open();
    const topics = [{ ...(version === 12 ? { topic: 't' } : { topicId }), partitions: all }];
    const { sessionId } = await call({ sessionEpoch: 0, topics }, version);
    expect(told(await call({ sessionId, sessionEpoch: 1 }, version))).toEqual([]);
    const waiting = client.call(fetch, version, { ...patient, sessionId, sessionEpoch: 2, topics: [] });
    await fixture.parts.engine.deleteTopics([topicId]);
    const gone = version === 12 ? Errors.UNKNOWN_TOPIC_OR_PARTITION : Errors.UNKNOWN_TOPIC_ID;
    const answer = told(await waiting);
    expect(answer.length).toBeGreaterThan(0);
    expect(new Set(answer.map(([, error]) => error))).toEqual(new Set([gone]));
    // Errors are told again until they are gone.
    expect(told(await call({ ...patient, sessionId, sessionEpoch: 3 }, version))).toHaveLength(4);
  });
});

describe('a session', () => {
  it('waits for a change of any of its partitions, added ones included, and of no forgotten one', async () => {
    const { call, append, client } = await open();
    const { sessionId } = await call({ sessionEpoch: 0, topics: [{ topic: 't', partitions: all.slice(0, 2) }] });
    const added = { sessionId, sessionEpoch: 1, topics: [{ topic: 't', partitions: [from(3, 0n)] }] };
    expect(told(await call({ ...added, forgottenTopicsData: [{ topic: 't', partitions: [1] }] }))).toEqual([[3, '']]);
    const waiting = client.call(fetch, 12, { ...patient, sessionId, sessionEpoch: 2, topics: [] });
    await append(1, 'forgotten');
    await append(2, 'never asked for');
    await append(3, 'news');
    expect(told(await waiting)).toEqual([[3, 'news']]);
    expect(
      told(await call({ sessionId, sessionEpoch: 3, topics: [{ topic: 't', partitions: [from(3, 1n)] }] })),
    ).toEqual([]);
  });

  it('gathers up to minBytes, and answers with less when the time is up', async () => {
    const { call, append, client } = await open();
    const { sessionId } = await call({ sessionEpoch: 0, topics: [{ topic: 't', partitions: all }] });
    const request = { maxWaitMs: 60_000, minBytes: 200, sessionId, sessionEpoch: 1, topics: [] };
    const waiting = client.call(fetch, 12, request);
    await append(2, 'x'.repeat(60));
    await append(0, 'y'.repeat(60));
    expect(told(await waiting).map(([partition]) => partition)).toEqual([0, 2]);
    const less = await call({ maxWaitMs: 20, minBytes: 1 << 20, sessionId, sessionEpoch: 2 });
    expect(told(less).map(([partition]) => partition)).toEqual([0, 2]);
  });

  it('serves in rotation what one answer has no room for', async () => {
    const { call, append } = await open();
    for (const partition of [0, 1, 2, 3]) await append(partition, String(partition).repeat(500));
    const opened = await call({ sessionEpoch: 0, maxBytes: 1, topics: [{ topic: 't', partitions: all }] });
    const { sessionId } = opened;
    const got: number[] = [];
    for (let epoch = 1; epoch <= 8; epoch++) {
      const answer = await call({ sessionId, sessionEpoch: epoch, maxBytes: 1 });
      got.push(...told(answer).map(([partition]) => partition));
    }
    expect(got).toEqual([0, 1, 2, 3, 0, 1, 2, 3]);
  });

  it('tells of a log start that moved, without records', async () => {
    const { call, append, fixture, topicId } = await open();
    await append(0, 'a', 'b');
    const { sessionId } = await call({ sessionEpoch: 0, topics: [{ topic: 't', partitions: [from(0, 2n)] }] });
    expect(told(await call({ sessionId, sessionEpoch: 1 }))).toEqual([]);
    await fixture.parts.engine.deleteRecords([{ topicIdPartition: { topicId, partition: 0 }, beforeOffset: 1n }]);
    const { responses } = await call({ sessionId, sessionEpoch: 2 });
    expect(responses[0]!.partitions).toMatchObject([{ partitionIndex: 0, logStartOffset: 1n, highWatermark: 2n }]);
    expect(told(await call({ sessionId, sessionEpoch: 3 }))).toEqual([]);
  });

  it('outlives its connection', async () => {
    const { call, append, fixture, client } = await open();
    const { sessionId } = await call({ sessionEpoch: 0, topics: [{ topic: 't', partitions: all }] });
    client.socket.destroy();
    await append(1, 'a');
    const again = await fixture.client();
    const answer = await again.call(fetch, 12, { ...patient, sessionId, sessionEpoch: 1, topics: [] });
    expect(told(answer)).toEqual([[1, 'a']]);
  });

  it('refuses unknown ids with 70, other epochs with 71, the other kind of topic names with 106', async () => {
    const { call, topicId } = await open();
    const topics = [{ topic: 't', partitions: all }];
    const refused = async (request: Partial<FetchRequest>, version = 12) => {
      const { errorCode, sessionId, responses } = await call(request, version);
      return [errorCode, sessionId, responses.length];
    };
    expect(await refused({ sessionId: 5, sessionEpoch: 1, topics })).toEqual([70, 0, 0]);
    const { sessionId } = await call({ sessionEpoch: 0, topics });
    expect(await refused({ sessionId, sessionEpoch: 2, topics })).toEqual([71, 0, 0]);
    const byId = [{ topicId, partitions: all }];
    expect(await refused({ sessionId, sessionEpoch: 1, topics: byId }, 13)).toEqual([106, 0, 0]);
    expect(await refused({ sessionId, sessionEpoch: 1 })).toEqual([0, sessionId, 0]);
  });

  it('ends with a final request, with a full one that names it, and when its last partition is forgotten', async () => {
    const { call } = await open();
    const topics = [{ topic: 't', partitions: all.slice(0, 1) }];
    const opened = async () => (await call({ sessionEpoch: 0, topics })).sessionId;
    const ended = async (sessionId: number) => (await call({ sessionId, sessionEpoch: 1 })).errorCode;

    const first = await opened();
    expect(await call({ sessionId: first, sessionEpoch: -1, topics })).toMatchObject({ errorCode: 0, sessionId: 0 });
    expect(await ended(first)).toBe(70);

    const second = await opened();
    const third = await call({ sessionId: second, sessionEpoch: 0, topics });
    expect(third.sessionId).not.toBe(second);
    expect(await ended(second)).toBe(70);

    const forgotten = { sessionId: third.sessionId, forgottenTopicsData: [{ topic: 't', partitions: [0] }] };
    expect(await call({ ...forgotten, sessionEpoch: 1 })).toMatchObject({ errorCode: 0, sessionId: 0, responses: [] });
    expect(await ended(third.sessionId)).toBe(70);
  });

  it('lets the later of two requests win', async () => {
    const { call, client, fixture, append } = await open();
    const { sessionId } = await call({ sessionEpoch: 0, topics: [{ topic: 't', partitions: all }] });
    client.send(fetch, 12, { ...patient, sessionId, sessionEpoch: 1, topics: [] });
    const other = await fixture.client();
    // Until the first has moved the epoch on.
    const request = { sessionId, sessionEpoch: 2, topics: [] };
    let later = await other.call(fetch, 12, { ...atOnce, ...request });
    while (later.errorCode === 71) later = await other.call(fetch, 12, { ...atOnce, ...request });
    expect(later).toMatchObject({ errorCode: 0, sessionId });
    await append(0, 'a');
    const { decodeResponse } = await import('../../src/protocol/frames.ts');
    expect(decodeResponse(fetch, 12, (await client.nextFrame())!).body).toMatchObject({
      errorCode: Errors.INVALID_FETCH_SESSION_EPOCH,
    });
    const answer = await other.call(fetch, 12, { ...patient, sessionId, sessionEpoch: 3, topics: [] });
    expect(told(answer)).toEqual([[0, 'a']]);
  });
});

describe('without room', () => {
  const settings = (given: object) => ({ server: { settings: given } });
  const topics = [{ topic: 't', partitions: all }];

  it('answers in full with session id 0 when there is no slot', async () => {
    const { call, append } = await open(settings({ maxIncrementalFetchSessionCacheSlots: 0 }));
    await append(0, 'a');
    const answer = await call({ sessionEpoch: 0, topics });
    expect(answer).toMatchObject({ errorCode: 0, sessionId: 0 });
    expect(told(answer)[0]).toEqual([0, 'a']);
  });

  it('keeps no more partitions than it may, nor names that no topic can have', async () => {
    const { call } = await open(settings({ fetchSessionMaxPartitions: 6 }));
    const { sessionId } = await call({ sessionEpoch: 0, topics });
    expect(sessionId).toBeGreaterThan(0);
    expect((await call({ sessionEpoch: 0, topics })).sessionId).toBe(0);
    const more = { topic: 'u', partitions: all };
    expect(await call({ sessionId, sessionEpoch: 1, topics: [more] })).toMatchObject({ errorCode: 70, responses: [] });
    const long = { topic: 'x'.repeat(250), partitions: all.slice(0, 1) };
    expect(await call({ sessionEpoch: 0, topics: [long] })).toMatchObject({ errorCode: 0, sessionId: 0 });
    expect((await call({ sessionEpoch: 0, topics })).sessionId).toBeGreaterThan(0);
  });
});
