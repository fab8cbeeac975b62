/**
 * The AWS SDK's part of the storage: it resolves configuration, endpoint and credentials, and does the operations that
 * are not hot (head, list, delete, the frame of a multipart upload). One attempt a call: repeating is the caller's.
 *
 * Owns the SDK's client and its sockets; `close` frees them. Imported on first use, because it is large.
 */
import { createHash } from 'node:crypto';
import type * as Sdk from '@aws-sdk/client-s3';
import { StorageError } from '../object-storage.ts';
import type { AttemptDeadlines } from './http-attempt.ts';
import type { S3StorageConfig } from './s3-config.ts';
import { fromNetworkError, fromS3Failure, type S3Place } from './s3-errors.ts';
import type { S3Credentials } from './sigv4.ts';

/** Where the hot requests go. */
export interface S3Endpoint {
  /** `http://host:port`, as undici wants it. */
  readonly origin: string;
  /** The Host header: a port only where it is not the scheme's own. */
  readonly host: string;
  /** What stands before the key in a path: `/bucket/` or `/`. */
  readonly basePath: string;
  readonly region: string;
}

export interface ListedObject {
  readonly key: string;
  readonly sizeBytes: number;
  readonly lastModifiedMs: number;
}

export interface ListPage {
  readonly objects: ListedObject[];
  /** Undefined on the last page. */
  readonly continuation: string | undefined;
}

/** The most keys that one DeleteObjects takes. */
export const MAX_DELETE_KEYS = 1000;

interface Call {
  readonly what: string;
  readonly signal: AbortSignal | undefined;
}

export class S3Control {
  readonly endpoint: S3Endpoint;
  readonly place: S3Place;
  readonly #sdk: typeof Sdk;
  readonly #client: Sdk.S3Client;
  readonly #bucket: string;
  readonly #config: S3StorageConfig;

  private constructor(sdk: typeof Sdk, client: Sdk.S3Client, config: S3StorageConfig, endpoint: S3Endpoint) {
    this.#sdk = sdk;
    this.#client = client;
    this.#config = config;
    this.#bucket = config.bucket;
    this.endpoint = endpoint;
    this.place = { bucket: config.bucket, endpoint: endpoint.origin, region: endpoint.region };
  }

  /** @throws StorageError `denied` when region or endpoint cannot be resolved */
  static async open(config: S3StorageConfig, deadlines: AttemptDeadlines): Promise<S3Control> {
    // The SDK warns that its future versions want another Node; ours is pinned, so its users can do nothing with that.
    process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true';
    const sdk = await import('@aws-sdk/client-s3');
    const asked = clientConfig(config, deadlines);
    try {
      const settings = (await hasRegion(sdk, asked)) ? asked : { ...asked, region: defaultRegion(config) };
      const endpoint = await resolveEndpoint(sdk, settings, config.bucket);
      const client = new sdk.S3Client(settings);
      if (config.checksums === false) useContentMd5(client);
      return new S3Control(sdk, client, config, endpoint);
    } catch (error) {
      throw new StorageError('denied', `cannot resolve where bucket ${config.bucket} is: ${oneLine(error)}`);
    }
  }

  /** @throws StorageError `denied` when no source of credentials has any */
  async credentials(forceRefresh: boolean): Promise<S3Credentials> {
    const provider = this.#client.config.credentials as (options?: object) => Promise<S3Credentials>;
    try {
      return await provider({ forceRefresh });
    } catch (error) {
      const { profile } = this.#config;
      const from = profile === undefined ? '' : ` from profile ${profile}`;
      const remedy = profile === undefined ? 'or a profile' : 'or correct the profile in the shared AWS files';
      throw new StorageError(
        'denied',
        `no AWS credentials${from}: ${oneLine(error)}; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, ${remedy}`,
      );
    }
  }

  async head(key: string, call: Call): Promise<ListedObject | undefined> {
    const input = { Bucket: this.#bucket, Key: key };
    try {
      const found = await this.#call(call, (options) =>
        this.#client.send(new this.#sdk.HeadObjectCommand(input), options),
      );
      return { key, sizeBytes: found.ContentLength ?? 0, lastModifiedMs: found.LastModified?.getTime() ?? 0 };
    } catch (error) {
      if (error instanceof StorageError && error.kind === 'not-found') return undefined;
      throw error;
    }
  }

