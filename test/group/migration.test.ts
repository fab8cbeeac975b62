/** Groups that change between the classic and the consumer protocol, empty or with members, over the coordinator. */
import { describe, expect, it } from 'vitest';
import { Errors } from '../../src/common/errors.ts';
import type { JoinGroupResult } from '../../src/group/classic/classic-requests.ts';
import type { ConsumerHeartbeatRequest } from '../../src/group/consumer/consumer-requests.ts';
import { readAssignment, writeAssignment } from '../../src/group/consumer-protocol.ts';
import type { GroupCoordinator } from '../../src/group/group-coordinator.ts';
import { settle } from '../support/manual-time.ts';
import { joinRequest } from './support/classic-driver.ts';
import { heartbeatRequest, topicIdOf } from './support/consumer-driver.ts';
import { at, fixture, subscriptionBytes, syncOf, topic } from './support/coordinator-fixture.ts';

const topicId = topicIdOf(topic);

const consumerJoin = (memberId: string): ConsumerHeartbeatRequest =>
  heartbeatRequest({ memberId, rebalanceTimeoutMs: 30_000, subscribedTopicNames: [topic], topicPartitions: [] });

function classicJoin(
  groups: GroupCoordinator,
  memberId = '',
  owned: number[] = [],
  fields = {},
): Promise<JoinGroupResult> {
  const protocols = [{ name: 'range', metadata: subscriptionBytes([topic], owned.length > 0 ? [[topic, owned]] : []) }];
  return groups.joinGroup(joinRequest({ memberId, protocols, ...fields }));
}

/** A classic member that has all partitions. */
async function classicOwner(groups: GroupCoordinator, fields = {}): Promise<JoinGroupResult> {
  const joined = await classicJoin(groups, '', [], fields);
  const assignment = writeAssignment([{ topic, partitions: [0, 1, 2, 3] }], 1);
  await groups.syncGroup(syncOf(joined, [{ memberId: joined.memberId, assignment }]));
  return joined;
}

const heartbeat = (groups: GroupCoordinator, { memberId, generationId }: JoinGroupResult): Promise<number> =>
  groups.heartbeat({ groupId: 'g', memberId, generationId, groupInstanceId: null });

async function synced(groups: GroupCoordinator, joined: JoinGroupResult): Promise<readonly number[]> {
  const { error, assignment } = await groups.syncGroup(syncOf(joined));
  expect(error).toBe(Errors.NONE);
  return readAssignment(assignment)!.partitions.flatMap(({ partitions }) => partitions);
}

describe('an empty group', () => {
  it('takes the protocol of whoever joins, without its epoch going back', async () => {
    const made = await fixture();
    const owner = await classicOwner(made.groups);
    await made.groups.leaveGroup('g', [{ memberId: owner.memberId, groupInstanceId: null }]);
    const joined = await made.groups.consumerGroupHeartbeat(consumerJoin('m'));
    expect(joined).toMatchObject({ error: Errors.NONE, memberEpoch: 3 });
    expect(made.groups.admin.list()).toMatchObject([{ type: 'consumer', state: 'Stable' }]);
    await made.restart();
    expect(await made.groups.consumerGroupHeartbeat(heartbeatRequest({ memberId: 'm', memberEpoch: 3 }))).toMatchObject(
      {
        error: Errors.NONE,
        memberEpoch: 3,
      },
    );
    await made.groups.consumerGroupHeartbeat(heartbeatRequest({ memberId: 'm', memberEpoch: -1 }));
    expect((await classicJoin(made.groups)).generationId).toBe(5);
    expect(made.groups.admin.list()).toMatchObject([{ type: 'classic' }]);
    expect(await made.store.loadGroups()).toMatchObject([{ type: 'classic', epoch: 5 }]);
  });

  it('keeps its offsets', async () => {
    const { groups } = await fixture();
    const offsets = [{ topicIdPartition: at(0), offset: 7n, leaderEpoch: 0, metadata: '' }];
    const outsider = { memberId: '', groupInstanceId: null, generationIdOrMemberEpoch: -1 };
    await groups.offsets.commit({ groupId: 'g', ...outsider, unknownGroupError: Errors.GROUP_ID_NOT_FOUND, offsets });
    await groups.consumerGroupHeartbeat(consumerJoin('m'));
    const fetched = await groups.offsets.fetch({ groupId: 'g', memberId: 'm', memberEpoch: 1, partitions: undefined });
    expect(fetched.offsets).toMatchObject([{ offset: 7n }]);
    const member = { memberId: 'm', groupInstanceId: null, generationIdOrMemberEpoch: 1 };
    const committed = [{ ...offsets[0]!, offset: 8n }];
    expect(
      await groups.offsets.commit({
        groupId: 'g',
        ...member,
        unknownGroupError: Errors.GROUP_ID_NOT_FOUND,
        offsets: committed,
      }),
    ).toEqual([Errors.NONE]);
  });
});

