/** The consumer group's state machine, case by case, with Kafka's answers. */
import { describe, expect, it } from 'vitest';
import { Errors } from '../../src/common/errors.ts';
import { checkHeartbeat } from '../../src/group/consumer/check-heartbeat.ts';
import type { ConsumerHeartbeatRequest, ConsumerHeartbeatResult } from '../../src/group/consumer/consumer-requests.ts';
import { ConsumerDriver, heartbeatRequest, topicIdOf } from './support/consumer-driver.ts';

const SESSION_MS = 45_000;
const none: ConsumerHeartbeatRequest['topicPartitions'] = [];

const join = (memberId: string, fields: Partial<ConsumerHeartbeatRequest> = {}): Partial<ConsumerHeartbeatRequest> => ({
  memberId,
  memberEpoch: 0,
  rebalanceTimeoutMs: 30_000,
  subscribedTopicNames: ['orders'],
  topicPartitions: none,
  ...fields,
});

const partitions = (...indexes: number[]) => [{ topicId: topicIdOf('orders'), partitions: indexes }];
const assigned = ({ assignment }: ConsumerHeartbeatResult): number[] =>
  (assignment ?? []).flatMap((topic) => topic.partitions);

describe('joining and reconciling', () => {
  it('gives a first member everything at once', () => {
    const driver = new ConsumerDriver({ orders: 4 });
    const result = driver.heartbeat(join('a'));
    expect(result).toMatchObject({ error: Errors.NONE, memberId: 'a', memberEpoch: 1, heartbeatIntervalMs: 5_000 });
    expect(assigned(result)).toEqual([0, 1, 2, 3]);
    expect(driver.group.state).toBe('Stable');
    const next = driver.heartbeat({ memberId: 'a', memberEpoch: 1, topicPartitions: partitions(0, 1, 2, 3) });
    expect(next).toMatchObject({ memberEpoch: 1, assignment: null });
  });

  it('stores nothing for a heartbeat that changes nothing', () => {
    const driver = new ConsumerDriver({ orders: 4 });
    driver.heartbeat(join('a'));
    const stored = driver.stored.length;
    driver.heartbeat({ memberId: 'a', memberEpoch: 1 });
    driver.heartbeat({ memberId: 'a', memberEpoch: 1, topicPartitions: partitions(0, 1, 2, 3) });
    expect(driver.stored).toHaveLength(stored);
    driver.heartbeat(join('b'));
    driver.heartbeat({ memberId: 'a', memberEpoch: 1 });
    const reconciling = driver.stored.length;
    driver.heartbeat({ memberId: 'a', memberEpoch: 1 });
    driver.heartbeat({ memberId: 'b', memberEpoch: 2 });
    expect(driver.stored).toHaveLength(reconciling);
  });

  it('moves a partition only when its owner has given it up', () => {
    const driver = new ConsumerDriver({ orders: 4 });
    driver.heartbeat(join('a'));
    const b = driver.heartbeat(join('b'));
    expect([b.memberEpoch, assigned(b)]).toEqual([2, []]);
    const revoke = driver.heartbeat({ memberId: 'a', memberEpoch: 1 });
    expect([revoke.memberEpoch, assigned(revoke)]).toEqual([1, [0, 1]]);
    expect(assigned(driver.heartbeat({ memberId: 'b', memberEpoch: 2 }))).toEqual([]);
    expect(driver.heartbeat({ memberId: 'a', memberEpoch: 1 })).toMatchObject({ memberEpoch: 1, assignment: null });
    const revoked = driver.heartbeat({ memberId: 'a', memberEpoch: 1, topicPartitions: partitions(0, 1) });
    expect(revoked.memberEpoch).toBe(2);
    expect(assigned(driver.heartbeat({ memberId: 'b', memberEpoch: 2 }))).toEqual([2, 3]);
    expect(driver.group.state).toBe('Stable');
  });

  it('removes a member that does not give up within its rebalance timeout', () => {
    const driver = new ConsumerDriver({ orders: 4 });
    driver.heartbeat(join('a', { rebalanceTimeoutMs: 10_000 }));
    driver.heartbeat(join('b'));
    for (let second = 0; second < 10; second += 1) {
      expect(driver.heartbeat({ memberId: 'a', memberEpoch: 1 }).error).toBe(Errors.NONE);
      driver.advance(1_000);
    }
    expect(driver.heartbeat({ memberId: 'a', memberEpoch: 1 }).error).toBe(Errors.UNKNOWN_MEMBER_ID);
    expect(assigned(driver.heartbeat({ memberId: 'b', memberEpoch: 2 }))).toEqual([0, 1, 2, 3]);
  });

  it('fences other epochs, but takes the one before from a member that missed the answer', () => {
    const driver = new ConsumerDriver({ orders: 4 });
    driver.heartbeat(join('a'));
    driver.heartbeat(join('b'));
    driver.heartbeat({ memberId: 'a', memberEpoch: 1 });
    driver.heartbeat({ memberId: 'a', memberEpoch: 1, topicPartitions: partitions(0, 1) });
    const again = driver.heartbeat({ memberId: 'a', memberEpoch: 1, topicPartitions: partitions(0, 1) });
    expect(again).toMatchObject({ error: Errors.NONE, memberEpoch: 2 });
    const greedy = { memberId: 'a', memberEpoch: 1, topicPartitions: partitions(0, 1, 2) };
    expect(driver.heartbeat(greedy).error).toBe(Errors.FENCED_MEMBER_EPOCH);
    expect(driver.heartbeat({ memberId: 'a', memberEpoch: 3 }).error).toBe(Errors.FENCED_MEMBER_EPOCH);
    expect(driver.heartbeat({ memberId: 'nobody', memberEpoch: 2 }).error).toBe(Errors.UNKNOWN_MEMBER_ID);
    expect(driver.heartbeat(join('a'))).toMatchObject({ error: Errors.NONE, memberEpoch: 2 });
  });

  it('gives up what a changed subscription does not cover', () => {
    const driver = new ConsumerDriver({ orders: 2, audit: 2 });
    driver.heartbeat(join('a', { subscribedTopicNames: ['orders', 'audit'] }));
    const owned = [...partitions(0, 1), { topicId: topicIdOf('audit'), partitions: [0, 1] }];
    const changed = driver.heartbeat({
      memberId: 'a',
      memberEpoch: 1,
      subscribedTopicNames: ['audit'],
      topicPartitions: owned,
    });
    expect(changed.memberEpoch).toBe(1);
    expect(changed.assignment).toEqual([{ topicId: topicIdOf('audit'), partitions: [0, 1] }]);
    const done = { memberId: 'a', memberEpoch: 1, topicPartitions: owned.slice(1) };
    expect(driver.heartbeat(done).memberEpoch).toBe(2);
  });

  it('follows topics that come, grow and go', () => {
    const driver = new ConsumerDriver({ orders: 1 });
    driver.heartbeat(join('a', { subscribedTopicNames: ['orders', 'late'] }));
    driver.setTopic('late', 2);
    driver.setTopic('orders', 3);
    const grown = driver.heartbeat({ memberId: 'a', memberEpoch: 1 });
    expect([grown.memberEpoch, assigned(grown).length]).toEqual([2, 5]);
    driver.setTopic('late', 0);
    expect(assigned(driver.heartbeat({ memberId: 'a', memberEpoch: 2 }))).toEqual([0, 1, 2]);
  });

  it('subscribes by regular expression, to topics of later as well', () => {
    const driver = new ConsumerDriver({ 'app.one': 1, 'app.two': 1, other: 1 });
    const regex = { subscribedTopicNames: null, subscribedTopicRegex: 'app\\.(one|t.*)' };
    expect(assigned(driver.heartbeat(join('a', regex)))).toHaveLength(2);
    driver.setTopic('app.three', 4);
    expect(assigned(driver.heartbeat({ memberId: 'a', memberEpoch: 1 }))).toHaveLength(6);
  });

  it('uses the assignor that most members ask for', () => {
    const driver = new ConsumerDriver({ orders: 4 });
    driver.heartbeat(join('a'));
    expect(driver.group.assignorName).toBe('uniform');
    driver.heartbeat(join('b', { serverAssignor: 'range' }));
    expect(driver.group.assignorName).toBe('range');
    driver.heartbeat(join('c', { serverAssignor: 'uniform' }));
    driver.heartbeat(join('d', { serverAssignor: 'uniform' }));
    expect(driver.group.assignorName).toBe('uniform');
  });

  it('has room for so many members', () => {
    const driver = new ConsumerDriver({ orders: 4 }, { groupConsumerMaxSize: 1 });
    driver.heartbeat(join('a'));
    expect(driver.heartbeat(join('b')).error).toBe(Errors.GROUP_MAX_SIZE_REACHED);
    expect(driver.heartbeat({ memberId: 'a', memberEpoch: 1 }).error).toBe(Errors.NONE);
  });
});