  async listPage(prefix: string, after: string, continuation: string | undefined, call: Call): Promise<ListPage> {
    const input: Sdk.ListObjectsV2CommandInput = { Bucket: this.#bucket, Prefix: prefix };
    if (continuation !== undefined) input.ContinuationToken = continuation;
    else if (after !== '') input.StartAfter = after;
    const page = await this.#call(call, (options) =>
      this.#client.send(new this.#sdk.ListObjectsV2Command(input), options),
    );
    const objects = (page.Contents ?? []).map(({ Key, Size, LastModified }) => ({
      key: Key ?? '',
      sizeBytes: Size ?? 0,
      lastModifiedMs: LastModified?.getTime() ?? 0,
    }));
    return { objects, continuation: page.IsTruncated ? page.NextContinuationToken : undefined };
  }

  /** Deletes at most MAX_DELETE_KEYS keys. @returns the errors by key; keys without one are gone */
  async deleteBatch(keys: readonly string[], call: Call): Promise<Map<string, StorageError>> {
    const Delete = { Objects: keys.map((Key) => ({ Key })), Quiet: true };
    const command = new this.#sdk.DeleteObjectsCommand({ Bucket: this.#bucket, Delete });
    const { Errors = [] } = await this.#call(call, (options) => this.#client.send(command, options));
    const failed = new Map<string, StorageError>();
    for (const { Key = '', Code = '', Message } of Errors) {
      const error = fromS3Failure(
        { status: STATUS_OF_CODE[Code] ?? 500, code: Code, message: Message },
        call.what,
        this.place,
      );
      if (error.kind !== 'not-found') failed.set(Key, error);
    }
    return failed;
  }

  async createMultipart(key: string, contentId: string, call: Call): Promise<string> {
    const input: Sdk.CreateMultipartUploadCommandInput = { Bucket: this.#bucket, Key: key };
    input.Metadata = { 'shoal-content-id': contentId };
    const encryption = this.#config.serverSideEncryption;
    if (encryption) input.ServerSideEncryption = encryption.algorithm;
    if (encryption?.kmsKeyId) input.SSEKMSKeyId = encryption.kmsKeyId;
    const { UploadId } = await this.#call(call, (options) =>
      this.#client.send(new this.#sdk.CreateMultipartUploadCommand(input), options),
    );
    if (!UploadId) throw new StorageError('corrupt', `${call.what}: the store began a multipart upload without an id`);
    return UploadId;
  }

  async completeMultipart(
    key: string,
    uploadId: string,
    etags: readonly string[],
    ifNoneMatch: boolean,
    call: Call,
  ): Promise<void> {
    const Parts = etags.map((ETag, index) => ({ ETag, PartNumber: index + 1 }));
    const input: Sdk.CompleteMultipartUploadCommandInput = { Bucket: this.#bucket, Key: key, UploadId: uploadId };
    input.MultipartUpload = { Parts };
    if (ifNoneMatch) input.IfNoneMatch = '*';
    await this.#call(call, (options) =>
      this.#client.send(new this.#sdk.CompleteMultipartUploadCommand(input), options),
    );
  }

  async abortMultipart(key: string, uploadId: string, call: Call): Promise<void> {
    const input = { Bucket: this.#bucket, Key: key, UploadId: uploadId };
    await this.#call(call, (options) => this.#client.send(new this.#sdk.AbortMultipartUploadCommand(input), options));
  }

  close(): void {
    this.#client.destroy();
  }

  /** Runs one SDK call. @throws StorageError, or the signal's reason */
  async #call<T>(call: Call, run: (options: { abortSignal?: AbortSignal }) => Promise<T>): Promise<T> {
    try {
      return await run(call.signal ? { abortSignal: call.signal } : {});
    } catch (error) {
      call.signal?.throwIfAborted();
      throw fromSdkError(error, call.what, this.place);
    }
  }
}

const STATUS_OF_CODE: Readonly<Record<string, number>> = { NoSuchKey: 404, AccessDenied: 403, SlowDown: 503 };

function clientConfig(config: S3StorageConfig, deadlines: AttemptDeadlines): Sdk.S3ClientConfig {
  const { region, endpoint, credentials, profile } = config;
  const pathStyle = config.forcePathStyle ?? endpoint !== undefined;
  return {
    ...(region !== undefined && { region }),
    ...(endpoint !== undefined && { endpoint }),
    ...(credentials !== undefined && { credentials }),
    ...(profile !== undefined && { profile }),
    forcePathStyle: pathStyle,
    maxAttempts: 1,
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: {
      connectionTimeout: deadlines.connectMs,
      requestTimeout: deadlines.firstByteMs,
      throwOnRequestTimeout: true,
      socketTimeout: deadlines.firstByteMs,
    },
  };
}

