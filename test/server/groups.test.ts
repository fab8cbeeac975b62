/** The group APIs on the wire: every version of each, with the project's own codecs, against a broker over a data folder. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Errors } from '../../src/common/errors.ts';
import { ZERO_UUID } from '../../src/common/uuid.ts';
import type { Api } from '../../src/protocol/api.ts';
import { consumerGroupDescribe } from '../../src/protocol/messages/consumer-group-describe.ts';
import { consumerGroupHeartbeat } from '../../src/protocol/messages/consumer-group-heartbeat.ts';
import { createTopics } from '../../src/protocol/messages/create-topics.ts';
import { deleteGroups } from '../../src/protocol/messages/delete-groups.ts';
import { describeGroups } from '../../src/protocol/messages/describe-groups.ts';
import { findCoordinator } from '../../src/protocol/messages/find-coordinator.ts';
import { heartbeat } from '../../src/protocol/messages/heartbeat.ts';
import { joinGroup } from '../../src/protocol/messages/join-group.ts';
import { leaveGroup } from '../../src/protocol/messages/leave-group.ts';
import { listGroups } from '../../src/protocol/messages/list-groups.ts';
import { metadata } from '../../src/protocol/messages/metadata.ts';
import { offsetCommit } from '../../src/protocol/messages/offset-commit.ts';
import { offsetDelete } from '../../src/protocol/messages/offset-delete.ts';
import { offsetFetch } from '../../src/protocol/messages/offset-fetch.ts';
import { syncGroup } from '../../src/protocol/messages/sync-group.ts';
import { GroupBroker } from './group-broker.ts';
import { WireClient } from './wire-client.ts';

const TOPIC = 'orders';
const METADATA = new Uint8Array([1, 2, 3]);
const ASSIGNMENT = new Uint8Array([9, 8]);

let broker: GroupBroker;
let client: WireClient;
let topicId: string;

beforeAll(async () => {
  broker = await GroupBroker.open();
  client = await WireClient.connect({ host: '127.0.0.1', port: broker.port });
  const topics = [{ name: TOPIC, numPartitions: 4, replicationFactor: 1, assignments: [], configs: [] }];
  const created = await client.call(createTopics, 7, { topics, timeoutMs: 5_000, validateOnly: false });
  topicId = created.topics[0]!.topicId;
});

afterAll(async () => {
  client[Symbol.dispose]();
  await broker.close();
});

const versionsOf = ({ versions }: Api<never, never> | { versions: { min: number; max: number } }): number[] =>
  Array.from({ length: versions.max - versions.min + 1 }, (_, index) => versions.min + index);

const protocols = [{ name: 'range', metadata: METADATA }];

/** Joins as a new dynamic member, whatever that takes in this version. */
async function join(groupId: string, version = 5) {
  const request = { groupId, sessionTimeoutMs: 10_000, protocolType: 'consumer', protocols };
  const timeout = version >= 1 ? { rebalanceTimeoutMs: 20_000 } : {};
  const first = await client.call(joinGroup, version, { ...request, ...timeout, memberId: '' });
  if (first.errorCode !== Errors.MEMBER_ID_REQUIRED) return first;
  return client.call(joinGroup, version, { ...request, ...timeout, memberId: first.memberId });
}

/** A group with one member that is stable. */
async function stable(groupId: string) {
  const { memberId, generationId } = await join(groupId);
  const assignments = [{ memberId, assignment: ASSIGNMENT }];
  const synced = await client.call(syncGroup, 3, { groupId, generationId, memberId, assignments });
  expect(synced.errorCode).toBe(Errors.NONE);
  return { memberId, generationId };
}

describe('FindCoordinator', () => {
  it.each(versionsOf(findCoordinator))('v%i names this broker', async (version) => {
    const named = { nodeId: 0, host: '127.0.0.1', port: broker.port, errorCode: Errors.NONE };
    if (version < 4) expect(await client.call(findCoordinator, version, { key: 'g' })).toMatchObject(named);
    else {
      const { coordinators } = await client.call(findCoordinator, version, { coordinatorKeys: ['g', 'h'] });
      expect(coordinators).toMatchObject([
        { key: 'g', ...named },
        { key: 'h', ...named },
      ]);
    }
  });

  it('refuses a key type that means nothing', async () => {
    expect((await client.call(findCoordinator, 3, { key: 'g', keyType: 7 })).errorCode).toBe(Errors.INVALID_REQUEST);
  });
});

