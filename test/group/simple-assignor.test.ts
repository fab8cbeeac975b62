/** The assignor of share groups: everybody works and nothing lies idle, evenly, moving little. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AssignorMember, TargetAssignment } from '../../src/group/consumer/assignors/assignor.ts';
import { NO_PARTITIONS, sameSet, topicIdOf } from '../../src/group/consumer/partition-set.ts';
import { simpleAssignor } from '../../src/group/share/simple-assignor.ts';
import { topicIdOf as idOf } from './support/consumer-driver.ts';

const topics = ['t0', 't1', 't2'].map(idOf);
const seed = Number(process.env.SHOAL_SEED ?? Date.now() % 2 ** 31);
console.log(`seed ${seed}`);

const subscription = fc.subarray(topics).map((ids) => new Set(ids));
const subscriptions = fc.array(subscription, { minLength: 1, maxLength: 12 });
const counts = fc.tuple(...topics.map(() => fc.nat(6)));

function members(subscribed: readonly ReadonlySet<string>[], before?: TargetAssignment): AssignorMember[] {
  return subscribed.map((subscribedTopicIds, index) => ({
    memberId: `m${index}`,
    instanceId: null,
    subscribedTopicIds,
    current: before?.get(`m${index}`) ?? NO_PARTITIONS,
  }));
}

const partitionsOf = (partitions: readonly number[]) => (topicId: string) => partitions[topics.indexOf(topicId)] ?? 0;

function sharesOf(target: TargetAssignment): Map<string, number> {
  const shares = new Map<string, number>();
  for (const set of target.values()) for (const key of set) shares.set(key, (shares.get(key) ?? 0) + 1);
  return shares;
}

function check(target: TargetAssignment, of: readonly AssignorMember[], count: (topicId: string) => number): void {
  const shares = sharesOf(target);
  const subscribed = topics.filter((topicId) => of.some((member) => member.subscribedTopicIds.has(topicId)));
  expect(shares.size, 'every partition has a member').toBe(subscribed.reduce((sum, id) => sum + count(id), 0));
  for (const { memberId, subscribedTopicIds } of of) {
    const set = target.get(memberId)!;
    for (const key of set) expect(subscribedTopicIds.has(topicIdOf(key))).toBe(true);
    const available = [...subscribedTopicIds].reduce((sum, id) => sum + count(id), 0);
    expect(set.size > 0, `${memberId} works where it can`).toBe(available > 0);
  }
}

const spread = (sizes: readonly number[]): number => Math.max(...sizes) - Math.min(...sizes);

describe('simple', () => {
  it('gives every partition a member and every member a partition, whatever they are subscribed to', () => {
    const property = fc.property(subscriptions, counts, counts, (subscribed, first, second) => {
      const before = simpleAssignor({ members: members(subscribed), partitionsOf: partitionsOf(first) });
      check(before, members(subscribed), partitionsOf(first));
      const again = members(subscribed, before);
      check(simpleAssignor({ members: again, partitionsOf: partitionsOf(second) }), again, partitionsOf(second));
    });
    fc.assert(property, { seed, numRuns: 300 });
  });

  it('is even among members with the same subscription, and among partitions, and stays as it is', () => {
    const property = fc.property(fc.integer({ min: 1, max: 20 }), counts, (size, count) => {
      const subscribed = Array.from({ length: size }, () => new Set(topics));
      const target = simpleAssignor({ members: members(subscribed), partitionsOf: partitionsOf(count) });
      expect(spread([...target.values()].map((set) => set.size))).toBeLessThanOrEqual(1);
      const shares = [...sharesOf(target).values()];
      if (shares.length > 0) expect(spread(shares)).toBeLessThanOrEqual(1);
      const again = simpleAssignor({ members: members(subscribed, target), partitionsOf: partitionsOf(count) });
      for (const [memberId, set] of target) expect(sameSet(set, again.get(memberId)!)).toBe(true);
    });
    fc.assert(property, { seed, numRuns: 300 });
  });
});
