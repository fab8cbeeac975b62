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
import type { GroupStore } from '../coordinator/group-store.ts';
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
import { GroupAdmin } from './group-admin.ts';
import { GroupOffsets } from './group-offsets.ts';
import { GroupRegistry } from './group-registry.ts';
import { type GroupSettings, groupSettings } from './group-settings.ts';

export interface GroupCoordinatorComponents {
  readonly store: GroupStore;
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
  readonly admin: GroupAdmin;
  readonly #registry: GroupRegistry;

  private constructor(registry: GroupRegistry, store: GroupStore, settings: GroupSettings, time: Time) {
    this.settings = settings;
    this.#registry = registry;
    this.offsets = new GroupOffsets(registry, store, settings);
    this.admin = new GroupAdmin(registry, { store, settings, time });
  }

  /**
   * Loads all groups: what a member was told before holds again, and its session begins anew.
   * @throws CoordinatorError when the store does not answer; RangeError for a setting out of bounds
   */
  static async open(
    components: GroupCoordinatorComponents,
    settings?: Partial<GroupSettings>,
  ): Promise<GroupCoordinator> {
    const { store, time = systemTime, random = systemRandom, logger = silentLogger } = components;
    const complete = groupSettings(settings);
    const registry = await GroupRegistry.open({ store, time, random, logger, settings: complete });
    return new GroupCoordinator(registry, store, complete, time);
  }

  /** Resolves when the rebalance that it takes part in has gathered its members. */
  joinGroup(request: JoinGroupRequest): Promise<JoinGroupResult> {
    const refuse = (error: ErrorCode): JoinGroupResult => joinRefused(request.memberId, error);
    const error = this.#checkJoin(request);
    if (error !== Errors.NONE) return Promise.resolve(refuse(error));
    return this.#registry.perform(request.groupId, refuse, (slot, reply) => {
      if (!slot.group) {
        if (request.memberId !== '') return reply.send(refuse(Errors.UNKNOWN_MEMBER_ID));
        slot.replace(new ClassicGroup(request.groupId, this.#registry.context), false);
      }
      slot.group!.join(request, reply, this.#registry.now());
    });
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
      if (!slot.group) reply.send(syncRefused(Errors.UNKNOWN_MEMBER_ID));
      else slot.group.sync(request, reply, this.#registry.now());
    });
  }

  heartbeat(request: HeartbeatRequest): Promise<ErrorCode> {
    if (request.groupId === '') return Promise.resolve(Errors.INVALID_GROUP_ID);
    return this.#registry.perform<ErrorCode>(
      request.groupId,
      (error) => error,
      ({ group }, reply) => {
        const error = group ? group.heartbeat(request, this.#registry.now()) : Errors.UNKNOWN_MEMBER_ID;
        reply.send(error);
      },
    );
  }

  leaveGroup(groupId: string, members: readonly MemberIdentity[]): Promise<LeaveGroupResult> {
    const refuse = (error: ErrorCode): LeaveGroupResult => ({ error, members: [] });
    if (groupId === '') return Promise.resolve(refuse(Errors.INVALID_GROUP_ID));
    return this.#registry.perform(groupId, refuse, ({ group }, reply) => {
      const unknown = (): LeaveGroupMemberResult[] =>
        members.map((member) => ({ ...member, error: Errors.UNKNOWN_MEMBER_ID }));
      const result = { error: Errors.NONE, members: group?.leave(members, this.#registry.now()) ?? unknown() };
      if (group) group.outbox.add(reply, result);
      else reply.send(result);
    });
  }

  /** Finishes what is under way and answers what is parked with COORDINATOR_NOT_AVAILABLE, which clients retry. */
  readonly close = once(async (): Promise<void> => {
    this.admin.stop();
    await this.#registry.close();
  });
}
