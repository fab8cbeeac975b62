/**
 * The `range` assignor: of each topic, every subscriber gets a run of neighbouring partitions. Topics with the same
 * number of partitions and the same subscribers are cut at the same places, so that equal partitions come together.
 */
import { type AssignorRequest, inOrder, subscribers, type TargetAssignment } from './assignor.ts';

export function rangeAssignor({ members, partitionsOf }: AssignorRequest): TargetAssignment {
  const ordered = inOrder(members);
  const target = new Map(ordered.map(({ memberId }) => [memberId, new Set<string>()]));
  for (const [topicId, subscribed] of subscribers(ordered)) {
    const partitions = partitionsOf(topicId);
    const each = Math.floor(partitions / subscribed.length);
    const extra = partitions % subscribed.length;
    let partition = 0;
    subscribed.forEach(({ memberId }, index) => {
      const end = partition + each + (index < extra ? 1 : 0);
      const set = target.get(memberId)!;
      for (; partition < end; partition += 1) set.add(`${topicId}-${partition}`);
    });
  }
  return target;
}
