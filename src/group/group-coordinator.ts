/**
 * The group coordinator: membership of all groups. Offsets are in `offsets`, administration in `admin`.
 *
 * Runs on the main thread over the coordinator's GroupStore; whoever opens it closes it, before the store. Requests have
 * Kafka's fields, answers Kafka's error codes; no promise rejects.
 */
import { type ErrorCode, Errors } from '../common/errors.ts';
import { once } from '../common/lifecycle.ts';
import { type Logger, silentLogger } from '../common/logger.ts';
import { type Random, systemRandom } from '../common/random.ts';
import { systemTime, type Time } from '../common/time.ts';
import type { TopicDescription } from '../coordinator/topic-store.ts';
import { ClassicGroup } from './classic/classic-group.ts';
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
} from './classic/classic-requests.ts';
import { checkHeartbeat } from './consumer/check-heartbeat.ts';
import { heartbeatAsClassic, joinAsClassic, leaveAsClassic, syncAsClassic } from './consumer/classic-protocol.ts';
import { ConsumerGroup } from './consumer/consumer-group.ts';
import {
  type ConsumerHeartbeatRequest,
  type ConsumerHeartbeatResult,
  heartbeatRefused,
} from './consumer/consumer-requests.ts';
import { GroupAdmin } from './group-admin.ts';
import type { Group } from './group-loader.ts';
import { GroupOffsets } from './group-offsets.ts';
import { type GroupCoordinatorStore, GroupRegistry } from './group-registry.ts';
import { type GroupSettings, groupSettings } from './group-settings.ts';
import type { GroupSlot } from './group-slot.ts';
import { emptyClassicGroup, upgradeToConsumer } from './migration.ts';
import { ShareGroup } from './share/share-group.ts';
import { ShareGroupOffsets } from './share/share-group-offsets.ts';
import { checkShareHeartbeat, type ShareHeartbeatRequest, type ShareHeartbeatResult } from './share/share-requests.ts';
import type { ShareGroupStates } from './share/share-states.ts';
import type { TopicIndex } from './topic-index.ts';

export interface GroupCoordinatorComponents {
  readonly store: GroupCoordinatorStore;
  /** Where the share partitions of share groups have their state. */
  readonly shareStates: ShareGroupStates;
  /** The topics that exist: the same list as long as nothing changes. */
  readonly listTopics: () => Promise<readonly TopicDescription[]>;
  readonly time?: Time;
  readonly random?: Random;
  readonly logger?: Logger;
}

export interface LeaveGroupResult {
  /** Of the whole request. */
  readonly error: ErrorCode;
  /** In request order; empty when the request has an error. */
  readonly members: readonly LeaveGroupMemberResult[];
}

export class GroupCoordinator {
  readonly settings: GroupSettings;
  readonly offsets: GroupOffsets;
  readonly shareOffsets: ShareGroupOffsets;
  readonly admin: GroupAdmin;
  readonly #registry: GroupRegistry;

  private constructor(
    registry: GroupRegistry,
    { store, shareStates }: Pick<GroupCoordinatorComponents, 'store' | 'shareStates'>,
    settings: GroupSettings,
    time: Time,
  ) {
    this.settings = settings;
    this.#registry = registry;
    this.offsets = new GroupOffsets(registry, store, settings);
    this.shareOffsets = new ShareGroupOffsets(registry, shareStates);
    this.admin = new GroupAdmin(registry, { store, shareStates, settings, time });
  }

  /**
   * Loads all groups: what a member was told before holds again, and its session begins anew.
   * @throws CoordinatorError when the store does not answer; RangeError for a setting out of bounds
   */
  static async open(
    components: GroupCoordinatorComponents,
    settings?: Partial<GroupSettings>,
  ): Promise<GroupCoordinator> {
    const { store, listTopics, time = systemTime, random = systemRandom, logger = silentLogger } = components;
    const complete = groupSettings(settings);
    const registry = await GroupRegistry.open({ store, listTopics, time, random, logger, settings: complete });
    return new GroupCoordinator(registry, components, complete, time);
  }

