/** What the config APIs ask of a thing that has configs: a topic, a group, the brokers. Numbers are Kafka's on the wire. */
import type { ConfigChanges, ConfigDefinition, ConfigDefinitions, Configs } from '../../common/config-definition.ts';

export const ConfigResourceType = {
  topic: 2,
  broker: 4,
  brokerLogger: 8,
  clientMetrics: 16,
  group: 32,
} as const;

export const ConfigSource = {
  dynamicTopic: 1,
  dynamicDefaultBroker: 3,
  staticBroker: 4,
  byDefault: 5,
  dynamicGroup: 8,
} as const;

export type ConfigSourceNumber = (typeof ConfigSource)[keyof typeof ConfigSource];

/** A value and where it comes from; a config's synonyms are those that hold for it, the strongest first. */
export interface ConfigSynonym {
  readonly name: string;
  readonly value: string;
  readonly source: ConfigSourceNumber;
}

export interface ConfigTarget {
  /** In messages: "there is no topic config". */
  readonly kind: string;
  readonly definitions: ConfigDefinitions;
  /** What is set for it. */
  readonly stored: Configs;
  readonly storedSource: ConfigSourceNumber;
  /** Only what is set is described: the default of all brokers is no broker. */
  readonly describesStoredOnly?: true;
  /** What holds while nothing is set for it, the strongest first; empty: the definition's default. */
  inherited(definition: ConfigDefinition): readonly ConfigSynonym[];
  /** Why a config cannot be changed at all, or undefined. */
  fixed(definition: ConfigDefinition): string | undefined;
  /** Why a value that passes its own check cannot be had here, or undefined. */
  refusal(definition: ConfigDefinition, value: string): string | undefined;
  /** What is wrong with all configs taken together, or undefined. */
  problemTogether(configs: Configs): string | undefined;
  /** Durable when it resolves. @throws ApiError */
  write(changes: ConfigChanges): Promise<void>;
}
