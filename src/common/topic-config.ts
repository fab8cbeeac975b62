/** The topic configs of Kafka 4.4: names, types, defaults, checks, and what the engine makes of them. */
import {
  boolean,
  type ConfigCheck,
  type ConfigDefinitions,
  type ConfigRow,
  type Configs,
  defineConfigs,
  definitionsByName,
  integer,
  listOf,
  normalizedValue,
  oneOf,
  ratio,
  splitList,
  unknownConfig,
} from './config-definition.ts';

/** Kafka's "for ever". */
const LONG_MAX = '9223372036854775807';
const LONG_MIN = -(2n ** 63n);
const DAY_MS = 86_400_000;

const gzipLevel: ConfigCheck = (value) => (value.trim() === '-1' ? undefined : integer('int', 1, 9)(value));

const disklessOnly: ConfigCheck = (value) =>
  value.trim().toLowerCase() === 'true' ? undefined : 'every topic here is diskless; leave it out or set it to true';

const throttledReplicas: ConfigCheck = (value) =>
  /^(\*|\s*|\s*\d+:\d+\s*(,\s*\d+:\d+\s*)*)$/.test(value)
    ? undefined
    : `"${value}" is neither * nor a list of partition:broker`;

const honoured: readonly ConfigRow[] = [
  [
    'cleanup.policy',
    'list',
    'delete',
    listOf('delete', 'compact'),
    'delete: records beyond retention.ms or retention.bytes are removed; empty: they are kept.',
    'log.cleanup.policy',
  ],
  [
    'compression.gzip.level',
    'int',
    '-1',
    gzipLevel,
    'The level under compression.type=gzip; records of more than 1 MiB get 7 at most.',
    'compression.gzip.level',
  ],
  [
    'compression.type',
    'string',
    'producer',
    oneOf('producer', 'uncompressed', 'gzip', 'snappy', 'lz4', 'zstd'),
    'The codec in which batches are stored; producer: as they came.',
    'compression.type',
  ],
  [
    'compression.zstd.level',
    'int',
    '3',
    integer('int', -131_072, 22),
    'The level under compression.type=zstd; records of more than 256 KiB get 15 at most, of 1 MiB 9, of 4 MiB 3.',
    'compression.zstd.level',
  ],
  ['diskless.enable', 'boolean', 'true', disklessOnly, 'Every topic is stored in object storage (KIP-1150).'],
  [
    'errors.deadletterqueue.group.enable',
    'boolean',
    'false',
    boolean,
    'Whether share groups may use the topic as a dead-letter queue.',
  ],
  [
    'max.message.bytes',
    'int',
    '1048588',
    integer('int', 0),
    'The largest record batch, after compression.',
    'message.max.bytes',
  ],
  [
    'message.timestamp.after.max.ms',
    'long',
    '3600000',
    integer('long', 0),
    "How far a record's timestamp may be ahead of the broker's clock, under CreateTime.",
    'log.message.timestamp.after.max.ms',
  ],
  [
    'message.timestamp.before.max.ms',
    'long',
    LONG_MAX,
    integer('long', 0),
    "How far a record's timestamp may be behind the broker's clock, under CreateTime.",
    'log.message.timestamp.before.max.ms',
  ],
  [
    'message.timestamp.type',
    'string',
    'CreateTime',
    oneOf('CreateTime', 'LogAppendTime'),
    "Whether records keep their producer's time or get the time of their commit.",
    'log.message.timestamp.type',
  ],
  [
    'retention.bytes',
    'long',
    '-1',
    integer('long', LONG_MIN),
    'How much of a partition is kept at least when old records are removed; -1 (or less): no limit.',
    'log.retention.bytes',
  ],
  [
    'retention.ms',
    'long',
    String(7 * DAY_MS),
    integer('long', -1),
    'How long records are kept; -1: for ever.',
    'log.retention.ms',
  ],
];

const SEGMENTS = 'About log segments on a local disk, which diskless topics do not have: no effect.';
const REPLICAS = 'About replicas on brokers, which diskless topics do not have: no effect.';
const COMPACTION = 'About compaction, which is not built yet: no effect.';
const TIERS = 'About tiered storage, which is not built.';