describe('JoinGroup', () => {
  it.each(versionsOf(joinGroup))('v%i joins and leads', async (version) => {
    const joined = await join(`join-${version}`, version);
    expect(joined).toMatchObject({
      errorCode: Errors.NONE,
      generationId: 1,
      protocolName: 'range',
      leader: joined.memberId,
    });
    expect(joined.memberId).toMatch(/^wire-/);
    expect(joined.members.map((member) => [...member.metadata])).toEqual([[...METADATA]]);
    if (version >= 7) expect(joined.protocolType).toBe('consumer');
  });

  it.each([0, 6, 7, 9])('v%i is refused with a name that the version can carry', async (version) => {
    const request = { groupId: 'x', sessionTimeoutMs: 1, memberId: '', protocolType: 'consumer', protocols };
    const refused = await client.call(joinGroup, version, request);
    expect(refused).toMatchObject({ errorCode: Errors.INVALID_SESSION_TIMEOUT, generationId: -1, members: [] });
  });

  it('keeps what it was sent, not the frame it came in', async () => {
    const { memberId, generationId } = await stable('keeps');
    for (let index = 0; index < 20; index += 1) await client.call(listGroups, 4, { statesFilter: ['x'.repeat(500)] });
    const { groups } = await client.call(describeGroups, 5, { groups: ['keeps'] });
    expect([...groups[0]!.members[0]!.memberMetadata]).toEqual([...METADATA]);
    const again = await client.call(syncGroup, 0, { groupId: 'keeps', memberId, generationId, assignments: [] });
    expect([...again.assignment]).toEqual([...ASSIGNMENT]);
  });
});

describe('SyncGroup, Heartbeat, LeaveGroup', () => {
  it.each(versionsOf(syncGroup))('SyncGroup v%i brings the assignment', async (version) => {
    const groupId = `sync-${version}`;
    const { memberId, generationId } = await join(groupId);
    const assignments = [{ memberId, assignment: ASSIGNMENT }];
    const protocol = version >= 5 ? { protocolType: 'consumer', protocolName: 'range' } : {};
    const synced = await client.call(syncGroup, version, { groupId, generationId, memberId, assignments, ...protocol });
    expect([...synced.assignment]).toEqual([...ASSIGNMENT]);
    if (version >= 5) expect(synced).toMatchObject(protocol);
    const other = { groupId, generationId: generationId + 1, memberId, assignments: [] };
    expect((await client.call(syncGroup, version, other)).errorCode).toBe(Errors.ILLEGAL_GENERATION);
  });

  it.each(versionsOf(heartbeat))('Heartbeat v%i keeps a member of the generation', async (version) => {
    const { memberId, generationId } = await stable(`heartbeat-${version}`);
    const groupId = `heartbeat-${version}`;
    expect(await client.call(heartbeat, version, { groupId, memberId, generationId })).toMatchObject({ errorCode: 0 });
    const unknown = { groupId, memberId: 'nobody', generationId };
    expect((await client.call(heartbeat, version, unknown)).errorCode).toBe(Errors.UNKNOWN_MEMBER_ID);
  });

  it.each(versionsOf(leaveGroup))('LeaveGroup v%i removes members', async (version) => {
    const groupId = `leave-${version}`;
    const { memberId } = await stable(groupId);
    if (version < 3) {
      const unknown = await client.call(leaveGroup, version, { groupId, memberId: 'nobody' });
      expect(unknown.errorCode).toBe(Errors.UNKNOWN_MEMBER_ID);
      expect((await client.call(leaveGroup, version, { groupId, memberId })).errorCode).toBe(Errors.NONE);
    } else {
      const left = await client.call(leaveGroup, version, { groupId, members: [{ memberId: 'nobody' }, { memberId }] });
      expect(left.members.map(({ errorCode }) => errorCode)).toEqual([Errors.UNKNOWN_MEMBER_ID, Errors.NONE]);
    }
    const { groups } = await client.call(describeGroups, 0, { groups: [groupId] });
    expect(groups[0]!.groupState).toBe('Empty');
  });
});

