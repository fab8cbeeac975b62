/** What a heartbeat says of its member: whether it may, and what it changes. */
import { epochFenced, type Found } from '../heartbeat-refusals.ts';
import type { ConsumerMember } from './consumer-member.ts';
import type { ConsumerHeartbeatRequest } from './consumer-requests.ts';
import { fromTopics, isSubset, NO_PARTITIONS, sameSet } from './partition-set.ts';

/** A member that joins again has nothing; what it was told before does not hold any more. */
export function restarted(member: ConsumerMember): ConsumerMember {
  return {
    ...member,
    memberEpoch: 0,
    previousMemberEpoch: -1,
    state: 'Stable',
    assigned: NO_PARTITIONS,
    pendingRevocation: NO_PARTITIONS,
  };
}

/**
 * The epoch must be the member's own. The one before is accepted while the member owns nothing that it should not: the
 * answer that told of the new one may have been lost.
 */
export function checkEpoch(
  member: ConsumerMember,
  { memberEpoch, topicPartitions }: ConsumerHeartbeatRequest,
): Found<ConsumerMember> {
  if (memberEpoch === member.memberEpoch) return { member };
  const lost = memberEpoch === member.previousMemberEpoch && topicPartitions !== null;
  if (lost && isSubset(fromTopics(topicPartitions), member.assigned)) return { member };
  return epochFenced(memberEpoch, member.memberEpoch);
}

export function subscribes({ subscribedTopicNames, subscribedTopicRegex }: ConsumerHeartbeatRequest): boolean {
  return subscribedTopicNames !== null || subscribedTopicRegex !== null;
}

/** The member with what the request says; the same value when that is nothing new. */
export function withRequest(member: ConsumerMember, request: ConsumerHeartbeatRequest): ConsumerMember {
  const updated: ConsumerMember = {
    ...member,
    instanceId: request.instanceId ?? member.instanceId,
    rackId: request.rackId ?? member.rackId,
    clientId: request.clientId,
    clientHost: request.clientHost,
    rebalanceTimeoutMs: request.rebalanceTimeoutMs === -1 ? member.rebalanceTimeoutMs : request.rebalanceTimeoutMs,
    subscribedTopicNames: request.subscribedTopicNames ?? member.subscribedTopicNames,
    subscribedTopicRegex: request.subscribedTopicRegex ?? member.subscribedTopicRegex,
    serverAssignor: request.serverAssignor ?? member.serverAssignor,
    classic: null,
  };
  const sameNames = sameSet(new Set(updated.subscribedTopicNames), new Set(member.subscribedTopicNames));
  const known = {
    ...updated,
    subscribedTopicNames: sameNames ? member.subscribedTopicNames : updated.subscribedTopicNames,
  };
  const same = (Object.keys(known) as (keyof ConsumerMember)[]).every((field) => known[field] === member[field]);
  return same ? member : known;
}
