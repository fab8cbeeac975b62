/** What the APIs of consumer groups (KIP-848) and of share groups (KIP-932) answer alike. */
import { type ErrorCode, Errors } from '../common/errors.ts';
import type { ConsumerHeartbeatResult } from '../group/consumer/consumer-requests.ts';
import type { GroupDescription, MemberDescription } from '../group/group-admin.ts';
import { authorizedOperations } from './authorized-operations.ts';

/** Of ConsumerGroupHeartbeat and ShareGroupHeartbeat. */
export function heartbeatAnswer({ error, message, assignment, ...rest }: ConsumerHeartbeatResult) {
  return {
    ...rest,
    errorCode: error,
    errorMessage: message,
    assignment: assignment && { topicPartitions: assignment },
  };
}

/** Of ConsumerGroupDescribe and ShareGroupDescribe: `member` says how a member stands in the answer. */
export function describedGroup<M extends MemberDescription, R>(
  { state, members, ...group }: GroupDescription<M>,
  includeAuthorizedOperations: boolean,
  member: (described: M) => R,
) {
  return {
    ...group,
    errorCode: Errors.NONE,
    groupState: state,
    members: members.map(member),
    authorizedOperations: authorizedOperations('group', includeAuthorizedOperations),
  };
}

/** Of the same APIs: a group that is not there, or not of the type that was asked for. */
export function refusedGroup(groupId: string, errorCode: ErrorCode, errorMessage: string | null) {
  const nothing = { groupState: '', groupEpoch: 0, assignmentEpoch: 0, assignorName: '', members: [] };
  return { ...nothing, groupId, errorCode, errorMessage };
}
