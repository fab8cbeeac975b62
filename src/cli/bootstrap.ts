/** What commands that ask a running broker have in common: their flags, and how they ask and print. */
import { endpointFlag } from './endpoint-flag.ts';
import type { FlagValues } from './flags.ts';
import { KafkaClient } from './kafka-client.ts';
import { print } from './output.ts';

export const bootstrapFlags = {
  bootstrap: { value: 'HOST:PORT', help: 'A running broker.', defaultText: '127.0.0.1:9092' },
  json: { help: 'Print JSON.' },
} as const;

/** Prints what `read` finds out, for people or as JSON. Resolves with the exit code. @throws CliError */
export async function askBroker<R>(
  { bootstrap, json }: FlagValues<typeof bootstrapFlags>,
  read: (client: KafkaClient) => Promise<R>,
  text: (report: R) => string,
): Promise<number> {
  const client = await KafkaClient.connect(endpointFlag('bootstrap', bootstrap ?? '127.0.0.1:9092'));
  try {
    const report = await read(client);
    await print(json ? `${JSON.stringify(report, null, 2)}\n` : text(report));
    return 0;
  } finally {
    client.close();
  }
}
