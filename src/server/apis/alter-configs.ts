/** AlterConfigs: replaces all that is set for a resource; what is not named goes back to its default. */
import { alterConfigs } from '../../protocol/messages/alter-configs.ts';
import { type ApiHandler, apiHandler } from '../api-handler.ts';
import type { Broker } from '../broker.ts';
import { alterResources } from '../configs/alter-resources.ts';
import { replacingChanges } from '../configs/config-changes.ts';
import { resourceResult } from '../configs/per-resource.ts';

export function alterConfigsHandler(broker: Broker): ApiHandler {
  return apiHandler<typeof alterConfigs>({
    api: alterConfigs,
    async handle({ resources, validateOnly }) {
      const responses = await alterResources(broker, resources, validateOnly, (target, { configs }) =>
        replacingChanges(target, configs),
      );
      return { responses };
    },
    errorResponse: (error, { resources }) => ({ responses: resources.map((one) => resourceResult(one, error, null)) }),
  });
}