  /** Groups by protocol, empty ones included. */
  counts(): Readonly<Record<Group['type'], number>> {
    const counts: Record<Group['type'], number> = { classic: 0, consumer: 0, share: 0 };
    for (const { type } of this.#registry.groups()) counts[type]++;
    return counts;
  }

  /** Resolves when the rebalance that it takes part in has gathered its members. */
  joinGroup(request: JoinGroupRequest): Promise<JoinGroupResult> {
    const refuse = (error: ErrorCode): JoinGroupResult => joinRefused(request.memberId, error);
    const error = this.#checkJoin(request);
    if (error !== Errors.NONE) return Promise.resolve(refuse(error));
    return this.#registry.perform(request.groupId, refuse, (slot, reply) => {
      if (!slot.group && request.memberId !== '') return reply.send(refuse(Errors.UNKNOWN_MEMBER_ID));
      const group = this.#groupToJoin(slot);
      if (group.type === 'share') return reply.send(refuse(Errors.INCONSISTENT_GROUP_PROTOCOL));
      const now = this.#registry.now();
      if (group.type === 'classic') group.join(request, reply, now);
      else group.outbox.add(reply, joinAsClassic(group, request, now));
    });
  }

  /** A group without members takes the protocol of whoever joins. */
  #groupToJoin(slot: GroupSlot): Group {
    const { group, groupId } = slot;
    const { context } = this.#registry;
    if (!group) slot.replace(new ClassicGroup(groupId, context), false);
    else if (group.type === 'consumer' && group.isEmpty) {
      slot.replace(emptyClassicGroup(groupId, group.epoch, context, this.#registry.now()));
    }
    return slot.group!;
  }

  #checkJoin({ groupId, sessionTimeoutMs }: JoinGroupRequest): ErrorCode {
    const { groupMinSessionTimeoutMs, groupMaxSessionTimeoutMs } = this.settings;
    if (groupId === '') return Errors.INVALID_GROUP_ID;
    const allowed = sessionTimeoutMs >= groupMinSessionTimeoutMs && sessionTimeoutMs <= groupMaxSessionTimeoutMs;
    return allowed ? Errors.NONE : Errors.INVALID_SESSION_TIMEOUT;
  }

  /** Resolves when the leader has assigned. */
  syncGroup(request: SyncGroupRequest): Promise<SyncGroupResult> {
    if (request.groupId === '') return Promise.resolve(syncRefused(Errors.INVALID_GROUP_ID));
    return this.#registry.perform(request.groupId, syncRefused, (slot, reply) => {
      const { group } = slot;
      const now = this.#registry.now();
      if (!group || group.type === 'share') reply.send(syncRefused(Errors.UNKNOWN_MEMBER_ID));
      else if (group.type === 'classic') group.sync(request, reply, now);
      else group.outbox.add(reply, syncAsClassic(group, request, now));
    });
  }

  heartbeat(request: HeartbeatRequest): Promise<ErrorCode> {
    if (request.groupId === '') return Promise.resolve(Errors.INVALID_GROUP_ID);
    return this.#registry.perform<ErrorCode>(
      request.groupId,
      (error) => error,
      ({ group }, reply) => {
        const now = this.#registry.now();
        if (!group || group.type === 'share') reply.send(Errors.UNKNOWN_MEMBER_ID);
        else if (group.type === 'classic') reply.send(group.heartbeat(request, now));
        else reply.send(heartbeatAsClassic(group, request, now));
      },
    );
  }

  leaveGroup(groupId: string, members: readonly MemberIdentity[]): Promise<LeaveGroupResult> {
    const refuse = (error: ErrorCode): LeaveGroupResult => ({ error, members: [] });
    if (groupId === '') return Promise.resolve(refuse(Errors.INVALID_GROUP_ID));
    return this.#registry.perform(groupId, refuse, ({ group }, reply) => {
      const answer = (results: readonly LeaveGroupMemberResult[]) => ({ error: Errors.NONE, members: results });
      if (!group || group.type === 'share') {
        reply.send(answer(members.map((member) => ({ ...member, error: Errors.UNKNOWN_MEMBER_ID }))));
      } else if (group.type === 'classic') group.outbox.add(reply, answer(group.leave(members, this.#registry.now())));
      else group.outbox.add(reply, answer(leaveAsClassic(group, members)));
    });
  }

  /** A member of the consumer protocol joins, reports, leaves; it hears of its assignment in the answer. */
  consumerGroupHeartbeat(request: ConsumerHeartbeatRequest): Promise<ConsumerHeartbeatResult> {
    const refuse = (error: ErrorCode): ConsumerHeartbeatResult => heartbeatRefused(error, null);
    const invalid = checkHeartbeat(request);
    if (invalid) return Promise.resolve(invalid);
    return this.#registry.perform(request.groupId, refuse, async (slot, reply, topics) => {
      await this.#registry.refreshConfig(slot.groupId);
      const group = this.#consumerGroup(slot, request.memberEpoch === 0, topics);
      if (group) group.consumerHeartbeat(request, reply, this.#registry.now());
      else reply.send(heartbeatRefused(Errors.GROUP_ID_NOT_FOUND, `Group ${slot.groupId} is no consumer group.`));
    });
  }

  /** The consumer group of that name; for a member that joins it is made, or made out of a classic one. */
  #consumerGroup(slot: GroupSlot, joining: boolean, topics: TopicIndex): ConsumerGroup | undefined {
    const { group, groupId } = slot;
    if (group?.type === 'consumer') return group;
    if (!joining || group?.type === 'share') return undefined;
    const { context } = this.#registry;
    if (!group || group.hasNoMembers) {
      const consumer = new ConsumerGroup(groupId, group?.epoch ?? 0, topics, context);
      group?.failParked(Errors.REBALANCE_IN_PROGRESS);
      slot.replace(consumer, group !== undefined);
      return consumer;
    }
    const consumer = upgradeToConsumer(group, topics, context, this.#registry.now());
    if (consumer) slot.replace(consumer);
    return consumer;
  }

  /** A member of a share group joins, reports, leaves. What it is assigned has a state before it hears of it. */
  shareGroupHeartbeat(request: ShareHeartbeatRequest): Promise<ShareHeartbeatResult> {
    const refuse = (error: ErrorCode): ShareHeartbeatResult => heartbeatRefused(error, null);
    const invalid = checkShareHeartbeat(request);
    if (invalid) return Promise.resolve(invalid);
    return this.#registry.perform(request.groupId, refuse, async (slot, reply, topics) => {
      await this.#registry.refreshConfig(slot.groupId);
      if (!slot.group && request.memberEpoch === 0) {
        slot.replace(new ShareGroup(slot.groupId, topics, this.#registry.context), false);
      }
      const { group } = slot;
      if (group?.type !== 'share') {
        return reply.send(heartbeatRefused(Errors.GROUP_ID_NOT_FOUND, `Group ${slot.groupId} is no share group.`));
      }
      group.shareHeartbeat(request, reply, this.#registry.now());
      await this.shareOffsets.initialize(group);
    });
  }

  /** Finishes what is under way and answers what is parked with COORDINATOR_NOT_AVAILABLE, which clients retry. */
  readonly close = once(async (): Promise<void> => {
    this.admin.stop();
    await this.#registry.close();
  });
}
