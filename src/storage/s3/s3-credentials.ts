/**
 * The credentials of the hot requests: what the SDK's provider resolved, kept until shortly before it ends, so that
 * signing waits for nothing. One refresh at a time; a failed one leaves the old credentials in use while they last.
 */
import type { Time } from '../../common/time.ts';
import type { S3Credentials } from './sigv4.ts';

/** Temporary credentials are renewed this long before their end, as the SDK does. */
const RENEW_BEFORE_MS = 5 * 60_000;

export class CredentialsCache {
  readonly #provide: (forceRefresh: boolean) => Promise<S3Credentials>;
  readonly #time: Time;
  #current: S3Credentials | undefined;
  #pending: Promise<S3Credentials> | undefined;

  constructor(provide: (forceRefresh: boolean) => Promise<S3Credentials>, time: Time) {
    this.#provide = provide;
    this.#time = time;
  }

  /** Credentials that are good for some minutes, at once where there are such. */
  get(): S3Credentials | Promise<S3Credentials> {
    const current = this.#current;
    if (current && this.#leftMs(current) > RENEW_BEFORE_MS) return current;
    return this.#renew(false);
  }

  /** Called when the store says that `refused` have expired. @returns others, or undefined when there are none */
  async replacement(refused: S3Credentials): Promise<S3Credentials | undefined> {
    if (this.#current && this.#current !== refused) return this.#current;
    const renewed = await this.#renew(true);
    const same = renewed.accessKeyId === refused.accessKeyId && renewed.sessionToken === refused.sessionToken;
    return same ? undefined : renewed;
  }

  #leftMs({ expiration }: S3Credentials): number {
    return expiration ? expiration.getTime() - this.#time.nowMs() : Number.POSITIVE_INFINITY;
  }

  #renew(force: boolean): Promise<S3Credentials> {
    this.#pending ??= this.#resolve(force).finally(() => {
      this.#pending = undefined;
    });
    return this.#pending;
  }

  async #resolve(force: boolean): Promise<S3Credentials> {
    try {
      this.#current = await this.#provide(force);
      return this.#current;
    } catch (error) {
      if (!force && this.#current && this.#leftMs(this.#current) > 0) return this.#current;
      throw error;
    }
  }
}
