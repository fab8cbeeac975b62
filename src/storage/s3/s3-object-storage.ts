/**
 * Objects in a bucket of S3 or of a store that speaks its protocol: the production storage.
 *
 * Ranged GETs and PUTs run on our own signed requests (s3-transport.ts), everything else on the AWS SDK (s3-control.ts).
 * Attempts have deadlines, retries a budget; a GET that is slow to answer is hedged. `into` is written by one attempt at a
 * time and never after the get has settled: a hedge reads into memory of its own. Main thread; the opener closes it.
 *
 * Crash points of a put: before the store has the whole body there is no object; after it has answered, or could have,
 * there is one, with our content id in its metadata, by which a repeated attempt knows it (If-None-Match refuses a second).
 * Of a multipart upload the parts may be left over, which a bucket lifecycle rule removes.
 */
import type { ByteRange } from '../../common/byte-range.ts';
import { endOf } from '../../common/byte-range.ts';
import { once } from '../../common/lifecycle.ts';
import { silentLogger } from '../../common/logger.ts';
import { systemRandom } from '../../common/random.ts';
import { systemTime } from '../../common/time.ts';
import { checkKey, checkRange, OperationGate } from '../arguments.ts';
import {
  type DeleteResult,
  type GetOptions,
  isObjectKey,
  type ListOptions,
  type ObjectKey,
  type ObjectStorage,
  type ObjectSummary,
  type PutOptions,
  StorageError,
} from '../object-storage.ts';
import { AbortGroup } from './abort-group.ts';
import { Hedger } from './hedger.ts';
import { uploadMultipart } from './multipart.ts';
import { rangeTarget } from './range-target.ts';
import { RequestBody } from './request-body.ts';
import { RetryPolicy } from './retry-policy.ts';
import {
  checkS3Config,
  DEFAULT_DEADLINES,
  DEFAULT_HEDGE,
  DEFAULT_LIMITS,
  DEFAULT_MULTIPART,
  DEFAULT_RETRY,
  type MultipartSettings,
  type S3StorageConfig,
} from './s3-config.ts';
import { MAX_DELETE_KEYS, S3Control } from './s3-control.ts';
import { CredentialsCache } from './s3-credentials.ts';
import { S3Transport, type TransportCounts } from './s3-transport.ts';
import { UncertainPuts } from './uncertain-puts.ts';

/** What the storage did since it was opened, and how far it is slowed down now. */
export interface S3Stats extends TransportCounts {
  readonly retries: number;
  readonly hedges: number;
  readonly hedgeWins: number;
  /** Requests on their way, and how many may be. */
  readonly inFlight: number;
  readonly limit: number;
}

const CONTENT_ID = 'x-amz-meta-shoal-content-id';

export class S3ObjectStorage implements ObjectStorage {
  readonly description: string;
  readonly #config: S3StorageConfig;
  readonly #prefix: string;
  readonly #control: S3Control;
  readonly #transport: S3Transport;
  readonly #retries: RetryPolicy;
  readonly #hedger: Hedger;
  readonly #multipart: MultipartSettings;
  readonly #uncertain: UncertainPuts;
  readonly #controlCalls = new AbortGroup();
  readonly #gate: OperationGate;

