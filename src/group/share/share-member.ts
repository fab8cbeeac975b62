/** A member of a share group (KIP-932). Values: a change makes another one. */
import { NO_PARTITIONS, type PartitionSet, sameSet } from '../consumer/partition-set.ts';
import type { ShareHeartbeatRequest } from './share-requests.ts';

export interface ShareMember {
  readonly memberId: string;
  readonly rackId: string | null;
  readonly clientId: string;
  readonly clientHost: string;
  readonly subscribedTopicNames: readonly string[];
  readonly memberEpoch: number;
  /** The epoch before: the answer that told of the present one may have been lost. −1: none. */
  readonly previousMemberEpoch: number;
  /** What it fetches from; others may fetch from the same. */
  readonly assigned: PartitionSet;
}

/** A member that joins: without partitions, in an epoch before all others. */
export function newShareMember(memberId: string): ShareMember {
  return {
    memberId,
    rackId: null,
    clientId: '',
    clientHost: '',
    subscribedTopicNames: [],
    memberEpoch: 0,
    previousMemberEpoch: -1,
    assigned: NO_PARTITIONS,
  };
}

/** The member with what a heartbeat says; the same value when that is nothing new. */
export function withHeartbeat(member: ShareMember, request: ShareHeartbeatRequest): ShareMember {
  const { clientId, clientHost } = request;
  const rackId = request.rackId ?? member.rackId;
  const names = request.subscribedTopicNames;
  const sameNames = names === null || sameSet(new Set(names), new Set(member.subscribedTopicNames));
  const same = sameNames && rackId === member.rackId && clientId === member.clientId;
  if (same && clientHost === member.clientHost) return member;
  const subscribedTopicNames = sameNames ? member.subscribedTopicNames : [...new Set(names)];
  return { ...member, rackId, clientId, clientHost, subscribedTopicNames };
}

/** The member in the target's epoch, with the target's partitions. Nothing has to be given up first: they are shared. */
export function reconciledTo(member: ShareMember, targetEpoch: number, target: PartitionSet): ShareMember {
  if (member.memberEpoch === targetEpoch && sameSet(member.assigned, target)) return member;
  const previousMemberEpoch = member.memberEpoch === targetEpoch ? member.previousMemberEpoch : member.memberEpoch;
  return { ...member, memberEpoch: targetEpoch, previousMemberEpoch, assigned: target };
}
