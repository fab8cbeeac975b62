/** The classic group's state machine, case by case, with Kafka's answers. */
import { describe, expect, it } from 'vitest';
import { Errors } from '../../src/common/errors.ts';
import type { JoinGroupRequest } from '../../src/group/classic/classic-requests.ts';
import { bytes, ClassicDriver, text } from './support/classic-driver.ts';

const offering = (...names: string[]): Partial<JoinGroupRequest> => ({
  protocols: names.map((name) => ({ name, metadata: bytes(name) })),
});

describe('joining', () => {
  it('lets one member join, lead, assign and become stable', () => {
    const driver = new ClassicDriver();
    const joined = driver.join().value;
    expect(joined).toMatchObject({
      error: Errors.NONE,
      generationId: 1,
      protocolName: 'range',
      protocolType: 'consumer',
    });
    expect(joined.leader).toBe(joined.memberId);
    expect(joined.members.map(({ metadata }) => text(metadata))).toEqual(['m']);
    expect(driver.group.state).toBe('CompletingRebalance');
    expect(text(driver.syncAsLeader(joined).value.assignment)).toBe(joined.memberId);
    expect(driver.group.state).toBe('Stable');
    expect(driver.heartbeat(joined)).toBe(Errors.NONE);
  });

  it('gives a dynamic member its id first where the version asks for it', () => {
    const driver = new ClassicDriver();
    const refused = driver.join({ requireKnownMemberId: true, clientId: 'app' }).value;
    expect(refused.error).toBe(Errors.MEMBER_ID_REQUIRED);
    expect(refused.memberId).toMatch(/^app-/);
    expect(driver.group.isEmpty).toBe(false);
    expect(driver.stored).toEqual([]);
    const joined = driver.join({ requireKnownMemberId: true, memberId: refused.memberId }).value;
    expect(joined).toMatchObject({ error: Errors.NONE, memberId: refused.memberId, generationId: 1 });
  });

  it('forgets an id that nobody came back with', () => {
    const driver = new ClassicDriver();
    const { memberId } = driver.join({ requireKnownMemberId: true, sessionTimeoutMs: 8_000 }).value;
    driver.advance(8_000);
    expect(driver.group.isEmpty).toBe(true);
    expect(driver.join({ memberId }).value.error).toBe(Errors.UNKNOWN_MEMBER_ID);
  });

  it('waits in a rebalance for a member that was given an id', () => {
    const driver = new ClassicDriver();
    const [leader] = driver.stable(1);
    const { memberId } = driver.join({ requireKnownMemberId: true }).value;
    const rejoined = driver.join({ memberId: leader!.memberId });
    expect(rejoined.answered).toBe(false);
    const newcomer = driver.join({ requireKnownMemberId: true, memberId });
    expect(rejoined.value.members).toHaveLength(2);
    expect(newcomer.value.members).toEqual([]);
  });

  it('refuses unknown members, foreign protocols and protocols that nobody shares', () => {
    const driver = new ClassicDriver();
    expect(driver.join({ memberId: 'nobody' }).value.error).toBe(Errors.UNKNOWN_MEMBER_ID);
    expect(driver.join({ protocols: [] }).value.error).toBe(Errors.INCONSISTENT_GROUP_PROTOCOL);
    expect(driver.join({ protocolType: '' }).value.error).toBe(Errors.INCONSISTENT_GROUP_PROTOCOL);
    driver.stable(1);
    expect(driver.join({ protocolType: 'connect' }).value.error).toBe(Errors.INCONSISTENT_GROUP_PROTOCOL);
    expect(driver.join(offering('roundrobin')).value.error).toBe(Errors.INCONSISTENT_GROUP_PROTOCOL);
    expect(driver.group.state).toBe('Stable');
  });

  it('refuses members beyond the group size', () => {
    const driver = new ClassicDriver({ groupMaxSize: 2 });
    const joined = driver.stable(2);
    expect(driver.join().value.error).toBe(Errors.GROUP_MAX_SIZE_REACHED);
    expect(driver.heartbeat(joined[0]!)).toBe(Errors.NONE);
  });

  it('chooses the protocol with the most votes among those that all support', () => {
    const driver = new ClassicDriver();
    const first = driver.join(offering('a', 'b')).value;
    const second = driver.join(offering('b', 'a', 'c'));
    const third = driver.join(offering('c', 'b', 'a'));
    const rejoined = driver.join({ memberId: first.memberId, ...offering('a', 'b') });
    expect([rejoined, second, third].map(({ value }) => value.protocolName)).toEqual(['b', 'b', 'b']);
    expect(rejoined.value.members.map(({ metadata }) => text(metadata))).toEqual(['b', 'b', 'b']);
  });
});

