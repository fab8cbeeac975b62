/**
 * How the soak's client programs (kafkajs.ts, librdkafka.py, Soak.java) are called: NAME=VALUE each of mode (produce or
 * consume), address, name (KIND.INCARNATION), topics (NAME:PARTITIONS,…), journal (a file to append to; journal.ts says
 * what), debug (what librdkafka is to log on stderr besides warnings, as its setting of that name takes it; may be empty),
 * and for a producer rate (records a second) and seed. SIGTERM ends one: a producer waits for its answers, a consumer
 * leaves its group, `soak-KIND`. Errors that clients live with are written down and lived with.
 */
import { namedArguments } from '../../support/named-arguments.ts';

export interface ProgramArguments {
  readonly mode: 'produce' | 'consume';
  readonly address: string;
  readonly name: string;
  readonly topics: readonly ProgramTopic[];
  readonly journal: string;
  readonly rate: number;
  readonly seed: number;
  readonly debug: string;
}

export interface ProgramTopic {
  readonly name: string;
  readonly partitions: number;
}

export function programArguments(argv: readonly string[]): ProgramArguments {
  const value = namedArguments(argv);
  return {
    mode: value('mode') as ProgramArguments['mode'],
    address: value('address'),
    name: value('name'),
    topics: value('topics')
      .split(',')
      .map((topic) => ({ name: topic.split(':')[0]!, partitions: Number(topic.split(':')[1]) })),
    journal: value('journal'),
    rate: Number(value('rate')),
    seed: Number(value('seed')),
    debug: value('debug'),
  };
}

export function argumentsFor(given: ProgramArguments): string[] {
  const topics = given.topics.map(({ name, partitions }) => `${name}:${partitions}`).join(',');
  return Object.entries({ ...given, topics }).map(([name, value]) => `${name}=${value}`);
}
