/** What the engine makes of the configs of a share group (KIP-932, KIP-1240, KIP-1191); their table is in group-config.ts. */
import type { Configs } from './config-definition.ts';
import { parseShareAutoOffsetReset, type ShareAutoOffsetReset, shareGroupConfigDefinitions } from './group-config.ts';

export type ShareIsolation = 'read_uncommitted' | 'read_committed';

/** What the engine does for a share group, parsed; membership is not its business. Times in milliseconds. */
export interface ShareGroupConfig {
  readonly maxInFlightRecords: number;
  readonly maxDeliveryCount: number;
  readonly lockTimeoutMs: number;
  readonly autoOffsetReset: ShareAutoOffsetReset;
  readonly isolation: ShareIsolation;
  readonly renewEnabled: boolean;
  readonly deadLetters: boolean;
  /** "" without a dead-letter queue. */
  readonly deadLetterTopic: string;
  readonly deadLetterCopyRecord: boolean;
}

/** Parses stored configs; a name that is absent, or whose stored value is no longer allowed, has its default. */
export function parseShareGroupConfig(configs: Configs): ShareGroupConfig {
  const value = (name: string): string => {
    const definition = shareGroupConfigDefinitions.get(name)!;
    const stored = configs[name];
    return stored === undefined || definition.problem(stored) !== undefined ? definition.defaultValue : stored.trim();
  };
  return {
    maxInFlightRecords: Number(value('share.partition.max.record.locks')),
    maxDeliveryCount: Number(value('share.delivery.count.limit')),
    lockTimeoutMs: Number(value('share.record.lock.duration.ms')),
    autoOffsetReset: parseShareAutoOffsetReset(value('share.auto.offset.reset'))!,
    isolation: value('share.isolation.level') as ShareIsolation,
    renewEnabled: value('share.renew.acknowledge.enable').toLowerCase() === 'true',
    deadLetters: value('errors.deadletterqueue.topic.name') !== '',
    deadLetterTopic: value('errors.deadletterqueue.topic.name'),
    deadLetterCopyRecord: value('errors.deadletterqueue.copy.record.enable').toLowerCase() === 'true',
  };
}
