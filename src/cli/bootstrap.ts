/** The flags of commands that ask a running broker. */
import type { Endpoint } from '../server/broker.ts';
import { parseEndpoint } from '../server/listener.ts';
import { UsageError } from './command.ts';

export const bootstrapFlags = {
  bootstrap: { value: 'HOST:PORT', help: 'A running broker.', defaultText: '127.0.0.1:9092' },
  json: { help: 'Print JSON.' },
} as const;

/** @throws UsageError */
export function bootstrapEndpoint(text = '127.0.0.1:9092'): Endpoint {
  try {
    return parseEndpoint(text);
  } catch (error) {
    throw new UsageError(`--bootstrap: ${(error as Error).message}`);
  }
}
