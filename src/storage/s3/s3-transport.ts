/**
 * The hot requests of an S3 storage: signed, limited, watched and counted attempts on a pool of undici connections.
 *
 * Owns the pool. Every attempt holds one slot of the limiter from before it starts until it has settled; `close` ends all
 * of them. Main thread.
 */
import { createHash } from 'node:crypto';
import { Pool } from 'undici';
import { once } from '../../common/lifecycle.ts';
import type { Logger } from '../../common/logger.ts';
import type { Time } from '../../common/time.ts';
import { StorageError } from '../object-storage.ts';
import { AdaptiveLimiter, type LimiterSettings } from './adaptive-limiter.ts';
import { type AttemptDeadlines, type AttemptRequest, type AttemptResponse, HttpAttempt } from './http-attempt.ts';
import type { RequestBody } from './request-body.ts';
import type { S3Endpoint } from './s3-control.ts';
import type { CredentialsCache } from './s3-credentials.ts';
import { fromS3Failure, parseErrorDocument, type S3Place } from './s3-errors.ts';
import { type S3Credentials, SigV4Signer, UNSIGNED_PAYLOAD } from './sigv4.ts';

export interface HotRequest {
  readonly what: string;
  readonly method: AttemptRequest['method'];
  /** The whole key, prefix included. */
  readonly key: string;
  readonly query?: string;
  /** Lower-case names; all are signed. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: RequestBody;
  readonly target?: AttemptRequest['target'];
}

/** Attempts since the storage was opened. */
export interface TransportCounts {
  readonly attempts: number;
  readonly throttled: number;
  readonly timeouts: number;
}

export interface TransportSettings {
  readonly deadlines: AttemptDeadlines;
  readonly limits: LimiterSettings;
  readonly signPayload: boolean;
  readonly time: Time;
  readonly logger: Logger;
}

/** Requests on their way for one operation; whoever aborts the operation aborts them all. */
export interface OperationAttempts {
  /** Starts an attempt. The caller holds a slot for it, which is given back when it settles. */
  start(request: HotRequest): HttpAttempt;
}

const EXPIRED_CODES: ReadonlySet<string> = new Set([
  'ExpiredToken',
  'ExpiredTokenException',
  'InvalidToken',
  'TokenRefreshRequired',
]);

export class S3Transport {
  readonly limiter: AdaptiveLimiter;
  readonly #pool: Pool;
  readonly #signer: SigV4Signer;
  readonly #endpoint: S3Endpoint;
  readonly #credentials: CredentialsCache;
  readonly #settings: TransportSettings;
  readonly #place: S3Place;
  readonly #time: Time;
  readonly #running = new Set<HttpAttempt>();
  readonly #counts = { attempts: 0, throttled: 0, timeouts: 0 };

  readonly close = once(async (): Promise<void> => {
    const closed = new StorageError('closed', 'the storage was closed');
    this.limiter.close(closed);
    for (const attempt of this.#running) attempt.abort(closed);
    await this.#pool.destroy();
  });

  constructor(endpoint: S3Endpoint, place: S3Place, credentials: CredentialsCache, settings: TransportSettings) {
    const { deadlines, limits, time } = settings;
    this.#endpoint = endpoint;
    this.#place = place;
    this.#credentials = credentials;
    this.#settings = settings;
    this.#time = time;
    this.limiter = new AdaptiveLimiter(limits, time);
    this.#signer = new SigV4Signer(endpoint.host, endpoint.region);
    this.#pool = new Pool(endpoint.origin, {
      // Attempts that gave up while connecting hold their place in the pool until the connection is made or fails.
      connections: 2 * limits.maxInFlight,
      pipelining: 1,
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: { timeout: deadlines.connectMs },
    });
  }

