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
    .filter(({ isAdvertised }) => isAdvertised)
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

interface Feature {
  readonly name: string;
  /** The level in effect, and the highest that there is here. */
  readonly level: number;
}

/** The consumer group protocol (KIP-848) and share groups (KIP-932) with dead-letter queues (KIP-1191). */
const FEATURES: readonly Feature[] = [
  { name: 'group.version', level: 1 },
  { name: 'share.version', level: 2 },
];
/** Levels never change while a cluster runs, so there is one epoch. */
const FEATURES_EPOCH = 0n;

/** Clients before version 4 choke on a feature that may be off (KAFKA-17011), so they are told that it may not. */
function features(apiVersion: number) {
  return {
    supportedFeatures: FEATURES.map(({ name, level }) => ({
      name,
      minVersion: apiVersion >= 4 ? 0 : 1,
      maxVersion: level,
    })),
    finalizedFeaturesEpoch: FEATURES_EPOCH,
    finalizedFeatures: FEATURES.map(({ name, level }) => ({ name, minVersionLevel: level, maxVersionLevel: level })),
  };
}

/** Kafka's rule for client software names and versions (KIP-511). */
const SOFTWARE = /^[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?$/;

/** The address led elsewhere than the client thinks, as after a rolling restart: it has to begin anew (KIP-1242). */
function isMisrouted(
  asked: { clusterId: string | null; nodeId: number },
  { clusterId, nodeId }: BrokerIdentity,
): boolean {
  return (
    (asked.clusterId !== null && asked.clusterId !== clusterId) || (asked.nodeId !== -1 && asked.nodeId !== nodeId)
  );
}

/** Who answers here. */
export interface BrokerIdentity {
  readonly clusterId: string;
  readonly nodeId: number;
}

/** `supported` is asked per request: ApiVersions is itself one of the APIs. */
export function apiVersionsHandler(supported: () => readonly SupportedApi[], identity: BrokerIdentity): ApiHandler {
  return apiHandler({
    api: apiVersions,
    async handle(request, context) {
      const named = context.apiVersion >= 3;
      const valid = SOFTWARE.test(request.clientSoftwareName) && SOFTWARE.test(request.clientSoftwareVersion);
      if (named && !valid) return apiVersionsResponse([], Errors.INVALID_REQUEST);
      if (isMisrouted(request, identity)) return apiVersionsResponse([], Errors.REBOOTSTRAP_REQUIRED);
      return { ...apiVersionsResponse(supported(), Errors.NONE), ...features(context.apiVersion) };
    },
    errorResponse: (error) => apiVersionsResponse([], error),
  });
}
