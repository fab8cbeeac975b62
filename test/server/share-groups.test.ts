/** The administration of share groups on the wire: describe, list, delete, offsets, configs, features. */
import { describe, expect, it } from 'vitest';
import { Errors } from '../../src/common/errors.ts';
import { alterShareGroupOffsets } from '../../src/protocol/messages/alter-share-group-offsets.ts';
import { apiVersions } from '../../src/protocol/messages/api-versions.ts';
import { createTopics } from '../../src/protocol/messages/create-topics.ts';
import { deleteGroups } from '../../src/protocol/messages/delete-groups.ts';
import { deleteShareGroupOffsets } from '../../src/protocol/messages/delete-share-group-offsets.ts';
import { describeShareGroupOffsets } from '../../src/protocol/messages/describe-share-group-offsets.ts';
import { findCoordinator } from '../../src/protocol/messages/find-coordinator.ts';
import { listGroups } from '../../src/protocol/messages/list-groups.ts';
import { produce } from '../../src/protocol/messages/produce.ts';
import { shareGroupDescribe } from '../../src/protocol/messages/share-group-describe.ts';
import { ConfigResourceType } from '../../src/server/configs/config-target.ts';
import { batchOf, EngineFixture } from '../support/engine-fixture.ts';
import { buildBatch } from '../support/record-batches.ts';
import { GroupBroker } from './group-broker.ts';
import { ServerFixture } from './server-fixture.ts';
import { setConfigs } from './set-configs.ts';
import { acquiredOf, ShareClient } from './share-client.ts';
import { WireClient } from './wire-client.ts';

const GROUP = 'queue-readers';

/** A group that has read from one partition of two: offsets 0 and 1 accepted, 2 held, 3 to 5 not asked for. */
async function open() {
  const fixture = await ServerFixture.open();
  const topicId = await fixture.parts.createTopic('queue', 2);
  await fixture.parts.append({ topicId, partition: 0 }, batchOf('a', 'b', 'c'));
  await fixture.parts.append({ topicId, partition: 0 }, batchOf('d', 'e', 'f'));
  const admin = await fixture.client();
  const configure = async (name: string, value: string) => {
    expect(await setConfigs(admin, ConfigResourceType.group, GROUP, { [name]: value })).toMatchObject({ errorCode: 0 });
  };
  await configure('share.auto.offset.reset', 'earliest');
  const member = new ShareClient(await fixture.client(), GROUP, 'member');
  await member.heartbeat(['queue']);
  await member.fetch(topicId, [0], [], { maxRecords: 1 });
  await member.acknowledge(topicId, [{ first: 0, last: 1, types: [1] }]);
  return { fixture, topicId, admin, member, configure };
}

describe('share groups', () => {
  it('are described with their members, and other groups are not', async () => {
    const { admin, topicId } = await open();
    const { groups } = await admin.call(shareGroupDescribe, 1, {
      groupIds: [GROUP, 'none'],
      includeAuthorizedOperations: true,
    });
    expect(groups).toMatchObject([
      { errorCode: 0, groupState: 'Stable', groupEpoch: 1, assignmentEpoch: 1, assignorName: 'simple' },
      { errorCode: Errors.GROUP_ID_NOT_FOUND, groupState: '', members: [] },
    ]);
    expect(groups[0]!.members).toMatchObject([
      {
        memberId: 'member',
        rackId: null,
        memberEpoch: 1,
        clientId: 'wire',
        clientHost: '127.0.0.1',
        subscribedTopicNames: ['queue'],
        assignment: { topicPartitions: [{ topicId, topicName: 'queue', partitions: [0, 1] }] },
      },
    ]);
    expect(groups[0]!.authorizedOperations).toBeGreaterThan(0);
  });

  it('are listed by type and state', async () => {
    const { admin } = await open();
    const list = async (typesFilter: string[], statesFilter: string[] = []) =>
      (await admin.call(listGroups, 5, { typesFilter, statesFilter })).groups;
    const listed = { groupId: GROUP, protocolType: 'share', groupState: 'Stable', groupType: 'share' };
    expect(await list(['SHARE'], ['stable'])).toEqual([listed]);
    expect(await list([])).toEqual([listed]);
    expect(await list(['consumer', 'classic'])).toEqual([]);
    expect(await list(['share'], ['Empty'])).toEqual([]);
  });

  it('are deleted with their states, once nobody is in them', async () => {
    const { admin, fixture, member } = await open();
    const remove = async () => (await admin.call(deleteGroups, 2, { groupsNames: [GROUP] })).results[0]!.errorCode;
    expect(await remove()).toBe(Errors.NON_EMPTY_GROUP);
    await member.heartbeat(null, -1);
    expect(await remove()).toBe(Errors.NONE);
    expect(await fixture.parts.metadata.listSharePartitions(GROUP)).toEqual([]);
    expect(await remove()).toBe(Errors.GROUP_ID_NOT_FOUND);
  });

  it('have a coordinator for each of their partitions', async () => {
    const { admin, topicId } = await open();
    const keys = [`${GROUP}:${topicId}:0`, `with:colons:${topicId}:1`, GROUP];
    const { coordinators } = await admin.call(findCoordinator, 6, { keyType: 2, coordinatorKeys: keys });
    const codes = coordinators.map(({ key, errorCode }) => [key, errorCode]);
    expect(codes).toEqual([
      [keys[0], 0],
      [keys[1], 0],
      [GROUP, Errors.INVALID_REQUEST],
    ]);
  });

  it('take a change of their configs into account while they work', async () => {
    const { fixture, configure, member, topicId } = await open();
    await configure('share.record.lock.duration.ms', '45000');
    await configure('share.delivery.count.limit', '2');
    await expect
      .poll(async () => (await member.fetch(topicId, [], [], { maxRecords: 0 })).acquisitionLockTimeoutMs)
      .toBe(45_000);
    const release = () => member.acknowledge(topicId, [{ first: 2, last: 2, types: [2] }]);
    await release();
    expect(acquiredOf(await member.fetch(topicId, [], [], { maxRecords: 1 })).acquired).toEqual(['0: 2-2×2']);
    await release();
    const states = await fixture.parts.metadata.readShareStates([
      { groupId: GROUP, topicIdPartition: { topicId, partition: 0 } },
    ]);
    // The third record came back a second time, which is all that it has: it was given up.
    expect(states[0]!.stateBatches.at(-1)).toMatchObject({ lastOffset: 2n, deliveryState: 4, deliveryCount: 2 });
  });
});

