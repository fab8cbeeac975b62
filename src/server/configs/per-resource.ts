/** What the config APIs have in common: each resource by itself, once. */
import { standingTwice } from '../../common/duplicates.ts';
import { ApiError, type ErrorCode, Errors } from '../../common/errors.ts';
import { errorMessage } from '../error-message.ts';

export interface ConfigResource {
  readonly resourceType: number;
  readonly resourceName: string;
}

/** How a resource fared, as every config API answers it. */
export interface ResourceResult extends ConfigResource {
  readonly errorCode: ErrorCode;
  readonly errorMessage: string | null;
}

/** A description is some kilobytes; tools ask for hundreds at a time. */
const MAX_RESOURCES = 10_000;

/**
 * Does `work` for each resource, where ApiErrors are values: one's failure does not touch another's. Element i belongs to
 * resource i, `worked` being undefined where it failed. A resource that stands twice is refused.
 * @throws ApiError INVALID_REQUEST for too many
 */
export async function perResource<R extends ConfigResource, T>(
  resources: readonly R[],
  work: (resource: R) => Promise<T>,
): Promise<{ readonly result: ResourceResult; readonly worked: T | undefined }[]> {
  if (resources.length > MAX_RESOURCES) {
    const message = `${resources.length} resources stand in one request; at most ${MAX_RESOURCES} are allowed`;
    throw new ApiError('INVALID_REQUEST', message);
  }
  const twice = standingTwice(resources.map(keyOf));
  return Promise.all(
    resources.map(async (resource) => {
      try {
        if (twice.has(keyOf(resource)))
          throw new ApiError('INVALID_REQUEST', 'the resource stands twice in the request');
        return { result: resourceResult(resource, Errors.NONE, null), worked: await work(resource) };
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        const result = resourceResult(resource, error.errorCode, errorMessage(error.message));
        return { result, worked: undefined };
      }
    }),
  );
}

export function resourceResult(
  { resourceType, resourceName }: ConfigResource,
  errorCode: ErrorCode,
  message: string | null,
): ResourceResult {
  return { errorCode, errorMessage: message, resourceType, resourceName };
}

const keyOf = ({ resourceType, resourceName }: ConfigResource): string => `${resourceType}:${resourceName}`;