describe('the initial rebalance delay', () => {
  it('gathers members that start together into one generation, each newcomer prolonging it', () => {
    const driver = new ClassicDriver({ groupInitialRebalanceDelayMs: 3_000 });
    const first = driver.join({ rebalanceTimeoutMs: 10_000 });
    driver.advance(2_000);
    const second = driver.join({ rebalanceTimeoutMs: 10_000 });
    driver.advance(1_000);
    expect(first.answered).toBe(false);
    driver.advance(3_000);
    expect([first.value.generationId, second.value.generationId]).toEqual([1, 1]);
    expect(first.value.members).toHaveLength(2);
  });

  it('ends with the rebalance timeout however many come', () => {
    const driver = new ClassicDriver({ groupInitialRebalanceDelayMs: 3_000 });
    const first = driver.join({ rebalanceTimeoutMs: 7_000 });
    for (let second = 0; second < 6; second += 1) {
      driver.advance(1_000);
      driver.join({ rebalanceTimeoutMs: 7_000 });
    }
    expect(first.answered).toBe(false);
    driver.advance(1_000);
    expect(first.value.members).toHaveLength(7);
  });
});

describe('rebalancing', () => {
  it('asks members to rejoin by their heartbeats, and ends when all have', () => {
    const driver = new ClassicDriver();
    const [leader] = driver.stable(1);
    const newcomer = driver.join();
    expect(driver.group.state).toBe('PreparingRebalance');
    expect(driver.heartbeat(leader!)).toBe(Errors.REBALANCE_IN_PROGRESS);
    expect(driver.sync(leader!).value.error).toBe(Errors.REBALANCE_IN_PROGRESS);
    const rejoined = driver.join({ memberId: leader!.memberId }).value;
    expect(rejoined).toMatchObject({ generationId: 2, leader: leader!.memberId });
    expect(newcomer.value).toMatchObject({ generationId: 2, leader: leader!.memberId, members: [] });
    expect(driver.heartbeat({ ...leader!, generationId: 1 })).toBe(Errors.ILLEGAL_GENERATION);
    expect(driver.heartbeat(rejoined)).toBe(Errors.NONE);
  });

  it('drops members that do not rejoin within the rebalance timeout, and elects another leader', () => {
    const driver = new ClassicDriver();
    const [leader, follower] = driver.stable(2, () => ({ sessionTimeoutMs: 100_000, rebalanceTimeoutMs: 20_000 }));
    driver.join({ sessionTimeoutMs: 100_000, rebalanceTimeoutMs: 20_000 });
    const rejoined = driver.join({
      memberId: follower!.memberId,
      sessionTimeoutMs: 100_000,
      rebalanceTimeoutMs: 20_000,
    });
    driver.advance(19_999);
    expect(rejoined.answered).toBe(false);
    driver.advance(1);
    expect(rejoined.value.leader).toBe(follower!.memberId);
    expect(rejoined.value.members.map(({ memberId }) => memberId)).not.toContain(leader!.memberId);
    expect(driver.heartbeat(leader!)).toBe(Errors.UNKNOWN_MEMBER_ID);
  });

  it('lets a follower with the same subscription back in without a rebalance, but not the leader', () => {
    const driver = new ClassicDriver();
    const [leader, follower] = driver.stable(2);
    const generation = driver.group.generationId;
    expect(driver.join({ memberId: follower!.memberId }).value).toMatchObject({
      generationId: generation,
      members: [],
    });
    expect(driver.group.state).toBe('Stable');
    expect(driver.join({ memberId: leader!.memberId }).answered).toBe(false);
    expect(driver.group.state).toBe('PreparingRebalance');
  });

  it('rebalances when a follower changes its subscription', () => {
    const driver = new ClassicDriver();
    const [, follower] = driver.stable(2);
    const changed = { protocols: [{ name: 'range', metadata: bytes('other') }] };
    expect(driver.join({ memberId: follower!.memberId, ...changed }).answered).toBe(false);
    expect(driver.group.state).toBe('PreparingRebalance');
  });

  it('repeats the answer to a member that missed it', () => {
    const driver = new ClassicDriver();
    const { memberId } = driver.join().value;
    const again = driver.join({ memberId }).value;
    expect(again).toMatchObject({ generationId: 1, memberId, leader: memberId });
    expect(again.members).toHaveLength(1);
  });

  it('removes members that never sync', () => {
    const driver = new ClassicDriver();
    const [leader] = driver.stable(1, () => ({ sessionTimeoutMs: 100_000, rebalanceTimeoutMs: 20_000 }));
    const patient = { sessionTimeoutMs: 100_000, rebalanceTimeoutMs: 20_000 };
    const newcomer = driver.join(patient);
    const rejoined = driver.join({ memberId: leader!.memberId, ...patient }).value;
    const synced = driver.sync(newcomer.value);
    driver.advance(20_000);
    expect(driver.heartbeat(rejoined)).toBe(Errors.UNKNOWN_MEMBER_ID);
    expect(synced.value.error).toBe(Errors.REBALANCE_IN_PROGRESS);
    expect(driver.join({ memberId: newcomer.value.memberId, ...patient }).value).toMatchObject({
      leader: newcomer.value.memberId,
    });
  });

  it('answers a join that its member has repeated elsewhere', () => {
    const driver = new ClassicDriver();
    const [leader] = driver.stable(1);
    driver.join();
    const gone = driver.join();
    const memberId = [...driver.group.members].at(-1)!.memberId;
    const repeated = driver.join({ memberId });
    expect(gone.value.error).toBe(Errors.REBALANCE_IN_PROGRESS);
    driver.join({ memberId: leader!.memberId });
    expect(repeated.answered).toBe(true);
  });
});

