/** ShareFetch and ShareAcknowledge through a whole engine: real log, real coordinator, real persister. */
import { describe, expect, it } from 'vitest';
import { Errors } from '../../src/common/errors.ts';
import type { ShareAcknowledgementBatch, ShareFetchResult } from '../../src/share/share-fetch-request.ts';
import { batchOf, EngineFixture, type FixtureOptions, valuesOf } from '../support/engine-fixture.ts';
import { ManualTime } from '../support/manual-time.ts';
import { readRecords } from '../support/read-records.ts';
import { ShareMember } from '../support/share-member.ts';

const GROUP = 'readers';

const range = (firstOffset: bigint, lastOffset: bigint, type: number): ShareAcknowledgementBatch => {
  return { firstOffset, lastOffset, acknowledgeTypes: [type] };
};

/** What a result acquired of its first partition, and the values that came with it; releases the bytes. */
function seen(result: ShareFetchResult) {
  const [data] = result.partitions;
  const acquired =
    data?.acquiredRecords.map((one) => [Number(one.firstOffset), Number(one.lastOffset), one.deliveryCount]) ?? [];
  const values = valuesOf(readRecords(data?.records ?? []));
  result.release();
  return { acquired, values };
}

/** An engine with one partition from which groups read all. */
async function open(options: FixtureOptions = {}) {
  const fixture = await EngineFixture.open(options);
  const topicId = await fixture.createTopic('queue', 2);
  await fixture.metadata.alterConfigs(`group:${GROUP}`, { 'share.auto.offset.reset': 'earliest' });
  return {
    fixture,
    partition: { topicId, partition: 0 },
    other: { topicId, partition: 1 },
    member: (id: string) => new ShareMember(fixture.engine, GROUP, id),
  };
}