describe('leaving', () => {
  it('frees the partitions of a member that leaves or falls silent', () => {
    const driver = new ConsumerDriver({ orders: 4 });
    driver.heartbeat(join('a'));
    driver.heartbeat(join('b'));
    expect(driver.heartbeat({ memberId: 'a', memberEpoch: -1 })).toMatchObject({ error: Errors.NONE, memberEpoch: -1 });
    expect(assigned(driver.heartbeat({ memberId: 'b', memberEpoch: 2 }))).toEqual([0, 1, 2, 3]);
    driver.advance(SESSION_MS);
    expect(driver.group.state).toBe('Empty');
    expect(driver.heartbeat({ memberId: 'b', memberEpoch: 3 }).error).toBe(Errors.UNKNOWN_MEMBER_ID);
  });
});

describe('static members', () => {
  it('get their partitions back under a new member id', () => {
    const driver = new ConsumerDriver({ orders: 4 });
    const a = driver.heartbeat(join('a', { instanceId: 'i' }));
    driver.heartbeat(join('b'));
    expect(driver.heartbeat(join('a2', { instanceId: 'i' })).error).toBe(Errors.UNRELEASED_INSTANCE_ID);
    expect(driver.heartbeat({ memberId: 'a', memberEpoch: -2, instanceId: 'i' }).memberEpoch).toBe(-2);
    const epoch = driver.group.epoch;
    const back = driver.heartbeat(join('a2', { instanceId: 'i' }));
    expect(back.error).toBe(Errors.NONE);
    expect(driver.group.epoch).toBe(epoch);
    expect(assigned(a)).toEqual(expect.arrayContaining(assigned(back)));
    expect(driver.heartbeat({ memberId: 'a', memberEpoch: 1, instanceId: 'i' }).error).toBe(Errors.FENCED_INSTANCE_ID);
  });

  it('lose their place when they stay away for longer than a session', () => {
    const driver = new ConsumerDriver({ orders: 4 });
    driver.heartbeat(join('a', { instanceId: 'i' }));
    driver.heartbeat({ memberId: 'a', memberEpoch: -2, instanceId: 'i' });
    driver.advance(SESSION_MS - 1);
    expect(driver.group.members.size).toBe(1);
    driver.advance(1);
    expect(driver.group.members.size).toBe(0);
  });
});

