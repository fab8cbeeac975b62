/**
 * The topic configs of Kafka 4.4: names, types, defaults, checks, and what the engine makes of them.
 *
 * Every name that Kafka knows is accepted, because tools set them without asking; those that have no meaning without
 * local log segments or replicas are stored and have no effect (`effect: false`). An unknown name is refused.
 */
export type ConfigType = 'boolean' | 'int' | 'long' | 'double' | 'string' | 'list';

export interface ConfigDefinition {
  readonly name: string;
  readonly type: ConfigType;
  readonly defaultValue: string;
  /** Whether it changes anything here. */
  readonly effect: boolean;
  /** What is wrong with a value, or undefined. */
  problem(value: string): string | undefined;
}

/** Kafka's "for ever". */
const LONG_MAX = '9223372036854775807';
const DAY_MS = 86_400_000;

function integer(type: 'int' | 'long', min: bigint, max?: bigint): ConfigDefinition['problem'] {
  const limit = type === 'int' ? 2n ** 31n - 1n : 2n ** 63n - 1n;
  const most = max ?? limit;
  return (value) => {
    if (!/^[+-]?\d{1,20}$/.test(value.trim())) return `"${value}" is not an integer`;
    const number = BigInt(value.trim());
    return number < min || number > most ? `${number} is outside ${min} to ${most}` : undefined;
  };
}

function oneOf(...allowed: string[]): ConfigDefinition['problem'] {
  return (value) => (allowed.includes(value) ? undefined : `"${value}" is not one of ${allowed.join(', ')}`);
}

const boolean: ConfigDefinition['problem'] = (value) =>
  /^(true|false)$/i.test(value.trim()) ? undefined : `"${value}" is neither true nor false`;

function ratio(value: string): string | undefined {
  const number = Number(value);
  return value.trim() !== '' && number >= 0 && number <= 1 ? undefined : `"${value}" is not a number from 0 to 1`;
}

function policies(value: string): string | undefined {
  const listed = splitList(value);
  const wrong = listed.find((policy) => policy !== 'delete' && policy !== 'compact');
  if (wrong !== undefined) return `"${wrong}" is neither delete nor compact`;
  return listed.length === 0 ? 'at least one of delete, compact is needed' : undefined;
}

function gzipLevel(value: string): string | undefined {
  return value.trim() === '-1' ? undefined : integer('int', 1n, 9n)(value);
}

const anything = (): undefined => undefined;
const disklessOnly = (value: string): string | undefined =>
  value.trim().toLowerCase() === 'true' ? undefined : 'every topic here is diskless; leave it out or set it to true';

type Row = readonly [name: string, type: ConfigType, value: string, problem: ConfigDefinition['problem']];

const withEffect: readonly Row[] = [
  ['cleanup.policy', 'list', 'delete', policies],
  ['compression.type', 'string', 'producer', oneOf('producer', 'uncompressed', 'gzip', 'snappy', 'lz4', 'zstd')],
  ['diskless.enable', 'boolean', 'true', disklessOnly],
  ['max.message.bytes', 'int', '1048588', integer('int', 0n)],
  ['message.timestamp.after.max.ms', 'long', '3600000', integer('long', 0n)],
  ['message.timestamp.before.max.ms', 'long', LONG_MAX, integer('long', 0n)],
  ['message.timestamp.type', 'string', 'CreateTime', oneOf('CreateTime', 'LogAppendTime')],
  ['retention.bytes', 'long', '-1', integer('long', -1n)],
  ['retention.ms', 'long', String(7 * DAY_MS), integer('long', -1n)],
];