/** One partition that exists, one that does not, and a topic that does not. */
function commitTopics(version: number) {
  const partition = (partitionIndex: number, committedOffset: bigint) => ({
    partitionIndex,
    committedOffset,
    committedMetadata: 'note',
    ...(version >= 6 ? { committedLeaderEpoch: 3 } : {}),
  });
  const partitions = [partition(1, 42n), partition(77, 1n)];
  if (version >= 10)
    return [
      { topicId, partitions },
      { topicId: ZERO_UUID, partitions: partitions.slice(0, 1) },
    ];
  return [
    { name: TOPIC, partitions },
    { name: 'nowhere', partitions: partitions.slice(0, 1) },
  ];
}

describe('OffsetCommit and OffsetFetch', () => {
  it.each(versionsOf(offsetCommit))('OffsetCommit v%i commits what it can', async (version) => {
    const groupId = `commit-${version}`;
    const { memberId, generationId } = await stable(groupId);
    const request = { groupId, memberId, topics: commitTopics(version) };
    const { topics } = await client.call(offsetCommit, version, {
      ...request,
      generationIdOrMemberEpoch: generationId,
    });
    expect(topics.map(({ partitions }) => partitions.map(({ errorCode }) => errorCode))).toEqual([
      [Errors.NONE, Errors.UNKNOWN_TOPIC_OR_PARTITION],
      [version >= 10 ? Errors.UNKNOWN_TOPIC_ID : Errors.UNKNOWN_TOPIC_OR_PARTITION],
    ]);
    const old = await client.call(offsetCommit, version, { ...request, generationIdOrMemberEpoch: generationId - 1 });
    expect(old.topics[0]!.partitions[0]!.errorCode).toBe(Errors.ILLEGAL_GENERATION);
    const nowhere = { ...request, groupId: 'nowhere', generationIdOrMemberEpoch: 1 };
    const { topics: refused } = await client.call(offsetCommit, version, nowhere);
    const expected = version >= 9 ? Errors.GROUP_ID_NOT_FOUND : Errors.ILLEGAL_GENERATION;
    expect(refused[0]!.partitions[0]!.errorCode).toBe(expected);
  });

  it.each(versionsOf(offsetFetch))('OffsetFetch v%i fetches some, all, and of unknown groups none', async (version) => {
    const groupId = `fetch-${version}`;
    await client.call(offsetCommit, 8, { groupId, topics: commitTopics(8) });
    const epoch = version >= 5 ? 3 : -1;
    const committed = {
      partitionIndex: 1,
      committedOffset: 42n,
      committedLeaderEpoch: epoch,
      metadata: 'note',
      errorCode: 0,
    };
    const none = { partitionIndex: 0, committedOffset: -1n, committedLeaderEpoch: -1, metadata: '', errorCode: 0 };
    const [name] = version >= 10 ? [{ topicId }] : [{ name: TOPIC }];
    const some = [{ ...name, partitionIndexes: [0, 1] }];
    if (version < 8) {
      const topics = [{ name: TOPIC, partitionIndexes: [0, 1] }];
      const fetched = await client.call(offsetFetch, version, { groupId, topics });
      expect(fetched.topics).toEqual([{ name: TOPIC, partitions: [none, committed] }]);
      if (version >= 2) {
        const all = await client.call(offsetFetch, version, { groupId, topics: null });
        expect(all.topics).toEqual([{ name: TOPIC, partitions: [committed] }]);
      }
      const unknown = await client.call(offsetFetch, version, { groupId: 'nowhere', topics });
      expect(unknown.topics[0]!.partitions[1]).toEqual({ ...none, partitionIndex: 1 });
    } else {
      const groups = [
        { groupId, topics: some },
        { groupId, topics: null },
        { groupId: 'nowhere', topics: null },
      ];
      const fetched = await client.call(offsetFetch, version, { groups });
      expect(fetched.groups.map(({ topics }) => topics.map(({ partitions }) => partitions))).toEqual([
        [[none, committed]],
        [[committed]],
        [],
      ]);
      expect(fetched.groups[0]!.topics[0]).toMatchObject(name!);
    }
  });

  it('OffsetDelete forgets offsets, partition by partition', async () => {
    await client.call(offsetCommit, 8, { groupId: 'forget', topics: commitTopics(8) });
    const topics = [{ name: TOPIC, partitions: [{ partitionIndex: 1 }, { partitionIndex: 77 }] }];
    const deleted = await client.call(offsetDelete, 0, { groupId: 'forget', topics });
    expect(deleted.topics[0]!.partitions.map(({ errorCode }) => errorCode)).toEqual([
      Errors.NONE,
      Errors.UNKNOWN_TOPIC_OR_PARTITION,
    ]);
    expect((await client.call(offsetFetch, 7, { groupId: 'forget', topics: null })).topics).toEqual([]);
    expect((await client.call(offsetDelete, 0, { groupId: 'nowhere', topics })).errorCode).toBe(
      Errors.GROUP_ID_NOT_FOUND,
    );
  });
});

