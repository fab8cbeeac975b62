/**
 * A group's change between the classic and the consumer protocol (KIP-848): while it is empty, by whoever joins next;
 * with members, by the first that joins with the consumer protocol, and back when the last of those has gone.
 * Epochs go on where they were, so that nothing of before can pass for what comes after.
 */
import { Errors } from '../common/errors.ts';
import type { PartitionKey } from '../common/topic-id-partition.ts';
import { ClassicGroup } from './classic/classic-group.ts';
import type { ClassicMember } from './classic/classic-members.ts';
import { DEFAULT_ASSIGNOR } from './consumer/assignors/index.ts';
import { assignmentBytes, partitionsOf } from './consumer/classic-protocol.ts';
import { ConsumerGroup } from './consumer/consumer-group.ts';
import type { ConsumerMember } from './consumer/consumer-member.ts';
import { difference, NO_PARTITIONS } from './consumer/partition-set.ts';
import { CONSUMER_PROTOCOL_TYPE, readAssignment, readSubscription } from './consumer-protocol.ts';
import type { GroupContext, Instant } from './group.ts';
import type { TopicIndex } from './topic-index.ts';

/** An empty group under the other protocol. */
export function emptyClassicGroup(groupId: string, epoch: number, context: GroupContext, now: Instant): ClassicGroup {
  const nobody = { leaderId: null, members: [], protocolType: CONSUMER_PROTOCOL_TYPE, protocolName: null } as const;
  const snapshot = { ...nobody, generationId: epoch, state: 'Empty', stateSinceMs: context.nowMs() } as const;
  return ClassicGroup.restore(groupId, snapshot, context, now);
}

/**
 * The consumer group that a classic group with members becomes; whoever waited there is told to join again. undefined
 * when it may not (policy, size) or cannot (another protocol type, assignments that only the client's assignor reads).
 */
export function upgradeToConsumer(
  group: ClassicGroup,
  topics: TopicIndex,
  context: GroupContext,
  now: Instant,
): ConsumerGroup | undefined {
  const { groupConsumerMigrationPolicy: policy, groupConsumerMaxSize } = context.settings;
  const allowed = policy === 'upgrade' || policy === 'bidirectional';
  const fits = group.protocolType === CONSUMER_PROTOCOL_TYPE && group.members.size <= groupConsumerMaxSize;
  if (!allowed || !fits) return undefined;
  const claimed = new Set<PartitionKey>();
  const members = [...group.members].map((member) => toConsumerMember(member, group, topics, claimed));
  if (!members.every((member): member is ConsumerMember => member !== undefined)) return undefined;
  group.failParked(Errors.REBALANCE_IN_PROGRESS);
  const snapshot = {
    groupEpoch: group.generationId,
    targetEpoch: group.generationId,
    assignorName: DEFAULT_ASSIGNOR,
    metadataHash: '',
    stateSinceMs: context.nowMs(),
    members,
    target: new Map(members.map((member) => [member.memberId, member.assigned])),
  };
  return ConsumerGroup.restore(group.groupId, snapshot, topics, context, now);
}

/** A client may have assigned a partition twice; from here on only the first to be looked at has it. */
function toConsumerMember(
  member: ClassicMember,
  group: ClassicGroup,
  topics: TopicIndex,
  claimed: Set<PartitionKey>,
): ConsumerMember | undefined {
  const offered = member.protocols.find(({ name }) => name === group.protocolName) ?? member.protocols[0];
  const subscription = offered && readSubscription(offered.metadata);
  const assignment = readAssignment(member.assignment);
  if (!subscription || !assignment || (assignment.userData?.length ?? 0) > 0) return undefined;
  const assigned = difference(partitionsOf(assignment.partitions, topics), claimed);
  for (const key of assigned) claimed.add(key);
  return {
    memberId: member.memberId,
    instanceId: member.groupInstanceId,
    rackId: subscription.rackId,
    clientId: member.clientId,
    clientHost: member.clientHost,
    rebalanceTimeoutMs: member.rebalanceTimeoutMs,
    subscribedTopicNames: subscription.topics,
    subscribedTopicRegex: '',
    serverAssignor: null,
    memberEpoch: group.generationId,
    previousMemberEpoch: -1,
    state: 'Stable',
    assigned,
    pendingRevocation: NO_PARTITIONS,
    classic: { sessionTimeoutMs: member.sessionTimeoutMs, protocols: member.protocols },
  };
}

/** The classic group that a consumer group becomes when all that are left use the classic protocol; else undefined. */
export function downgradeToClassic(
  group: ConsumerGroup,
  context: GroupContext,
  now: Instant,
): ClassicGroup | undefined {
  if (!group.isToDowngrade) return undefined;
  const members = [...group.members].flatMap((member) => toClassicMember(member, group) ?? []);
  return ClassicGroup.fromMembers(group.groupId, group.epoch, members, group.needsRebalance, context, now);
}

function toClassicMember(member: ConsumerMember, group: ConsumerGroup): ClassicMember | undefined {
  const { classic, memberId, instanceId: groupInstanceId, clientId, clientHost, rebalanceTimeoutMs } = member;
  if (classic === null) return undefined;
  const target = group.targetOf(memberId);
  return {
    memberId,
    groupInstanceId,
    clientId,
    clientHost,
    rebalanceTimeoutMs,
    sessionTimeoutMs: classic.sessionTimeoutMs,
    protocols: classic.protocols,
    assignment: assignmentBytes({ ...member, classic }, target, group.members.topics),
    isNew: false,
    awaitingJoin: undefined,
    awaitingSync: undefined,
  };
}
