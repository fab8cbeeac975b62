/** Administration of groups: list, describe, delete, and the expiry of offsets that nobody needs any more. */
import { type ErrorCode, Errors } from '../common/errors.ts';
import type { Time, Timer } from '../common/time.ts';
import type { CommittedOffset, GroupStore, GroupType } from '../coordinator/group-store.ts';
import type { ConsumerGroup } from './consumer/consumer-group.ts';
import type { ConsumerMember } from './consumer/consumer-member.ts';
import { type PartitionSet, type TopicPartitions, toTopics } from './consumer/partition-set.ts';
import type { GroupRegistry } from './group-registry.ts';
import type { GroupSettings } from './group-settings.ts';
import type { GroupSlot } from './group-slot.ts';
import type { ShareGroupStates } from './share/share-states.ts';
import type { TopicIndex } from './topic-index.ts';

export interface GroupListing {
  readonly groupId: string;
  readonly type: GroupType;
  /** "" for a group that was used for its offsets only. */
  readonly protocolType: string;
  readonly state: string;
}

export interface ClassicMemberDescription {
  readonly memberId: string;
  readonly groupInstanceId: string | null;
  readonly clientId: string;
  readonly clientHost: string;
  /** Its subscription under the group's protocol; empty unless the group is Stable, as the assignment is. */
  readonly metadata: Uint8Array;
  readonly assignment: Uint8Array;
}

export interface ClassicGroupDescription {
  readonly groupId: string;
  readonly state: string;
  readonly protocolType: string;
  /** The protocol in use; "" unless the group is Stable. */
  readonly protocol: string;
  readonly members: readonly ClassicMemberDescription[];
}

export interface NamedPartitions extends TopicPartitions {
  readonly topicName: string;
}

export interface MemberDescription {
  readonly memberId: string;
  readonly rackId: string | null;
  readonly memberEpoch: number;
  readonly clientId: string;
  readonly clientHost: string;
  readonly subscribedTopicNames: readonly string[];
  readonly assignment: readonly NamedPartitions[];
}

export interface ConsumerMemberDescription extends MemberDescription {
  readonly instanceId: string | null;
  readonly subscribedTopicRegex: string | null;
  readonly targetAssignment: readonly NamedPartitions[];
  readonly usesClassicProtocol: boolean;
}

/** A group of the consumer protocol or a share group. */
export interface GroupDescription<M extends MemberDescription> {
  readonly groupId: string;
  readonly state: string;
  readonly groupEpoch: number;
  readonly assignmentEpoch: number;
  readonly assignorName: string;
  readonly members: readonly M[];
}

export interface GroupAdminComponents {
  readonly store: GroupStore;
  readonly shareStates: ShareGroupStates;
  readonly settings: GroupSettings;
  readonly time: Time;
}

export class GroupAdmin {
  readonly #registry: GroupRegistry;
  readonly #components: GroupAdminComponents;
  #timer: Timer;
  #stopped = false;

  constructor(registry: GroupRegistry, components: GroupAdminComponents) {
    this.#registry = registry;
    this.#components = components;
    this.#timer = this.#armSweep();
  }