describe('DescribeGroups, ListGroups, DeleteGroups', () => {
  it.each(versionsOf(describeGroups))(
    'DescribeGroups v%i describes members, and what is not there',
    async (version) => {
      const groupId = `describe-${version}`;
      const { memberId } = await stable(groupId);
      const asked = version >= 3 ? { includeAuthorizedOperations: true } : {};
      const { groups } = await client.call(describeGroups, version, { groups: [groupId, 'nowhere'], ...asked });
      expect(groups[0]).toMatchObject({
        errorCode: Errors.NONE,
        groupState: 'Stable',
        protocolType: 'consumer',
        protocolData: 'range',
        members: [{ memberId, clientId: 'wire', clientHost: '127.0.0.1' }],
      });
      expect([...groups[0]!.members[0]!.memberAssignment]).toEqual([...ASSIGNMENT]);
      if (version >= 3) expect(groups[0]!.authorizedOperations).toBe(0b1101_0100_1000);
      expect(groups[1]).toMatchObject({
        groupState: 'Dead',
        errorCode: version >= 6 ? Errors.GROUP_ID_NOT_FOUND : Errors.NONE,
      });
    },
  );

  it.each(versionsOf(listGroups))('ListGroups v%i lists by state and type', async (version) => {
    const groupId = `list-${version}`;
    await stable(groupId);
    const { groups } = await client.call(listGroups, version, {});
    const found = groups.find((group) => group.groupId === groupId);
    expect(found).toMatchObject({ protocolType: 'consumer', ...(version >= 4 ? { groupState: 'Stable' } : {}) });
    if (version >= 4) {
      const empty = await client.call(listGroups, version, { statesFilter: ['empty'] });
      expect(empty.groups.map((group) => group.groupId)).not.toContain(groupId);
    }
    if (version >= 5) {
      const consumer = await client.call(listGroups, version, { typesFilter: ['Consumer'] });
      expect(consumer.groups.map((group) => group.groupId)).not.toContain(groupId);
      expect((await client.call(listGroups, version, { typesFilter: ['Classic'] })).groups.length).toBeGreaterThan(0);
    }
  });

  it.each(versionsOf(deleteGroups))('DeleteGroups v%i deletes groups without members', async (version) => {
    const groupsNames = [`busy-${version}`, `idle-${version}`, 'nowhere'];
    await stable(groupsNames[0]!);
    await client.call(offsetCommit, 8, { groupId: groupsNames[1]!, topics: commitTopics(8) });
    const { results } = await client.call(deleteGroups, version, { groupsNames });
    expect(results.map(({ errorCode }) => errorCode)).toEqual([
      Errors.NON_EMPTY_GROUP,
      Errors.NONE,
      Errors.GROUP_ID_NOT_FOUND,
    ]);
  });
});