describe('share fetches', () => {
  it('give each record to one member, and go on after what was accepted', async () => {
    const { fixture, partition, member } = await open();
    await fixture.append(partition, batchOf('a', 'b'));
    await fixture.append(partition, batchOf('c'));
    const [first, second] = [member('m1'), member('m2')];
    expect(seen(await first.fetch([partition], { maxRecords: 1 }))).toEqual({
      acquired: [[0, 1, 1]],
      values: ['a', 'b'],
    });
    expect(seen(await second.fetch([partition]))).toEqual({ acquired: [[2, 2, 1]], values: ['c'] });
    expect(await first.acknowledge(partition, range(0n, 0n, 1), range(1n, 1n, 2))).toBe(Errors.NONE);
    expect(await second.acknowledge(partition, range(1n, 1n, 1))).toBe(Errors.INVALID_RECORD_STATE);
    expect(seen(await second.fetch([partition]))).toEqual({ acquired: [[1, 1, 2]], values: ['a', 'b'] });
  });

  it('deliver again after a change of leader what was not accepted, and nothing that was', async () => {
    const before = await open();
    const { partition, fixture } = before;
    await fixture.append(partition, batchOf('a', 'b', 'c'));
    const old = before.member('m1');
    seen(await old.fetch([partition]));
    expect(await old.acknowledge(partition, range(1n, 1n, 1))).toBe(Errors.NONE);

    const after = await EngineFixture.open({ over: fixture });
    const member = new ShareMember(after.engine, GROUP, 'm2');
    expect(seen(await member.fetch([partition])).acquired).toEqual([
      [0, 0, 1],
      [2, 2, 1],
    ]);
    // The old leader is fenced by the new one's read: it can no longer say that anything was accepted.
    expect(await old.acknowledge(partition, range(0n, 0n, 1))).toBe(Errors.NOT_LEADER_OR_FOLLOWER);
  });

  it('are led by whichever node was asked last, the others being fenced by their next write', async () => {
    const first = await open({ settings: { nodeId: 1 } });
    const { partition, fixture } = first;
    const second = await EngineFixture.open({ over: fixture, settings: { nodeId: 2 } });
    await fixture.append(partition, batchOf('a', 'b', 'c'));
    const one = first.member('m1');
    const two = new ShareMember(second.engine, GROUP, 'm2');
    seen(await one.fetch([partition]));
    expect(seen(await two.fetch([partition])).acquired).toEqual([[0, 2, 1]]);
    expect(await one.acknowledge(partition, range(0n, 2n, 1))).toBe(Errors.NOT_LEADER_OR_FOLLOWER);
    expect(await two.acknowledge(partition, range(0n, 1n, 1))).toBe(Errors.NONE);
    expect(seen(await one.fetch([])).acquired).toEqual([[2, 2, 1]]);
    expect(await two.acknowledge(partition, range(2n, 2n, 1))).toBe(Errors.NOT_LEADER_OR_FOLLOWER);
    expect(await one.acknowledge(partition, range(2n, 2n, 1))).toBe(Errors.NONE);
  });

  it('wait for records, and are woken by an append', async () => {
    const { fixture, partition, member } = await open();
    const waiting = member('m1').fetch([partition], { maxWaitMs: 15_000 });
    await new Promise((resolve) => setTimeout(resolve, 20));
    await fixture.append(partition, batchOf('late'));
    expect(seen(await waiting).values).toEqual(['late']);
  });

  it('wait for an acknowledgement, a closed session or a lost connection to make records available', async () => {
    const { fixture, partition, member } = await open();
    const holder = member('m1');
    const waiter = member('m2');
    const taken = async (): Promise<void> => {
      await fixture.append(partition, batchOf('a'));
      holder.epoch = 0;
      expect(seen(await holder.fetch([partition])).acquired.length).toBe(1);
    };
    let offset = 0n;
    for (const giveBack of [
      () => holder.acknowledge(partition, range(offset, offset, 2)),
      () => holder.fetch([], { sessionEpoch: -1 }),
      () => fixture.engine.shareConnectionLost(GROUP, 'm1'),
    ]) {
      await taken();
      waiter.epoch = 0;
      const waiting = waiter.fetch([partition], { maxWaitMs: 15_000 });
      await new Promise((resolve) => setTimeout(resolve, 10));
      await giveBack();
      expect(seen(await waiting).values).toEqual(['a']);
      expect(await waiter.acknowledge(partition, range(offset, offset, 1))).toBe(Errors.NONE);
      offset++;
    }
  });

  it('sleep while there is nothing: two waiting fetches do not wake each other', async () => {
    let finds = 0;
    const { partition, member } = await open({
      coordinator: (real) => ({
        findBatches: (request) => {
          finds++;
          return real.findBatches(request);
        },
      }),
    });
    await Promise.all([
      member('m1').fetch([partition], { maxWaitMs: 150 }),
      member('m2').fetch([partition], { maxWaitMs: 150 }),
    ]);
    expect(finds).toBeLessThan(12);
  });

  it('give a record back when its lock ends, by one timer', async () => {
    const time = new ManualTime();
    const { fixture, partition, member } = await open({ time });
    const appended = fixture.append(partition, batchOf('a'));
    await time.advanceUntil(appended);
    expect(seen(await member('m1').fetch([partition])).acquired).toEqual([[0, 0, 1]]);
    const waiting = member('m2').fetch([partition], { maxWaitMs: 40_000 });
    await time.advanceUntil(waiting);
    expect(seen(await waiting).acquired).toEqual([[0, 0, 2]]);
  });

  it('follow the log start offset', async () => {
    const { fixture, partition, member } = await open();
    await fixture.append(partition, batchOf('a', 'b'));
    await fixture.append(partition, batchOf('c'));
    await fixture.engine.deleteRecords([{ topicIdPartition: partition, beforeOffset: 2n }]);
    expect(seen(await member('m1').fetch([partition]))).toEqual({ acquired: [[2, 2, 1]], values: ['c'] });
  });

  it('refuse bad requests as a whole, and bad acknowledgements per partition', async () => {
    const { fixture, partition, member } = await open();
    await fixture.append(partition, batchOf('a'));
    const one = member('m1');
    expect((await member('').fetch([partition])).error).toBe(Errors.INVALID_REQUEST);
    expect((await one.fetch([partition], { isRenewAck: true })).error).toBe(Errors.INVALID_REQUEST);
    expect((await one.fetch([], { sessionEpoch: 5 })).error).toBe(Errors.SHARE_SESSION_NOT_FOUND);
    seen(await one.fetch([partition]));
    expect(await one.acknowledge(partition, range(3n, 1n, 1))).toBe(Errors.INVALID_REQUEST);
    expect(await one.acknowledge(partition, range(0n, 0n, 9))).toBe(Errors.INVALID_REQUEST);
    expect(await one.acknowledge(partition, range(0n, 5n, 1))).toBe(Errors.INVALID_REQUEST);
    expect(await one.acknowledge(partition, range(0n, 0n, 1))).toBe(Errors.NONE);
    expect(await one.acknowledge(partition, range(0n, 0n, 1))).toBe(Errors.NONE);
  });

  it('answer an unknown topic with its error and the others with their records', async () => {
    const { fixture, partition, member } = await open();
    await fixture.append(partition, batchOf('a'));
    const unknown = { topicId: 'AAAAAAAAAAAAAAAAAAAAAQ', partition: 0 };
    const result = await member('m1').fetch([unknown, partition]);
    const errors = new Map(result.partitions.map((data) => [data.topicIdPartition.topicId, data.error]));
    expect(errors.get(unknown.topicId)).toBe(Errors.UNKNOWN_TOPIC_ID);
    // No state was made for it: nobody would ever delete that.
    expect(await fixture.metadata.listSharePartitions(GROUP)).toEqual([partition]);
    expect(errors.get(partition.topicId)).toBe(Errors.NONE);
    result.release();
  });

  it('ask once for a state that cannot be read, and find it the next time', async () => {
    let reads = 0;
    const { fixture, partition, member } = await open({
      coordinator: (real) => ({
        readShareStates: async (keys) => {
          reads += 1;
          if (reads === 1) throw new Error('the coordinator is away');
          return real.readShareStates(keys);
        },
      }),
    });
    await fixture.append(partition, batchOf('a'));
    const one = member('m1');
    const refused = await one.fetch([partition], { maxWaitMs: 0 });
    expect(refused.partitions.map(({ error }) => error)).toEqual([Errors.COORDINATOR_NOT_AVAILABLE]);
    expect(reads).toBe(1);
    expect(seen(await one.fetch([partition])).values).toEqual(['a']);
  });

  it('start at the end by default, and remember that start', async () => {
    const { fixture, partition } = await open();
    await fixture.metadata.alterConfigs(`group:${GROUP}`, { 'share.auto.offset.reset': null });
    await fixture.append(partition, batchOf('old'));
    const second = await EngineFixture.open({ over: fixture });
    expect(seen(await new ShareMember(second.engine, GROUP, 'm1').fetch([partition])).values).toEqual([]);
    await fixture.append(partition, batchOf('new'));
    const third = await EngineFixture.open({ over: fixture });
    expect(seen(await new ShareMember(third.engine, GROUP, 'm2').fetch([partition])).values).toEqual(['new']);
  });

  it('are refused past the sessions of a broker, at once for a client that is gone, and past the partitions of one', async () => {
    const { partition, member } = await open({ settings: { groupShareMaxShareSessions: 1 } });
    expect((await member('m1').fetch([partition])).error).toBe(Errors.NONE);
    const second = member('m2');
    expect((await second.fetch([partition], { maxWaitMs: 1 })).error).toBe(Errors.SHARE_SESSION_LIMIT_REACHED);
    const gone = AbortSignal.abort(new Error('gone'));
    const waiting = second.fetch([partition], { maxWaitMs: 2 ** 31 - 1 }, gone);
    expect((await waiting).error).toBe(Errors.SHARE_SESSION_LIMIT_REACHED);
    const many = Array.from({ length: 100_001 }, (_, index) => ({ ...partition, partition: index }));
    const refused = await member('m1').fetch(many);
    expect(refused.error).toBe(Errors.INVALID_REQUEST);
    expect(refused.message).toContain('100000 partitions at most');
  });
});