describe('offsets of share groups', () => {
  it('are described, from version 1 on with the lag', async () => {
    const { admin, topicId } = await open();
    const topics = [
      { topicName: 'queue', partitions: [0, 1, 2] },
      { topicName: 'none', partitions: [0] },
    ];
    const { groups } = await admin.call(describeShareGroupOffsets, 1, {
      groups: [
        { groupId: GROUP, topics },
        { groupId: 'none', topics },
      ],
    });
    expect(groups[0]).toMatchObject({ groupId: GROUP, errorCode: 0 });
    expect(groups[0]!.topics).toMatchObject([
      {
        topicName: 'queue',
        topicId,
        partitions: [
          { partitionIndex: 0, errorCode: 0, startOffset: 2n, lag: 4n },
          { partitionIndex: 1, errorCode: 0, startOffset: -1n, lag: -1n },
          { partitionIndex: 2, errorCode: Errors.UNKNOWN_TOPIC_OR_PARTITION, startOffset: -1n },
        ],
      },
      { topicName: 'none', partitions: [{ errorCode: Errors.UNKNOWN_TOPIC_OR_PARTITION }] },
    ]);
    expect(groups[1]).toMatchObject({ groupId: 'none', errorCode: Errors.GROUP_ID_NOT_FOUND, topics: [] });
    const all = await admin.call(describeShareGroupOffsets, 0, { groups: [{ groupId: GROUP, topics: null }] });
    const [described] = all.groups[0]!.topics;
    expect(described).toMatchObject({ topicName: 'queue', topicId });
    expect(described!.partitions.map((one) => [one.partitionIndex, one.startOffset, one.lag])).toEqual([
      [0, 2n, -1n],
      [1, -1n, -1n],
    ]);
  });

  it('are those that a leader would find, when none has loaded them', async () => {
    const { topicId, fixture } = await open();
    const other = await EngineFixture.open({ over: fixture.parts });
    const described = await other.engine.shareOffsets.describe(GROUP, [{ topicId, partition: 0 }]);
    expect(described).toMatchObject([{ startOffset: 2n, lag: 4n }]);
  });

  it('are altered in share partitions that are loaded, whose holders lose what they hold', async () => {
    const { admin, topicId, member } = await open();
    const partitions = [
      { partitionIndex: 0, startOffset: 1n },
      { partitionIndex: 1, startOffset: -1n },
      { partitionIndex: 2, startOffset: 0n },
    ];
    const request = { groupId: GROUP, topics: [{ topicName: 'queue', partitions }] };
    const alter = () => admin.call(alterShareGroupOffsets, 0, request);
    expect(await alter()).toMatchObject({ errorCode: Errors.NON_EMPTY_GROUP, responses: [] });
    await member.heartbeat(null, -1);
    const altered = await alter();
    expect(altered).toMatchObject({ errorCode: 0, responses: [{ topicName: 'queue', topicId }] });
    expect(altered.responses[0]!.partitions.map(({ errorCode }) => errorCode)).toEqual([
      Errors.NONE,
      Errors.INVALID_REQUEST,
      Errors.UNKNOWN_TOPIC_OR_PARTITION,
    ]);
    // Its share session goes on, but what it acquired before is nobody's any more.
    const late = await member.acknowledge(topicId, [{ first: 2, last: 2, types: [1] }]);
    expect(late.responses[0]!.partitions[0]!.errorCode).not.toBe(Errors.NONE);
    expect(acquiredOf(await member.fetch(topicId, [], [], {})).acquired).toEqual(['0: 1-5×1']);
    expect((await admin.call(alterShareGroupOffsets, 0, { ...request, groupId: 'none' })).errorCode).toBe(
      Errors.GROUP_ID_NOT_FOUND,
    );
  });

  it('are deleted by topic', async () => {
    const { admin, topicId, member, fixture } = await open();
    await fixture.parts.createTopic('other');
    const topics = ['queue', 'other', 'none'].map((topicName) => ({ topicName }));
    const remove = (groupId: string) => admin.call(deleteShareGroupOffsets, 0, { groupId, topics });
    expect((await remove('none')).errorCode).toBe(Errors.GROUP_ID_NOT_FOUND);
    expect((await remove(GROUP)).errorCode).toBe(Errors.NON_EMPTY_GROUP);
    await member.heartbeat(null, -1);
    const { errorCode, responses } = await remove(GROUP);
    expect(errorCode).toBe(Errors.NONE);
    expect(responses.map((one) => [one.topicName, one.errorCode])).toEqual([
      ['queue', Errors.NONE],
      ['other', Errors.UNKNOWN_TOPIC_OR_PARTITION],
      ['none', Errors.UNKNOWN_TOPIC_OR_PARTITION],
    ]);
    expect(responses[0]!.topicId).toBe(topicId);
    expect(await fixture.parts.metadata.listSharePartitions(GROUP)).toEqual([]);
  });
});

