/** DescribeConfigs: of topics, groups and brokers (src/server/configs/). */
import { ApiError, Errors } from '../../common/errors.ts';
import type { RequestOf, ResponseOf } from '../../protocol/api.ts';
import { describeConfigs } from '../../protocol/messages/describe-configs.ts';
import { type ApiHandler, apiHandler } from '../api-handler.ts';
import type { Broker } from '../broker.ts';
import { requireOwnId } from '../configs/broker-configs.ts';
import { ConfigResourceType } from '../configs/config-target.ts';
import { describeTarget } from '../configs/describe-target.ts';
import { ConfigTargets } from '../configs/open-target.ts';

type Request = RequestOf<typeof describeConfigs>;
type Resource = Request['resources'][number];
type Result = ResponseOf<typeof describeConfigs>['results'][number];

export function describeConfigsHandler(broker: Broker): ApiHandler {
  return apiHandler<typeof describeConfigs>({
    api: describeConfigs,

    async handle(request) {
      const targets = new ConfigTargets(broker);
      return { results: await Promise.all(request.resources.map((one) => result(broker, targets, request, one))) };
    },

    errorResponse: (errorCode, { resources }) => ({
      results: resources.map(({ resourceType, resourceName }) => ({
        errorCode,
        resourceType,
        resourceName,
        configs: [],
      })),
    }),
  });
}

/** Names that there are not among `configurationKeys` are passed over, as Kafka does. */
async function result(broker: Broker, targets: ConfigTargets, request: Request, resource: Resource): Promise<Result> {
  const { resourceType, resourceName } = resource;
  try {
    const configs = await describe(broker, targets, request, resource);
    return { errorCode: Errors.NONE, resourceType, resourceName, configs };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { errorCode: error.errorCode, errorMessage: error.message, resourceType, resourceName, configs: [] };
  }
}

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
