/** What an S3 storage can be told, the defaults, and the URL form of it that `shoal serve --storage` takes. */
import type { S3ClientConfig } from '@aws-sdk/client-s3';
import type { Logger } from '../../common/logger.ts';
import type { Random } from '../../common/random.ts';
import type { Time } from '../../common/time.ts';
import { isObjectKey } from '../object-storage.ts';
import type { LimiterSettings } from './adaptive-limiter.ts';
import type { HedgeSettings } from './hedger.ts';
import type { AttemptDeadlines } from './http-attempt.ts';
import type { RetrySettings } from './retry-policy.ts';

export interface ServerSideEncryption {
  readonly algorithm: 'AES256' | 'aws:kms';
  /** For `aws:kms`; without it the bucket's own key. */
  readonly kmsKeyId?: string;
}

export interface MultipartSettings {
  /** Objects above it are uploaded in parts. */
  readonly thresholdBytes: number;
  /** S3 wants at least 5 MiB for every part but the last, and at most 10,000 parts. */
  readonly partBytes: number;
  /** Parts of one object on their way at a time. */
  readonly concurrency: number;
}

/** What is left out is resolved as the AWS SDK does: environment, profile files, instance and container metadata, SSO. */
export interface S3StorageConfig {
  readonly bucket: string;
  /** Put before every key, without slashes at its ends, e.g. `shoal/prod`. */
  readonly prefix?: string;
  /** @default the environment's or the profile's; without those, and with `endpoint`, us-east-1 */
  readonly region?: string;
  /** The store's URL, for stores other than AWS: `http://127.0.0.1:9000`. */
  readonly endpoint?: string;
  /** `endpoint/bucket/key` instead of `bucket.endpoint/key`; what most stores other than AWS want. @default true with `endpoint` */
  readonly forcePathStyle?: boolean;
  readonly credentials?: S3ClientConfig['credentials'];
  /** Name of a profile in the shared AWS files. */
  readonly profile?: string;
  /** Send CRC-32C headers with PUTs whose caller derived one; off for stores that reject them. @default true */
  readonly checksums?: boolean;
  /**
   * Send `If-None-Match: *`. Off only for stores that refuse it: a delayed earlier attempt can then replace an object,
   * though only by the same bytes as long as keys are unique. @default true
   */
  readonly conditionalWrites?: boolean;
  /** Sign the SHA-256 of bodies: protects them on plain http against more than accidents, for much CPU. @default false */
  readonly signPayload?: boolean;
  readonly serverSideEncryption?: ServerSideEncryption;
  readonly multipart?: Partial<MultipartSettings>;
  readonly deadlines?: Partial<AttemptDeadlines>;
  readonly retry?: Partial<RetrySettings>;
  readonly limits?: Partial<LimiterSettings>;
  readonly hedge?: Partial<HedgeSettings>;
  readonly time?: Time;
  readonly random?: Random;
  readonly logger?: Logger;
}

export const DEFAULT_DEADLINES: AttemptDeadlines = { connectMs: 3_000, firstByteMs: 10_000, betweenBytesMs: 5_000 };

export const DEFAULT_RETRY: RetrySettings = {
  maxAttempts: 5,
  baseDelayMs: 50,
  throttledDelayMs: 1_000,
  maxDelayMs: 5_000,
  budget: 100,
  budgetPerSuccess: 0.25,
};

export const DEFAULT_LIMITS: LimiterSettings = { maxInFlight: 128, pauseMs: 500, maxPauseMs: 5_000 };

export const DEFAULT_HEDGE: HedgeSettings = { budget: 0.02, burst: 10, minDelayMs: 20, maxDelayMs: 2_000 };

const MiB = 1024 * 1024;
export const DEFAULT_MULTIPART: MultipartSettings = { thresholdBytes: 64 * MiB, partBytes: 16 * MiB, concurrency: 4 };

const FLAGS = {
  'path-style': 'forcePathStyle',
  checksums: 'checksums',
  'conditional-writes': 'conditionalWrites',
} as const;
const TEXTS = { endpoint: 'endpoint', region: 'region', profile: 'profile' } as const;
const SSE_PARAMETERS = ['sse', 'kms-key-id'];
const PARAMETERS = [...Object.keys(TEXTS), ...Object.keys(FLAGS), ...SSE_PARAMETERS];

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/**
 * `s3://bucket/prefix?endpoint=…&region=…&path-style=true`. Parameters: endpoint, region, profile, path-style, checksums,
 * conditional-writes (true or false), sse (AES256 or aws:kms), kms-key-id. Credentials have no place in a URL.
 * @throws TypeError that names the part which is wrong; never repeats a user name or password
 */