  /** Ends what is in flight with `closed`, then frees sockets. */
  readonly close = once(async (): Promise<void> => {
    const closed = new StorageError('closed', `${this.description} is closed`);
    this.#controlCalls.end(closed);
    this.#retries.close(closed);
    await Promise.all([this.#gate.drain(), this.#transport.close()]);
    this.#control.close();
  });

  private constructor(config: S3StorageConfig, control: S3Control) {
    const { time = systemTime, random = systemRandom, logger = silentLogger } = config;
    this.#config = config;
    this.#control = control;
    this.#prefix = config.prefix ? `${config.prefix}/` : '';
    this.description = `s3://${config.bucket}/${config.prefix ?? ''} at ${control.endpoint.origin} (${control.endpoint.region})`;
    this.#gate = new OperationGate(this.description);
    const credentials = new CredentialsCache((force) => control.credentials(force), time);
    const settings = {
      deadlines: { ...DEFAULT_DEADLINES, ...config.deadlines },
      limits: { ...DEFAULT_LIMITS, ...config.limits },
      signPayload: config.signPayload ?? false,
      time,
      logger,
    };
    this.#transport = new S3Transport(control.endpoint, control.place, credentials, settings);
    this.#retries = new RetryPolicy({ ...DEFAULT_RETRY, ...config.retry }, time, random, logger);
    this.#hedger = new Hedger({ ...DEFAULT_HEDGE, ...config.hedge }, time);
    this.#multipart = { ...DEFAULT_MULTIPART, ...config.multipart };
    this.#uncertain = new UncertainPuts(random);
  }

  /**
   * Resolves configuration and endpoint; sends nothing (see `probeS3`).
   * @throws StorageError `denied` when something is missing; TypeError for a setting that cannot be
   */
  static async open(config: S3StorageConfig): Promise<S3ObjectStorage> {
    const control = await S3Control.open(checkS3Config(config), { ...DEFAULT_DEADLINES, ...config.deadlines });
    return new S3ObjectStorage(config, control);
  }

  get stats(): S3Stats {
    return {
      ...this.#transport.counts,
      retries: this.#retries.retries,
      hedges: this.#hedger.hedges,
      hedgeWins: this.#hedger.wins,
      inFlight: this.#transport.limiter.inFlight,
      limit: this.#transport.limiter.limit,
    };
  }

  async getRange(key: ObjectKey, range: ByteRange, options: GetOptions = {}): Promise<Uint8Array> {
    checkKey(key);
    checkRange(range, options.into);
    const what = this.#what('get', key);
    return this.#run(options.signal, () => this.#getOnce(key, range, options, what));
  }

  #getOnce(key: ObjectKey, range: ByteRange, options: GetOptions, what: string): Promise<Uint8Array> {
    const request = {
      what,
      method: 'GET' as const,
      key: this.#prefix + key,
      headers: { range: `bytes=${range.position}-${endOf(range) - 1}` },
    };
    return this.#transport.run(options.signal, async (attempts) => {
      const primary = attempts.start({ ...request, target: rangeTarget(range, options.into, what) });
      const startHedge = () => {
        if (!this.#transport.limiter.tryAcquire()) return undefined;
        return attempts.start({ ...request, target: rangeTarget(range, undefined, what) });
      };
      const response = this.#transport.check(await this.#hedger.run(primary, startHedge), what);
      if (!response.bytes)
        throw new StorageError('corrupt', `${what}: the store answered ${response.status} without bytes`);
      if (!options.into || response.bytes === options.into) return response.bytes;
      options.into.set(response.bytes);
      return options.into;
    });
  }

