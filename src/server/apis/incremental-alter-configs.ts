/** IncrementalAlterConfigs (KIP-339): sets, deletes, appends to and subtracts from single configs. */
import { incrementalAlterConfigs } from '../../protocol/messages/incremental-alter-configs.ts';
import { type ApiHandler, apiHandler } from '../api-handler.ts';
import type { Broker } from '../broker.ts';
import { alterResources } from '../configs/alter-resources.ts';
import { incrementalChanges } from '../configs/config-changes.ts';
import { resourceResult } from '../configs/per-resource.ts';

export function incrementalAlterConfigsHandler(broker: Broker): ApiHandler {
  return apiHandler<typeof incrementalAlterConfigs>({
    api: incrementalAlterConfigs,
    async handle({ resources, validateOnly }) {
      const responses = await alterResources(broker, resources, validateOnly, (target, { configs }) =>
        incrementalChanges(target, configs),
      );
      return { responses };
    },
    errorResponse: (error, { resources }) => ({ responses: resources.map((one) => resourceResult(one, error, null)) }),
  });
}
