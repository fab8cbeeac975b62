/** ShareFetch, ShareAcknowledge and ShareGroupHeartbeat on the wire, in both versions, over a whole engine. */
import { describe, expect, it } from 'vitest';
import { Errors } from '../../src/common/errors.ts';
import { deleteTopics } from '../../src/protocol/messages/delete-topics.ts';
import { shareAcknowledge } from '../../src/protocol/messages/share-acknowledge.ts';
import { shareFetch } from '../../src/protocol/messages/share-fetch.ts';
import { batchOf } from '../support/engine-fixture.ts';
import { ServerFixture, type ServerFixtureOptions } from './server-fixture.ts';
import { acquiredOf, ShareClient } from './share-client.ts';

const GROUP = 'queue-readers';

async function open(options: ServerFixtureOptions = {}) {
  const fixture = await ServerFixture.open(options);
  const topicId = await fixture.parts.createTopic('queue', 2);
  await fixture.parts.metadata.alterConfigs(`group:${GROUP}`, { 'share.auto.offset.reset': 'earliest' });
  const member = async (id: string, version = 2) => new ShareClient(await fixture.client(), GROUP, id, version);
  const append = (partition: number, ...values: string[]) =>
    fixture.parts.append({ topicId, partition }, batchOf(...values));
  return { fixture, topicId, member, append };
}