describe('syncing', () => {
  it('parks followers until the leader has assigned', () => {
    const driver = new ClassicDriver();
    const [leader] = driver.stable(1);
    const newcomer = driver.join();
    const rejoined = driver.join({ memberId: leader!.memberId }).value;
    const follower = driver.sync(newcomer.value);
    expect(follower.answered).toBe(false);
    driver.syncAsLeader(rejoined);
    expect(text(follower.value.assignment)).toBe(newcomer.value.memberId);
    expect(text(driver.sync(newcomer.value).value.assignment)).toBe(newcomer.value.memberId);
  });

  it('gives nothing to members that the leader left out, and ignores those it invented', () => {
    const driver = new ClassicDriver();
    const joined = driver.join().value;
    const assignments = [{ memberId: 'nobody', assignment: bytes('x') }];
    expect(driver.sync(joined, { assignments }).value).toMatchObject({ error: Errors.NONE });
    expect([...driver.group.members][0]!.assignment).toHaveLength(0);
  });

  it('refuses other generations, members and protocols', () => {
    const driver = new ClassicDriver();
    const joined = driver.join().value;
    expect(driver.sync({ ...joined, generationId: 0 }).value.error).toBe(Errors.ILLEGAL_GENERATION);
    expect(driver.sync({ ...joined, memberId: 'nobody' }).value.error).toBe(Errors.UNKNOWN_MEMBER_ID);
    expect(driver.sync(joined, { protocolType: 'connect' }).value.error).toBe(Errors.INCONSISTENT_GROUP_PROTOCOL);
    expect(driver.sync(joined, { protocolName: 'sticky' }).value.error).toBe(Errors.INCONSISTENT_GROUP_PROTOCOL);
    expect(driver.sync(joined, { protocolType: 'consumer', protocolName: 'range' }).value.error).toBe(Errors.NONE);
  });
});

