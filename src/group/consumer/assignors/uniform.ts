/**
 * The `uniform` assignor: loads differ as little as subscriptions allow, and members keep as much of what they had as
 * that permits.
 *
 * When all are subscribed to the same topics, the loads are known beforehand (they differ by one at most) and one pass
 * over the partitions does. Otherwise partitions go one by one to the least loaded subscriber, and are then moved as
 * long as a move makes two loads more even; every move lowers the sum of squared loads, so that ends.
 */
import type { PartitionKey } from '../../../common/topic-id-partition.ts';
import type { Uuid } from '../../../common/uuid.ts';
import { topicIdOf } from '../partition-set.ts';
import { type AssignorMember, type AssignorRequest, inOrder, subscribers, type TargetAssignment } from './assignor.ts';

interface Load {
  readonly member: AssignorMember;
  readonly partitions: Set<PartitionKey>;
}

export function uniformAssignor(request: AssignorRequest): TargetAssignment {
  const loads = inOrder(request.members).map((member): Load => ({ member, partitions: new Set() }));
  const byTopic = subscribers(loads.map(({ member }) => member));
  const same = [...byTopic.values()].every((subscribed) => subscribed.length === loads.length);
  if (same) assignAlike(loads, byTopic, request);
  else assignUnlike(loads, byTopic, request);
  return new Map(loads.map(({ member, partitions }) => [member.memberId, partitions]));
}

/** All partitions of the topics, with those that a member had under the first that claims them. */
function allPartitions(byTopic: ReadonlyMap<Uuid, unknown>, { partitionsOf }: AssignorRequest): Set<PartitionKey> {
  const keys = new Set<PartitionKey>();
  for (const topicId of [...byTopic.keys()].sort()) {
    const count = partitionsOf(topicId);
    for (let partition = 0; partition < count; partition += 1) keys.add(`${topicId}-${partition}`);
  }
  return keys;
}

function assignAlike(loads: readonly Load[], byTopic: ReadonlyMap<Uuid, unknown>, request: AssignorRequest): void {
  const left = allPartitions(byTopic, request);
  if (loads.length === 0 || left.size === 0) return;
  const each = Math.floor(left.size / loads.length);
  let extra = left.size % loads.length;
  // Who has more than its share keeps one of the places that are one larger, as long as there are any.
  for (const load of loads) {
    const had = [...load.member.current].filter((key) => left.has(key));
    const larger = extra > 0 && had.length > each;
    if (larger) extra -= 1;
    for (const key of had.slice(0, each + (larger ? 1 : 0))) take(load, key, left);
  }
  const rest = left.values();
  for (const load of loads) {
    let share = Math.max(each - load.partitions.size, 0);
    if (extra > 0 && load.partitions.size <= each) {
      share += 1;
      extra -= 1;
    }
    for (; share > 0; share -= 1) take(load, rest.next().value!, left);
  }
}

function take({ partitions }: Load, key: PartitionKey, left: Set<PartitionKey>): void {
  left.delete(key);
  partitions.add(key);
}

function assignUnlike(
  loads: readonly Load[],
  byTopic: ReadonlyMap<Uuid, readonly AssignorMember[]>,
  request: AssignorRequest,
): void {
  const left = allPartitions(byTopic, request);
  const byId = new Map(loads.map((load) => [load.member.memberId, load]));
  const eligible = new Map(
    [...byTopic].map(([topicId, members]) => [topicId, members.map(({ memberId }) => byId.get(memberId)!)]),
  );
  for (const load of loads) {
    for (const key of load.member.current) {
      if (left.has(key) && load.member.subscribedTopicIds.has(topicIdOf(key))) take(load, key, left);
    }
  }
  // Topics that few can take come first: who can take others as well is then loaded with those.
  const byFewest = [...left].sort((a, b) => eligible.get(topicIdOf(a))!.length - eligible.get(topicIdOf(b))!.length);
  for (const key of byFewest) take(leastLoaded(eligible.get(topicIdOf(key))!), key, left);
  balance(loads, eligible);
}

function leastLoaded(loads: readonly Load[]): Load {
  return loads.reduce((least, load) => (load.partitions.size < least.partitions.size ? load : least));
}

function balance(loads: readonly Load[], eligible: ReadonlyMap<Uuid, readonly Load[]>): void {
  for (let moved = true; moved; ) {
    moved = false;
    for (const from of [...loads].sort((a, b) => b.partitions.size - a.partitions.size)) {
      if (relieve(from, eligible)) moved = true;
    }
  }
}

/** Moves what makes loads more even from one member to others. */
function relieve(from: Load, eligible: ReadonlyMap<Uuid, readonly Load[]>): boolean {
  let moved = false;
  for (const key of [...from.partitions]) {
    const to = leastLoaded(eligible.get(topicIdOf(key))!);
    if (from.partitions.size <= to.partitions.size + 1) continue;
    from.partitions.delete(key);
    to.partitions.add(key);
    moved = true;
  }
  return moved;
}
