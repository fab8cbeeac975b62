/** Share groups through the coordinator, over the in-memory store: membership, epochs, states of share partitions, offsets. */
import { describe, expect, it } from 'vitest';
import { Errors } from '../../src/common/errors.ts';
import { CoordinatorError } from '../../src/coordinator/diskless-coordinator.ts';
import type { ShareHeartbeatRequest } from '../../src/group/share/share-requests.ts';
import { settle } from '../support/manual-time.ts';
import { joinRequest } from './support/classic-driver.ts';
import { heartbeatRequest } from './support/consumer-driver.ts';
import { at, type Fixture, fixture, PARTITIONS, stableMember, topic } from './support/coordinator-fixture.ts';

function beat(made: Fixture, memberId: string, memberEpoch: number, fields: Partial<ShareHeartbeatRequest> = {}) {
  const subscribedTopicNames = memberEpoch === 0 ? [topic] : null;
  const client = { clientId: 'app', clientHost: '127.0.0.1' };
  const request = { groupId: 'g', memberId, memberEpoch, rackId: null, subscribedTopicNames, ...client, ...fields };
  return made.groups.shareGroupHeartbeat(request);
}

type Answer = Awaited<ReturnType<typeof beat>>;
const partitionsIn = ({ assignment }: Answer): number[] | undefined =>
  assignment?.flatMap(({ partitions }) => partitions);
const all = Array.from({ length: PARTITIONS }, (_, partition) => partition);

async function statesOf({ store }: Fixture, groupId = 'g') {
  const partitions = await store.listSharePartitions(groupId);
  const states = await store.readShareStates(partitions.map((topicIdPartition) => ({ groupId, topicIdPartition })));
  const rows = partitions.map(({ partition }, index) => [
    partition,
    Number(states[index]!.startOffset),
    states[index]!.stateEpoch,
  ]);
  return rows.sort((a, b) => a[0]! - b[0]!);
}

describe('members of a share group', () => {
  it('join, are assigned everything among them, and leave', async () => {
    const made = await fixture();
    const one = await beat(made, 'm1', 0);
    expect(one).toMatchObject({ error: 0, memberId: 'm1', memberEpoch: 1, heartbeatIntervalMs: 5_000 });
    expect(partitionsIn(one)).toEqual(all);
    const two = await beat(made, 'm2', 0);
    expect(two.memberEpoch).toBe(2);
    const moved = await beat(made, 'm1', 1);
    expect([...partitionsIn(moved)!, ...partitionsIn(two)!].sort()).toEqual(all);
    expect(await beat(made, 'm1', 2)).toMatchObject({ memberEpoch: 2, assignment: null });
    expect(await beat(made, 'm2', -1)).toMatchObject({ error: 0, memberId: 'm2', memberEpoch: -1 });
    expect(partitionsIn(await beat(made, 'm1', 2))).toEqual(all);
    expect(made.groups.admin.describeShare('g')).toMatchObject({
      state: 'Stable',
      groupEpoch: 3,
      assignmentEpoch: 3,
      assignorName: 'simple',
      members: [{ memberId: 'm1', memberEpoch: 3, clientId: 'app', assignment: [{ topicName: topic }] }],
    });
  });

  it('share partitions when there are more members than partitions', async () => {
    const made = await fixture();
    const members = Array.from({ length: PARTITIONS * 2 }, (_, index) => `m${index}`);
    for (const memberId of members) await beat(made, memberId, 0);
    const described = made.groups.admin.describeShare('g')!;
    const epochs = new Map(described.members.map(({ memberId, memberEpoch }) => [memberId, memberEpoch]));
    for (const memberId of members) await beat(made, memberId, epochs.get(memberId)!);
    const assigned = made.groups.admin.describeShare('g')!.members.map(({ assignment }) => assignment[0]!.partitions);
    expect(assigned.every((partitions) => partitions.length === 1)).toBe(true);
    expect(assigned.flat().sort()).toEqual([...all, ...all].sort());
  });

  it('are fenced with another epoch than their own or the one before, whose assignment they hear again', async () => {
    const made = await fixture();
    await beat(made, 'm1', 0);
    await beat(made, 'm2', 0);
    expect((await beat(made, 'm1', 1)).memberEpoch).toBe(2);
    expect(partitionsIn(await beat(made, 'm1', 1))).toHaveLength(PARTITIONS / 2);
    expect((await beat(made, 'm1', 3)).error).toBe(Errors.FENCED_MEMBER_EPOCH);
    expect((await beat(made, 'm3', 1)).error).toBe(Errors.UNKNOWN_MEMBER_ID);
    expect((await beat(made, 'm3', -1)).error).toBe(Errors.UNKNOWN_MEMBER_ID);
    expect((await beat(made, 'm1', 1, { groupId: 'other' })).error).toBe(Errors.GROUP_ID_NOT_FOUND);
  });

  it.each([
    [{ groupId: '' }],
    [{ memberId: '' }],
    [{ memberId: 'x'.repeat(37) }],
    [{ rackId: '' }],
    [{ memberEpoch: -2 }],
    [{ subscribedTopicNames: null }],
    [{ subscribedTopicNames: [] }],
  ])('are refused with %j', async (fields) => {
    const made = await fixture();
    const refused = await beat(made, 'm1', 0, fields);
    expect(refused).toMatchObject({ error: Errors.INVALID_REQUEST, message: expect.stringMatching(/./) });
    expect(made.groups.admin.list()).toEqual([]);
  });

  it('are as many as group.share.max.size allows', async () => {
    const made = await fixture({ groupShareMaxSize: 1 });
    await beat(made, 'm1', 0);
    expect((await beat(made, 'm2', 0)).error).toBe(Errors.GROUP_MAX_SIZE_REACHED);
    expect((await beat(made, 'm1', 0)).error).toBe(Errors.NONE);
    await expect(fixture({ groupShareMaxSize: 1_001 })).rejects.toThrow('groupShareMaxSize');
  });

  it('are removed when their session ends, which a group may have set longer', async () => {
    const made = await fixture();
    await made.store.alterConfigs('group:g', { 'share.session.timeout.ms': '60000' });
    await beat(made, 'm1', 0);
    made.time.advance(50_000);
    expect((await beat(made, 'm1', 1)).error).toBe(Errors.NONE);
    made.time.advance(60_000);
    await settle();
    expect(made.groups.admin.list()).toMatchObject([{ groupId: 'g', type: 'share', state: 'Empty' }]);
    expect((await beat(made, 'm1', 1)).error).toBe(Errors.UNKNOWN_MEMBER_ID);
  });

  it('go on after a restart', async () => {
    const made = await fixture();
    await beat(made, 'm1', 0);
    const second = await beat(made, 'm2', 0);
    await made.restart();
    expect(await beat(made, 'm2', second.memberEpoch)).toMatchObject({ memberEpoch: 2, assignment: null });
    expect((await beat(made, 'm1', 1)).memberEpoch).toBe(2);
    expect(made.groups.admin.list()).toMatchObject([{ type: 'share', protocolType: 'share', state: 'Stable' }]);
  });
});

