/** The server-side assignors: every partition of a subscribed topic to exactly one subscriber, evenly, moving little. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Assignor, AssignorMember, TargetAssignment } from '../../src/group/consumer/assignors/assignor.ts';
import { assignors } from '../../src/group/consumer/assignors/index.ts';
import { NO_PARTITIONS, topicIdOf } from '../../src/group/consumer/partition-set.ts';
import { topicIdOf as idOf } from './support/consumer-driver.ts';

const topics = ['t0', 't1', 't2', 't3'].map(idOf);

const seed = Number(process.env.SHOAL_SEED ?? Date.now() % 2 ** 31);
console.log(`seed ${seed}`);

const subscription = fc.subarray(topics).map((ids) => new Set(ids));
const counts = fc.tuple(...topics.map(() => fc.nat(12)));

function members(subscriptions: readonly ReadonlySet<string>[], before?: TargetAssignment): AssignorMember[] {
  return subscriptions.map((subscribedTopicIds, index) => ({
    memberId: `m${index}`,
    instanceId: index % 3 === 0 ? `i${index}` : null,
    subscribedTopicIds,
    current: before?.get(`m${index}`) ?? NO_PARTITIONS,
  }));
}

function partitionsOf(partitions: readonly number[]): (topicId: string) => number {
  return (topicId) => partitions[topics.indexOf(topicId)] ?? 0;
}

function checkValid(target: TargetAssignment, of: readonly AssignorMember[], count: (topicId: string) => number): void {
  const owners = new Map<string, string>();
  for (const member of of) {
    for (const key of target.get(member.memberId)!) {
      expect(owners.has(key), `${key} is assigned twice`).toBe(false);
      expect(member.subscribedTopicIds.has(topicIdOf(key)), `${key} is subscribed to`).toBe(true);
      owners.set(key, member.memberId);
    }
  }
  const wanted = topics
    .filter((topicId) => of.some(({ subscribedTopicIds }) => subscribedTopicIds.has(topicId)))
    .reduce((sum, topicId) => sum + count(topicId), 0);
  expect(owners.size).toBe(wanted);
}

const sizes = (target: TargetAssignment): number[] => [...target.values()].map(({ size }) => size);
const spread = (target: TargetAssignment): number => Math.max(...sizes(target)) - Math.min(...sizes(target));

describe.each([...assignors])('%s', (_name, assignor: Assignor) => {
  it('assigns every partition of every subscribed topic once, to a subscriber', () => {
    fc.assert(
      fc.property(
        fc.array(subscription, { minLength: 1, maxLength: 7 }),
        counts,
        counts,
        (subscribed, first, second) => {
          const before = assignor({ members: members(subscribed), partitionsOf: partitionsOf(first) });
          checkValid(before, members(subscribed), partitionsOf(first));
          const again = members(subscribed, before);
          checkValid(assignor({ members: again, partitionsOf: partitionsOf(second) }), again, partitionsOf(second));
        },
      ),
      { seed, numRuns: 300 },
    );
  });
});

describe('uniform', () => {
  const uniform = assignors.get('uniform')!;

  it('differs by one partition at most where all subscribe to the same', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 9 }), counts, (few, many, partitions) => {
        const all = new Set(topics);
        const before = uniform({ members: members(Array(few).fill(all)), partitionsOf: partitionsOf(partitions) });
        const after = uniform({
          members: members(Array(many).fill(all), before),
          partitionsOf: partitionsOf(partitions),
        });
        expect(spread(before)).toBeLessThanOrEqual(1);
        expect(spread(after)).toBeLessThanOrEqual(1);
        const total = partitions.reduce((sum, count) => sum + count, 0);
        const kept = [...after].reduce(
          (sum, [id, set]) => sum + [...set].filter((key) => before.get(id)?.has(key)).length,
          0,
        );
        // Nobody that stays loses more than evenness asks for.
        const mayKeep = [...before].reduce((sum, [id, { size }]) => sum + Math.min(size, after.get(id)?.size ?? 0), 0);
        expect(kept).toBe(mayKeep);
        expect(sizes(after).reduce((sum, size) => sum + size, 0)).toBe(total);
      }),
      { seed, numRuns: 300 },
    );
  });

  it('leaves no move that would make unlike subscriptions more even', () => {
    fc.assert(
      fc.property(fc.array(subscription, { minLength: 1, maxLength: 7 }), counts, (subscribed, partitions) => {
        const of = members(subscribed);
        const target = uniform({ members: of, partitionsOf: partitionsOf(partitions) });
        for (const from of of) {
          for (const key of target.get(from.memberId)!) {
            for (const to of of.filter(({ subscribedTopicIds }) => subscribedTopicIds.has(topicIdOf(key)))) {
              const [a, b] = [target.get(from.memberId)!.size, target.get(to.memberId)!.size];
              expect(a, `${key} could move from ${from.memberId} to ${to.memberId}`).toBeLessThanOrEqual(b + 1);
            }
          }
        }
      }),
      { seed, numRuns: 300 },
    );
  });
});

describe('range', () => {
  it('gives neighbouring partitions, and the same ones of topics alike', () => {
    const all = new Set(topics);
    const target = assignors.get('range')!({ members: members([all, all, all]), partitionsOf: () => 7 });
    const indexes = (id: string, topicId: string): number[] =>
      [...target.get(id)!].filter((key) => topicIdOf(key) === topicId).map((key) => Number(key.slice(23)));
    expect(['m0', 'm1', 'm2'].map((id) => indexes(id, topics[0]!))).toEqual([
      [0, 1, 2],
      [3, 4],
      [5, 6],
    ]);
    expect(indexes('m1', topics[3]!)).toEqual([3, 4]);
  });
});
