/**
 * What is set for single groups: `consumer.session.timeout.ms` and `consumer.heartbeat.interval.ms`, and the same with
 * `share.`, in the store's scope `group:<id>`. Read when a group is used and the last reading is some seconds old, so that
 * a change by any process is heard of within a heartbeat or two, and no heartbeat costs a read.
 */
import type { Configs } from '../common/config-definition.ts';
import { type GroupBounds, groupScope, type TimeBounds } from '../common/group-config.ts';
import type { TopicStore } from '../coordinator/topic-store.ts';
import type { GroupTimes, Instant } from './group.ts';
import { type GroupSettings, groupBounds } from './group-settings.ts';

const MAX_AGE_MS = 5_000;

/** By the group's type. */
interface GroupConfig {
  readonly consumer: GroupTimes;
  readonly share: GroupTimes;
}

interface Reading {
  readonly config: GroupConfig;
  readonly at: Instant;
}

export class GroupConfigs {
  readonly #bounds: GroupBounds;
  readonly #store: Pick<TopicStore, 'readConfigs'>;
  readonly #defaults: GroupConfig;
  readonly #readings = new Map<string, Reading>();

  constructor(settings: GroupSettings, store: Pick<TopicStore, 'readConfigs'>) {
    this.#bounds = groupBounds(settings);
    this.#store = store;
    this.#defaults = this.#configOf({});
  }

  /** As last read. */
  of(groupId: string): GroupConfig {
    return this.#readings.get(groupId)?.config ?? this.#defaults;
  }

  /** Reads what is set, unless that was done lately. @throws CoordinatorError */
  async refresh(groupId: string, now: Instant): Promise<void> {
    const last = this.#readings.get(groupId);
    if (last && now - last.at < MAX_AGE_MS) return;
    const values = await this.#store.readConfigs(groupScope(groupId));
    this.#readings.set(groupId, { config: this.#configOf(values), at: now });
  }

  forget(groupId: string): void {
    this.#readings.delete(groupId);
  }

  #configOf(values: Configs): GroupConfig {
    return { consumer: this.#timesOf('consumer', values), share: this.#timesOf('share', values) };
  }

  /** Kafka's rule for values that the broker's bounds do not allow (any more): the nearest that they do. */
  #timesOf(type: keyof GroupConfig, values: Configs): GroupTimes {
    const within = (name: string, { byDefault, min, max }: TimeBounds): number => {
      const value = Number(values[`${type}.${name}`] ?? byDefault);
      return Number.isFinite(value) ? Math.min(Math.max(value, min), max) : byDefault;
    };
    return {
      sessionTimeoutMs: within('session.timeout.ms', this.#bounds[type].sessionTimeoutMs),
      heartbeatIntervalMs: within('heartbeat.interval.ms', this.#bounds[type].heartbeatIntervalMs),
    };
  }
}
