/** A member of a consumer group (KIP-848). Values: a change makes another one. */
import type { ClassicProtocol } from '../classic/classic-requests.ts';
import { NO_PARTITIONS, type PartitionSet } from './partition-set.ts';

/** Epoch of a static member that has left and means to come back. */
export const STATIC_MEMBER_LEFT_EPOCH = -2;

/**
 * - `Stable`: it has what the target of its epoch gives it.
 * - `UnrevokedPartitions`: it must first give up `pendingRevocation`.
 * - `UnreleasedPartitions`: it waits for partitions that others still hold.
 */
export type MemberState = 'Stable' | 'UnrevokedPartitions' | 'UnreleasedPartitions';

/** What a member of the classic protocol brought along; it takes part while its group changes protocols. */
export interface ClassicMemberMetadata {
  readonly sessionTimeoutMs: number;
  readonly protocols: readonly ClassicProtocol[];
}

export interface ConsumerMember {
  readonly memberId: string;
  readonly instanceId: string | null;
  readonly rackId: string | null;
  readonly clientId: string;
  readonly clientHost: string;
  readonly rebalanceTimeoutMs: number;
  readonly subscribedTopicNames: readonly string[];
  /** "" for none. */
  readonly subscribedTopicRegex: string;
  readonly serverAssignor: string | null;
  readonly memberEpoch: number;
  /** The epoch before: the answer that told of a new one may have been lost. −1: none. */
  readonly previousMemberEpoch: number;
  readonly state: MemberState;
  /** What it owns and may keep. */
  readonly assigned: PartitionSet;
  /** What it owns until it says that it does not any more. */
  readonly pendingRevocation: PartitionSet;
  /** Set for a member that uses the classic protocol. */
  readonly classic: ClassicMemberMetadata | null;
}

/** A member that joins: without partitions, in an epoch before all others. */
export function newMember(memberId: string): ConsumerMember {
  return {
    memberId,
    instanceId: null,
    rackId: null,
    clientId: '',
    clientHost: '',
    rebalanceTimeoutMs: -1,
    subscribedTopicNames: [],
    subscribedTopicRegex: '',
    serverAssignor: null,
    memberEpoch: 0,
    previousMemberEpoch: -1,
    state: 'Stable',
    assigned: NO_PARTITIONS,
    pendingRevocation: NO_PARTITIONS,
    classic: null,
  };
}

/** The member in another epoch, remembering the one before. */
export function inEpoch(member: ConsumerMember, memberEpoch: number): ConsumerMember {
  if (memberEpoch === member.memberEpoch) return member;
  return { ...member, memberEpoch, previousMemberEpoch: member.memberEpoch };
}

export function isReconciledTo(member: ConsumerMember, targetEpoch: number): boolean {
  return member.state === 'Stable' && member.memberEpoch === targetEpoch;
}
