/**
 * Members of the classic protocol in a consumer group, while it changes from the one protocol to the other (KIP-848).
 *
 * Their joins count as heartbeats: the subscription says what they own, the answer makes them followers of a leader that
 * does not exist, and the sync gives them what the server assigned. Their generation is their member epoch.
 */
import { type ErrorCode, Errors } from '../../common/errors.ts';
import { parsePartitionKey } from '../../common/topic-id-partition.ts';
import {
  type HeartbeatRequest,
  type JoinGroupRequest,
  type JoinGroupResult,
  joinRefused,
  type LeaveGroupMemberResult,
  type MemberIdentity,
  type SyncGroupRequest,
  type SyncGroupResult,
  syncRefused,
} from '../classic/classic-requests.ts';
import {
  CONSUMER_PROTOCOL_TYPE,
  type TopicPartitions as NamedPartitions,
  readSubscription,
  writeAssignment,
} from '../consumer-protocol.ts';
import type { Instant } from '../group.ts';
import type { TopicIndex } from '../topic-index.ts';
import { CLASSIC_JOIN, CLASSIC_SYNC, type ConsumerGroup } from './consumer-group.ts';
import { type ConsumerMember, newMember } from './consumer-member.ts';
import { difference, type PartitionSet, toTopics } from './partition-set.ts';

type ClassicMember = ConsumerMember & { readonly classic: NonNullable<ConsumerMember['classic']> };

// --- Join -------------------------------------------------------------------------------------------------------------

export function joinAsClassic(group: ConsumerGroup, request: JoinGroupRequest, now: Instant): JoinGroupResult {
  const { memberId, groupInstanceId, requireKnownMemberId } = request;
  if (group.isFullFor(memberId)) return joinRefused(memberId, Errors.GROUP_MAX_SIZE_REACHED);
  const subscription = readSubscription(request.protocols[0]?.metadata ?? new Uint8Array(0));
  if (!subscription || !sharesProtocol(group, request))
    return joinRefused(memberId, Errors.INCONSISTENT_GROUP_PROTOCOL);
  const id = memberId === '' ? group.context.newMemberId(groupInstanceId ?? request.clientId) : memberId;
  if (memberId === '' && groupInstanceId === null && requireKnownMemberId)
    return joinRefused(id, Errors.MEMBER_ID_REQUIRED);
  const found = findJoining(group, id, request);
  if (typeof found === 'number') return joinRefused(memberId, found);
  const reported: ConsumerMember = {
    ...found,
    instanceId: groupInstanceId ?? found.instanceId,
    rackId: subscription.rackId ?? found.rackId,
    clientId: request.clientId,
    clientHost: request.clientHost,
    rebalanceTimeoutMs: request.rebalanceTimeoutMs,
    subscribedTopicNames: subscription.topics,
    subscribedTopicRegex: '',
    serverAssignor: null,
    classic: { sessionTimeoutMs: request.sessionTimeoutMs, protocols: request.protocols },
  };
  const owned = partitionsOf(subscription.ownedPartitions, group.members.topics);
  const member = group.update(found, reported, owned, now);
  group.deadlines.delete(CLASSIC_JOIN + id);
  group.deadlines.set(CLASSIC_SYNC + id, now + request.rebalanceTimeoutMs);
  return {
    ...joinRefused(id, Errors.NONE),
    generationId: member.memberEpoch,
    protocolType: CONSUMER_PROTOCOL_TYPE,
    protocolName: request.protocols[0]!.name,
  };
}

/** Whether all members of the classic protocol, and this one, have an assignor in common. */
function sharesProtocol(group: ConsumerGroup, { protocolType, protocols }: JoinGroupRequest): boolean {
  if (protocolType !== CONSUMER_PROTOCOL_TYPE) return false;
  return protocols.some(({ name }) =>
    [...group.members].every(
      ({ classic }) => classic === null || classic.protocols.some((other) => other.name === name),
    ),
  );
}

function findJoining(group: ConsumerGroup, id: string, { memberId, groupInstanceId }: JoinGroupRequest) {
  if (groupInstanceId === null) return group.members.get(id) ?? newMember(id);
  if (memberId === '') {
    const holder = group.members.static(groupInstanceId);
    return holder ? group.replaceStatic(holder, id) : newMember(id);
  }
  const found = group.existing(memberId, groupInstanceId);
  return 'error' in found ? found.error : found.member;
}

// --- Sync, heartbeat, leave -------------------------------------------------------------------------------------------