  async put(key: ObjectKey, chunks: readonly Uint8Array[], options: PutOptions = {}): Promise<void> {
    checkKey(key);
    const body = new RequestBody(chunks);
    await this.#gate.run(options.signal, async () => {
      const contentId = this.#uncertain.contentId(key, body, options.crc32c);
      try {
        if (body.sizeBytes > this.#multipart.thresholdBytes) await this.#putInParts(key, body, contentId, options);
        else await this.#retries.run(options.signal, () => this.#putOnce(key, body, contentId, options));
        this.#uncertain.forget(key);
      } catch (error) {
        const certain = error instanceof StorageError && error.kind === 'already-exists';
        if (!certain) this.#uncertain.remember(key, contentId, body, options.crc32c);
        throw error;
      }
    });
  }

  async #putOnce(key: ObjectKey, body: RequestBody, contentId: string, options: PutOptions): Promise<void> {
    const what = this.#what('put', key);
    const headers = this.#putHeaders(contentId, options);
    try {
      await this.#transport.send({ what, method: 'PUT', key: this.#prefix + key, headers, body }, options.signal);
    } catch (error) {
      if (!(error instanceof StorageError) || error.kind !== 'already-exists') throw error;
      if (!(await this.#isOwn(key, contentId, what, options.signal))) throw error;
    }
  }

  #putHeaders(contentId: string, options: PutOptions): Record<string, string> {
    const headers: Record<string, string> = { [CONTENT_ID]: contentId };
    if (this.#ifNoneMatch(options)) headers['if-none-match'] = '*';
    if (options.crc32c !== undefined && this.#config.checksums !== false) {
      headers['x-amz-checksum-crc32c'] = bigEndianBase64(options.crc32c);
    }
    const encryption = this.#config.serverSideEncryption;
    if (encryption) headers['x-amz-server-side-encryption'] = encryption.algorithm;
    if (encryption?.kmsKeyId) headers['x-amz-server-side-encryption-aws-kms-key-id'] = encryption.kmsKeyId;
    return headers;
  }

  #ifNoneMatch(options: PutOptions): boolean {
    return options.ifNoneMatch !== false && this.#config.conditionalWrites !== false;
  }

  /** Whether the object that stands in the way is an earlier attempt of this very put. */
  async #isOwn(key: ObjectKey, contentId: string, what: string, signal: AbortSignal | undefined): Promise<boolean> {
    try {
      const head = await this.#transport.send({ what, method: 'HEAD', key: this.#prefix + key }, signal);
      return head.headers[CONTENT_ID] === contentId;
    } catch (error) {
      // Deleted between the two requests: the put may be tried again.
      if (error instanceof StorageError && error.kind === 'not-found') {
        throw new StorageError('unavailable', `${what}: the object that existed was deleted meanwhile`);
      }
      throw error;
    }
  }

  #putInParts(key: ObjectKey, body: RequestBody, contentId: string, options: PutOptions): Promise<void> {
    const what = this.#what('put', key);
    const tools = {
      control: this.#control,
      transport: this.#transport,
      retries: this.#retries,
      settings: this.#multipart,
    };
    return this.#controlCalls.run(options.signal, (signal) =>
      uploadMultipart(tools, {
        key: this.#prefix + key,
        body,
        contentId,
        what,
        ifNoneMatch: this.#ifNoneMatch(options),
        isOwn: (ending) => this.#isOwn(key, contentId, what, ending),
        signal,
      }),
    );
  }

  async head(key: ObjectKey, options: { signal?: AbortSignal } = {}): Promise<ObjectSummary | undefined> {
    checkKey(key);
    const what = this.#what('head', key);
    const found = await this.#runControl(options.signal, (signal) =>
      this.#control.head(this.#prefix + key, { what, signal }),
    );
    return found && { ...found, key };
  }

  /** In the store's order: that of the keys on S3; SeaweedFS goes folder by folder (`a/b` before `a-b`). */
  async *list(options: ListOptions = {}): AsyncIterable<ObjectSummary> {
    const after = options.after ? this.#prefix + options.after : '';
    const what = `list of ${this.description}`;
    const prefix = this.#prefix + (options.prefix ?? '');
    let continuation: string | undefined;
    do {
      const page = await this.#runControl(options.signal, (signal) =>
        this.#control.listPage(prefix, after, continuation, { what, signal }),
      );
      for (const object of page.objects) {
        options.signal?.throwIfAborted();
        const key = object.key.slice(this.#prefix.length);
        if (isObjectKey(key) && key > (options.after ?? '')) yield { ...object, key };
      }
      continuation = page.continuation;
    } while (continuation !== undefined);
  }

  async delete(keys: readonly ObjectKey[], options: { signal?: AbortSignal } = {}): Promise<DeleteResult> {
    for (const key of keys) checkKey(key);
    const distinct = [...new Set(keys)];
    return this.#gate.run(options.signal, async () => {
      const result: DeleteResult = { deleted: [], failed: [] };
      for (let start = 0; start < distinct.length; start += MAX_DELETE_KEYS) {
        await this.#deleteBatch(distinct.slice(start, start + MAX_DELETE_KEYS), options.signal, result);
      }
      return result;
    });
  }

  async #deleteBatch(keys: readonly ObjectKey[], signal: AbortSignal | undefined, result: DeleteResult): Promise<void> {
    const what = `delete in ${this.description}`;
    const stored = keys.map((key) => this.#prefix + key);
    try {
      const failed = await this.#controlCalls.run(signal, (ending) =>
        this.#retries.run(ending, () => this.#control.deleteBatch(stored, { what, signal: ending })),
      );
      for (const key of keys) {
        const error = failed.get(this.#prefix + key);
        if (error) result.failed.push({ key, error });
        else result.deleted.push(key);
      }
    } catch (error) {
      if (!(error instanceof StorageError) || error.kind === 'closed') throw error;
      for (const key of keys) result.failed.push({ key, error });
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #run<T>(signal: AbortSignal | undefined, attempt: () => Promise<T>): Promise<T> {
    return this.#gate.run(signal, () => this.#retries.run(signal, attempt));
  }

  /** For control operations, which end with the storage too; hot ones are ended by the transport. */
  #runControl<T>(signal: AbortSignal | undefined, attempt: (signal: AbortSignal) => Promise<T>): Promise<T> {
    return this.#gate.run(signal, () =>
      this.#controlCalls.run(signal, (ending) => this.#retries.run(ending, () => attempt(ending))),
    );
  }

  #what(operation: string, key: ObjectKey): string {
    return `${operation} of object ${key} in s3://${this.#config.bucket}/${this.#config.prefix ?? ''}`;
  }
}

function bigEndianBase64(crc32c: number): string {
  const bytes = Buffer.allocUnsafe(4);
  bytes.writeUInt32BE(crc32c);
  return bytes.toString('base64');
}
