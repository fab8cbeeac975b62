/** A flag whose value is HOST:PORT. */
import type { Endpoint } from '../server/broker.ts';
import { parseEndpoint } from '../server/listener.ts';
import { UsageError } from './command.ts';

/** @throws UsageError that names the flag */
export function endpointFlag(flag: string, text: string): Endpoint {
  try {
    return parseEndpoint(text);
  } catch (error) {
    throw new UsageError(`--${flag}: ${(error as Error).message}`);
  }
}
