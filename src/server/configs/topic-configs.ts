/** Topics as targets of the config APIs. */
import { type ConfigDefinition, type Configs, normalizedValue } from '../../common/config-definition.ts';
import { ApiError, Errors, errorName } from '../../common/errors.ts';
import { topicConfigDefinitions, topicConfigProblem } from '../../common/topic-config.ts';
import { topicNameProblem } from '../../common/topic-name.ts';
import type { Broker } from '../broker.ts';
import { ConfigSource, type ConfigSynonym, type ConfigTarget } from './config-target.ts';

/** Why a value is refused here although the engine would take it, or undefined. */
export function topicConfigRefusal({ name }: ConfigDefinition, value: string): string | undefined {
  // The engine checks the keys of compacted topics for brokers that compact; this host does not, so it promises nothing.
  const compacts = name === 'cleanup.policy' && value.split(',').some((part) => part.trim() === 'compact');
  return compacts ? 'compaction is not built yet; use delete' : undefined;
}

/** Why a config cannot be changed, or undefined. */
export function fixedByEngine({ support, documentation }: ConfigDefinition): string | undefined {
  return support === 'honoured' ? undefined : documentation;
}

/** What holds for a topic's config while the topic has none of its own. `brokers` is what is set for all brokers. */
export function inheritedFromBrokers(brokers: Configs, definition: ConfigDefinition): ConfigSynonym[] {
  const { brokerSynonym: name, defaultValue } = definition;
  if (name === undefined) return [];
  const byDefault: ConfigSynonym = { name, value: defaultValue, source: ConfigSource.byDefault };
  const set = brokers[name];
  if (set === undefined) return [byDefault];
  return [{ name, value: set, source: ConfigSource.dynamicDefaultBroker }, byDefault];
}

/**
 * What a new topic keeps of the configs that it is created with. What is ignored is left out rather than refused: Kafka
 * Streams, Connect and others set such configs without being asked to.
 * @throws ApiError INVALID_CONFIG
 */
export function configsOfNewTopic(
  configs: readonly { readonly name: string; readonly value: string | null }[],
): Configs {
  const nameless = configs.find(({ value }) => value === null);
  if (nameless) throw new ApiError('INVALID_CONFIG', `${nameless.name}: a value is needed`);
  const given = Object.fromEntries(configs.map(({ name, value }) => [name, value!]));
  const problem = topicConfigProblem(given);
  if (problem !== undefined) throw new ApiError('INVALID_CONFIG', problem);
  const kept = Object.entries(given).filter(([name, value]) => isKept(topicConfigDefinitions.get(name)!, value));
  return Object.fromEntries(kept);
}

/** @throws ApiError INVALID_CONFIG for what cannot be promised */
function isKept(definition: ConfigDefinition, value: string): boolean {
  const { name, support, defaultValue, documentation } = definition;
  if (support === 'honoured') {
    const refusal = topicConfigRefusal(definition, value);
    if (refusal !== undefined) throw new ApiError('INVALID_CONFIG', `${name}: ${refusal}`);
    return true;
  }
  if (support === 'refused' && normalizedValue(definition, value) !== defaultValue) {
    throw new ApiError('INVALID_CONFIG', `${name} must be ${defaultValue}. ${documentation}`);
  }
  return false;
}

/** The configs of a topic, or with `stored` of one that is about to be created. */
export function topicTarget(stored: Configs, brokers: Configs, write: ConfigTarget['write']): ConfigTarget {
  return {
    kind: 'topic',
    definitions: topicConfigDefinitions,
    stored,
    storedSource: ConfigSource.dynamicTopic,
    inherited: (definition) => inheritedFromBrokers(brokers, definition),
    fixed: fixedByEngine,
    refusal: topicConfigRefusal,
    problemTogether: () => undefined,
    write,
  };
}

/** @throws ApiError when there is no such topic */
export async function openTopicTarget(broker: Broker, name: string, brokers: Configs): Promise<ConfigTarget> {
  const problem = topicNameProblem(name);
  if (problem !== undefined) throw new ApiError('INVALID_TOPIC_EXCEPTION', problem);
  const topic = (await broker.topics.view()).byName(name);
  if (!topic) throw new ApiError('UNKNOWN_TOPIC_OR_PARTITION', `there is no topic ${name}`);
  return topicTarget(topic.configs, brokers, async (changes) => {
    const [result] = await broker.engine.alterTopicConfigs([{ topicId: topic.topicId, changes }]);
    if (result!.error !== Errors.NONE) throw new ApiError(errorName(result!.error), result!.message);
  });
}