  list(): GroupListing[] {
    return this.#registry.groups().map(({ groupId, type, protocolType, state }) => ({
      groupId,
      type,
      protocolType,
      state,
    }));
  }

  /** undefined when there is no such group, or it is not a classic one. */
  describeClassic(groupId: string): ClassicGroupDescription | undefined {
    const group = this.#registry.find(groupId);
    if (group?.type !== 'classic') return undefined;
    const stable = group.state === 'Stable';
    const nothing = new Uint8Array(0);
    const members = [...group.members].map((member) => ({
      memberId: member.memberId,
      groupInstanceId: member.groupInstanceId,
      clientId: member.clientId,
      clientHost: member.clientHost,
      metadata: stable ? group.metadataOf(member) : nothing,
      assignment: stable ? member.assignment : nothing,
    }));
    const protocol = stable ? (group.protocolName ?? '') : '';
    return { groupId, state: group.state, protocolType: group.protocolType, protocol, members };
  }

  /** undefined when there is no such group, or it is not of the consumer protocol. */
  describeConsumer(groupId: string): GroupDescription<ConsumerMemberDescription> | undefined {
    const group = this.#registry.find(groupId);
    if (group?.type !== 'consumer') return undefined;
    return {
      groupId,
      state: group.state,
      groupEpoch: group.epoch,
      assignmentEpoch: group.targetEpoch,
      assignorName: group.assignorName,
      members: [...group.members].map((member) => describeMember(member, group)),
    };
  }

  /** undefined when there is no such group, or it is not a share group. */
  describeShare(groupId: string): GroupDescription<MemberDescription> | undefined {
    const group = this.#registry.find(groupId);
    if (group?.type !== 'share') return undefined;
    const members = [...group.members].map(({ previousMemberEpoch: _, assigned, ...member }) => {
      return { ...member, assignment: named(assigned, group.topics) };
    });
    const { state, epoch: groupEpoch, targetEpoch: assignmentEpoch, assignorName } = group;
    return { groupId, state, groupEpoch, assignmentEpoch, assignorName, members };
  }

  /** Forgets a group without members, with its offsets and the state of its share partitions. NONE, GROUP_ID_NOT_FOUND, NON_EMPTY_GROUP. */
  delete(groupId: string): Promise<ErrorCode> {
    return this.#registry.perform<ErrorCode>(
      groupId,
      (error) => error,
      async (slot, reply) => {
        const { group } = slot;
        if (!group) return reply.send(Errors.GROUP_ID_NOT_FOUND);
        if (!group.hasNoMembers) return reply.send(Errors.NON_EMPTY_GROUP);
        await this.#forget(slot);
        reply.send(Errors.NONE);
      },
    );
  }

  /** States first: while the group is there, somebody may still ask to delete what is left of it. */
  async #forget(slot: GroupSlot): Promise<void> {
    if (slot.group?.type === 'share') await this.#components.shareStates.delete(slot.groupId);
    await this.#components.store.deleteGroups([slot.groupId]);
    slot.forget();
  }

  /**
   * One pass of Kafka's expiry (`offsets.retention.minutes`): offsets of a group without members go when it has been so
   * for that long, counted from the commit where the group never had any; an empty group without offsets goes with them.
   */
  async expireOffsets(): Promise<void> {
    for (const { groupId } of this.#registry.groups()) {
      await this.#registry.perform<ErrorCode>(
        groupId,
        (error) => error,
        async (slot, reply) => {
          await this.#expire(slot);
          reply.send(Errors.NONE);
        },
      );
    }
  }

  async #expire(slot: GroupSlot): Promise<void> {
    const { group } = slot;
    // A share group commits no offsets that could expire; it stays until it is deleted, as in Kafka.
    if (!group?.isEmpty || group.type === 'share') return;
    const { store, settings, time } = this.#components;
    const limitMs = time.nowMs() - settings.offsetsRetentionMinutes * 60_000;
    const sinceMs = ({ commitTimeMs }: CommittedOffset): number =>
      group.protocolType === '' ? commitTimeMs : Math.max(commitTimeMs, group.stateSinceMs);
    const offsets = await store.fetchOffsets(group.groupId);
    const expired = offsets.filter((offset) => sinceMs(offset) <= limitMs).map((offset) => offset.topicIdPartition);
    if (expired.length === offsets.length) await this.#forget(slot);
    else if (expired.length > 0) await store.deleteOffsets(group.groupId, expired);
  }

  #armSweep(): Timer {
    const { time, settings } = this.#components;
    return time.setTimer(settings.offsetsRetentionCheckIntervalMs, () => {
      void this.expireOffsets().then(() => {
        if (!this.#stopped) this.#timer = this.#armSweep();
      });
    });
  }

  stop(): void {
    this.#stopped = true;
    this.#timer.cancel();
  }
}

function describeMember(member: ConsumerMember, group: ConsumerGroup): ConsumerMemberDescription {
  const { assigned, subscribedTopicRegex, classic, memberId, instanceId, rackId, memberEpoch } = member;
  return {
    memberId,
    instanceId,
    rackId,
    memberEpoch,
    clientId: member.clientId,
    clientHost: member.clientHost,
    subscribedTopicNames: member.subscribedTopicNames,
    subscribedTopicRegex: subscribedTopicRegex === '' ? null : subscribedTopicRegex,
    assignment: named(assigned, group.members.topics),
    targetAssignment: named(group.targetOf(memberId), group.members.topics),
    usesClassicProtocol: classic !== null,
  };
}

/** Partitions of topics that still exist. */
function named(partitions: PartitionSet, topics: TopicIndex): NamedPartitions[] {
  return toTopics(partitions).flatMap(({ topicId, partitions: indexes }) => {
    const topicName = topics.byId(topicId)?.name;
    return topicName === undefined ? [] : [{ topicId, topicName, partitions: indexes }];
  });
}
