/** Setting configs over the wire, where a test is about what they do. */
import { incrementalAlterConfigs } from '../../src/protocol/messages/incremental-alter-configs.ts';
import type { WireClient } from './wire-client.ts';

const SET = 0;
const DELETE = 1;

/** Sets each config, or with null deletes it. Resolves with what the broker said about the resource. */
export async function setConfigs(
  client: WireClient,
  resourceType: number,
  resourceName: string,
  values: Readonly<Record<string, string | null>>,
) {
  const configs = Object.entries(values).map(([name, value]) => {
    return { name, configOperation: value === null ? DELETE : SET, value };
  });
  const resources = [{ resourceType, resourceName, configs }];
  const { responses } = await client.call(incrementalAlterConfigs, 1, { resources, validateOnly: false });
  return responses[0]!;
}
