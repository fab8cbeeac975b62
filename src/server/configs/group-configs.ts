/** Groups as targets of the config APIs. A group need not exist: what is set for it holds once it does. */
import type { ConfigDefinition, ConfigDefinitions, Configs } from '../../common/config-definition.ts';
import { deadLetterTopicRefusal, parseDeadLetterConfig } from '../../common/dead-letter-config.ts';
import { ApiError } from '../../common/errors.ts';
import { groupConfigDefinitions, groupScope } from '../../common/group-config.ts';
import { answered } from '../../engine/coordinator-failure.ts';
import { defaultGroupSettings, type GroupSettings, groupBounds } from '../../group/group-settings.ts';
import type { Broker } from '../broker.ts';
import { ConfigSource, type ConfigSynonym, type ConfigTarget } from './config-target.ts';
import { fixedByEngine, inheritedFromBrokers } from './topic-configs.ts';

export function groupDefinitions(settings: GroupSettings): ConfigDefinitions {
  return groupConfigDefinitions(groupBounds(settings));
}

/** @throws ApiError INVALID_REQUEST without a name */
export async function openGroupTarget(
  { coordinator }: Broker,
  groupId: string,
  definitions: ConfigDefinitions,
  defaults: Configs,
): Promise<ConfigTarget> {
  if (groupId === '') throw new ApiError('INVALID_REQUEST', 'a group has a name; groups have no default resource');
  const stored = await answered(coordinator.readConfigs(groupScope(groupId)));
  return {
    kind: 'group',
    definitions,
    stored,
    storedSource: ConfigSource.dynamicGroup,
    inherited: inheritedFromSettings,
    fixed: fixedByEngine,
    refusal: ({ name }, value) =>
      name === 'errors.deadletterqueue.topic.name'
        ? deadLetterTopicRefusal(value, parseDeadLetterConfig(defaults))
        : undefined,
    problemTogether: (configs) => tooSlowHeartbeat(definitions, configs),
    write: (changes) => answered(coordinator.alterConfigs(groupScope(groupId), changes)),
  };
}

const byDefault = groupDefinitions(defaultGroupSettings);

/** What this host was started with goes before Kafka's default. */
function inheritedFromSettings(definition: ConfigDefinition): ConfigSynonym[] {
  const { name, brokerSynonym, defaultValue } = definition;
  const unset = byDefault.get(name)!;
  const synonyms = inheritedFromBrokers({}, unset);
  if (brokerSynonym === undefined || defaultValue === unset.defaultValue) return synonyms;
  return [{ name: brokerSynonym, value: defaultValue, source: ConfigSource.staticBroker }, ...synonyms];
}

/** A member that sends its heartbeats in time must not be taken for dead. */
function tooSlowHeartbeat(definitions: ConfigDefinitions, configs: Configs): string | undefined {
  const value = (name: string): number => Number(configs[name] ?? definitions.get(name)!.defaultValue);
  for (const kind of ['consumer', 'share']) {
    const [heartbeat, session] = [`${kind}.heartbeat.interval.ms`, `${kind}.session.timeout.ms`];
    if (value(heartbeat) >= value(session)) {
      return `${heartbeat} ${value(heartbeat)} must be below ${session} ${value(session)}`;
    }
  }
  return undefined;
}