const withoutEffect: readonly Row[] = [
  ['compression.gzip.level', 'int', '-1', gzipLevel],
  ['compression.lz4.level', 'int', '9', integer('int', 1n, 17n)],
  ['compression.zstd.level', 'int', '3', integer('int', -131_072n, 22n)],
  ['delete.retention.ms', 'long', String(DAY_MS), integer('long', 0n)],
  ['file.delete.delay.ms', 'long', '60000', integer('long', 0n)],
  ['flush.messages', 'long', LONG_MAX, integer('long', 1n)],
  ['flush.ms', 'long', LONG_MAX, integer('long', 0n)],
  ['follower.replication.throttled.replicas', 'list', '', anything],
  ['index.interval.bytes', 'int', '4096', integer('int', 0n)],
  ['leader.replication.throttled.replicas', 'list', '', anything],
  ['local.retention.bytes', 'long', '-2', integer('long', -2n)],
  ['local.retention.ms', 'long', '-2', integer('long', -2n)],
  ['max.compaction.lag.ms', 'long', LONG_MAX, integer('long', 1n)],
  ['min.cleanable.dirty.ratio', 'double', '0.5', ratio],
  ['min.compaction.lag.ms', 'long', '0', integer('long', 0n)],
  ['min.insync.replicas', 'int', '1', integer('int', 1n)],
  ['preallocate', 'boolean', 'false', boolean],
  ['remote.log.copy.disable', 'boolean', 'false', boolean],
  ['remote.log.delete.on.disable', 'boolean', 'false', boolean],
  ['remote.storage.enable', 'boolean', 'false', boolean],
  ['segment.bytes', 'int', '1073741824', integer('int', 1_048_576n)],
  ['segment.index.bytes', 'int', '10485760', integer('int', 4n)],
  ['segment.jitter.ms', 'long', '0', integer('long', 0n)],
  ['segment.ms', 'long', String(7 * DAY_MS), integer('long', 1n)],
  ['unclean.leader.election.enable', 'boolean', 'false', boolean],
];

function define(effect: boolean) {
  return ([name, type, defaultValue, problem]: Row): ConfigDefinition => ({
    name,
    type,
    defaultValue,
    effect,
    problem,
  });
}

/** All topic configs by name. */
export const topicConfigDefinitions: ReadonlyMap<string, ConfigDefinition> = new Map(
  [...withEffect.map(define(true)), ...withoutEffect.map(define(false))]
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map((definition) => [definition.name, definition]),
);

/** What is wrong with the first bad entry (`name: why`), or undefined when all can be set. */
export function topicConfigProblem(configs: Readonly<Record<string, string>>): string | undefined {
  for (const [name, value] of Object.entries(configs)) {
    const definition = topicConfigDefinitions.get(name);
    if (!definition) return `${name}: there is no such topic config`;
    const problem = definition.problem(value);
    if (problem !== undefined) return `${name}: ${problem}`;
  }
  return undefined;
}

/** What the engine reads from a topic's configs. Times in milliseconds; Infinity where Kafka has "for ever". */
export interface TopicConfig {
  readonly maxMessageBytes: number;
  readonly compressionType: 'producer' | 'uncompressed' | 'gzip' | 'snappy' | 'lz4' | 'zstd';
  /** 0 CreateTime, 1 LogAppendTime. */
  readonly timestampType: 0 | 1;
  readonly timestampBeforeMaxMs: number;
  readonly timestampAfterMaxMs: number;
  readonly compacted: boolean;
}

/** Parses checked configs; a name that is absent has its default. */
export function parseTopicConfig(configs: Readonly<Record<string, string>>): TopicConfig {
  const value = (name: string): string => (configs[name] ?? topicConfigDefinitions.get(name)!.defaultValue).trim();
  const duration = (name: string): number =>
    value(name) === LONG_MAX ? Number.POSITIVE_INFINITY : Number(value(name));
  return {
    maxMessageBytes: Number(value('max.message.bytes')),
    compressionType: value('compression.type') as TopicConfig['compressionType'],
    timestampType: value('message.timestamp.type') === 'LogAppendTime' ? 1 : 0,
    timestampBeforeMaxMs: duration('message.timestamp.before.max.ms'),
    timestampAfterMaxMs: duration('message.timestamp.after.max.ms'),
    compacted: splitList(value('cleanup.policy')).includes('compact'),
  };
}

function splitList(value: string): string[] {
  return value
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}
