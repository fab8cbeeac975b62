/** Settings of the group coordinator: Kafka's broker configs by their own names in camel case, and Kafka's defaults. */
import type { GroupBounds, GroupTimeBounds } from '../common/group-config.ts';

export type MigrationPolicy = 'disabled' | 'upgrade' | 'downgrade' | 'bidirectional';

export interface GroupSettings {
  /**
   * How long the first rebalance of an empty group waits for more members, milliseconds; each newcomer prolongs it, up
   * to the rebalance timeout. Kafka's code says 3000, the configuration that Kafka ships says 0, and so do we: a first
   * consumer starts at once. Raise it where many members start together, to spare them a rebalance each.
   */
  readonly groupInitialRebalanceDelayMs: number;
  /** Bounds of the session timeout that a member of a classic group may ask for, milliseconds. */
  readonly groupMinSessionTimeoutMs: number;
  readonly groupMaxSessionTimeoutMs: number;
  /** Members of one classic group. */
  readonly groupMaxSize: number;
  /** Bytes of metadata with one committed offset. */
  readonly offsetMetadataMaxBytes: number;
  /** How long offsets of a group without members are kept, minutes. */
  readonly offsetsRetentionMinutes: number;
  readonly offsetsRetentionCheckIntervalMs: number;
  readonly groupConsumerSessionTimeoutMs: number;
  readonly groupConsumerMinSessionTimeoutMs: number;
  readonly groupConsumerMaxSessionTimeoutMs: number;
  readonly groupConsumerHeartbeatIntervalMs: number;
  readonly groupConsumerMinHeartbeatIntervalMs: number;
  readonly groupConsumerMaxHeartbeatIntervalMs: number;
  /** Members of one consumer group. */
  readonly groupConsumerMaxSize: number;
  readonly groupShareSessionTimeoutMs: number;
  readonly groupShareMinSessionTimeoutMs: number;
  readonly groupShareMaxSessionTimeoutMs: number;
  readonly groupShareHeartbeatIntervalMs: number;
  readonly groupShareMinHeartbeatIntervalMs: number;
  readonly groupShareMaxHeartbeatIntervalMs: number;
  /** Members of one share group, at most 1000. */
  readonly groupShareMaxSize: number;
  /** Whether a group may change between the classic and the consumer protocol while it has members. */
  readonly groupConsumerMigrationPolicy: MigrationPolicy;
}

export const defaultGroupSettings: GroupSettings = Object.freeze({
  groupInitialRebalanceDelayMs: 0,
  groupMinSessionTimeoutMs: 6_000,
  groupMaxSessionTimeoutMs: 1_800_000,
  groupMaxSize: 2 ** 31 - 1,
  offsetMetadataMaxBytes: 4_096,
  offsetsRetentionMinutes: 7 * 24 * 60,
  offsetsRetentionCheckIntervalMs: 600_000,
  groupConsumerSessionTimeoutMs: 45_000,
  groupConsumerMinSessionTimeoutMs: 45_000,
  groupConsumerMaxSessionTimeoutMs: 60_000,
  groupConsumerHeartbeatIntervalMs: 5_000,
  groupConsumerMinHeartbeatIntervalMs: 5_000,
  groupConsumerMaxHeartbeatIntervalMs: 15_000,
  groupConsumerMaxSize: 2 ** 31 - 1,
  groupShareSessionTimeoutMs: 45_000,
  groupShareMinSessionTimeoutMs: 45_000,
  groupShareMaxSessionTimeoutMs: 60_000,
  groupShareHeartbeatIntervalMs: 5_000,
  groupShareMinHeartbeatIntervalMs: 5_000,
  groupShareMaxHeartbeatIntervalMs: 15_000,
  groupShareMaxSize: 200,
  groupConsumerMigrationPolicy: 'bidirectional',
});

/** What may be set for single groups, and what holds for the others. */
export function groupBounds(settings: GroupSettings): GroupBounds {
  return { consumer: timeBounds(settings, 'Consumer'), share: timeBounds(settings, 'Share') };
}

function timeBounds(settings: GroupSettings, type: 'Consumer' | 'Share'): GroupTimeBounds {
  return {
    sessionTimeoutMs: {
      byDefault: settings[`group${type}SessionTimeoutMs`],
      min: settings[`group${type}MinSessionTimeoutMs`],
      max: settings[`group${type}MaxSessionTimeoutMs`],
    },
    heartbeatIntervalMs: {
      byDefault: settings[`group${type}HeartbeatIntervalMs`],
      min: settings[`group${type}MinHeartbeatIntervalMs`],
      max: settings[`group${type}MaxHeartbeatIntervalMs`],
    },
  };
}

type NumericSetting = Exclude<keyof GroupSettings, 'groupConsumerMigrationPolicy'>;

const migrationPolicies: readonly MigrationPolicy[] = ['disabled', 'upgrade', 'downgrade', 'bidirectional'];

/** Kafka's own bound of `group.share.max.size`. */
const SHARE_MAX_SIZE_LIMIT = 1_000;

/** Each row: a setting that must not be above the next one. */
const ordered: readonly (readonly NumericSetting[])[] = [
  ['groupMinSessionTimeoutMs', 'groupMaxSessionTimeoutMs'],
  ['groupConsumerMinSessionTimeoutMs', 'groupConsumerSessionTimeoutMs', 'groupConsumerMaxSessionTimeoutMs'],
  ['groupConsumerMinHeartbeatIntervalMs', 'groupConsumerHeartbeatIntervalMs', 'groupConsumerMaxHeartbeatIntervalMs'],
  ['groupConsumerHeartbeatIntervalMs', 'groupConsumerSessionTimeoutMs'],
  ['groupShareMinSessionTimeoutMs', 'groupShareSessionTimeoutMs', 'groupShareMaxSessionTimeoutMs'],
  ['groupShareMinHeartbeatIntervalMs', 'groupShareHeartbeatIntervalMs', 'groupShareMaxHeartbeatIntervalMs'],
  ['groupShareHeartbeatIntervalMs', 'groupShareSessionTimeoutMs'],
];

/** Fills in the defaults and freezes. @throws RangeError naming the setting, its value and what is allowed */
export function groupSettings(settings: Partial<GroupSettings> = {}): GroupSettings {
  const complete = { ...defaultGroupSettings, ...settings };
  for (const [name, value] of Object.entries(complete)) {
    if (name === 'groupConsumerMigrationPolicy') continue;
    const least = name === 'groupInitialRebalanceDelayMs' || name === 'offsetMetadataMaxBytes' ? 0 : 1;
    const most = name === 'groupShareMaxSize' ? SHARE_MAX_SIZE_LIMIT : 2 ** 31 - 1;
    if (!Number.isSafeInteger(value) || (value as number) < least || (value as number) > most) {
      throw new RangeError(`${name} is ${value}: an integer from ${least} to ${most} is expected`);
    }
  }
  for (const names of ordered) names.reduce((lower, upper) => checkOrder(complete, lower, upper));
  if (!migrationPolicies.includes(complete.groupConsumerMigrationPolicy)) {
    const allowed = migrationPolicies.join(', ');
    throw new RangeError(`groupConsumerMigrationPolicy is ${complete.groupConsumerMigrationPolicy}: one of ${allowed}`);
  }
  return Object.freeze(complete);
}

function checkOrder(settings: GroupSettings, lower: NumericSetting, upper: NumericSetting): NumericSetting {
  if (settings[lower] > settings[upper]) {
    throw new RangeError(`${lower} is ${settings[lower]}, above ${upper}, which is ${settings[upper]}`);
  }
  return upper;
}