describe('ShareFetch and ShareAcknowledge', () => {
  it.each([1, 2])('v%d deliver, accept, release and reject', async (version) => {
    const { topicId, member, append } = await open();
    await append(0, 'a', 'b', 'c', 'd');
    const one = await member('one', version);
    const first = await one.fetch(topicId, [0, 1], [], {});
    expect(first).toMatchObject({ errorCode: 0, errorMessage: null, acquisitionLockTimeoutMs: 30_000 });
    expect(acquiredOf(first)).toEqual({ acquired: ['0: 0-3×1'], values: ['a', 'b', 'c', 'd'] });

    const types = [{ first: 0, last: 3, types: [1, 2, 3, 2] }];
    const acknowledged = await one.acknowledge(topicId, types);
    expect(acknowledged.responses[0]!.partitions).toMatchObject([{ partitionIndex: 0, errorCode: 0 }]);
    const again = await one.fetch(topicId, [], [], {});
    expect(acquiredOf(again).acquired).toEqual(['0: 1-1×2', '0: 3-3×2']);
    const piggyBacked = await one.fetch(topicId, [], [{ first: 1, last: 3, types: [1] }], {});
    expect(piggyBacked.responses[0]!.partitions[0]).toMatchObject({
      acknowledgeErrorCode: Errors.INVALID_RECORD_STATE,
      acknowledgeErrorMessage: 'INVALID_RECORD_STATE',
    });
    const each = [1, 3].map((offset) => ({ first: offset, last: offset, types: [1] }));
    expect((await one.acknowledge(topicId, each)).responses[0]!.partitions[0]!.errorCode).toBe(Errors.NONE);
    await append(0, 'e');
    expect(acquiredOf(await one.fetch(topicId, [], [], {})).acquired).toEqual(['0: 4-4×1']);
  });

  it('share a partition between members, and limit records where asked to', async () => {
    const { topicId, member, append } = await open();
    await append(0, 'a', 'b', 'c', 'd', 'e', 'f');
    const [one, two] = [await member('one'), await member('two')];
    const limit = { shareAcquireMode: 1, maxRecords: 2 };
    expect(acquiredOf(await one.fetch(topicId, [0], [], limit)).acquired).toEqual(['0: 0-1×1']);
    expect(acquiredOf(await two.fetch(topicId, [0], [], limit)).acquired).toEqual(['0: 2-3×1']);
    const rest = { maxRecords: 1 };
    expect(acquiredOf(await one.fetch(topicId, [], [], rest)).acquired).toEqual(['0: 4-5×1']);
  });

  it('v2 renew a lock, and fetch nothing with it', async () => {
    const { topicId, member, append } = await open();
    await append(0, 'a', 'b');
    const one = await member('one');
    await one.fetch(topicId, [0], [], {});
    const renew = [{ first: 0, last: 1, types: [4] }];
    const plain = await one.acknowledge(topicId, renew);
    expect(plain.responses[0]!.partitions[0]!.errorCode).toBe(Errors.INVALID_REQUEST);
    const renewed = await one.acknowledge(topicId, renew, { isRenewAck: true });
    expect(renewed.responses[0]!.partitions[0]!.errorCode).toBe(Errors.NONE);
    expect(renewed.acquisitionLockTimeoutMs).toBe(30_000);
    const fetching = await one.fetch(topicId, [], renew, { isRenewAck: true });
    expect(fetching.errorCode).toBe(Errors.INVALID_REQUEST);
    const nothing = { isRenewAck: true, maxBytes: 0, minBytes: 0, maxRecords: 0 };
    const byFetch = await one.fetch(topicId, [], renew, nothing);
    expect(byFetch.responses[0]!.partitions[0]).toMatchObject({ acknowledgeErrorCode: 0, acquiredRecords: [] });
  });

  it('wait for records, and answer when they come', async () => {
    const { topicId, member, append } = await open();
    const one = await member('one');
    await one.fetch(topicId, [0, 1], [], {});
    const waiting = one.fetch(topicId, [], [], { maxWaitMs: 30_000 });
    await append(1, 'late');
    expect(acquiredOf(await waiting)).toEqual({ acquired: ['1: 0-0×1'], values: ['late'] });
  });

  it('refuse a request as a whole with an error and its reason', async () => {
    const { fixture, topicId } = await open();
    const client = await fixture.client();
    const none = { maxWaitMs: 0, minBytes: 1, maxBytes: 1, maxRecords: 1, batchSize: 1, topics: [] };
    const fetching = { ...none, groupId: GROUP, memberId: 'm', shareSessionEpoch: 0, forgottenTopicsData: [] };
    const code = async (fields: object) => (await client.call(shareFetch, 2, { ...fetching, ...fields })).errorCode;
    expect(await code({ groupId: null })).toBe(Errors.INVALID_REQUEST);
    expect(await code({ memberId: null })).toBe(Errors.INVALID_REQUEST);
    expect(await code({ memberId: 'x'.repeat(37) })).toBe(Errors.INVALID_REQUEST);
    expect(await code({ shareAcquireMode: 2 })).toBe(Errors.INVALID_REQUEST);
    expect(await code({ shareSessionEpoch: 7 })).toBe(Errors.SHARE_SESSION_NOT_FOUND);
    expect(await code({ shareSessionEpoch: -1 })).toBe(Errors.SHARE_SESSION_NOT_FOUND);
    expect(await code({})).toBe(Errors.NONE);
    const wrong = await client.call(shareFetch, 2, { ...fetching, shareSessionEpoch: 7 });
    expect(wrong).toMatchObject({
      errorCode: Errors.INVALID_SHARE_SESSION_EPOCH,
      errorMessage: 'wrong share session epoch',
    });
    const topics = [{ topicId, partitions: [{ partitionIndex: 0, acknowledgementBatches: [] }] }];
    const acknowledging = { groupId: GROUP, memberId: 'm', shareSessionEpoch: 0, topics };
    expect((await client.call(shareAcknowledge, 2, acknowledging)).errorCode).toBe(Errors.INVALID_SHARE_SESSION_EPOCH);
  });

  it('answer partitions that do not exist by themselves, and no longer after they are forgotten', async () => {
    const { fixture, topicId, member, append } = await open();
    await append(0, 'a');
    const one = await member('one');
    const unknown = 'unknown-id-of-22-charA';
    const first = await one.fetch(topicId, [0, 9], [], {});
    expect(first.responses[0]!.partitions.map((one) => [one.partitionIndex, one.errorCode])).toEqual([
      [9, Errors.UNKNOWN_TOPIC_OR_PARTITION],
      [0, Errors.NONE],
    ]);
    expect(await fixture.parts.metadata.listSharePartitions(GROUP)).toEqual([{ topicId, partition: 0 }]);
    const forgotten = [{ topicId, partitions: [9] }];
    const second = await one.fetch(unknown, [0], [], { forgottenTopicsData: forgotten });
    expect(second.responses).toMatchObject([
      { topicId: unknown, partitions: [{ errorCode: Errors.UNKNOWN_TOPIC_ID, errorMessage: 'UNKNOWN_TOPIC_ID' }] },
    ]);
    const acknowledged = await one.acknowledge(topicId, [{ first: 0, last: 0, types: [1], partition: 1 }]);
    expect(acknowledged.responses[0]!.partitions[0]!.errorCode).toBe(Errors.UNKNOWN_TOPIC_OR_PARTITION);
  });

  it('give back what a member holds when it closes its session, or its connection goes', async () => {
    const { fixture, topicId, append, member } = await open();
    await append(0, 'a');
    const lost = await fixture.client();
    const one = new ShareClient(lost, GROUP, 'one');
    expect(acquiredOf(await one.fetch(topicId, [0], [], {})).acquired).toEqual(['0: 0-0×1']);
    const two = await member('two');
    await two.fetch(topicId, [0], [], {});
    const waiting = two.fetch(topicId, [], [], { maxWaitMs: 30_000 });
    lost.socket.destroy();
    expect(acquiredOf(await waiting).acquired).toEqual(['0: 0-0×2']);
    two.sessionEpoch = -1;
    expect((await two.acknowledge(topicId, [])).errorCode).toBe(Errors.NONE);
    expect(acquiredOf(await (await member('three')).fetch(topicId, [0], [], {})).acquired).toEqual(['0: 0-0×3']);
  });

  it('leave a member on a new connection alone when its old one goes', async () => {
    const { fixture, topicId, append, member } = await open();
    await append(0, 'a');
    const old = await fixture.client();
    await new ShareClient(old, GROUP, 'one').fetch(topicId, [0], [], {});
    const again = await member('one');
    await again.fetch(topicId, [0], [], {});
    old.socket.destroy();
    await old.closed;
    const held = await again.acknowledge(topicId, [{ first: 0, last: 0, types: [1] }]);
    expect(held).toMatchObject({ errorCode: 0, responses: [{ partitions: [{ errorCode: 0 }] }] });
  });

  it('leave a member on its new connection when a request on the old one ends late', async () => {
    const { fixture, topicId, append, member } = await open();
    const old = await fixture.client();
    const before = new ShareClient(old, GROUP, 'one');
    await before.fetch(topicId, [0], [], {});
    const late = before.fetch(topicId, [], [], { maxWaitMs: 30_000 });
    const again = await member('one');
    await again.fetch(topicId, [1], [], {});
    await append(0, 'a');
    expect(acquiredOf(await late).acquired).toEqual(['0: 0-0×1']);
    old.socket.destroy();
    await old.closed;
    expect((await again.fetch(topicId, [], [], {})).errorCode).toBe(Errors.NONE);
    const held = await again.acknowledge(topicId, [{ first: 0, last: 0, types: [1] }]);
    expect(held.responses[0]!.partitions[0]!.errorCode).toBe(Errors.NONE);
  });

  it('end for a topic that is deleted', async () => {
    const { fixture, topicId, append, member } = await open();
    await append(0, 'a');
    const one = await member('one');
    await one.fetch(topicId, [0], [], {});
    const waiting = one.fetch(topicId, [], [], { maxWaitMs: 30_000 });
    const admin = await fixture.client();
    await admin.call(deleteTopics, 6, { topics: [{ name: null, topicId }], timeoutMs: 1_000 });
    expect((await waiting).responses[0]!.partitions[0]!.errorCode).toBe(Errors.UNKNOWN_TOPIC_ID);
    expect(await fixture.parts.metadata.listSharePartitions(GROUP)).toEqual([]);
  });
});

