/** Requests and answers of the classic group protocol as the state machine sees them: Kafka's fields, free of versions. */
import type { ErrorCode } from '../../common/errors.ts';

/** One assignment protocol that a member offers (an assignor's name and its subscription), most wanted first in a list. */
export interface ClassicProtocol {
  readonly name: string;
  readonly metadata: Uint8Array;
}

export interface JoinGroupRequest {
  readonly groupId: string;
  /** "" for a member that has no id yet. */
  readonly memberId: string;
  readonly groupInstanceId: string | null;
  readonly clientId: string;
  readonly clientHost: string;
  readonly protocolType: string;
  readonly protocols: readonly ClassicProtocol[];
  readonly sessionTimeoutMs: number;
  /** The session timeout where the version has no field for it (v0). */
  readonly rebalanceTimeoutMs: number;
  /** v4 and up: a dynamic member is given its id first and joins with it. */
  readonly requireKnownMemberId: boolean;
  /** v9 and up: a static leader that comes back may be told to keep the assignment (KIP-814). */
  readonly supportSkippingAssignment: boolean;
}

export interface JoinGroupMember {
  readonly memberId: string;
  readonly groupInstanceId: string | null;
  readonly metadata: Uint8Array;
}

export interface JoinGroupResult {
  readonly error: ErrorCode;
  readonly generationId: number;
  readonly protocolType: string | null;
  readonly protocolName: string | null;
  readonly leader: string;
  readonly skipAssignment: boolean;
  readonly memberId: string;
  /** Everybody for the leader, nobody for the others. */
  readonly members: readonly JoinGroupMember[];
}

export interface SyncGroupRequest {
  readonly groupId: string;
  readonly generationId: number;
  readonly memberId: string;
  readonly groupInstanceId: string | null;
  /** null below v5. */
  readonly protocolType: string | null;
  readonly protocolName: string | null;
  /** The leader's; empty from the others. */
  readonly assignments: readonly { readonly memberId: string; readonly assignment: Uint8Array }[];
}

export interface SyncGroupResult {
  readonly error: ErrorCode;
  readonly protocolType: string | null;
  readonly protocolName: string | null;
  readonly assignment: Uint8Array;
}

export interface MemberIdentity {
  readonly memberId: string;
  readonly groupInstanceId: string | null;
}

export interface HeartbeatRequest extends MemberIdentity {
  readonly groupId: string;
  readonly generationId: number;
}

export interface LeaveGroupMemberResult extends MemberIdentity {
  readonly error: ErrorCode;
}

const nothing = new Uint8Array(0);

/** The answer to a join that is refused. */
export function joinRefused(memberId: string, error: ErrorCode): JoinGroupResult {
  const unknown = { generationId: -1, protocolType: null, protocolName: null, leader: '', skipAssignment: false };
  return { error, ...unknown, memberId, members: [] };
}

/** The answer to a sync that is refused. */
export function syncRefused(error: ErrorCode): SyncGroupResult {
  return { error, protocolType: null, protocolName: null, assignment: nothing };
}
