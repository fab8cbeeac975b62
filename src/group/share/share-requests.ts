/** ShareGroupHeartbeat as the state machine sees it: Kafka's fields, free of versions. */
import { Errors } from '../../common/errors.ts';
import { type ConsumerHeartbeatResult, heartbeatRefused } from '../consumer/consumer-requests.ts';

export interface ShareHeartbeatRequest {
  readonly groupId: string;
  /** 1 to 36 characters, made by the member. */
  readonly memberId: string;
  /** 0 joins, −1 leaves. */
  readonly memberEpoch: number;
  /** null here and below: as in the last heartbeat. */
  readonly rackId: string | null;
  readonly subscribedTopicNames: readonly string[] | null;
  readonly clientId: string;
  readonly clientHost: string;
}

/** The same fields as for a member of a consumer group. */
export type ShareHeartbeatResult = ConsumerHeartbeatResult;

const LEAVING_EPOCH = -1;
const MEMBER_ID_MAX_LENGTH = 36;

/** The refusal of a request that makes no sense whatever the group's state; undefined when it does. */
export function checkShareHeartbeat(request: ShareHeartbeatRequest): ShareHeartbeatResult | undefined {
  const problem = problemOf(request);
  return problem === undefined ? undefined : heartbeatRefused(Errors.INVALID_REQUEST, problem);
}

function problemOf({ groupId, memberId, memberEpoch, rackId, subscribedTopicNames }: ShareHeartbeatRequest) {
  if (groupId === '') return "GroupId can't be empty.";
  if (memberId === '') return "MemberId can't be empty.";
  if (memberId.length > MEMBER_ID_MAX_LENGTH)
    return `MemberId has ${memberId.length} characters; ${MEMBER_ID_MAX_LENGTH} are allowed.`;
  if (rackId === '') return "RackId can't be empty.";
  if (memberEpoch < LEAVING_EPOCH) return `MemberEpoch ${memberEpoch} is invalid.`;
  if (memberEpoch === 0 && !subscribedTopicNames?.length) return 'SubscribedTopicNames must be provided when joining.';
  return undefined;
}