describe('ShareGroupHeartbeat', () => {
  it('joins, assigns, goes on and leaves', async () => {
    const { topicId, member } = await open();
    const [one, two] = [await member('one'), await member('two')];
    const joined = await one.heartbeat(['queue']);
    expect(joined).toMatchObject({ errorCode: 0, memberId: 'one', memberEpoch: 1, heartbeatIntervalMs: 5_000 });
    expect(joined.assignment!.topicPartitions).toEqual([{ topicId, partitions: [0, 1] }]);
    expect(await one.heartbeat(null)).toMatchObject({ errorCode: 0, memberEpoch: 1, assignment: null });
    const second = await two.heartbeat(['queue']);
    expect(second.assignment!.topicPartitions).toHaveLength(1);
    const moved = await one.heartbeat(null);
    expect(moved.memberEpoch).toBe(2);
    const all = [...second.assignment!.topicPartitions, ...moved.assignment!.topicPartitions];
    expect(all.flatMap(({ partitions }) => partitions).sort()).toEqual([0, 1]);
    expect(await two.heartbeat(null, -1)).toMatchObject({ errorCode: 0, memberEpoch: -1 });
    expect((await one.heartbeat(null)).assignment!.topicPartitions).toEqual([{ topicId, partitions: [0, 1] }]);
  });
});