/** Stores that know no checksum headers want this one with a bulk delete. */
function useContentMd5(client: Sdk.S3Client): void {
  client.middlewareStack.add(
    (next, context) => (args) => {
      const request = args.request as { headers: Record<string, string>; body?: string | Uint8Array };
      if (context.commandName !== 'DeleteObjectsCommand' || request.body === undefined) return next(args);
      for (const name of Object.keys(request.headers)) {
        if (/^x-amz-(sdk-)?checksum-/i.test(name)) delete request.headers[name];
      }
      request.headers['content-md5'] = createHash('md5').update(request.body).digest('base64');
      return next(args);
    },
    { step: 'build', priority: 'low', name: 'shoalContentMd5' },
  );
}

interface BuiltRequest {
  readonly protocol: string;
  readonly hostname: string;
  readonly port?: number;
  readonly path: string;
}

/** Whether the settings, the environment or a profile name a region. */
async function hasRegion(sdk: typeof Sdk, settings: Sdk.S3ClientConfig): Promise<boolean> {
  const client = new sdk.S3Client(settings);
  try {
    return (await client.config.region()) !== '';
  } catch {
    return false;
  } finally {
    client.destroy();
  }
}

/** Most stores other than AWS have one region and call it so. @throws Error where AWS itself is meant */
function defaultRegion({ endpoint }: S3StorageConfig): string {
  if (endpoint !== undefined) return 'us-east-1';
  throw new Error('no region is set; set AWS_REGION, or region in the storage URL');
}

/**
 * Lets the SDK build a request and looks where it would go, so that its whole rule set counts (regions, dual stack, FIPS,
 * path style, AWS_ENDPOINT_URL); nothing is sent. Credentials play no part in it and may be missing.
 */
async function resolveEndpoint(sdk: typeof Sdk, settings: Sdk.S3ClientConfig, bucket: string): Promise<S3Endpoint> {
  const key = 'k';
  const client = new sdk.S3Client({ ...settings, credentials: { accessKeyId: 'none', secretAccessKey: 'none' } });
  const command = new sdk.GetObjectCommand({ Bucket: bucket, Key: key });
  let built: BuiltRequest | undefined;
  command.middlewareStack.add(
    () => async (args) => {
      built = args.request as BuiltRequest;
      return { output: { $metadata: {} }, response: undefined };
    },
    { step: 'build', priority: 'low', name: 'shoalCaptureEndpoint' },
  );
  await client.send(command);
  client.destroy();
  if (!built?.path.endsWith(`/${key}`)) throw new Error('the SDK built no request');
  const origin = new URL(`${built.protocol}//${built.hostname}${built.port ? `:${built.port}` : ''}`);
  const region = await client.config.region();
  return { origin: origin.origin, host: origin.host, basePath: built.path.slice(0, -key.length), region };
}

/** The store's own code and message of an SDK error, or the network's. Its request and response are left out. */
function fromSdkError(error: unknown, what: string, place: S3Place): StorageError {
  if (error instanceof StorageError) return error;
  const { name, message, $metadata, $response } = error as Sdk.S3ServiceException;
  const status = $metadata?.httpStatusCode;
  if (status === undefined) {
    if (name === 'TimeoutError') return new StorageError('timeout', `${what}: no answer in time`);
    const network = fromNetworkError(error, false);
    return new StorageError(network.kind, `${what}: ${network.message}`);
  }
  if (status < 300) return new StorageError('corrupt', `${what}: the answer cannot be read: ${oneLine(error)}`);
  const headers: Record<string, string> = $response?.headers ?? {};
  const code = status === 404 && name === 'NotFound' ? '' : name;
  const date = Date.parse(headers.date ?? '');
  return fromS3Failure(
    {
      status,
      code: /^[A-Za-z0-9.]+$/.test(code) && code !== 'Error' && code !== 'UnknownError' ? code : '',
      message: oneLine({ message }),
      region: headers['x-amz-bucket-region'],
      storeTimeMs: Number.isNaN(date) ? undefined : date,
    },
    what,
    place,
  );
}

function oneLine(error: unknown): string {
  return String((error as Error).message ?? error)
    .replace(/\s+/g, ' ')
    .slice(0, 300);
}
