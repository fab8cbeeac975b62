/**
 * The group configs of Kafka 4.4: names, types, defaults and bounds, for all three kinds of groups. What is set for a group
 * lies in the coordinator's scope `group:<id>`. Heartbeats and sessions have the broker's bounds; the others of share groups
 * have Kafka's defaults of `group.share.min.*` and `group.share.max.*`.
 */
import {
  anything,
  boolean,
  type ConfigCheck,
  type ConfigDefinitions,
  type ConfigRow,
  defineConfigs,
  definitionsByName,
  integer,
  oneOf,
} from './config-definition.ts';
import { deadLetterTopicProblem } from './dead-letter-config.ts';
import { parseDurationMs } from './duration.ts';

/** The coordinator's scope of a group's configs. */
export const groupScope = (groupId: string): string => `group:${groupId}`;
export const groupOfScope = (scope: string): string => scope.slice(groupScope('').length);

export interface TimeBounds {
  readonly byDefault: number;
  readonly min: number;
  readonly max: number;
}

/** What a broker allows, and gives to a group for which nothing is set. Milliseconds. */
export interface GroupTimeBounds {
  readonly sessionTimeoutMs: TimeBounds;
  readonly heartbeatIntervalMs: TimeBounds;
}

export interface GroupBounds {
  readonly consumer: GroupTimeBounds;
  readonly share: GroupTimeBounds;
}

export type ShareAutoOffsetReset =
  | { readonly type: 'earliest' }
  | { readonly type: 'latest' }
  | { readonly type: 'by_duration'; readonly durationMs: number };

/** Parses `share.auto.offset.reset`; case matters, and a negative duration is refused. Undefined when it is not valid. */
export function parseShareAutoOffsetReset(value: string): ShareAutoOffsetReset | undefined {
  if (value === 'earliest' || value === 'latest') return { type: value };
  if (!value.startsWith('by_duration:')) return undefined;
  const durationMs = parseDurationMs(value.slice('by_duration:'.length));
  if (durationMs === undefined || durationMs < 0 || !Number.isSafeInteger(durationMs)) return undefined;
  // −0 is a duration too (`-PT0S`), and is none.
  return { type: 'by_duration', durationMs: durationMs + 0 };
}

const offsetReset: ConfigCheck = (value) =>
  parseShareAutoOffsetReset(value)
    ? undefined
    : `"${value}" is not earliest, latest or by_duration:<ISO-8601 duration>`;

const shareRows: readonly ConfigRow[] = [
  [
    'errors.deadletterqueue.copy.record.enable',
    'boolean',
    'false',
    boolean,
    'Whether dead letters have the key and the value of their record, besides the headers that say where it lies.',
  ],
  [
    'errors.deadletterqueue.topic.name',
    'string',
    '',
    deadLetterTopicProblem,
    'Where records go that were rejected, or delivered too often; "" for nowhere.',
  ],
  [
    'share.auto.offset.reset',
    'string',
    'latest',
    offsetReset,
    'Where a share group begins in a partition that is new to it.',
  ],
  [
    'share.delivery.count.limit',
    'int',
    '5',
    integer('int', 2, 10),
    'How often a record is delivered before it is given up.',
    'group.share.delivery.count.limit',
  ],
  [
    'share.isolation.level',
    'string',
    'read_uncommitted',
    oneOf('read_committed', 'read_uncommitted'),
    'Whether a share group gets records of aborted transactions.',
  ],
  [
    'share.partition.max.record.locks',
    'int',
    '2000',
    integer('int', 100, 4_000),
    'How many records of a partition may be in flight.',
    'group.share.partition.max.record.locks',
  ],
  [
    'share.record.lock.duration.ms',
    'int',
    '30000',
    integer('int', 15_000, 60_000),
    'How long a member may take for a record before others get it.',
    'group.share.record.lock.duration.ms',
  ],
  ['share.renew.acknowledge.enable', 'boolean', 'true', boolean, 'Whether members may ask for more time for a record.'],
];

const ASSIGNMENT = 'Assignments are computed as soon as members or topics change: no effect.';
const STREAMS = 'About streams groups (KIP-1071), which are not built: no effect.';

const rowsWithoutEffect: readonly ConfigRow[] = [
  [
    'consumer.assignment.interval.ms',
    'int',
    '1000',
    integer('int', 0, 15_000),
    ASSIGNMENT,
    'group.consumer.assignment.interval.ms',
  ],
  [
    'share.assignment.interval.ms',
    'int',
    '1000',
    integer('int', 0, 15_000),
    ASSIGNMENT,
    'group.share.assignment.interval.ms',
  ],
  [
    'streams.assignment.interval.ms',
    'int',
    '1000',
    integer('int', 0, 15_000),
    STREAMS,
    'group.streams.assignment.interval.ms',
  ],
  ['streams.assignor.name', 'string', '', anything, STREAMS],
  [
    'streams.heartbeat.interval.ms',
    'int',
    '5000',
    integer('int', 5_000, 15_000),
    STREAMS,
    'group.streams.heartbeat.interval.ms',
  ],
  [
    'streams.initial.rebalance.delay.ms',
    'int',
    '3000',
    integer('int', 0),
    STREAMS,
    'group.streams.initial.rebalance.delay.ms',
  ],
  ['streams.num.standby.replicas', 'int', '0', integer('int', 0, 2), STREAMS, 'group.streams.num.standby.replicas'],
  ['streams.rack.aware.assignment.tags', 'list', '', anything, STREAMS, 'group.streams.rack.aware.assignment.tags'],
  [
    'streams.session.timeout.ms',
    'int',
    '45000',
    integer('int', 45_000, 60_000),
    STREAMS,
    'group.streams.session.timeout.ms',
  ],
];

/** Heartbeats and sessions, which consumer and share groups have alike. */
function timesRows(type: keyof GroupBounds, bounds: GroupBounds): ConfigRow[] {
  const { sessionTimeoutMs: session, heartbeatIntervalMs: heartbeat } = bounds[type];
  return [
    [
      `${type}.heartbeat.interval.ms`,
      'int',
      String(heartbeat.byDefault),
      integer('int', heartbeat.min, heartbeat.max),
      `How often members of a ${type} group send a heartbeat.`,
      `group.${type}.heartbeat.interval.ms`,
    ],
    [
      `${type}.session.timeout.ms`,
      'int',
      String(session.byDefault),
      integer('int', session.min, session.max),
      `How long a member of a ${type} group may be silent.`,
      `group.${type}.session.timeout.ms`,
    ],
  ];
}

/** The configs of share groups by name, but for those whose bounds are the broker's. */
export const shareGroupConfigDefinitions: ConfigDefinitions = definitionsByName(defineConfigs('honoured', shareRows));

/** All group configs by name, under a broker's bounds. */
export function groupConfigDefinitions(bounds: GroupBounds): ConfigDefinitions {
  return definitionsByName([
    ...defineConfigs('honoured', [...timesRows('consumer', bounds), ...timesRows('share', bounds), ...shareRows]),
    ...defineConfigs('ignored', rowsWithoutEffect),
  ]);
}