describe('a group with members', () => {
  it('is upgraded by the first consumer, rolls over, and is downgraded when the last consumer has gone', async () => {
    const { groups } = await fixture();
    const owner = await classicOwner(groups);
    const consumer = await groups.consumerGroupHeartbeat(consumerJoin('m'));
    expect(consumer).toMatchObject({ error: Errors.NONE, memberEpoch: 2, assignment: [] });
    expect(groups.admin.describeConsumer('g')!.members.map(({ usesClassicProtocol }) => usesClassicProtocol)).toEqual([
      true,
      false,
    ]);
    // The classic member goes on until it hears of the rebalance; it gives up, and joins once more for the new epoch.
    expect(await heartbeat(groups, owner)).toBe(Errors.REBALANCE_IN_PROGRESS);
    const revoking = await classicJoin(groups, owner.memberId, [0, 1, 2, 3]);
    expect(revoking).toMatchObject({ error: Errors.NONE, generationId: 1, members: [] });
    expect(await synced(groups, revoking)).toHaveLength(2);
    expect(await heartbeat(groups, revoking)).toBe(Errors.REBALANCE_IN_PROGRESS);
    const kept = [0, 1];
    const rejoined = await classicJoin(groups, owner.memberId, kept);
    expect(rejoined.generationId).toBe(2);
    expect(await synced(groups, rejoined)).toEqual(kept);
    expect(await heartbeat(groups, rejoined)).toBe(Errors.NONE);
    const taken = await groups.consumerGroupHeartbeat(heartbeatRequest({ memberId: 'm', memberEpoch: 2 }));
    expect(taken.assignment).toEqual([{ topicId, partitions: [2, 3] }]);

    await groups.consumerGroupHeartbeat(heartbeatRequest({ memberId: 'm', memberEpoch: -1 }));
    expect(groups.admin.list()).toMatchObject([{ type: 'classic', state: 'PreparingRebalance' }]);
    expect(await heartbeat(groups, rejoined)).toBe(Errors.REBALANCE_IN_PROGRESS);
    const alone = await classicJoin(groups, owner.memberId, kept);
    expect(alone).toMatchObject({ generationId: 3, leader: owner.memberId });
    expect(alone.members).toHaveLength(1);
  });

  it('tells those that wait in the old protocol to join again', async () => {
    const { groups } = await fixture();
    const owner = await classicOwner(groups);
    const parked = classicJoin(groups);
    await settle();
    await groups.consumerGroupHeartbeat(consumerJoin('m'));
    expect((await parked).error).toBe(Errors.REBALANCE_IN_PROGRESS);
    expect(await heartbeat(groups, owner)).toBe(Errors.REBALANCE_IN_PROGRESS);
  });

  it('lives through a restart in between', async () => {
    const made = await fixture();
    const owner = await classicOwner(made.groups);
    await made.groups.consumerGroupHeartbeat(consumerJoin('m'));
    await made.restart();
    expect(await heartbeat(made.groups, owner)).toBe(Errors.REBALANCE_IN_PROGRESS);
    const revoking = await classicJoin(made.groups, owner.memberId, [0, 1, 2, 3]);
    expect(await synced(made.groups, revoking)).toHaveLength(2);
  });

  it('removes classic members that do not join again, and is downgraded by a session that ends', async () => {
    const { groups, time } = await fixture();
    const owner = await classicOwner(groups, { rebalanceTimeoutMs: 20_000, sessionTimeoutMs: 60_000 });
    await groups.consumerGroupHeartbeat(consumerJoin('m'));
    expect(await heartbeat(groups, owner)).toBe(Errors.REBALANCE_IN_PROGRESS);
    const other = await classicJoin(groups, '', [], { sessionTimeoutMs: 120_000, rebalanceTimeoutMs: 120_000 });
    await synced(groups, other);
    await time.advance(20_000);
    expect(await heartbeat(groups, owner)).toBe(Errors.UNKNOWN_MEMBER_ID);
    await time.advance(25_000);
    expect(groups.admin.list()).toMatchObject([{ type: 'classic' }]);
    expect(groups.admin.describeClassic('g')!.members.map(({ memberId }) => memberId)).toEqual([other.memberId]);
  });

  it('stays what it is where the policy says so, or nobody but the client can read its assignments', async () => {
    for (const [settings, protocolType] of [
      [{ groupConsumerMigrationPolicy: 'disabled' }, 'consumer'],
      [{}, 'connect'],
    ] as const) {
      const { groups } = await fixture(settings);
      const owner = await classicOwner(groups, { protocolType });
      expect((await groups.consumerGroupHeartbeat(consumerJoin('m'))).error).toBe(Errors.GROUP_ID_NOT_FOUND);
      expect(await heartbeat(groups, owner)).toBe(Errors.NONE);
    }
  });

  it('does not mix protocols up: consumer requests to classic groups, foreign joins to consumer groups', async () => {
    const { groups } = await fixture();
    expect((await groups.consumerGroupHeartbeat(heartbeatRequest({ memberId: 'm', memberEpoch: 1 }))).error).toBe(
      Errors.GROUP_ID_NOT_FOUND,
    );
    await groups.consumerGroupHeartbeat(consumerJoin('m'));
    expect((await classicJoin(groups, '', [], { protocolType: 'connect' })).error).toBe(
      Errors.INCONSISTENT_GROUP_PROTOCOL,
    );
    expect(groups.admin.describeClassic('g')).toBeUndefined();
  });
});
