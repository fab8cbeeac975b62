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
  integer,
} from '../../common/config-definition.ts';
import { deadLetterClusterConfigs } from '../../common/dead-letter-config.ts';
import { ApiError } from '../../common/errors.ts';
import { shareGroupConfigDefinitions } from '../../common/group-config.ts';
import { topicConfigDefinitions } from '../../common/topic-config.ts';
import { DEFAULT_PRODUCER_ID_EXPIRATION_MS } from '../../coordinator/producer-state.ts';
import { answered } from '../../engine/coordinator-failure.ts';
import { defaultGroupSettings, type GroupSettings } from '../../group/group-settings.ts';
import type { Broker, Endpoint } from '../broker.ts';
import { defaultServerLimits } from '../server-limits.ts';
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

function define(
  name: string,
  type: ConfigType,
  defaultValue: string,
  value: string = defaultValue,
  problem: ConfigCheck = anything,
): BrokerConfig {
  const documentation = `Kafka's ${name}.`;
  const given = value === defaultValue ? undefined : value;
  return { name, type, defaultValue, given, support: 'honoured', documentation, brokerSynonym: undefined, problem };
}

/** By name; read per request, for the advertised listener is known once the server listens. */
function brokerConfigDefinitions(broker: Broker): ConfigDefinitions {
  const all = [
    ...topicDefaults(),
    ...shareGroupDefaults(),
    ...groupConfigs(broker.groupSettings),
    ...limits(broker),
    ...identity(broker),
    ...deadLetterClusterConfigs.map(({ name, type, defaultValue, problem }) =>
      define(name, type, defaultValue, undefined, problem),
    ),
    define('auto.create.topics.enable', 'boolean', 'true', String(broker.settings.autoCreateTopicsEnable)),
    define('default.replication.factor', 'int', '1'),
    define('delete.topic.enable', 'boolean', 'true'),
    define('fetch.max.bytes', 'int', '57671680', String(broker.settings.fetchMaxBytes)),
    define('log.dirs', 'list', LOG_DIR),
    define(
      'max.incremental.fetch.session.cache.slots',
      'int',
      '1000',
      String(broker.settings.maxIncrementalFetchSessionCacheSlots),
    ),
    define('num.partitions', 'int', '1', String(broker.settings.numPartitions)),
    define('producer.id.expiration.ms', 'int', String(DEFAULT_PRODUCER_ID_EXPIRATION_MS), undefined, integer('int', 1)),
  ];
  return new Map(all.sort((a, b) => (a.name < b.name ? -1 : 1)).map((config) => [config.name, config]));
}

function identity({ nodeId, rack, listener, advertisedListener }: Broker): BrokerConfig[] {
  const url = ({ host, port }: Endpoint): string => `PLAINTEXT://${host.includes(':') ? `[${host}]` : host}:${port}`;
  return [
    define('advertised.listeners', 'list', '', url(advertisedListener)),
    define('broker.id', 'int', '-1', String(nodeId)),
    define('broker.rack', 'string', '', rack ?? ''),
    define('listeners', 'list', 'PLAINTEXT://:9092', url(listener)),
    define('node.id', 'int', '-1', String(nodeId)),
  ];
}

function limits({ limits: given }: Broker): BrokerConfig[] {
  const rows = [
    ['socket.request.max.bytes', 'int', 'socketRequestMaxBytes'],
    ['queued.max.request.bytes', 'long', 'queuedMaxRequestBytes'],
    ['max.connections', 'int', 'maxConnections'],
    ['connections.max.idle.ms', 'long', 'connectionsMaxIdleMs'],
  ] as const;
  return rows.map(([name, type, key]) => define(name, type, String(defaultServerLimits[key]), String(given[key])));
}

/** `groupConsumerMaxSize` is `group.consumer.max.size`, and so on. */
function groupConfigs(settings: GroupSettings): BrokerConfig[] {
  return Object.entries(defaultGroupSettings).map(([key, byDefault]) => {
    const name = key.replace(/[A-Z]/g, (letter) => `.${letter.toLowerCase()}`);
    const type = typeof byDefault === 'number' ? 'int' : 'string';
    return define(name, type, String(byDefault), String(settings[key as keyof GroupSettings]));
  });
}

/** Where topics get their defaults from. */
function topicDefaults(): BrokerConfig[] {
  return defaultsOf(topicConfigDefinitions);
}

function shareGroupDefaults(): BrokerConfig[] {
  return defaultsOf(shareGroupConfigDefinitions);
}

function defaultsOf(definitions: ConfigDefinitions): BrokerConfig[] {
  return [...definitions.values()]
    .filter(({ brokerSynonym }) => brokerSynonym !== undefined)
    .map(({ brokerSynonym, type, defaultValue, problem }) =>
      define(brokerSynonym!, type, defaultValue, undefined, problem),
    );
}
