/** A server-side assignor: pure, and every partition to at most one member. */
import type { Uuid } from '../../../common/uuid.ts';
import type { PartitionSet } from '../partition-set.ts';

export interface AssignorMember {
  readonly memberId: string;
  readonly instanceId: string | null;
  readonly subscribedTopicIds: ReadonlySet<Uuid>;
  /** Its target up to now, which an assignor may keep to move little. */
  readonly current: PartitionSet;
}

export interface AssignorRequest {
  readonly members: readonly AssignorMember[];
  /** How many partitions a topic has; 0 when it does not exist (any more). */
  readonly partitionsOf: (topicId: Uuid) => number;
}

/** The target by member id: every member has an entry. */
export type TargetAssignment = ReadonlyMap<string, PartitionSet>;

export type Assignor = (request: AssignorRequest) => TargetAssignment;

/** Members by static id, else by member id: an order that restarts of static members don't change. */
export function inOrder(members: readonly AssignorMember[]): AssignorMember[] {
  const rank = ({ instanceId, memberId }: AssignorMember): string =>
    instanceId === null ? `1${memberId}` : `0${instanceId}`;
  return [...members].sort((a, b) => (rank(a) < rank(b) ? -1 : 1));
}

/** All topics that somebody is subscribed to, with their subscribers. */
export function subscribers(members: readonly AssignorMember[]): Map<Uuid, AssignorMember[]> {
  const byTopic = new Map<Uuid, AssignorMember[]>();
  for (const member of members) {
    for (const topicId of member.subscribedTopicIds) {
      const list = byTopic.get(topicId);
      if (list) list.push(member);
      else byTopic.set(topicId, [member]);
    }
  }
  return byTopic;
}
