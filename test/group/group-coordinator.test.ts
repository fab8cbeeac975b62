/** The group coordinator over a store: what is durable before what is answered, restarts, failures, timers. */
import { describe, expect, it } from 'vitest';
import { Errors } from '../../src/common/errors.ts';
import { deferred } from '../../src/common/lifecycle.ts';
import { CoordinatorError } from '../../src/coordinator/diskless-coordinator.ts';
import type { JoinGroupResult } from '../../src/group/classic/classic-requests.ts';
import { settle } from '../support/manual-time.ts';
import { joinRequest } from './support/classic-driver.ts';
import { heartbeatRequest } from './support/consumer-driver.ts';
import { at, fixture, stableMember, subscriptionBytes, syncOf, topic } from './support/coordinator-fixture.ts';

const heartbeatOf = ({ memberId, generationId }: JoinGroupResult) => ({
  groupId: 'g',
  memberId,
  generationId,
  groupInstanceId: null,
});

const commitOf = (
  { memberId, generationId }: { memberId: string; generationId: number },
  offset: bigint,
  metadata = '',
) => ({
  groupId: 'g',
  memberId,
  groupInstanceId: null,
  generationIdOrMemberEpoch: generationId,
  unknownGroupError: Errors.ILLEGAL_GENERATION,
  offsets: [{ topicIdPartition: at(0), offset, leaderEpoch: 0, metadata }],
});

const outsider = { memberId: '', generationId: -1 };
const everything = { groupId: 'g', memberId: null, memberEpoch: -1, partitions: undefined };

describe('membership and the store', () => {
  it('goes on after a restart: members, generation, offsets; an older generation is refused', async () => {
    const made = await fixture();
    const first = await stableMember(made.groups);
    const rejoining = made.groups.joinGroup(joinRequest({ memberId: first.memberId }));
    const second = await rejoining;
    await made.groups.syncGroup(syncOf(second, [{ memberId: second.memberId, assignment: new Uint8Array([7]) }]));
    expect(await made.groups.offsets.commit(commitOf(second, 5n))).toEqual([Errors.NONE]);
    await made.restart();
    expect(await made.groups.heartbeat(heartbeatOf(second))).toBe(Errors.NONE);
    expect((await made.groups.syncGroup(syncOf(second))).assignment).toEqual(new Uint8Array([7]));
    expect(await made.groups.offsets.commit(commitOf(first, 9n))).toEqual([Errors.ILLEGAL_GENERATION]);
    expect(await made.groups.offsets.commit(commitOf(second, 6n))).toEqual([Errors.NONE]);
    const { offsets } = await made.groups.offsets.fetch(everything);
    expect(offsets.map(({ offset }) => offset)).toEqual([6n]);
  });

  it('answers a join only when its generation is stored', async () => {
    const gate = deferred<void>();
    const made = await fixture({}, (store) => ({
      storeGroup: async (group) => {
        await gate.promise;
        return store.storeGroup(group);
      },
    }));
    let answered = false;
    const joining = made.groups.joinGroup(joinRequest()).then((joined) => {
      answered = true;
      return joined;
    });
    await settle();
    expect(answered).toBe(false);
    expect(await made.store.loadGroups()).toEqual([]);
    gate.resolve();
    expect((await joining).generationId).toBe(1);
    expect(await made.store.loadGroups()).toMatchObject([{ groupId: 'g', epoch: 1 }]);
  });

  it('answers a retriable error when the store fails, and goes on from what is stored', async () => {
    let failing = false;
    const made = await fixture({}, (store) => ({
      storeGroup: (group) =>
        failing ? Promise.reject(new CoordinatorError('unavailable', 'no answer')) : store.storeGroup(group),
    }));
    const first = await stableMember(made.groups);
    failing = true;
    const refused = await made.groups.joinGroup(joinRequest({ memberId: first.memberId }));
    expect(refused.error).toBe(Errors.COORDINATOR_NOT_AVAILABLE);
    failing = false;
    expect(await made.groups.heartbeat(heartbeatOf(first))).toBe(Errors.NONE);
    expect((await made.groups.joinGroup(joinRequest({ memberId: first.memberId }))).generationId).toBe(2);
  });

  it('gives a group up that another process has moved on', async () => {
    const made = await fixture();
    const first = await stableMember(made.groups);
    const [stored] = await made.store.loadGroups();
    const moved = JSON.parse(stored!.state);
    await made.store.storeGroup({ ...stored!, epoch: 9, state: JSON.stringify({ ...moved, generationId: 9 }) });
    expect(await made.groups.offsets.commit(commitOf(first, 1n))).toEqual([Errors.NOT_COORDINATOR]);
    expect(await made.groups.heartbeat(heartbeatOf(first))).toBe(Errors.ILLEGAL_GENERATION);
    expect(await made.groups.heartbeat({ ...heartbeatOf(first), generationId: 9 })).toBe(Errors.NONE);
  });

  it('keeps nothing of groups that never came to be', async () => {
    const made = await fixture();
    for (let index = 0; index < 20; index += 1) {
      const joined = await made.groups.joinGroup(joinRequest({ groupId: `g${index}`, requireKnownMemberId: true }));
      expect(joined.error).toBe(Errors.MEMBER_ID_REQUIRED);
    }
    expect(made.groups.admin.list()).toHaveLength(20);
    await made.time.advance(10_000);
    expect(made.groups.admin.list()).toEqual([]);
    expect(await made.store.loadGroups()).toEqual([]);
  });

  it('refuses what no group could take', async () => {
    const { groups } = await fixture();
    expect((await groups.joinGroup(joinRequest({ groupId: '' }))).error).toBe(Errors.INVALID_GROUP_ID);
    const timeouts = [5_999, 1_800_001];
    for (const sessionTimeoutMs of timeouts) {
      expect((await groups.joinGroup(joinRequest({ sessionTimeoutMs }))).error).toBe(Errors.INVALID_SESSION_TIMEOUT);
    }
    expect((await groups.joinGroup(joinRequest({ memberId: 'nobody' }))).error).toBe(Errors.UNKNOWN_MEMBER_ID);
    expect(await groups.heartbeat({ ...heartbeatOf({ memberId: 'x', generationId: 1 } as JoinGroupResult) })).toBe(
      Errors.UNKNOWN_MEMBER_ID,
    );
    const left = await groups.leaveGroup('g', [{ memberId: 'x', groupInstanceId: null }]);
    expect(left).toMatchObject({ error: Errors.NONE, members: [{ error: Errors.UNKNOWN_MEMBER_ID }] });
  });

  it('answers what is parked when it closes, and refuses what comes later', async () => {
    const { groups } = await fixture();
    const first = await stableMember(groups);
    const parked = groups.joinGroup(joinRequest());
    await settle();
    await groups.close();
    expect((await parked).error).toBe(Errors.COORDINATOR_NOT_AVAILABLE);
    expect(await groups.heartbeat(heartbeatOf(first))).toBe(Errors.COORDINATOR_NOT_AVAILABLE);
  });
});