describe('sessions', () => {
  it('removes a member that has stopped heartbeating and rebalances the rest', () => {
    const driver = new ClassicDriver();
    const [leader, follower] = driver.stable(2);
    driver.advance(9_000);
    expect(driver.heartbeat(follower!)).toBe(Errors.NONE);
    driver.advance(1_000);
    expect(driver.heartbeat(leader!)).toBe(Errors.UNKNOWN_MEMBER_ID);
    expect(driver.heartbeat(follower!)).toBe(Errors.REBALANCE_IN_PROGRESS);
    expect(driver.join({ memberId: follower!.memberId }).value.leader).toBe(follower!.memberId);
  });

  it('keeps members whose join is parked, however long the rebalance takes', () => {
    const driver = new ClassicDriver();
    const [leader, follower] = driver.stable(2, () => ({ sessionTimeoutMs: 6_000, rebalanceTimeoutMs: 60_000 }));
    const parked = driver.join({ memberId: leader!.memberId, sessionTimeoutMs: 6_000 });
    for (let second = 0; second < 30; second += 1) {
      driver.advance(1_000);
      expect(driver.heartbeat(follower!)).toBe(Errors.REBALANCE_IN_PROGRESS);
    }
    expect(parked.answered).toBe(false);
    driver.join({ memberId: follower!.memberId });
    expect(parked.value.members).toHaveLength(2);
  });

  it('counts a commit as a sign of life', () => {
    const driver = new ClassicDriver();
    const [member] = driver.stable(1);
    for (let second = 0; second < 30; second += 1) {
      driver.advance(1_000);
      expect(driver.commit(member!.memberId, 1)).toBe(Errors.NONE);
    }
  });

  it('becomes empty, in a new generation that is stored, when the last member is gone', () => {
    const driver = new ClassicDriver();
    driver.stable(1);
    driver.advance(10_000);
    expect(driver.group.state).toBe('Empty');
    expect(driver.stored.at(-1)).toMatchObject({ epoch: 2 });
    expect(driver.join().value.generationId).toBe(3);
  });

  it('gives a newcomer up whose join was never answered', () => {
    const driver = new ClassicDriver();
    const [leader] = driver.stable(1, () => ({ sessionTimeoutMs: 1_000_000, rebalanceTimeoutMs: 1_000_000 }));
    const newcomer = driver.join();
    driver.advance(5 * 60_000);
    expect(newcomer.value.error).toBe(Errors.UNKNOWN_MEMBER_ID);
    expect(driver.join({ memberId: leader!.memberId }).value.members).toHaveLength(1);
  });
});

describe('leaving', () => {
  it('answers for every member of the request and rebalances once', () => {
    const driver = new ClassicDriver();
    const [leader, second, third] = driver.stable(3);
    const results = driver.leave(leader!.memberId, 'nobody', second!.memberId);
    expect(results.map(({ error }) => error)).toEqual([Errors.NONE, Errors.UNKNOWN_MEMBER_ID, Errors.NONE]);
    expect(driver.join({ memberId: third!.memberId }).value).toMatchObject({
      leader: third!.memberId,
      generationId: 4,
    });
  });

  it('completes a rebalance that was waiting for the one that left', () => {
    const driver = new ClassicDriver();
    const [leader, second] = driver.stable(2);
    const rejoined = driver.join({ memberId: leader!.memberId });
    driver.leave(second!.memberId);
    expect(rejoined.value.members).toHaveLength(1);
  });

  it('lets go of an id that was given out, without a rebalance', () => {
    const driver = new ClassicDriver();
    driver.stable(1);
    const { memberId } = driver.join({ requireKnownMemberId: true }).value;
    expect(driver.leave(memberId)[0]!.error).toBe(Errors.NONE);
    expect(driver.group.state).toBe('Stable');
  });

  it('removes a static member by its instance id alone', () => {
    const driver = new ClassicDriver();
    const [member] = driver.stable(1, () => ({ groupInstanceId: 'one' }));
    const wrong = { memberId: 'other', groupInstanceId: 'one' };
    expect(driver.leave(wrong)[0]!.error).toBe(Errors.FENCED_INSTANCE_ID);
    expect(driver.leave({ memberId: '', groupInstanceId: 'two' })[0]!.error).toBe(Errors.UNKNOWN_MEMBER_ID);
    expect(driver.leave({ memberId: '', groupInstanceId: 'one' })[0]!.error).toBe(Errors.NONE);
    expect(driver.heartbeat(member!, 'one')).toBe(Errors.UNKNOWN_MEMBER_ID);
  });
});