  get counts(): TransportCounts {
    return { ...this.#counts };
  }

  /**
   * Waits for a slot, runs `operate` with it, and repeats that once when the store says that the credentials expired and
   * others can be had. An abort ends every attempt that `operate` started.
   */
  async run<T>(signal: AbortSignal | undefined, operate: (attempts: OperationAttempts) => Promise<T>): Promise<T> {
    const ready = this.#credentials.get();
    const credentials = ready instanceof Promise ? await ready : ready;
    try {
      return await this.#runOnce(signal, credentials, operate);
    } catch (error) {
      if (!(error instanceof ExpiredCredentialsError)) throw error;
      const renewed = await this.#credentials.replacement(credentials);
      if (!renewed) throw error;
      return this.#runOnce(signal, renewed, operate);
    }
  }

  /** One request, its answer checked. @throws StorageError */
  send(request: HotRequest, signal: AbortSignal | undefined): Promise<AttemptResponse> {
    return this.run(signal, async (attempts) => this.check(await attempts.start(request).settled, request.what));
  }

  async #runOnce<T>(
    signal: AbortSignal | undefined,
    credentials: S3Credentials,
    operate: (attempts: OperationAttempts) => Promise<T>,
  ): Promise<T> {
    if (!this.limiter.tryAcquire()) await this.limiter.acquire(signal);
    if (!signal) return operate({ start: (request) => this.#start(request, credentials) });
    if (signal.aborted) {
      this.limiter.release();
      throw signal.reason;
    }
    const mine: HttpAttempt[] = [];
    const onAbort = (): void => {
      for (const attempt of mine) attempt.abort(signal.reason);
    };
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      return await operate({
        start: (request) => {
          const attempt = this.#start(request, credentials);
          mine.push(attempt);
          return attempt;
        },
      });
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  #start(request: HotRequest, credentials: S3Credentials): HttpAttempt {
    const { what, method, key, query = '', headers = {}, body, target } = request;
    const path = this.#endpoint.basePath + key;
    const payloadHash = this.#payloadHash(body);
    const signed = this.#signer.sign({ method, path, query, headers, payloadHash }, credentials, this.#time.nowMs());
    if (body) signed['content-length'] = String(body.sizeBytes);
    const attemptRequest: AttemptRequest = {
      what,
      method,
      path: query ? `${path}?${query}` : path,
      headers: signed,
      ...(body && { body }),
      ...(target && { target }),
    };
    const attempt = new HttpAttempt(this.#pool, attemptRequest, this.#settings.deadlines, this.#time);
    this.#counts.attempts++;
    this.#running.add(attempt);
    attempt.settled.then(
      () => this.#settled(attempt),
      (error) => {
        if (error instanceof StorageError && error.kind === 'timeout') this.#counts.timeouts++;
        this.#settled(attempt);
      },
    );
    return attempt;
  }

  #settled(attempt: HttpAttempt): void {
    this.#running.delete(attempt);
    this.limiter.release();
  }

  #payloadHash(body: RequestBody | undefined): string {
    if (!this.#settings.signPayload) return UNSIGNED_PAYLOAD;
    const hash = createHash('sha256');
    for (const chunk of body?.chunks ?? []) hash.update(chunk);
    return hash.digest('hex');
  }

  /** Lets a 2xx answer pass. @throws StorageError for every other */
  check(response: AttemptResponse, what: string): AttemptResponse {
    if (response.status >= 200 && response.status < 300) {
      this.limiter.succeeded();
      return response;
    }
    const error = this.#errorOf(response, what);
    if (error.kind === 'throttled') {
      this.#counts.throttled++;
      if (this.limiter.throttled(retryAfterMs(response.headers['retry-after']))) {
        this.#settings.logger.warn({ limit: this.limiter.limit }, `${error.message}; fewer requests at a time now`);
      }
    }
    throw error;
  }

  #errorOf({ status, headers, text }: AttemptResponse, what: string): StorageError {
    const document = parseErrorDocument(text);
    const storeTimeMs = Date.parse(headers.date ?? '');
    const region = headers['x-amz-bucket-region'];
    const failure = {
      ...document,
      status,
      region: typeof region === 'string' ? region : document.region,
      storeTimeMs: Number.isNaN(storeTimeMs) ? undefined : storeTimeMs,
    };
    const error = fromS3Failure(failure, what, this.#place);
    return EXPIRED_CODES.has(document.code) ? new ExpiredCredentialsError(error) : error;
  }
}

/** The one refusal that other credentials can lift. To callers it is a StorageError `denied` like the others. */
class ExpiredCredentialsError extends StorageError {
  constructor(error: StorageError) {
    super(error.kind, error.message);
  }
}

/** Seconds or a date, as HTTP has it; undefined for neither. */
function retryAfterMs(value: string | undefined): number | undefined {
  if (value === undefined || !/^\d{1,6}$/.test(value)) return undefined;
  return Number(value) * 1000;
}