describe('share partitions of a group', () => {
  it('have a state before a member hears of them; those added later begin at 0', async () => {
    const made = await fixture();
    await beat(made, 'm1', 0);
    expect(await statesOf(made)).toEqual(all.map((partition) => [partition, -1, 1]));
    await made.store.createPartitions([{ topicId: at(0).topicId, partitions: PARTITIONS + 1 }]);
    const told = await beat(made, 'm1', 1);
    expect(partitionsIn(told)).toEqual([...all, PARTITIONS]);
    expect((await statesOf(made)).at(-1)).toEqual([PARTITIONS, 0, told.memberEpoch]);
  });

  it('keep the state that they have', async () => {
    const made = await fixture();
    const state = { stateEpoch: 0, leaderEpoch: 7, startOffset: 5n, deliveryCompleteCount: 0, stateBatches: [] };
    await made.store.writeShareStates([{ key: { groupId: 'g', topicIdPartition: at(1) }, expected: undefined, state }]);
    await beat(made, 'm1', 0);
    expect((await statesOf(made))[1]).toEqual([1, 5, 0]);
  });

  it('are forgotten with their topic', async () => {
    const made = await fixture();
    await beat(made, 'm1', 0);
    await made.store.deleteTopics([at(0).topicId]);
    expect(partitionsIn(await beat(made, 'm1', 1))).toEqual([]);
    const topicId = '4Xy1bQFzQ6a3n5r1l2k3Jg';
    await made.store.createTopics([{ topicId, name: topic, partitions: 1, configs: {} }]);
    expect((await beat(made, 'm1', 2)).assignment).toEqual([{ topicId, partitions: [0] }]);
    expect(await statesOf(made)).toEqual([[0, -1, 3]]);
  });

  it('cost a member its answer when they cannot be made, and the next attempt makes them', async () => {
    let broken = true;
    const made = await fixture({}, undefined, (store) => ({
      writeShareStates: (writes) => {
        if (broken) throw new CoordinatorError('unavailable', 'away');
        return store.writeShareStates(writes);
      },
    }));
    expect((await beat(made, 'm1', 0)).error).toBe(Errors.COORDINATOR_NOT_AVAILABLE);
    await settle();
    expect(made.groups.admin.list()).toEqual([]);
    broken = false;
    expect(partitionsIn(await beat(made, 'm1', 0))).toEqual(all);
    expect(await statesOf(made)).toHaveLength(PARTITIONS);
  });
});

