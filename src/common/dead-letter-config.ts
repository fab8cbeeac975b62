/**
 * What the cluster allows of dead-letter queues of groups (KIP-1191): a broker writes them for whoever can make a share
 * group reject a record, so their topics have names that say what they are, and must be open to it. Pure.
 */
import { anything, boolean, type ConfigCheck, type Configs } from './config-definition.ts';
import { topicNameProblem } from './topic-name.ts';

export interface DeadLetterConfig {
  readonly autoCreateTopics: boolean;
  /** "" allows any name. */
  readonly topicNamePrefix: string;
}

const DEFAULT_PREFIX = 'dlq.';

/** Set for all brokers, in the coordinator's scope `broker`. */
export const deadLetterClusterConfigs: readonly {
  readonly name: string;
  readonly type: 'boolean' | 'string';
  readonly defaultValue: string;
  readonly problem: ConfigCheck;
}[] = [
  {
    name: 'errors.deadletterqueue.auto.create.topics.enable',
    type: 'boolean',
    defaultValue: 'false',
    problem: boolean,
  },
  {
    name: 'errors.deadletterqueue.topic.name.prefix',
    type: 'string',
    defaultValue: DEFAULT_PREFIX,
    problem: anything,
  },
];

/** @param configs what is set for all brokers */
export function parseDeadLetterConfig(configs: Configs): DeadLetterConfig {
  return {
    autoCreateTopics: configs['errors.deadletterqueue.auto.create.topics.enable']?.trim().toLowerCase() === 'true',
    topicNamePrefix: configs['errors.deadletterqueue.topic.name.prefix'] ?? DEFAULT_PREFIX,
  };
}

/** What is wrong with the name of a dead-letter queue's topic, or undefined; "" means that there is none. */
export function deadLetterTopicProblem(name: string): string | undefined {
  if (name === '') return undefined;
  return name.startsWith('__') ? `"${name}" begins with "__", as internal topics do` : topicNameProblem(name);
}

/** Why the cluster does not allow the name, or undefined. */
export function deadLetterTopicRefusal(name: string, { topicNamePrefix }: DeadLetterConfig): string | undefined {
  if (name === '' || name.startsWith(topicNamePrefix)) return undefined;
  return `"${name}" does not begin with "${topicNamePrefix}" (errors.deadletterqueue.topic.name.prefix)`;
}
