/** What AlterConfigs and IncrementalAlterConfigs have in common: each resource is changed whole or not at all. */
import type { ConfigChanges } from '../../common/config-definition.ts';
import { ApiError } from '../../common/errors.ts';
import type { Broker } from '../broker.ts';
import { ConfigResourceType, type ConfigTarget } from './config-target.ts';
import { ConfigTargets } from './open-target.ts';
import { type ConfigResource, perResource, type ResourceResult } from './per-resource.ts';

/**
 * Result i belongs to resource i. `changesOf` checks; nothing is written with `validateOnly`. What is written is durable
 * when this resolves.
 */
export async function alterResources<R extends ConfigResource>(
  broker: Broker,
  resources: readonly R[],
  validateOnly: boolean,
  changesOf: (target: ConfigTarget, resource: R) => ConfigChanges,
): Promise<ResourceResult[]> {
  const targets = new ConfigTargets(broker);
  const altered = await perResource(resources, async (resource) => {
    refuseLoggers(resource);
    const target = await targets.open(resource);
    const changes = changesOf(target, resource);
    if (!validateOnly && Object.keys(changes).length > 0) await target.write(changes);
  });
  return altered.map(({ result }) => result);
}

function refuseLoggers({ resourceType }: ConfigResource): void {
  if (resourceType !== ConfigResourceType.brokerLogger) return;
  throw new ApiError(
    'INVALID_REQUEST',
    'log levels are given when the broker starts and cannot be changed while it runs',
  );
}