describe('administration of share groups', () => {
  it('moves offsets of an empty group, and of no other', async () => {
    const made = await fixture();
    const starts = [{ topicIdPartition: at(2), startOffset: 40 }];
    expect((await made.groups.shareOffsets.alter('g', starts)).error).toBe(Errors.GROUP_ID_NOT_FOUND);
    await beat(made, 'm1', 0);
    expect((await made.groups.shareOffsets.alter('g', starts)).error).toBe(Errors.NON_EMPTY_GROUP);
    await beat(made, 'm1', -1);
    expect(await made.groups.shareOffsets.alter('g', starts)).toEqual({ error: 0, errors: [0] });
    expect((await statesOf(made))[2]).toEqual([2, 40, 3]);
    const { offsets } = await made.groups.shareOffsets.describe('g', [at(2), at(1)]);
    expect(offsets).toMatchObject([{ startOffset: 40n }, { startOffset: -1n, lag: -1n }]);
    expect((await made.groups.shareOffsets.describe('none')).error).toBe(Errors.GROUP_ID_NOT_FOUND);
  });

  it('deletes offsets of whole topics', async () => {
    const made = await fixture();
    await beat(made, 'm1', 0);
    const { topicId } = at(0);
    expect((await made.groups.shareOffsets.deleteTopics('g', [topicId])).error).toBe(Errors.NON_EMPTY_GROUP);
    await beat(made, 'm1', -1);
    const unknown = '4Xy1bQFzQ6a3n5r1l2k3Jg';
    const deleted = await made.groups.shareOffsets.deleteTopics('g', [unknown, topicId]);
    expect(deleted).toEqual({ error: 0, errors: [Errors.UNKNOWN_TOPIC_OR_PARTITION, Errors.NONE] });
    expect(await statesOf(made)).toEqual([]);
    await beat(made, 'm1', 0);
    expect(await statesOf(made)).toHaveLength(PARTITIONS);
  });

  it('deletes groups without members, with their states', async () => {
    const made = await fixture();
    await beat(made, 'm1', 0);
    expect(await made.groups.admin.delete('g')).toBe(Errors.NON_EMPTY_GROUP);
    await beat(made, 'm1', -1);
    expect(await made.groups.admin.delete('g')).toBe(Errors.NONE);
    expect(await statesOf(made)).toEqual([]);
    expect(await made.store.loadGroups()).toEqual([]);
  });

  it('keeps a group whose states could not be deleted', async () => {
    const made = await fixture({}, undefined, (store) => ({
      writeShareStates: (writes) => {
        if (writes.some(({ state }) => state === undefined)) throw new CoordinatorError('unavailable', 'away');
        return store.writeShareStates(writes);
      },
    }));
    await beat(made, 'm1', 0);
    await beat(made, 'm1', -1);
    expect(await made.groups.admin.delete('g')).toBe(Errors.COORDINATOR_NOT_AVAILABLE);
    expect((await made.groups.shareOffsets.deleteTopics('g', [at(0).topicId])).error).toBe(
      Errors.COORDINATOR_NOT_AVAILABLE,
    );
    expect(await made.store.loadGroups()).toMatchObject([{ groupId: 'g' }]);
    expect(await statesOf(made)).toHaveLength(PARTITIONS);
  });

  it('keeps an empty group however old', async () => {
    const made = await fixture();
    await beat(made, 'm1', 0);
    await beat(made, 'm1', -1);
    made.time.advance(30 * 24 * 3_600_000);
    await made.groups.admin.expireOffsets();
    expect(made.groups.admin.list()).toMatchObject([{ groupId: 'g', state: 'Empty' }]);
  });
});

describe('groups of different types', () => {
  it('do not mix: a share group takes no other members, even when it is empty', async () => {
    const made = await fixture();
    await beat(made, 'm1', 0);
    await beat(made, 'm1', -1);
    const identity = { groupId: 'g', memberId: 'm1', groupInstanceId: null, generationId: 1 };
    expect((await made.groups.joinGroup(joinRequest())).error).toBe(Errors.INCONSISTENT_GROUP_PROTOCOL);
    expect(await made.groups.heartbeat(identity)).toBe(Errors.UNKNOWN_MEMBER_ID);
    expect((await made.groups.leaveGroup('g', [identity])).members[0]!.error).toBe(Errors.UNKNOWN_MEMBER_ID);
    const joining = { memberEpoch: 0, rebalanceTimeoutMs: 1_000, subscribedTopicNames: [topic], topicPartitions: [] };
    const consumer = heartbeatRequest({ groupId: 'g', memberId: 'c', ...joining });
    expect((await made.groups.consumerGroupHeartbeat(consumer)).error).toBe(Errors.GROUP_ID_NOT_FOUND);
    const commit = { ...identity, generationIdOrMemberEpoch: -1, unknownGroupError: Errors.ILLEGAL_GENERATION };
    const offsets = [{ topicIdPartition: at(0), offset: 1n, leaderEpoch: 0, metadata: '' }];
    expect(await made.groups.offsets.commit({ ...commit, offsets })).toEqual([Errors.GROUP_ID_NOT_FOUND]);
    expect(made.groups.admin.describeConsumer('g')).toBeUndefined();
    expect(made.groups.admin.describeClassic('g')).toBeUndefined();
  });

  it('do not mix: a share consumer cannot join a group of another type', async () => {
    const made = await fixture();
    await stableMember(made.groups);
    expect(await beat(made, 'm1', 0)).toMatchObject({
      error: Errors.GROUP_ID_NOT_FOUND,
      message: 'Group g is no share group.',
    });
    expect(made.groups.admin.describeShare('g')).toBeUndefined();
  });
});