describe('timers', () => {
  it('ends sessions and rebalances on time', async () => {
    const { groups, time } = await fixture();
    const first = await stableMember(groups);
    const second = groups.joinGroup(joinRequest());
    await time.advance(9_999);
    expect(await groups.heartbeat(heartbeatOf(first))).toBe(Errors.REBALANCE_IN_PROGRESS);
    await time.advance(10_000);
    expect((await second).members).toHaveLength(1);
    expect(await groups.heartbeat(heartbeatOf(first))).toBe(Errors.UNKNOWN_MEMBER_ID);
  });

  it('lets heartbeats that waited out a stall of the event loop count', async () => {
    const made = await fixture();
    const first = await stableMember(made.groups);
    made.time.stall(60_000);
    await made.time.advance(0);
    expect(await made.groups.heartbeat(heartbeatOf(first))).toBe(Errors.NONE);
    await made.time.advance(9_000);
    expect(await made.groups.heartbeat(heartbeatOf(first))).toBe(Errors.NONE);
    await made.time.advance(10_000);
    expect(await made.groups.heartbeat(heartbeatOf(first))).toBe(Errors.UNKNOWN_MEMBER_ID);
  });
});

describe('offsets', () => {
  it('commits and fetches for clients outside any group, partition by partition', async () => {
    const { groups } = await fixture({ offsetMetadataMaxBytes: 8 });
    const request = commitOf(outsider, 3n, 'eight bt');
    const offsets = [
      ...request.offsets,
      { topicIdPartition: at(1), offset: 4n, leaderEpoch: -1, metadata: 'nine byte' },
      { topicIdPartition: at(99), offset: 4n, leaderEpoch: -1, metadata: '' },
    ];
    expect(await groups.offsets.commit({ ...request, offsets })).toEqual([
      Errors.NONE,
      Errors.OFFSET_METADATA_TOO_LARGE,
      Errors.UNKNOWN_TOPIC_OR_PARTITION,
    ]);
    const fetched = await groups.offsets.fetch({ ...everything, partitions: [at(1), at(0)] });
    expect(fetched.offsets).toMatchObject([
      { topicIdPartition: at(0), offset: 3n, leaderEpoch: 0, metadata: 'eight bt' },
    ]);
    expect(groups.admin.list()).toEqual([{ groupId: 'g', type: 'classic', protocolType: '', state: 'Empty' }]);
  });

  it('takes a committed offset away by a negative one', async () => {
    const { groups } = await fixture();
    await groups.offsets.commit(commitOf(outsider, 3n));
    expect(await groups.offsets.commit(commitOf(outsider, -2n))).toEqual([Errors.NONE]);
    expect((await groups.offsets.fetch(everything)).offsets).toEqual([]);
  });

  it('refuses generations of groups that do not exist, and outsiders while there are members', async () => {
    const { groups } = await fixture();
    expect(await groups.offsets.commit(commitOf({ memberId: 'm', generationId: 1 }, 1n))).toEqual([
      Errors.ILLEGAL_GENERATION,
    ]);
    expect(groups.admin.list()).toEqual([]);
    await stableMember(groups);
    expect(await groups.offsets.commit(commitOf(outsider, 1n))).toEqual([Errors.UNKNOWN_MEMBER_ID]);
  });

  it('answers a retriable error when the store does not answer', async () => {
    const unavailable = (): Promise<never> => Promise.reject(new CoordinatorError('unavailable', 'no answer'));
    const { groups } = await fixture({}, () => ({ commitOffsets: unavailable, fetchOffsets: unavailable }));
    expect(await groups.offsets.commit(commitOf(outsider, 1n))).toEqual([Errors.COORDINATOR_NOT_AVAILABLE]);
    expect((await groups.offsets.fetch(everything)).error).toBe(Errors.COORDINATOR_NOT_AVAILABLE);
  });

  it('deletes offsets only of topics that nobody is subscribed to', async () => {
    const { groups } = await fixture();
    const partition = { topic, topicIdPartition: at(0) };
    expect((await groups.offsets.delete('g', [partition])).error).toBe(Errors.GROUP_ID_NOT_FOUND);
    await groups.offsets.commit(commitOf(outsider, 1n));
    const member = await stableMember(groups, { protocols: [{ name: 'range', metadata: subscriptionBytes([topic]) }] });
    const refused = await groups.offsets.delete('g', [partition, { topic: 'other', topicIdPartition: at(1) }]);
    expect(refused).toEqual({ error: Errors.NONE, partitionErrors: [Errors.GROUP_SUBSCRIBED_TO_TOPIC, Errors.NONE] });
    await groups.leaveGroup('g', [{ memberId: member.memberId, groupInstanceId: null }]);
    expect((await groups.offsets.delete('g', [partition])).partitionErrors).toEqual([Errors.NONE]);
    expect((await groups.offsets.fetch(everything)).offsets).toEqual([]);
  });

  it('expires offsets of groups without members, and then the groups', async () => {
    const made = await fixture({ offsetsRetentionMinutes: 60 });
    const member = await stableMember(made.groups, { sessionTimeoutMs: 1_800_000, rebalanceTimeoutMs: 1_800_000 });
    await made.groups.offsets.commit(commitOf(member, 1n));
    await made.groups.offsets.commit({ ...commitOf(outsider, 1n), groupId: 'simple' });
    await made.time.advance(1_800_000);
    expect(made.groups.admin.list().map(({ groupId, state }) => [groupId, state])).toEqual([
      ['g', 'Empty'],
      ['simple', 'Empty'],
    ]);
    await made.time.advance(40 * 60_000);
    expect(made.groups.admin.list().map(({ groupId }) => groupId)).toEqual(['g']);
    expect((await made.groups.offsets.fetch(everything)).offsets).toHaveLength(1);
    await made.time.advance(60 * 60_000);
    expect(made.groups.admin.list()).toEqual([]);
    expect(await made.store.loadGroups()).toEqual([]);
  });
});

