/**
 * The `simple` assignor of share groups: every partition has a member, and every member a partition where its
 * subscription allows. While there are more partitions than members, each has one member, as evenly and with as little
 * change as with `uniform`; members beyond that share partitions, the least shared first, and keep the one they share.
 */
import type { PartitionKey } from '../../common/topic-id-partition.ts';
import {
  type AssignorMember,
  type AssignorRequest,
  inOrder,
  subscribers,
  type TargetAssignment,
} from '../consumer/assignors/assignor.ts';
import { uniformAssignor } from '../consumer/assignors/uniform.ts';
import { type PartitionSet, topicIdOf } from '../consumer/partition-set.ts';

export const SIMPLE_ASSIGNOR = 'simple';

export function simpleAssignor(request: AssignorRequest): TargetAssignment {
  const target = new Map<string, PartitionSet>(uniformAssignor(request));
  const idle = inOrder(request.members).filter(({ memberId }) => target.get(memberId)!.size === 0);
  if (idle.length === 0) return target;
  const shares = sharesOf(request);
  for (const set of target.values()) for (const key of set) shares.set(key, shares.get(key)! + 1);
  for (const member of idle) {
    const key = leastShared(member, shares);
    if (key === undefined) continue;
    shares.set(key, shares.get(key)! + 1);
    target.set(member.memberId, new Set([key]));
  }
  return target;
}

/** All partitions of subscribed topics, nobody in any. */
function sharesOf({ members, partitionsOf }: AssignorRequest): Map<PartitionKey, number> {
  const shares = new Map<PartitionKey, number>();
  for (const topicId of subscribers(members).keys()) {
    for (let partition = 0; partition < partitionsOf(topicId); partition += 1) shares.set(`${topicId}-${partition}`, 0);
  }
  return shares;
}

/** Of the partitions that a member may have, one with the fewest members: the one it had, if that is one of them. */
function leastShared(member: AssignorMember, shares: ReadonlyMap<PartitionKey, number>): PartitionKey | undefined {
  let least: PartitionKey | undefined;
  for (const [key, count] of shares) {
    if (!member.subscribedTopicIds.has(topicIdOf(key))) continue;
    const best = least === undefined ? Number.POSITIVE_INFINITY : shares.get(least)!;
    if (count < best || (count === best && member.current.has(key) && !member.current.has(least!))) least = key;
  }
  return least;
}