export function parseS3Url(text: string): S3StorageConfig {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== 's3:' || url.hostname === '') {
    throw new TypeError('an S3 storage is written s3://BUCKET/PREFIX?endpoint=URL&region=NAME&path-style=true');
  }
  if (url.username || url.password) {
    throw new TypeError(
      'credentials do not belong into the storage URL; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY',
    );
  }
  if (url.port)
    throw new TypeError('the storage URL names a bucket, which has no port; use ?endpoint=http://host:port');
  const config: Mutable<S3StorageConfig> = { bucket: bucketOf(text) };
  const prefix = decodeURIComponent(url.pathname).replace(/^\/+|\/+$/g, '');
  if (prefix) config.prefix = prefix;
  readParameters(url.searchParams, config);
  return checkS3Config(config);
}

/** URL parsing lowers the case of a host; a bucket's name is taken as it was written. */
function bucketOf(text: string): string {
  return /^s3:\/\/([^/?#]+)/i.exec(text)![1]!;
}

function readParameters(parameters: URLSearchParams, config: Mutable<S3StorageConfig>): void {
  for (const [name, value] of parameters) {
    if (parameters.getAll(name).length > 1) throw new TypeError(`storage URL parameter ${name} is given twice`);
    if (Object.hasOwn(TEXTS, name)) config[TEXTS[name as keyof typeof TEXTS]] = value;
    else if (Object.hasOwn(FLAGS, name)) config[FLAGS[name as keyof typeof FLAGS]] = flag(name, value);
    else if (!SSE_PARAMETERS.includes(name)) {
      throw new TypeError(`unknown storage URL parameter ${name}; known are ${PARAMETERS.join(', ')}`);
    }
  }
  const [algorithm, kmsKeyId] = SSE_PARAMETERS.map((name) => parameters.get(name) ?? undefined);
  if (algorithm !== undefined || kmsKeyId !== undefined) {
    config.serverSideEncryption = { algorithm: sse(algorithm ?? 'aws:kms'), ...(kmsKeyId && { kmsKeyId }) };
  }
}

function flag(name: string, value: string): boolean {
  if (value !== 'true' && value !== 'false') throw new TypeError(`storage URL parameter ${name} is true or false`);
  return value === 'true';
}

function sse(value: string): ServerSideEncryption['algorithm'] {
  if (value !== 'AES256' && value !== 'aws:kms') throw new TypeError('storage URL parameter sse is AES256 or aws:kms');
  return value;
}

/** @returns the config. @throws TypeError that names the setting which cannot be */
export function checkS3Config(config: S3StorageConfig): S3StorageConfig {
  const { bucket, prefix, endpoint, multipart } = config;
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{1,253}[A-Za-z0-9]$/.test(bucket))
    throw new TypeError(
      `"${bucket}" is not a bucket name: 3 to 255 letters, digits, dots, hyphens and underscores are`,
    );
  if (bucket.endsWith('--x-s3'))
    throw new TypeError(`${bucket} is a directory bucket (S3 Express), which is not supported`);
  if (prefix !== undefined && !(prefix.length <= 400 && isObjectKey(prefix))) {
    throw new TypeError(
      `"${prefix}" is not a prefix: at most 400 characters of A-Za-z0-9._- in segments joined by "/"`,
    );
  }
  if (endpoint !== undefined) checkEndpoint(endpoint);
  const { partBytes } = { ...DEFAULT_MULTIPART, ...multipart };
  if (partBytes < 5 * MiB) throw new TypeError(`multipart.partBytes is ${partBytes}; S3 wants at least ${5 * MiB}`);
  return config;
}

function checkEndpoint(endpoint: string): void {
  const url = URL.canParse(endpoint) ? new URL(endpoint) : undefined;
  if (!url || !/^https?:$/.test(url.protocol))
    throw new TypeError('endpoint is written http://host:port or https://host');
  if (url.username || url.password) throw new TypeError('credentials do not belong into the endpoint');
}
