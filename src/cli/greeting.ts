/** What `shoal serve` says when it is ready. */

import type { AdminServer } from '../server/admin-server.ts';
import type { KafkaServer } from '../server/kafka-server.ts';
import { formatEndpoint } from '../server/listener.ts';
import type { Components } from './components.ts';

export interface GreetingOptions {
  readonly version: string;
  readonly server: KafkaServer;
  readonly components: Components;
  readonly admin: AdminServer | undefined;
  /** Whether to use colours. */
  readonly colours: boolean;
}

/** Ends with the line that scripts wait for: `ready HOST:PORT`. */
export function greeting({ version, server, components, admin, colours }: GreetingOptions): string {
  const bold = (text: string): string => (colours ? `\u001b[1m${text}\u001b[22m` : text);
  const dim = (text: string): string => (colours ? `\u001b[2m${text}\u001b[22m` : text);
  const address = formatEndpoint(server.advertisedListener);
  const { objectStorage, coordinator } = components;
  return [
    `${bold(`Shoal ${version}`)} serves Kafka clients at ${bold(address)}`,
    `  cluster      ${coordinator.clusterId}`,
    `  storage      ${objectStorage.description}`,
    `  coordinator  ${coordinator.description}`,
    ...(admin ? [`  admin        http://${formatEndpoint(admin.listener)}/metrics, /livez, /readyz`] : []),
    '  connect',
    `    kcat       kcat -b ${address} -t greetings -P`,
    `    kafkajs    new Kafka({ brokers: ['${address}'] })`,
    `    Java       bootstrap.servers=${address}`,
    dim('  Ctrl-C drains and stops; a second one aborts'),
    `ready ${formatEndpoint(server.listener)}`,
    '',
  ].join('\n');
}
