/** What is known of a config: its name, type, default, check, and whether it means anything here. Pure. */
import { closest } from './closest.ts';

export type ConfigType = 'boolean' | 'int' | 'long' | 'double' | 'string' | 'list';

/**
 * `honoured`: does what Kafka's documentation says. `ignored`: about local log segments, replicas or other things that
 * there are none of; any value that Kafka allows is harmless. `refused`: another value than the default would promise what
 * is not built.
 */
export type ConfigSupport = 'honoured' | 'ignored' | 'refused';

export interface ConfigDefinition {
  readonly name: string;
  readonly type: ConfigType;
  readonly defaultValue: string;
  readonly support: ConfigSupport;
  readonly documentation: string;
  /** The broker's config that its default comes from, by Kafka's name; undefined when there is none. */
  readonly brokerSynonym: string | undefined;
  /** What is wrong with a value, or undefined. */
  problem(value: string): string | undefined;
}

export type ConfigDefinitions = ReadonlyMap<string, ConfigDefinition>;
export type Configs = Readonly<Record<string, string>>;
/** A value sets, null removes. */
export type ConfigChanges = Readonly<Record<string, string | null>>;

export type ConfigCheck = ConfigDefinition['problem'];

/** A definition as it stands in a table. */
export type ConfigRow = readonly [
  name: string,
  type: ConfigType,
  defaultValue: string,
  problem: ConfigCheck,
  documentation: string,
  brokerSynonym?: string,
];

/** The definitions of a table; all of it has one support. */
export function defineConfigs(support: ConfigSupport, rows: readonly ConfigRow[]): ConfigDefinition[] {
  return rows.map(([name, type, defaultValue, problem, documentation, brokerSynonym]) => ({
    name,
    type,
    defaultValue,
    support,
    documentation,
    brokerSynonym,
    problem,
  }));
}

/** By name, and in the order of their names. */
export function definitionsByName(definitions: readonly ConfigDefinition[]): ConfigDefinitions {
  const sorted = [...definitions].sort((a, b) => (a.name < b.name ? -1 : 1));
  return new Map(sorted.map((definition) => [definition.name, definition]));
}

export function integer(type: 'int' | 'long', min: bigint | number, max?: bigint | number): ConfigCheck {
  const most = BigInt(max ?? (type === 'int' ? 2n ** 31n - 1n : 2n ** 63n - 1n));
  return (value) => {
    if (!/^[+-]?\d{1,20}$/.test(value.trim())) return `"${value}" is not an integer`;
    const number = BigInt(value.trim());
    return number < BigInt(min) || number > most ? `${number} is outside ${min} to ${most}` : undefined;
  };
}

export function oneOf(...allowed: readonly string[]): ConfigCheck {
  return (value) => (allowed.includes(value) ? undefined : `"${value}" is not one of ${allowed.join(', ')}`);
}

export const boolean: ConfigCheck = (value) =>
  /^(true|false)$/i.test(value.trim()) ? undefined : `"${value}" is neither true nor false`;

export const ratio: ConfigCheck = (value) => {
  const number = Number(value);
  return value.trim() !== '' && number >= 0 && number <= 1 ? undefined : `"${value}" is not a number from 0 to 1`;
};

export const anything: ConfigCheck = () => undefined;

/** A list of these values; it may be empty, but none of its elements may. */
export function listOf(...allowed: readonly string[]): ConfigCheck {
  return (value) => {
    if (value.trim() === '') return undefined;
    const wrong = value.split(',').find((part) => !allowed.includes(part.trim()));
    return wrong === undefined ? undefined : `"${wrong.trim()}" is not one of ${allowed.join(', ')}`;
  };
}

/** The elements of a list, without blanks around them, each once. */
export function splitList(value: string): string[] {
  const parts = value.split(',').map((part) => part.trim());
  return [...new Set(parts)].filter((part) => part !== '');
}

/** A checked value as Kafka writes it: what is equal reads the same. */
export function normalizedValue({ type }: ConfigDefinition, value: string): string {
  switch (type) {
    case 'boolean':
      return value.trim().toLowerCase();
    case 'int':
    case 'long':
      return BigInt(value.trim().replace(/^\+/, '')).toString();
    case 'list':
      return splitList(value).join(',');
    case 'double':
      return String(Number(value));
    default:
      return value;
  }
}

/** `retention.sm: there is no such topic config; did you mean retention.ms?` */
export function unknownConfig(kind: string, name: string, definitions: ConfigDefinitions): string {
  const guess = closest(name, [...definitions.keys()]);
  const hint = guess === undefined ? '' : `; did you mean ${guess}?`;
  return `${name.slice(0, 100)}: there is no such ${kind} config${hint}`;
}
