/** DescribeConfigs: of topics, groups and brokers (src/server/configs/). */
import type { RequestOf, ResponseOf } from '../../protocol/api.ts';
import { describeConfigs } from '../../protocol/messages/describe-configs.ts';
import { type ApiHandler, apiHandler } from '../api-handler.ts';
import type { Broker } from '../broker.ts';
import { requireOwnId } from '../configs/broker-configs.ts';
import { ConfigResourceType } from '../configs/config-target.ts';
import { describeTarget } from '../configs/describe-target.ts';
import { ConfigTargets } from '../configs/open-target.ts';
import { perResource, resourceResult } from '../configs/per-resource.ts';

type Request = RequestOf<typeof describeConfigs>;
type Resource = Request['resources'][number];
type Result = ResponseOf<typeof describeConfigs>['results'][number];

export function describeConfigsHandler(broker: Broker): ApiHandler {
  return apiHandler<typeof describeConfigs>({
    api: describeConfigs,

    async handle(request) {
      const targets = new ConfigTargets(broker);
      const described = await perResource(request.resources, (one) => describe(broker, targets, request, one));
      return { results: described.map(({ result, worked }) => ({ ...result, configs: worked ?? [] })) };
    },

    errorResponse: (error, { resources }) => ({
      results: resources.map((one) => ({ ...resourceResult(one, error, null), configs: [] })),
    }),
  });
}

/** Names that there are not among `configurationKeys` are passed over, as Kafka does. */
async function describe(
  broker: Broker,
  targets: ConfigTargets,
  { includeSynonyms, includeDocumentation }: Request,
  resource: Resource,
): Promise<Result['configs']> {
  if (resource.resourceType === ConfigResourceType.brokerLogger) {
    requireOwnId(broker, resource.resourceName);
    return [];
  }
  const target = await targets.open(resource);
  return describeTarget(target, resource.configurationKeys).map((config) => ({
    ...config,
    synonyms: includeSynonyms ? config.synonyms : [],
    documentation: includeDocumentation ? config.documentation : null,
  }));
}
