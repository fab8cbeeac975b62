/** What a ConsumerGroupHeartbeat must hold, whatever the group's state. */
import { Errors } from '../../common/errors.ts';
import { assignors } from './assignors/index.ts';
import { STATIC_MEMBER_LEFT_EPOCH } from './consumer-member.ts';
import { type ConsumerHeartbeatRequest, type ConsumerHeartbeatResult, heartbeatRefused } from './consumer-requests.ts';
import { compileTopicRegex } from './topic-regex.ts';

/** The refusal of a request that makes no sense; undefined when it does. */
export function checkHeartbeat(request: ConsumerHeartbeatRequest): ConsumerHeartbeatResult | undefined {
  const invalid = whatIsMissing(request);
  if (invalid !== undefined) return heartbeatRefused(Errors.INVALID_REQUEST, invalid);
  const { serverAssignor, subscribedTopicRegex: regex } = request;
  if (serverAssignor !== null && !assignors.has(serverAssignor)) {
    const supported = [...assignors.keys()].join(', ');
    return heartbeatRefused(Errors.UNSUPPORTED_ASSIGNOR, `Assignor ${serverAssignor} is none of ${supported}.`);
  }
  if (regex !== null && regex !== '' && !compileTopicRegex(regex)) {
    return heartbeatRefused(Errors.INVALID_REGULAR_EXPRESSION, `SubscribedTopicRegex is no RE2 expression: ${regex}`);
  }
  return undefined;
}

function whatIsMissing(request: ConsumerHeartbeatRequest): string | undefined {
  const { groupId, memberId, memberEpoch, instanceId, rackId, topicPartitions } = request;
  if (groupId === '') return "GroupId can't be empty.";
  if (instanceId === '') return "InstanceId can't be empty.";
  if (rackId === '') return "RackId can't be empty.";
  if (memberEpoch < STATIC_MEMBER_LEFT_EPOCH) return `MemberEpoch ${memberEpoch} is invalid.`;
  if (memberEpoch === STATIC_MEMBER_LEFT_EPOCH && instanceId === null)
    return "InstanceId can't be null when leaving for a while.";
  if (memberEpoch !== 0) return memberId === '' ? "MemberId can't be empty." : undefined;
  if (request.rebalanceTimeoutMs < 0) return 'RebalanceTimeoutMs must be provided when joining.';
  if (topicPartitions === null || topicPartitions.length > 0) return 'TopicPartitions must be empty when joining.';
  const subscribes = request.subscribedTopicNames !== null || request.subscribedTopicRegex !== null;
  return subscribes ? undefined : 'SubscribedTopicNames or SubscribedTopicRegex must be provided when joining.';
}
