/**
 * The group configs of share groups (KIP-932, KIP-1240, KIP-1191): names, defaults, bounds, and what the engine makes of
 * them. Broker-wide bounds are Kafka's defaults of `group.share.min.*` and `group.share.max.*`.
 */
import type { ConfigDefinition } from './topic-config.ts';

export type ShareIsolation = 'read_uncommitted' | 'read_committed';

/** A share group's settings, parsed. Times in milliseconds. */
export interface ShareGroupConfig {
  readonly maxInFlightRecords: number;
  readonly maxDeliveryCount: number;
  readonly lockTimeoutMs: number;
  readonly sessionTimeoutMs: number;
  readonly heartbeatIntervalMs: number;
  readonly autoOffsetReset: ShareAutoOffsetReset;
  readonly isolation: ShareIsolation;
  readonly renewEnabled: boolean;
  /** "" without a dead-letter queue. */
  readonly deadLetterTopic: string;
  readonly deadLetterCopyRecord: boolean;
}

export type ShareAutoOffsetReset =
  | { readonly type: 'earliest' }
  | { readonly type: 'latest' }
  | { readonly type: 'by_duration'; readonly durationMs: number };

const DAY_MS = 86_400_000;
const DURATION =
  /^([-+]?)P(?:([-+]?\d+)D)?(?:(T)(?:([-+]?\d+)H)?(?:([-+]?\d+)M)?(?:([-+]?\d+)(?:[.,](\d{0,9}))?S)?)?$/i;

/** ISO-8601 days and times as Java's Duration takes them (`PT1H`, `P1DT0.5S`); undefined when it is none. */
function parseDurationMs(text: string): number | undefined {
  const match = DURATION.exec(text);
  if (!match) return undefined;
  const [, sign, days, time, hours, minutes, seconds, fraction] = match;
  const inTime = hours ?? minutes ?? seconds;
  if ((days ?? inTime) === undefined || (time !== undefined && inTime === undefined)) return undefined;
  const fractionMs = Math.floor(Number(`0.${fraction || 0}`) * 1000) * (seconds?.startsWith('-') ? -1 : 1);
  const ms =
    Number(days ?? 0) * DAY_MS +
    Number(hours ?? 0) * 3_600_000 +
    Number(minutes ?? 0) * 60_000 +
    Number(seconds ?? 0) * 1_000 +
    fractionMs;
  return sign === '-' ? -ms : ms;
}

/** Parses `share.auto.offset.reset`; case matters, and a negative duration is refused. Undefined when it is not valid. */
export function parseShareAutoOffsetReset(value: string): ShareAutoOffsetReset | undefined {
  if (value === 'earliest' || value === 'latest') return { type: value };
  if (!value.startsWith('by_duration:')) return undefined;
  const durationMs = parseDurationMs(value.slice('by_duration:'.length));
  if (durationMs === undefined || durationMs < 0 || !Number.isSafeInteger(durationMs)) return undefined;
  // −0 is a duration too (`-PT0S`), and is none.
  return { type: 'by_duration', durationMs: durationMs + 0 };
}

function between(min: number, max: number): ConfigDefinition['problem'] {
  return (value) => {
    if (!/^[+-]?\d{1,10}$/.test(value.trim())) return `"${value}" is not an integer`;
    const number = Number(value);
    return number < min || number > max ? `${number} is outside ${min} to ${max}` : undefined;
  };
}

const boolean: ConfigDefinition['problem'] = (value) =>
  /^(true|false)$/i.test(value.trim()) ? undefined : `"${value}" is neither true nor false`;
const offsetReset: ConfigDefinition['problem'] = (value) =>
  parseShareAutoOffsetReset(value)
    ? undefined
    : `"${value}" is not earliest, latest or by_duration:<ISO-8601 duration>`;
const isolation: ConfigDefinition['problem'] = (value) =>
  value === 'read_committed' || value === 'read_uncommitted' ? undefined : `"${value}" is no isolation level`;
const deadLetterTopic: ConfigDefinition['problem'] = (value) => {
  if (value === '') return undefined;
  return value.startsWith('dlq.')
    ? undefined
    : `"${value}" does not start with "dlq." (errors.deadletterqueue.topic.name.prefix)`;
};

type Row = readonly [name: string, type: ConfigDefinition['type'], value: string, problem: ConfigDefinition['problem']];

const rows: readonly Row[] = [
  ['errors.deadletterqueue.copy.record.enable', 'boolean', 'false', boolean],
  ['errors.deadletterqueue.topic.name', 'string', '', deadLetterTopic],
  ['share.auto.offset.reset', 'string', 'latest', offsetReset],
  ['share.delivery.count.limit', 'int', '5', between(2, 10)],
  ['share.heartbeat.interval.ms', 'int', '5000', between(5_000, 15_000)],
  ['share.isolation.level', 'string', 'read_uncommitted', isolation],
  ['share.partition.max.record.locks', 'int', '2000', between(100, 4_000)],
  ['share.record.lock.duration.ms', 'int', '30000', between(15_000, 60_000)],
  ['share.renew.acknowledge.enable', 'boolean', 'true', boolean],
  ['share.session.timeout.ms', 'int', '45000', between(45_000, 60_000)],
];

/** The configs of share groups by name. */
export const shareGroupConfigDefinitions: ReadonlyMap<string, ConfigDefinition> = new Map(
  rows.map(([name, type, defaultValue, problem]) => [name, { name, type, defaultValue, effect: true, problem }]),
);

/** Parses stored configs; a name that is absent, or whose stored value is no longer allowed, has its default. */
export function parseShareGroupConfig(configs: Readonly<Record<string, string>>): ShareGroupConfig {
  const value = (name: string): string => {
    const definition = shareGroupConfigDefinitions.get(name)!;
    const stored = configs[name];
    return stored === undefined || definition.problem(stored) !== undefined ? definition.defaultValue : stored.trim();
  };
  return {
    maxInFlightRecords: Number(value('share.partition.max.record.locks')),
    maxDeliveryCount: Number(value('share.delivery.count.limit')),
    lockTimeoutMs: Number(value('share.record.lock.duration.ms')),
    sessionTimeoutMs: Number(value('share.session.timeout.ms')),
    heartbeatIntervalMs: Number(value('share.heartbeat.interval.ms')),
    autoOffsetReset: parseShareAutoOffsetReset(value('share.auto.offset.reset'))!,
    isolation: value('share.isolation.level') as ShareIsolation,
    renewEnabled: value('share.renew.acknowledge.enable').toLowerCase() === 'true',
    deadLetterTopic: value('errors.deadletterqueue.topic.name'),
    deadLetterCopyRecord: value('errors.deadletterqueue.copy.record.enable').toLowerCase() === 'true',
  };
}
