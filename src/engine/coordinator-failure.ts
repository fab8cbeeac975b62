/** What callers of the engine see when the coordinator does not answer. */
import { ApiError } from '../common/errors.ts';
import { CoordinatorError } from '../coordinator/diskless-coordinator.ts';

/**
 * Awaits a coordinator call. @throws ApiError in place of its CoordinatorError: KAFKA_STORAGE_ERROR, which is retriable, or
 * INVALID_REQUEST for what the store will never take
 */
export async function answered<T>(call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    if (!(error instanceof CoordinatorError)) throw error;
    if (error.kind === 'invalid') throw new ApiError('INVALID_REQUEST', error.message, { cause: error });
    throw new ApiError('KAFKA_STORAGE_ERROR', `the coordinator did not answer: ${error.message}`, { cause: error });
  }
}