describe('static members', () => {
  const instance = (index: number) => ({ groupInstanceId: `i${index}`, sessionTimeoutMs: 30_000 });

  it('takes its place back without a rebalance, and fences whoever held it', () => {
    const driver = new ClassicDriver();
    const [leader, follower] = driver.stable(2, instance);
    const returned = driver.join(instance(1)).value;
    expect(driver.group.state).toBe('Stable');
    expect(returned).toMatchObject({
      error: Errors.NONE,
      generationId: leader!.generationId,
      leader: leader!.memberId,
    });
    expect(returned.memberId).not.toBe(follower!.memberId);
    const { assignment } = driver.sync(returned, { groupInstanceId: 'i1' }).value;
    expect(text(assignment)).toBe(follower!.memberId);
    expect(driver.heartbeat(follower!, 'i1')).toBe(Errors.FENCED_INSTANCE_ID);
    expect(driver.commit(follower!.memberId, follower!.generationId, 'i1')).toBe(Errors.FENCED_INSTANCE_ID);
    expect(driver.heartbeat(returned, 'i1')).toBe(Errors.NONE);
  });

  it('tells a leader that comes back to keep the assignment (v9), older clients that another leads', () => {
    for (const supportSkippingAssignment of [true, false]) {
      const driver = new ClassicDriver();
      const [leader] = driver.stable(2, instance);
      const returned = driver.join({ ...instance(0), supportSkippingAssignment }).value;
      expect(returned.skipAssignment).toBe(supportSkippingAssignment);
      expect(returned.leader).toBe(supportSkippingAssignment ? returned.memberId : leader!.memberId);
      expect(returned.members).toHaveLength(supportSkippingAssignment ? 2 : 0);
    }
  });

  it('remembers the new member id over a restart', () => {
    const driver = new ClassicDriver();
    const [, follower] = driver.stable(2, instance);
    const returned = driver.join(instance(1)).value;
    driver.restart();
    expect(driver.heartbeat(returned, 'i1')).toBe(Errors.NONE);
    expect(driver.heartbeat(follower!, 'i1')).toBe(Errors.FENCED_INSTANCE_ID);
  });

  it('rebalances when its return would change the protocol', () => {
    const driver = new ClassicDriver();
    driver.stable(1, () => ({ ...instance(0), ...offering('a', 'b') }));
    expect(driver.join({ ...instance(0), ...offering('b') }).value).toMatchObject({
      generationId: 2,
      protocolName: 'b',
    });
  });

  it('rebalances when it returns while the leader assigns', () => {
    const driver = new ClassicDriver();
    const [leader] = driver.stable(1, instance);
    const newcomer = driver.join(instance(1));
    driver.join({ ...instance(0), memberId: leader!.memberId });
    const parked = driver.sync(newcomer.value, { groupInstanceId: 'i1' });
    const returned = driver.join(instance(1));
    expect(parked.value.error).toBe(Errors.FENCED_INSTANCE_ID);
    expect(driver.group.state).toBe('PreparingRebalance');
    driver.join({ ...instance(0), memberId: leader!.memberId });
    expect(returned.value.generationId).toBe(3);
  });

  it('keeps its place while it is away in a rebalance, until its session ends', () => {
    const driver = new ClassicDriver();
    const away = { ...instance(1), sessionTimeoutMs: 50_000, rebalanceTimeoutMs: 5_000 };
    const [leader] = driver.stable(2, (index) => ({
      ...instance(index),
      ...(index === 1 ? away : { rebalanceTimeoutMs: 5_000 }),
    }));
    const rejoined = driver.join({ ...instance(0), memberId: leader!.memberId, rebalanceTimeoutMs: 5_000 });
    driver.advance(5_000);
    expect(rejoined.value.members.map(({ groupInstanceId }) => groupInstanceId)).toEqual(['i0', 'i1']);
  });
});