describe('offsets', () => {
  it('are for members in their epoch, and for anybody while the group is empty', () => {
    const driver = new ConsumerDriver({ orders: 4 });
    const commit = (memberId: string, epoch: number): number =>
      driver.group.checkCommit({ memberId }, epoch, driver.now);
    expect(commit('', -1)).toBe(Errors.NONE);
    driver.heartbeat(join('a'));
    expect(commit('a', 1)).toBe(Errors.NONE);
    expect(commit('a', 2)).toBe(Errors.STALE_MEMBER_EPOCH);
    expect(commit('', -1)).toBe(Errors.UNKNOWN_MEMBER_ID);
    expect(driver.group.checkFetch(null, -1)).toBe(Errors.NONE);
    expect(driver.group.checkFetch('a', 0)).toBe(Errors.STALE_MEMBER_EPOCH);
  });
});

describe('a restart', () => {
  it('finds members, epochs and targets again', () => {
    const driver = new ConsumerDriver({ orders: 4 });
    driver.heartbeat(join('a'));
    driver.heartbeat(join('b'));
    driver.heartbeat({ memberId: 'a', memberEpoch: 1 });
    driver.restart();
    expect(driver.group.state).toBe('Reconciling');
    expect(driver.heartbeat({ memberId: 'a', memberEpoch: 1, topicPartitions: partitions(0, 1) }).memberEpoch).toBe(2);
    expect(assigned(driver.heartbeat({ memberId: 'b', memberEpoch: 2 }))).toEqual([2, 3]);
    expect(driver.group.epoch).toBe(2);
  });

  it('sees topics that changed meanwhile', () => {
    const driver = new ConsumerDriver({ orders: 1 });
    driver.heartbeat(join('a'));
    driver.setTopic('orders', 2);
    driver.restart();
    expect(assigned(driver.heartbeat({ memberId: 'a', memberEpoch: 1 }))).toEqual([0, 1]);
  });
});

