/** The timeout that an admin client sends along: how long it waits for what it asked to be done. */
import { ApiError } from '../common/errors.ts';
import type { Time } from '../common/time.ts';

/**
 * Resolves with the work, or rejects when the timeout passes first; the work goes on, and whether it is done is unknown
 * then. Without a positive timeout it waits: librdkafka sends 0 and −1 for "as long as it takes".
 * @throws ApiError REQUEST_TIMED_OUT
 */
export function withinTimeout<T>(time: Time, timeoutMs: number, work: Promise<T>): Promise<T> {
  if (timeoutMs <= 0) return work;
  return new Promise((resolve, reject) => {
    const tooLate = (): void =>
      reject(new ApiError('REQUEST_TIMED_OUT', `not done within ${timeoutMs} ms; it may be done later`));
    const timer = time.setTimer(timeoutMs, tooLate);
    work.then(resolve, reject).finally(() => timer.cancel());
  });
}