describe('the consumer protocol', () => {
  it.each(versionsOf(consumerGroupHeartbeat))('v%i joins, is described, commits, leaves', async (version) => {
    const groupId = `consumer-${version}`;
    const join = {
      groupId,
      memberId: version >= 1 ? 'me' : '',
      memberEpoch: 0,
      rebalanceTimeoutMs: 30_000,
      topicPartitions: [],
      ...(version >= 1 ? { subscribedTopicRegex: 'ord.*' } : { subscribedTopicNames: [TOPIC] }),
    };
    const joined = await client.call(consumerGroupHeartbeat, version, join);
    expect(joined).toMatchObject({ errorCode: Errors.NONE, memberEpoch: 1, heartbeatIntervalMs: 5_000 });
    const topicPartitions = [{ topicId, partitions: [0, 1, 2, 3] }];
    expect(joined.assignment).toEqual({ topicPartitions });
    const memberId = joined.memberId!;
    const next = { groupId, memberId, memberEpoch: 1, topicPartitions };
    expect(await client.call(consumerGroupHeartbeat, version, next)).toMatchObject({ errorCode: 0, assignment: null });

    const { groups } = await client.call(consumerGroupDescribe, version, {
      groupIds: [groupId, 'nowhere'],
      includeAuthorizedOperations: false,
    });
    const named = { topicPartitions: [{ topicId, topicName: TOPIC, partitions: [0, 1, 2, 3] }] };
    expect(groups[0]).toMatchObject({
      errorCode: Errors.NONE,
      groupState: 'Stable',
      groupEpoch: 1,
      assignmentEpoch: 1,
      assignorName: 'uniform',
      members: [{ memberId, memberEpoch: 1, clientId: 'wire', assignment: named, targetAssignment: named }],
    });
    expect(groups[1]!.errorCode).toBe(Errors.GROUP_ID_NOT_FOUND);
    const commit = { groupId, memberId, topics: commitTopics(9) };
    const { topics } = await client.call(offsetCommit, 9, { ...commit, generationIdOrMemberEpoch: 1 });
    expect(topics[0]!.partitions[0]!.errorCode).toBe(Errors.NONE);
    const stale = await client.call(offsetCommit, 9, { ...commit, generationIdOrMemberEpoch: 0 });
    expect(stale.topics[0]!.partitions[0]!.errorCode).toBe(Errors.STALE_MEMBER_EPOCH);
    const fetched = await client.call(offsetFetch, 9, {
      groups: [{ groupId, memberId, memberEpoch: 9, topics: null }],
    });
    expect(fetched.groups[0]!.errorCode).toBe(Errors.STALE_MEMBER_EPOCH);

    const left = await client.call(consumerGroupHeartbeat, version, { groupId, memberId, memberEpoch: -1 });
    expect(left).toMatchObject({ errorCode: Errors.NONE, memberEpoch: -1 });
    expect(
      (await client.call(listGroups, 5, { statesFilter: ['Empty'], typesFilter: ['consumer'] })).groups,
    ).toContainEqual(expect.objectContaining({ groupId }));
  });

  it('wants a member id from version 1 on, and says what is wrong', async () => {
    const request = {
      groupId: 'c',
      memberId: '',
      memberEpoch: 0,
      rebalanceTimeoutMs: 1,
      subscribedTopicNames: [],
      topicPartitions: [],
    };
    const refused = await client.call(consumerGroupHeartbeat, 1, request);
    expect(refused).toMatchObject({ errorCode: Errors.INVALID_REQUEST, errorMessage: "MemberId can't be empty." });
  });

  it('gives the topic id that Metadata gives, and by which Metadata finds the topic', async () => {
    const asked = [
      { topicId: ZERO_UUID, name: TOPIC },
      { topicId, name: '' },
      { topicId, name: null },
    ];
    for (const topic of asked) {
      const { topics } = await client.call(metadata, 12, { topics: [topic] });
      expect(topics).toMatchObject([{ topicId, name: TOPIC, errorCode: Errors.NONE }]);
    }
  });
});