export function syncAsClassic(group: ConsumerGroup, request: SyncGroupRequest, now: Instant): SyncGroupResult {
  const member = findClassic(group, request, request.generationId);
  if (typeof member === 'number') return syncRefused(member);
  const protocolName = member.classic.protocols[0]!.name;
  const typeDiffers = request.protocolType !== null && request.protocolType !== CONSUMER_PROTOCOL_TYPE;
  const nameDiffers = request.protocolName !== null && request.protocolName !== protocolName;
  if (typeDiffers || nameDiffers) return syncRefused(Errors.INCONSISTENT_GROUP_PROTOCOL);
  // One that has to give up first has rejoined already; it hears of the next epoch when it has done so.
  if (member.memberEpoch < group.epoch && member.state !== 'UnrevokedPartitions') {
    mustJoin(group, member, now);
    return syncRefused(Errors.REBALANCE_IN_PROGRESS);
  }
  group.deadlines.delete(CLASSIC_SYNC + member.memberId);
  group.startSession(member, now);
  const assignment = assignmentBytes(member, member.assigned, group.members.topics);
  return { error: Errors.NONE, protocolType: CONSUMER_PROTOCOL_TYPE, protocolName, assignment };
}

export function heartbeatAsClassic(
  group: ConsumerGroup,
  request: Omit<HeartbeatRequest, 'groupId'>,
  now: Instant,
): ErrorCode {
  const member = findClassic(group, request, request.generationId);
  if (typeof member === 'number') return member;
  group.startSession(member, now);
  const behind = member.memberEpoch < group.epoch || member.state === 'UnrevokedPartitions';
  const canTake = member.state === 'UnreleasedPartitions' && !waitsForOthers(group, member);
  if (!behind && !canTake) return Errors.NONE;
  mustJoin(group, member, now);
  return Errors.REBALANCE_IN_PROGRESS;
}

export function leaveAsClassic(group: ConsumerGroup, leaving: readonly MemberIdentity[]): LeaveGroupMemberResult[] {
  const found = leaving.map(({ memberId, groupInstanceId }) => {
    // An administrator removes a static member by its instance id alone.
    const byInstance = groupInstanceId !== null && memberId === '';
    const id = byInstance ? (group.members.static(groupInstanceId)?.memberId ?? '') : memberId;
    return group.existing(id, groupInstanceId);
  });
  group.remove([...new Set(found.flatMap((one) => ('member' in one ? [one.member] : [])))]);
  return leaving.map((identity, index) => {
    const one = found[index]!;
    return { ...identity, error: 'error' in one ? one.error : Errors.NONE };
  });
}

function findClassic(
  group: ConsumerGroup,
  { memberId, groupInstanceId }: MemberIdentity,
  generationId: number,
): ClassicMember | ErrorCode {
  const found = group.existing(memberId, groupInstanceId);
  if ('error' in found) return found.error;
  const { member } = found;
  if (member.classic === null) return Errors.UNKNOWN_MEMBER_ID;
  return generationId === member.memberEpoch ? (member as ClassicMember) : Errors.ILLEGAL_GENERATION;
}

/** From the first time that it is told to, a member has its rebalance timeout to join again. */
function mustJoin(group: ConsumerGroup, { memberId, rebalanceTimeoutMs }: ConsumerMember, now: Instant): void {
  const name = CLASSIC_JOIN + memberId;
  if (!group.deadlines.has(name)) group.deadlines.set(name, now + rebalanceTimeoutMs);
}

function waitsForOthers(group: ConsumerGroup, member: ConsumerMember): boolean {
  for (const key of difference(group.targetOf(member.memberId), member.assigned)) {
    if ((group.members.ownerOf(key) ?? member.memberId) !== member.memberId) return true;
  }
  return false;
}

// --- Between names and ids --------------------------------------------------------------------------------------------

/** The partitions of topics that exist. */
export function partitionsOf(named: readonly NamedPartitions[], topics: TopicIndex): PartitionSet {
  const keys = named.flatMap(({ topic, partitions }) => {
    const topicId = topics.byName(topic)?.topicId;
    return topicId === undefined ? [] : partitions.map((partition) => `${topicId}-${partition}`);
  });
  return new Set(keys.filter((key) => parsePartitionKey(key).partition >= 0));
}

/** An assignment as a classic member reads it, in the version of its subscription. */
export function assignmentBytes(member: ClassicMember, partitions: PartitionSet, topics: TopicIndex): Uint8Array {
  const named = toTopics(partitions).flatMap(({ topicId, partitions: indexes }) => {
    const topic = topics.byId(topicId)?.name;
    return topic === undefined ? [] : [{ topic, partitions: indexes }];
  });
  return writeAssignment(named, readSubscription(member.classic.protocols[0]!.metadata)?.version ?? 0);
}
