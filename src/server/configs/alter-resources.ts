/** What AlterConfigs and IncrementalAlterConfigs have in common: each resource is changed whole or not at all. */
import type { ConfigChanges } from '../../common/config-definition.ts';
import { ApiError, type ErrorCode, Errors } from '../../common/errors.ts';
import type { Broker } from '../broker.ts';
import { ConfigResourceType, type ConfigTarget } from './config-target.ts';
import { type ConfigResource, ConfigTargets } from './open-target.ts';

export interface AlterResult extends ConfigResource {
  readonly errorCode: ErrorCode;
  readonly errorMessage: string | null;
}

/**
 * Result i belongs to resource i. `changesOf` checks; nothing is written with `validateOnly`. What is written is durable
 * when this resolves, and one resource's failure does not touch another's.
 */
export function alterResources<R extends ConfigResource>(
  broker: Broker,
  resources: readonly R[],
  validateOnly: boolean,
  changesOf: (target: ConfigTarget, resource: R) => ConfigChanges,
): Promise<AlterResult[]> {
  const targets = new ConfigTargets(broker);
  const twice = standingTwice(resources);
  return Promise.all(
    resources.map(async (resource) => {
      try {
        if (twice.has(keyOf(resource)))
          throw new ApiError('INVALID_REQUEST', 'the resource stands twice in the request');
        refuseLoggers(resource);
        const target = await targets.open(resource);
        const changes = changesOf(target, resource);
        if (!validateOnly && Object.keys(changes).length > 0) await target.write(changes);
        return alterResult(resource, Errors.NONE, null);
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        return alterResult(resource, error.errorCode, error.message);
      }
    }),
  );
}

export function alterResult(
  { resourceType, resourceName }: ConfigResource,
  errorCode: ErrorCode,
  message: string | null,
) {
  return { errorCode, errorMessage: message, resourceType, resourceName };
}

function refuseLoggers({ resourceType }: ConfigResource): void {
  if (resourceType !== ConfigResourceType.brokerLogger) return;
  throw new ApiError(
    'INVALID_REQUEST',
    'log levels are given when the broker starts and cannot be changed while it runs',
  );
}

const keyOf = ({ resourceType, resourceName }: ConfigResource): string => `${resourceType}:${resourceName}`;

function standingTwice(resources: readonly ConfigResource[]): ReadonlySet<string> {
  const seen = new Set<string>();
  return new Set(resources.map(keyOf).filter((key) => seen.size === seen.add(key).size));
}
