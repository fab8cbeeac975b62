/** The configs of a target as DescribeConfigs and CreateTopics answer them. Pure. */
import { type ConfigDefinition, type ConfigType, normalizedValue } from '../../common/config-definition.ts';
import { ConfigSource, type ConfigSourceNumber, type ConfigSynonym, type ConfigTarget } from './config-target.ts';

export interface DescribedConfig {
  readonly name: string;
  readonly value: string;
  readonly readOnly: boolean;
  readonly configSource: ConfigSourceNumber;
  readonly isSensitive: false;
  readonly synonyms: readonly ConfigSynonym[];
  readonly configType: number;
  readonly documentation: string;
}

const TYPE_NUMBERS: Readonly<Record<ConfigType, number>> = {
  boolean: 1,
  string: 2,
  int: 3,
  long: 5,
  double: 6,
  list: 7,
};

/** By name; only `keys`, unless that is null or empty, which asks for all. */
export function describeTarget(target: ConfigTarget, keys: readonly string[] | null): DescribedConfig[] {
  const wanted = keys === null || keys.length === 0 ? undefined : new Set(keys);
  return [...target.definitions.values()]
    .filter(({ name }) => wanted?.has(name) ?? true)
    .filter((definition) => !target.describesStoredOnly || storedValue(target, definition) !== undefined)
    .map((definition) => describe(target, definition));
}

function describe(target: ConfigTarget, definition: ConfigDefinition): DescribedConfig {
  const { name, type, defaultValue, documentation } = definition;
  const synonyms = synonymsOf(target, definition);
  const strongest = synonyms[0] ?? { value: defaultValue, source: ConfigSource.byDefault };
  return {
    name,
    value: strongest.value,
    readOnly: target.fixed(definition) !== undefined,
    configSource: strongest.source,
    isSensitive: false,
    synonyms,
    configType: TYPE_NUMBERS[type],
    documentation,
  };
}

function synonymsOf(target: ConfigTarget, definition: ConfigDefinition): readonly ConfigSynonym[] {
  const inherited = target.inherited(definition);
  const value = storedValue(target, definition);
  return value === undefined
    ? inherited
    : [{ name: definition.name, value, source: target.storedSource }, ...inherited];
}

/** A value that cannot be set (any more) does not count: the engine has its default too. */
function storedValue(target: ConfigTarget, definition: ConfigDefinition): string | undefined {
  const value = target.stored[definition.name];
  if (value === undefined || target.fixed(definition) !== undefined) return undefined;
  return definition.problem(value) === undefined ? normalizedValue(definition, value) : undefined;
}