const ignored: readonly ConfigRow[] = [
  [
    'compression.lz4.level',
    'int',
    '9',
    integer('int', 1, 17),
    'The lz4 encoder has one level, a fast one: no effect.',
    'compression.lz4.level',
  ],
  ['delete.retention.ms', 'long', String(DAY_MS), integer('long', 0), COMPACTION, 'log.cleaner.delete.retention.ms'],
  ['file.delete.delay.ms', 'long', '60000', integer('long', 0), SEGMENTS, 'log.segment.delete.delay.ms'],
  ['flush.messages', 'long', LONG_MAX, integer('long', 1), SEGMENTS, 'log.flush.interval.messages'],
  ['flush.ms', 'long', LONG_MAX, integer('long', 0), SEGMENTS, 'log.flush.interval.ms'],
  ['follower.replication.throttled.replicas', 'list', '', throttledReplicas, REPLICAS],
  ['index.interval.bytes', 'int', '4096', integer('int', 0), SEGMENTS, 'log.index.interval.bytes'],
  ['leader.replication.throttled.replicas', 'list', '', throttledReplicas, REPLICAS],
  ['local.retention.bytes', 'long', '-2', integer('long', -2), TIERS, 'log.local.retention.bytes'],
  ['local.retention.ms', 'long', '-2', integer('long', -2), TIERS, 'log.local.retention.ms'],
  ['max.compaction.lag.ms', 'long', LONG_MAX, integer('long', 1), COMPACTION, 'log.cleaner.max.compaction.lag.ms'],
  ['min.cleanable.dirty.ratio', 'double', '0.5', ratio, COMPACTION, 'log.cleaner.min.cleanable.ratio'],
  ['min.compaction.lag.ms', 'long', '0', integer('long', 0), COMPACTION, 'log.cleaner.min.compaction.lag.ms'],
  [
    'min.insync.replicas',
    'int',
    '1',
    integer('int', 1),
    'Acknowledged records are in object storage, which keeps the copies: no effect.',
    'min.insync.replicas',
  ],
  ['preallocate', 'boolean', 'false', boolean, SEGMENTS, 'log.preallocate'],
  ['remote.copy.lag.bytes', 'long', '-1', integer('long', -1), TIERS, 'log.remote.copy.lag.bytes'],
  ['remote.copy.lag.ms', 'long', '0', integer('long', -1), TIERS, 'log.remote.copy.lag.ms'],
  ['remote.log.copy.disable', 'boolean', 'false', boolean, TIERS],
  ['remote.log.delete.on.disable', 'boolean', 'false', boolean, TIERS],
  ['segment.bytes', 'int', '1073741824', integer('int', 1_048_576), SEGMENTS, 'log.segment.bytes'],
  ['segment.index.bytes', 'int', '10485760', integer('int', 4), SEGMENTS, 'log.index.size.max.bytes'],
  ['segment.jitter.ms', 'long', '0', integer('long', 0), SEGMENTS, 'log.roll.jitter.ms'],
  ['segment.ms', 'long', String(7 * DAY_MS), integer('long', 1), SEGMENTS, 'log.roll.ms'],
  ['unclean.leader.election.enable', 'boolean', 'false', boolean, REPLICAS, 'unclean.leader.election.enable'],
];

const MAX_DECOMPRESSED = 2_147_483_639;

const refused: readonly ConfigRow[] = [
  [
    'max.decompressed.message.bytes',
    'int',
    String(MAX_DECOMPRESSED),
    integer('int', 1, MAX_DECOMPRESSED),
    'How large a batch may become when it is decompressed; the limits of the record kernel hold instead.',
    'max.decompressed.message.bytes',
  ],
  ['remote.storage.enable', 'boolean', 'false', boolean, TIERS],
];

/** All topic configs by name. */
export const topicConfigDefinitions: ConfigDefinitions = definitionsByName([
  ...defineConfigs('honoured', honoured),
  ...defineConfigs('ignored', ignored),
  ...defineConfigs('refused', refused),
]);

/** What is wrong with the first bad entry (`name: why`), or undefined when all can be set. */
export function topicConfigProblem(configs: Configs): string | undefined {
  for (const [name, value] of Object.entries(configs)) {
    const definition = topicConfigDefinitions.get(name);
    if (!definition) return unknownConfig('topic', name, topicConfigDefinitions);
    const problem = definition.problem(value);
    if (problem !== undefined) return `${name}: ${problem}`;
  }
  return undefined;
}

/** Checked configs as Kafka writes them: ` +5` is 5. */
export function normalizedTopicConfigs(configs: Configs): Configs {
  const entries = Object.entries(configs);
  return Object.fromEntries(
    entries.map(([name, value]) => [name, normalizedValue(topicConfigDefinitions.get(name)!, value)]),
  );
}

/** What the engine reads from a topic's configs. Times in milliseconds; Infinity where Kafka has "for ever". */
export interface TopicConfig {
  readonly maxMessageBytes: number;
  readonly compressionType: 'producer' | 'uncompressed' | 'gzip' | 'snappy' | 'lz4' | 'zstd';
  /** Of the codec that `compressionType` names; undefined where it has no levels. */
  readonly compressionLevel: number | undefined;
  /** 0 CreateTime, 1 LogAppendTime. */
  readonly timestampType: 0 | 1;
  readonly timestampBeforeMaxMs: number;
  readonly timestampAfterMaxMs: number;
  readonly compacted: boolean;
  /** `errors.deadletterqueue.group.enable` */
  readonly deadLetterQueueEnabled: boolean;
}

const leveled: ReadonlySet<TopicConfig['compressionType']> = new Set(['gzip', 'zstd']);

/** Parses checked configs; a name that is absent has its default. */
export function parseTopicConfig(configs: Configs): TopicConfig {
  const value = (name: string): string => (configs[name] ?? topicConfigDefinitions.get(name)!.defaultValue).trim();
  const duration = (name: string): number =>
    value(name) === LONG_MAX ? Number.POSITIVE_INFINITY : Number(value(name));
  const compressionType = value('compression.type') as TopicConfig['compressionType'];
  return {
    maxMessageBytes: Number(value('max.message.bytes')),
    compressionType,
    compressionLevel: leveled.has(compressionType) ? Number(value(`compression.${compressionType}.level`)) : undefined,
    timestampType: value('message.timestamp.type') === 'LogAppendTime' ? 1 : 0,
    timestampBeforeMaxMs: duration('message.timestamp.before.max.ms'),
    timestampAfterMaxMs: duration('message.timestamp.after.max.ms'),
    compacted: splitList(value('cleanup.policy')).includes('compact'),
    deadLetterQueueEnabled: value('errors.deadletterqueue.group.enable').toLowerCase() === 'true',
  };
}