describe('commits', () => {
  it('takes commits of the current generation only', () => {
    const driver = new ClassicDriver();
    const [member] = driver.stable(2);
    const { memberId, generationId } = member!;
    expect(driver.commit(memberId, generationId)).toBe(Errors.NONE);
    expect(driver.commit(memberId, generationId - 1)).toBe(Errors.ILLEGAL_GENERATION);
    expect(driver.commit(memberId, generationId + 1)).toBe(Errors.ILLEGAL_GENERATION);
    expect(driver.commit('nobody', generationId)).toBe(Errors.UNKNOWN_MEMBER_ID);
    expect(driver.commit('', -1)).toBe(Errors.UNKNOWN_MEMBER_ID);
  });

  it('takes commits while members are asked to rejoin, but not while the leader assigns', () => {
    const driver = new ClassicDriver();
    const [leader, follower] = driver.stable(2);
    driver.join({ memberId: leader!.memberId });
    expect(driver.commit(follower!.memberId, follower!.generationId)).toBe(Errors.NONE);
    const rejoined = driver.join({ memberId: follower!.memberId }).value;
    expect(driver.commit(rejoined.memberId, rejoined.generationId)).toBe(Errors.REBALANCE_IN_PROGRESS);
  });

  it('takes commits from outside while nobody is in the group', () => {
    const driver = new ClassicDriver();
    expect(driver.commit('', -1)).toBe(Errors.NONE);
    driver.stable(1);
    driver.leave(...[...driver.group.members].map(({ memberId }) => memberId));
    expect(driver.commit('', -1)).toBe(Errors.NONE);
  });
});

describe('a restart', () => {
  it('finds members again: heartbeats and commits of the current generation go on, older ones are refused', () => {
    const driver = new ClassicDriver();
    const [leader, follower] = driver.stable(2);
    driver.restart();
    expect(driver.group.state).toBe('Stable');
    expect(driver.heartbeat(leader!)).toBe(Errors.NONE);
    expect(driver.commit(follower!.memberId, follower!.generationId)).toBe(Errors.NONE);
    expect(driver.commit(follower!.memberId, follower!.generationId - 1)).toBe(Errors.ILLEGAL_GENERATION);
    expect(text(driver.sync(follower!).value.assignment)).toBe(follower!.memberId);
    driver.advance(10_000);
    expect(driver.group.state).toBe('Empty');
  });

  it('goes on where the leader was assigning', () => {
    const driver = new ClassicDriver();
    const joined = driver.join().value;
    driver.restart();
    expect(driver.commit(joined.memberId, 1)).toBe(Errors.REBALANCE_IN_PROGRESS);
    expect(text(driver.syncAsLeader(joined).value.assignment)).toBe(joined.memberId);
  });

  it('takes a rebalance that had begun up anew', () => {
    const driver = new ClassicDriver();
    const [leader] = driver.stable(1);
    const { memberId } = driver.join({ requireKnownMemberId: true }).value;
    driver.join({ memberId });
    driver.restart();
    expect(driver.join({ memberId }).value.error).toBe(Errors.UNKNOWN_MEMBER_ID);
    expect(driver.heartbeat(leader!)).toBe(Errors.NONE);
    driver.join();
    expect(driver.join({ memberId: leader!.memberId }).value.generationId).toBe(leader!.generationId + 1);
  });
});
