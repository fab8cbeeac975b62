/**
 * The brokers as targets of the config APIs: what this host is set to, by Kafka's names, and what may be changed while it
 * runs. No secret is among it: how storage and coordinator are reached is not described at all.
 *
 * Changeable are the defaults that the coordinator applies for the whole cluster (its scope `broker`), through the default
 * resource (""), as in Kafka. Everything else is given at the start.
 */
import {
  anything,
  type ConfigCheck,
  type ConfigDefinition,
  type ConfigDefinitions,
  type Configs,
  type ConfigType,
  definitionsByName,
  integer,
} from '../../common/config-definition.ts';
import { deadLetterClusterConfigs } from '../../common/dead-letter-config.ts';
import { ApiError } from '../../common/errors.ts';
import { shareGroupConfigDefinitions } from '../../common/group-config.ts';
import { topicConfigDefinitions } from '../../common/topic-config.ts';
import { DEFAULT_PRODUCER_ID_EXPIRATION_MS } from '../../coordinator/producer-state.ts';
import { answered } from '../../engine/coordinator-failure.ts';
import { defaultGroupSettings, type GroupSettings } from '../../group/group-settings.ts';
import { type Broker, defaultBrokerSettings, type Endpoint } from '../broker.ts';
import { formatEndpoint } from '../listener.ts';
import { defaultServerLimits, type ServerLimits } from '../server-limits.ts';
import { ConfigSource, type ConfigSynonym, type ConfigTarget } from './config-target.ts';
import { topicConfigRefusal } from './topic-configs.ts';

/** The coordinator's scope of what is set for all brokers. */
const SCOPE = 'broker';

/** The name by which logs and tools know where records lie: not a folder, for they may be in a bucket. */
export const LOG_DIR = 'diskless';

interface BrokerConfig extends ConfigDefinition {
  /** What this host was given; undefined when that is the default. */
  readonly given: string | undefined;
}

const clusterDefaults: ReadonlySet<string> = new Set([
  ...deadLetterClusterConfigs.map(({ name }) => name),
  'log.cleanup.policy',
  'log.retention.bytes',
  'log.retention.ms',
  'producer.id.expiration.ms',
]);

/** What is set for all brokers. @throws ApiError when the coordinator does not answer */
export function readBrokerDefaults({ coordinator }: Broker): Promise<Configs> {
  return answered(coordinator.readConfigs(SCOPE));
}

/** `resource` is this broker's id, or "" for the default of all brokers. @throws ApiError INVALID_REQUEST */
export function openBrokerTarget(broker: Broker, resource: string, defaults: Configs): ConfigTarget {
  const ofAll = resource === '';
  if (!ofAll) requireOwnId(broker, resource);
  return {
    kind: 'broker',
    definitions: brokerConfigDefinitions(broker),
    stored: ofAll ? defaults : {},
    storedSource: ConfigSource.dynamicDefaultBroker,
    ...(ofAll && { describesStoredOnly: true }),
    inherited: (definition) => inherited(definition as BrokerConfig, ofAll ? {} : defaults),
    fixed: ({ name }) => fixed(name, ofAll),
    refusal: ({ name }, value) =>
      name === 'log.cleanup.policy'
        ? topicConfigRefusal(topicConfigDefinitions.get('cleanup.policy')!, value)
        : undefined,
    problemTogether: () => undefined,
    write: (changes) => answered(broker.coordinator.alterConfigs(SCOPE, changes)),
  };
}

/** @throws ApiError INVALID_REQUEST */
export function requireOwnId({ nodeId }: Broker, resource: string): void {
  if (resource === String(nodeId)) return;
  const message = `this is broker ${nodeId}; ask broker ${JSON.stringify(resource.slice(0, 20))} itself`;
  throw new ApiError('INVALID_REQUEST', message);
}

function fixed(name: string, ofAll: boolean): string | undefined {
  if (!clusterDefaults.has(name)) return 'It is given when the broker starts.';
  return ofAll ? undefined : 'It holds for all brokers: change it for the default broker resource.';
}

function inherited({ name, defaultValue, given }: BrokerConfig, defaults: Configs): ConfigSynonym[] {
  const synonyms: ConfigSynonym[] = [{ name, value: defaultValue, source: ConfigSource.byDefault }];
  if (given !== undefined) synonyms.unshift({ name, value: given, source: ConfigSource.staticBroker });
  const set = clusterDefaults.has(name) ? defaults[name] : undefined;
  if (set !== undefined) synonyms.unshift({ name, value: set, source: ConfigSource.dynamicDefaultBroker });
  return synonyms;
}

interface BrokerConfigRow {
  readonly name: string;
  readonly type: ConfigType;
  readonly defaultValue: string;
  readonly documentation: string;
  /** What this host is set to. @default the default */
  readonly value?: string;
  /** Where it can be changed. @default anything */
  readonly problem?: ConfigCheck;
}

function define({ value, problem, ...row }: BrokerConfigRow): BrokerConfig {
  const given = value === row.defaultValue ? undefined : value;
  return { ...row, given, support: 'honoured', brokerSynonym: undefined, problem: problem ?? anything };
}