describe('settings of single groups', () => {
  it('hold for members of the consumer protocol, within the bounds of the broker', async () => {
    const { groups, store, time } = await fixture();
    const beat = (memberEpoch: number, fields = {}) =>
      groups.consumerGroupHeartbeat(heartbeatRequest({ memberId: 'm', memberEpoch, ...fields }));
    const joining = { rebalanceTimeoutMs: 30_000, subscribedTopicNames: [topic], topicPartitions: [] };
    expect((await beat(0, joining)).heartbeatIntervalMs).toBe(5_000);
    await store.alterConfigs('group:g', {
      'consumer.heartbeat.interval.ms': '7000',
      'consumer.session.timeout.ms': '999999999',
    });
    await time.advance(5_000);
    expect((await beat(1)).heartbeatIntervalMs).toBe(7_000);
    await time.advance(59_999);
    expect((await beat(1)).error).toBe(Errors.NONE);
    await time.advance(60_000);
    expect((await beat(1)).error).toBe(Errors.UNKNOWN_MEMBER_ID);
  });
});

describe('administration', () => {
  it('describes and deletes', async () => {
    const { groups } = await fixture();
    expect(await groups.admin.delete('g')).toBe(Errors.GROUP_ID_NOT_FOUND);
    const member = await stableMember(groups, { clientId: 'app' });
    expect(groups.admin.describeClassic('g')).toMatchObject({
      state: 'Stable',
      protocolType: 'consumer',
      protocol: 'range',
      members: [{ memberId: member.memberId, clientId: 'app', assignment: new Uint8Array([1]) }],
    });
    expect(groups.admin.describeConsumer('g')).toBeUndefined();
    expect(await groups.admin.delete('g')).toBe(Errors.NON_EMPTY_GROUP);
    await groups.leaveGroup('g', [{ memberId: member.memberId, groupInstanceId: null }]);
    expect(await groups.admin.delete('g')).toBe(Errors.NONE);
    expect(groups.admin.list()).toEqual([]);
  });

  it('names a stored group that it cannot read, and does not open over it', async () => {
    const made = await fixture();
    await made.store.storeGroup({ groupId: 'g', type: 'share', epoch: 1, state: '{}' });
    await expect(made.restart()).rejects.toThrow('the stored state of group "g" cannot be read');
  });
});
