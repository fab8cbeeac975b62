/**
 * All groups of this coordinator: loads them when it opens, finds a group's slot, runs operations in it.
 * Owned by the GroupCoordinator, which closes it. Main thread.
 */
import { type ErrorCode, Errors } from '../common/errors.ts';
import type { Logger } from '../common/logger.ts';
import type { Random } from '../common/random.ts';
import type { Time } from '../common/time.ts';
import { randomUuid } from '../common/uuid.ts';
import type { GroupStore } from '../coordinator/group-store.ts';
import type { TopicDescription, TopicStore } from '../coordinator/topic-store.ts';
import type { GroupContext, Instant } from './group.ts';
import { GroupConfigs } from './group-configs.ts';
import { type Group, loadGroup } from './group-loader.ts';
import type { GroupSettings } from './group-settings.ts';
import { GroupSlot, storeErrorCode } from './group-slot.ts';
import { type Reply, replyPromise } from './reply.ts';
import { TopicIndex } from './topic-index.ts';

/** The part of a coordinator that groups are kept in. */
export type GroupCoordinatorStore = GroupStore & Pick<TopicStore, 'readConfigs'>;

export interface GroupRegistryComponents {
  readonly store: GroupCoordinatorStore;
  /** The topics that exist: the same list as long as nothing changes. */
  readonly listTopics: () => Promise<readonly TopicDescription[]>;
  readonly time: Time;
  readonly random: Random;
  readonly logger: Logger;
  readonly settings: GroupSettings;
}

/** What is done in a group's turn. It may change the slot's group, and answers `reply`, now or through the group's outbox. */
export type GroupOperation<T> = (slot: GroupSlot, reply: Reply<T>, topics: TopicIndex) => void | Promise<void>;

export class GroupRegistry {
  readonly context: GroupContext;
  readonly #components: GroupRegistryComponents;
  readonly #slots = new Map<string, GroupSlot>();
  readonly #configs: GroupConfigs;
  #closed = false;

  private constructor(components: GroupRegistryComponents) {
    const { settings, random, time } = components;
    this.#components = components;
    this.#configs = new GroupConfigs(settings, components.store);
    this.context = {
      settings,
      groupConfig: (groupId) => this.#configs.of(groupId).consumer,
      shareGroupConfig: (groupId) => this.#configs.of(groupId).share,
      newMemberId: (prefix) => (prefix === '' ? randomUuid(random) : `${prefix}-${randomUuid(random)}`),
      nowMs: () => time.nowMs(),
    };
  }

  /** @throws CoordinatorError when the store does not answer; Error naming a group that cannot be read */
  static async open(components: GroupRegistryComponents): Promise<GroupRegistry> {
    const registry = new GroupRegistry(components);
    const topics = await registry.topics();
    for (const stored of await components.store.loadGroups()) {
      const group = loadGroup(stored, topics, registry.context, registry.now());
      registry.#slots.set(stored.groupId, registry.#newSlot(stored.groupId, group));
    }
    return registry;
  }

  #newSlot(groupId: string, group?: Group): GroupSlot {
    return new GroupSlot(groupId, group, { ...this.#components, context: this.context });
  }

  async topics(): Promise<TopicIndex> {
    return TopicIndex.of(await this.#components.listTopics());
  }

  /** Has what is set for a group read again if the last reading is old. @throws CoordinatorError */
  refreshConfig(groupId: string): Promise<void> {
    return this.#configs.refresh(groupId, this.now());
  }

  now(): Instant {
    return this.#components.time.monotonicMs();
  }

  /** The groups as they are at this moment, between two operations or within one. */
  groups(): Group[] {
    return [...this.#slots.values()].flatMap(({ group }) => group ?? []);
  }

  find(groupId: string): Group | undefined {
    return this.#slots.get(groupId)?.group;
  }

  /**
   * Runs `operation` when those before it in this group are done, then stores and answers. The promise resolves with
   * what was sent to `reply`, which may be much later; with `failed(error)` when the operation could not be made durable.
   */
  perform<T>(groupId: string, failed: (error: ErrorCode) => T, operation: GroupOperation<T>): Promise<T> {
    const { reply, promise } = replyPromise(failed);
    if (this.#closed) reply.fail(Errors.COORDINATOR_NOT_AVAILABLE);
    else void this.#run(groupId, reply, operation);
    return promise;
  }

  async #run<T>(groupId: string, reply: Reply<T>, operation: GroupOperation<T>): Promise<void> {
    const slot = this.#slot(groupId);
    await slot.run(async () => {
      try {
        const topics = await this.topics();
        await this.#load(slot, topics);
        if (slot.group && slot.group.type !== 'classic') slot.group.useTopics(topics);
        await operation(slot, reply, topics);
        await slot.settle();
      } catch (cause) {
        reply.fail(storeErrorCode(cause));
        throw cause;
      }
    });
    if (!slot.idle) return;
    this.#slots.delete(groupId);
    this.#configs.forget(groupId);
  }

  #slot(groupId: string): GroupSlot {
    let slot = this.#slots.get(groupId);
    if (!slot) {
      slot = this.#newSlot(groupId);
      this.#slots.set(groupId, slot);
    }
    return slot;
  }

  /** After a failed store only the store knows what the group is. */
  async #load(slot: GroupSlot, topics: TopicIndex): Promise<void> {
    if (slot.loaded) return;
    const stored = (await this.#components.store.loadGroups()).find(({ groupId }) => groupId === slot.groupId);
    const group = stored && loadGroup(stored, topics, this.context, this.now());
    if (group) slot.replace(group, true);
    else slot.loaded = true;
  }

  /** Refuses new operations, finishes what is queued, answers what is parked. */
  async close(): Promise<void> {
    this.#closed = true;
    const closing = [...this.#slots.values()].map((slot) =>
      slot.run(async () => slot.giveUp(Errors.COORDINATOR_NOT_AVAILABLE)),
    );
    await Promise.all(closing);
  }
}