/** By name; read per request, for the advertised listener is known once the server listens. */
function brokerConfigDefinitions(broker: Broker): ConfigDefinitions {
  const all = [
    ...defaultsOf(topicConfigDefinitions),
    ...defaultsOf(shareGroupConfigDefinitions),
    ...groupConfigs(broker.groupSettings),
    ...clusterRows,
    ...identity(broker),
    ...topicRows(broker),
    ...limits(broker),
  ].map(define);
  return definitionsByName(all);
}

const clusterRows: readonly BrokerConfigRow[] = [
  ...deadLetterClusterConfigs.map((row) => ({ ...row, documentation: 'Of dead-letter queues (KIP-1191).' })),
  {
    name: 'producer.id.expiration.ms',
    type: 'int',
    defaultValue: String(DEFAULT_PRODUCER_ID_EXPIRATION_MS),
    documentation: 'How long the state of an idle producer is kept.',
    problem: integer('int', 1),
  },
];

function identity({ nodeId, rack, listener, advertisedListener }: Broker): BrokerConfigRow[] {
  const url = (endpoint: Endpoint): string => `PLAINTEXT://${formatEndpoint(endpoint)}`;
  const id = {
    type: 'int',
    defaultValue: '-1',
    value: String(nodeId),
    documentation: 'The id of this broker.',
  } as const;
  return [
    { name: 'broker.id', ...id },
    { name: 'node.id', ...id },
    {
      name: 'broker.rack',
      type: 'string',
      defaultValue: '',
      value: rack ?? '',
      documentation: 'The rack or zone that this broker is in.',
    },
    {
      name: 'listeners',
      type: 'list',
      defaultValue: 'PLAINTEXT://:9092',
      value: url(listener),
      documentation: 'Where it listens.',
    },
    {
      name: 'advertised.listeners',
      type: 'list',
      defaultValue: '',
      value: url(advertisedListener),
      documentation: 'Where clients are told to connect.',
    },
  ];
}

function topicRows({ settings }: Broker): BrokerConfigRow[] {
  return [
    {
      name: 'auto.create.topics.enable',
      type: 'boolean',
      defaultValue: String(defaultBrokerSettings.autoCreateTopicsEnable),
      value: String(settings.autoCreateTopicsEnable),
      documentation: 'Whether a topic is made when a client first asks for it.',
    },
    {
      name: 'default.replication.factor',
      type: 'int',
      defaultValue: '1',
      documentation: 'Always 1: the object storage keeps the copies.',
    },
    { name: 'delete.topic.enable', type: 'boolean', defaultValue: 'true', documentation: 'Topics can be deleted.' },
    {
      name: 'log.dirs',
      type: 'list',
      defaultValue: LOG_DIR,
      documentation: 'What stands for the object storage in DescribeLogDirs.',
    },
    {
      name: 'num.partitions',
      type: 'int',
      defaultValue: String(defaultBrokerSettings.numPartitions),
      value: String(settings.numPartitions),
      documentation: 'Partitions of a topic that is made without a number.',
    },
  ];
}

function limits({ limits: given, settings }: Broker): BrokerConfigRow[] {
  const row = (name: string, type: ConfigType, byDefault: number, value: number, documentation: string) => ({
    name,
    type,
    defaultValue: String(byDefault),
    value: String(value),
    documentation,
  });
  const ofServer = (name: string, type: ConfigType, key: keyof ServerLimits, documentation: string) =>
    row(name, type, defaultServerLimits[key], given[key], documentation);
  const { fetchMaxBytes, maxIncrementalFetchSessionCacheSlots: sessions } = defaultBrokerSettings;
  return [
    ofServer(
      'connections.max.idle.ms',
      'long',
      'connectionsMaxIdleMs',
      'A connection without a request ends after it.',
    ),
    ofServer('max.connections', 'int', 'maxConnections', 'Further connections are closed at once.'),
    ofServer('max.connections.per.ip', 'int', 'maxConnectionsPerIp', 'The same for those from one address.'),
    ofServer('queued.max.request.bytes', 'long', 'queuedMaxRequestBytes', 'Requests that are not answered yet.'),
    ofServer('socket.request.max.bytes', 'int', 'socketRequestMaxBytes', 'The largest request.'),
    row('fetch.max.bytes', 'int', fetchMaxBytes, settings.fetchMaxBytes, 'What one Fetch gets at most.'),
    row(
      'max.incremental.fetch.session.cache.slots',
      'int',
      sessions,
      settings.maxIncrementalFetchSessionCacheSlots,
      'Fetch sessions (KIP-227) at a time.',
    ),
  ];
}

/** `groupConsumerMaxSize` is `group.consumer.max.size`, and so on. */
function groupConfigs(settings: GroupSettings): BrokerConfigRow[] {
  return Object.entries(defaultGroupSettings).map(([key, byDefault]) => ({
    name: key.replace(/[A-Z]/g, (letter) => `.${letter.toLowerCase()}`),
    type: typeof byDefault === 'number' ? 'int' : 'string',
    defaultValue: String(byDefault),
    value: String(settings[key as keyof GroupSettings]),
    documentation: 'Of the group coordinator.',
  }));
}

/** Where topics and groups get their defaults from. */
function defaultsOf(definitions: ConfigDefinitions): BrokerConfigRow[] {
  return [...definitions.values()].flatMap(({ brokerSynonym, type, defaultValue, documentation, problem }) =>
    brokerSynonym === undefined ? [] : [{ name: brokerSynonym, type, defaultValue, documentation, problem }],
  );
}