describe('a host that goes down and comes back', () => {
  it('knows its members, and delivers what was held but nothing that was accepted', async () => {
    const broker = await GroupBroker.open();
    try {
      const before = await WireClient.connect({ host: '127.0.0.1', port: broker.port });
      const topics = [{ name: 'queue', numPartitions: 1, replicationFactor: 1, assignments: [], configs: [] }];
      const created = await before.call(createTopics, 7, { topics, timeoutMs: 5_000, validateOnly: false });
      const { topicId } = created.topics[0]!;
      const member = new ShareClient(before, GROUP, 'member');
      await member.heartbeat(['queue']);
      await member.fetch(topicId, [0], [], {});
      const partitionData = [{ index: 0, records: [buildBatch(batchOf('a', 'b', 'c'))] }];
      const produced = { acks: -1, timeoutMs: 5_000, topicData: [{ topicId, partitionData }] };
      await before.call(produce, 13, produced);
      expect(acquiredOf(await member.fetch(topicId, [], [], {})).acquired).toEqual(['0: 0-2×1']);
      await member.acknowledge(topicId, [{ first: 1, last: 1, types: [1] }]);
      await broker.restart();

      const after = await WireClient.connect({ host: '127.0.0.1', port: broker.port });
      const again = new ShareClient(after, GROUP, 'member');
      again.memberEpoch = member.memberEpoch;
      expect(await again.heartbeat(null)).toMatchObject({ errorCode: 0, memberEpoch: 1, assignment: null });
      again.sessionEpoch = member.sessionEpoch;
      expect((await again.fetch(topicId, [], [], {})).errorCode).toBe(Errors.SHARE_SESSION_NOT_FOUND);
      again.sessionEpoch = 0;
      const delivered = (await again.fetch(topicId, [0], [], {})).responses[0]!.partitions[0]!;
      const offsets = delivered.acquiredRecords.map((one) => [Number(one.firstOffset), Number(one.lastOffset)]);
      expect(offsets).toEqual([
        [0, 0],
        [2, 2],
      ]);
      after[Symbol.dispose]();
    } finally {
      await broker.close();
    }
  });
});

describe('ApiVersions', () => {
  it.each([3, 4])('v%d names the features that share consumers need', async (version) => {
    const { admin } = await open();
    const client = { clientSoftwareName: 'wire', clientSoftwareVersion: '1' };
    const answer = await admin.call(apiVersions, version, client);
    const minVersion = version === 3 ? 1 : 0;
    expect(answer.supportedFeatures).toContainEqual({ name: 'group.version', minVersion, maxVersion: 1 });
    expect(answer.finalizedFeaturesEpoch).toBe(0n);
    const share = answer.finalizedFeatures.find(({ name }) => name === 'share.version');
    expect(share!.maxVersionLevel).toBeGreaterThanOrEqual(1);
  });
});
