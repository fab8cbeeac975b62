/**
 * One step of a member towards its target assignment (KIP-848): give up first, then take what is free, and change epoch
 * only when nothing of the old epoch is held any more. So no partition ever has two owners.
 */
import type { PartitionKey } from '../../common/topic-id-partition.ts';
import type { Uuid } from '../../common/uuid.ts';
import { type ConsumerMember, inEpoch, isReconciledTo } from './consumer-member.ts';
import {
  difference,
  filtered,
  intersection,
  intersects,
  NO_PARTITIONS,
  ofTopics,
  type PartitionSet,
  sameSet,
  union,
} from './partition-set.ts';

export interface Reconciliation {
  readonly targetEpoch: number;
  readonly target: PartitionSet;
  readonly subscribedTopicIds: ReadonlySet<Uuid>;
  /** The subscription has just changed: whatever it does not cover any more is to be given up at once. */
  readonly subscriptionChanged: boolean;
  /** What the member says it owns; null when it did not say. */
  readonly owned: PartitionSet | null;
  /** Whether nobody but this member owns a partition. */
  readonly isFree: (key: PartitionKey) => boolean;
}

/** The member after the step; the same value when there is nothing to do, or nothing to be had yet. */
export function reconcile(member: ConsumerMember, to: Reconciliation): ConsumerMember {
  const after = step(member, to);
  return isSame(member, after) ? member : after;
}

function isSame(a: ConsumerMember, b: ConsumerMember): boolean {
  if (a.state !== b.state || a.memberEpoch !== b.memberEpoch) return false;
  return sameSet(a.assigned, b.assigned) && sameSet(a.pendingRevocation, b.pendingRevocation);
}

function step(member: ConsumerMember, to: Reconciliation): ConsumerMember {
  if (isReconciledTo(member, to.targetEpoch) && !to.subscriptionChanged) return member;
  if (member.state === 'Stable' && member.memberEpoch === to.targetEpoch) return shrink(member, to);
  if (member.state !== 'UnrevokedPartitions') return next(member, member.memberEpoch, to);
  if (stillOwns(to, member.pendingRevocation)) return to.subscriptionChanged ? shrink(member, to) : member;
  // A member that had to give up because of its own change stays in its epoch until there is a target for the next.
  return next(member, Math.min(member.memberEpoch + 1, to.targetEpoch), to);
}

/** A member that does not say what it owns is taken to own all of it. */
function stillOwns({ owned }: Reconciliation, partitions: PartitionSet): boolean {
  return owned === null || intersects(owned, partitions);
}

/** Takes what is not subscribed to any more out of the assignment, and no more. */
function shrink(member: ConsumerMember, to: Reconciliation): ConsumerMember {
  const assigned = ofTopics(member.assigned, to.subscribedTopicIds);
  if (assigned === member.assigned) return member;
  const pendingRevocation = union(member.pendingRevocation, difference(member.assigned, assigned));
  if (!stillOwns(to, pendingRevocation)) return { ...member, assigned };
  return { ...member, state: 'UnrevokedPartitions', assigned, pendingRevocation };
}

function next(member: ConsumerMember, memberEpoch: number, to: Reconciliation): ConsumerMember {
  const target = ofTopics(to.target, to.subscribedTopicIds);
  const kept = intersection(member.assigned, target);
  const pendingRevocation = difference(member.assigned, kept);
  if (pendingRevocation.size > 0 && stillOwns(to, pendingRevocation)) {
    return { ...inEpoch(member, memberEpoch), state: 'UnrevokedPartitions', assigned: kept, pendingRevocation };
  }
  const wanted = difference(target, kept);
  const free = filtered(wanted, to.isFree);
  return {
    ...inEpoch(member, to.targetEpoch),
    state: free.size === wanted.size ? 'Stable' : 'UnreleasedPartitions',
    assigned: union(kept, free),
    pendingRevocation: NO_PARTITIONS,
  };
}