describe('bad requests', () => {
  it.each<[string, Partial<ConsumerHeartbeatRequest>, number]>([
    ['no group', join('a', { groupId: '' }), Errors.INVALID_REQUEST],
    ['an empty instance id', join('a', { instanceId: '' }), Errors.INVALID_REQUEST],
    ['an empty rack', join('a', { rackId: '' }), Errors.INVALID_REQUEST],
    ['no rebalance timeout', join('a', { rebalanceTimeoutMs: -1 }), Errors.INVALID_REQUEST],
    ['partitions when joining', join('a', { topicPartitions: partitions(1) }), Errors.INVALID_REQUEST],
    ['no subscription', join('a', { subscribedTopicNames: null }), Errors.INVALID_REQUEST],
    ['an epoch that means nothing', { memberId: 'a', memberEpoch: -3 }, Errors.INVALID_REQUEST],
    ['nobody', { memberId: '', memberEpoch: 1 }, Errors.INVALID_REQUEST],
    ['an absence of nobody', { memberId: 'a', memberEpoch: -2 }, Errors.INVALID_REQUEST],
    ['an unknown assignor', join('a', { serverAssignor: 'best' }), Errors.UNSUPPORTED_ASSIGNOR],
    ['no regular expression', join('a', { subscribedTopicRegex: '(' }), Errors.INVALID_REGULAR_EXPRESSION],
    ['a backreference', join('a', { subscribedTopicRegex: '(a)\\1' }), Errors.INVALID_REGULAR_EXPRESSION],
    ['a bomb', join('a', { subscribedTopicRegex: '((a{500}){500}){500}' }), Errors.INVALID_REGULAR_EXPRESSION],
    ['a novel', join('a', { subscribedTopicRegex: 'a'.repeat(5_000) }), Errors.INVALID_REGULAR_EXPRESSION],
  ])('refuses %s', (_what, fields, error) => {
    expect(checkHeartbeat(heartbeatRequest(fields))?.error).toBe(error);
  });

  it('matches in linear time what would stop a backtracking engine', () => {
    const driver = new ConsumerDriver({ [`${'a'.repeat(200)}b`]: 1 });
    expect(
      assigned(driver.heartbeat(join('a', { subscribedTopicNames: null, subscribedTopicRegex: '(a+)+$' }))),
    ).toEqual([]);
  });
});
