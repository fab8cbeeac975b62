/** ApiVersions: what this broker speaks. */
import { type ErrorCode, Errors } from '../../common/errors.ts';
import type { Api, ResponseOf } from '../../protocol/api.ts';
import { apiVersions } from '../../protocol/messages/api-versions.ts';
import { type ApiHandler, apiHandler } from '../api-handler.ts';

export interface SupportedApi {
  readonly apiKey: number;
  readonly name: string;
  readonly minVersion: number;
  readonly maxVersion: number;
}

/** What is advertised for a list of APIs, by key. */
export function supportedApis(apis: readonly Api[]): readonly SupportedApi[] {
  return apis
    .map((api) => ({
      apiKey: api.key,
      name: api.name,
      minVersion: api.advertisedMin,
      maxVersion: api.versions.max,
    }))
    .sort((a, b) => a.apiKey - b.apiKey);
}

export function apiVersionsResponse(
  apis: readonly SupportedApi[],
  errorCode: ErrorCode,
): ResponseOf<typeof apiVersions> {
  return { errorCode, apiKeys: apis };
}

/** Kafka's rule for client software names and versions (KIP-511). */
const SOFTWARE = /^[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?$/;

/** `supported` is asked per request: ApiVersions is itself one of the APIs. */
export function apiVersionsHandler(supported: () => readonly SupportedApi[]): ApiHandler {
  return apiHandler({
    api: apiVersions,
    async handle(request, context) {
      const named = context.apiVersion >= 3;
      const valid = SOFTWARE.test(request.clientSoftwareName) && SOFTWARE.test(request.clientSoftwareVersion);
      if (named && !valid) return apiVersionsResponse([], Errors.INVALID_REQUEST);
      return apiVersionsResponse(supported(), Errors.NONE);
    },
    errorResponse: (error) => apiVersionsResponse([], error),
  });
}
