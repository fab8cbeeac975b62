/** ListConfigResources (KIP-1142): what has configs that could be described; of groups those for which some are set. */
import { type ErrorCode, Errors } from '../../common/errors.ts';
import { groupOfScope, groupScope } from '../../common/group-config.ts';
import { answered } from '../../engine/coordinator-failure.ts';
import { listConfigResources } from '../../protocol/messages/list-config-resources.ts';
import { type ApiHandler, apiHandler } from '../api-handler.ts';
import type { Broker } from '../broker.ts';
import { ConfigResourceType } from '../configs/config-target.ts';

const ALL: readonly number[] = Object.values(ConfigResourceType);

export function listConfigResourcesHandler(broker: Broker): ApiHandler {
  return apiHandler<typeof listConfigResources>({
    api: listConfigResources,

    async handle({ resourceTypes }, { apiVersion }) {
      const types = typesAsked(resourceTypes, apiVersion);
      if (types.some((type) => !ALL.includes(type))) return refusal(Errors.UNSUPPORTED_VERSION);
      const names = await Promise.all(types.map((type) => namesOf(broker, type)));
      const configResources = types.flatMap((resourceType, index) =>
        names[index]!.map((resourceName) => ({ resourceName, resourceType })),
      );
      return { errorCode: Errors.NONE, configResources };
    },

    errorResponse: (error) => refusal(error),
  });
}

function typesAsked(resourceTypes: readonly number[], apiVersion: number): readonly number[] {
  if (apiVersion === 0) return [ConfigResourceType.clientMetrics];
  return resourceTypes.length === 0 ? ALL : [...new Set(resourceTypes)];
}

function refusal(errorCode: ErrorCode) {
  return { errorCode, configResources: [] };
}

async function namesOf({ topics, coordinator, nodeId }: Broker, type: number): Promise<readonly string[]> {
  switch (type) {
    case ConfigResourceType.topic:
      return (await topics.view()).names;
    case ConfigResourceType.group:
      return (await answered(coordinator.listConfigScopes(groupScope('')))).map(groupOfScope).sort();
    case ConfigResourceType.broker:
    case ConfigResourceType.brokerLogger:
      return [String(nodeId)];
    default:
      return [];
  }
}
