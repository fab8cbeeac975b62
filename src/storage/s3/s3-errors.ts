/**
 * What stores and networks answer, in the terms of a storage: kind, and one line that says which thing is wrong and what
 * to do. Only the code and a short message of an error document are used: it may also hold keys and signatures.
 */
import { StorageError, type StorageErrorKind } from '../object-storage.ts';

/** An error answer: its status, the `<Code>` of its document or of the SDK, and what else helps the reader. */
export interface S3Failure {
  readonly status: number;
  /** Empty when the answer had none, as that to a HEAD. */
  readonly code: string;
  readonly message?: string | undefined;
  /** `x-amz-bucket-region`, or `<Region>` of the document. */
  readonly region?: string | undefined;
  /** The store's clock, from its Date header. */
  readonly storeTimeMs?: number | undefined;
}

/** Where requests go, for messages. */
export interface S3Place {
  readonly bucket: string;
  readonly endpoint: string;
  readonly region: string;
}

type Verdict = readonly [kind: StorageErrorKind, advice: (place: S3Place, failure: S3Failure) => string];

const expired: Verdict = ['denied', () => 'the credentials have expired; renew them'];
const wrongRegion: Verdict = [
  'denied',
  ({ bucket, region }, failure) =>
    `bucket ${bucket} is not in region ${region}${failure.region ? `; set region ${failure.region}` : '; set its region'}`,
];
const throttled: Verdict = ['throttled', () => 'the store asks to slow down'];
const kms: Verdict = [
  'denied',
  (_, { code }) => `the KMS key cannot be used (${code}); check its id, state and policy`,
];
const full: Verdict = ['no-space', () => 'the store or its quota is full; make room'];
const conflict: Verdict = ['unavailable', () => 'another request for the same key is under way'];

const BY_CODE: Readonly<Record<string, Verdict>> = {
  NoSuchKey: ['not-found', () => 'it does not exist'],
  NoSuchBucket: [
    'denied',
    ({ bucket, endpoint }) => `bucket ${bucket} does not exist at ${endpoint}; create it or correct its name`,
  ],
  NoSuchUpload: ['unavailable', () => 'the multipart upload is gone'],
  PreconditionFailed: ['already-exists', () => 'it exists'],
  InvalidRange: ['range-not-satisfiable', () => 'it ends before the range does'],
  AccessDenied: [
    'denied',
    ({ bucket }) =>
      `the credentials lack a permission on bucket ${bucket}; allow s3:GetObject, s3:PutObject, s3:DeleteObject, s3:ListBucket and s3:AbortMultipartUpload`,
  ],
  AllAccessDisabled: ['denied', ({ bucket }) => `all access to bucket ${bucket} is disabled`],
  AccountProblem: ['denied', () => 'there is a problem with the account; ask the provider'],
  InvalidAccessKeyId: ['denied', ({ endpoint }) => `the access key id is unknown at ${endpoint}; correct it`],
  SignatureDoesNotMatch: ['denied', () => 'the secret access key does not belong to the access key id; correct it'],
  ExpiredToken: expired,
  ExpiredTokenException: expired,
  TokenRefreshRequired: expired,
  InvalidToken: ['denied', () => 'the session token is not valid; renew the credentials'],
  RequestTimeTooSkewed: [
    'denied',
    (_, failure) => `this machine's clock is too far from the store's${skew(failure)}; set it right`,
  ],
  RequestExpired: [
    'denied',
    (_, failure) => `this machine's clock is too far from the store's${skew(failure)}; set it right`,
  ],
  PermanentRedirect: wrongRegion,
  AuthorizationHeaderMalformed: wrongRegion,
  IllegalLocationConstraintException: wrongRegion,
  InvalidBucketName: ['denied', ({ bucket }) => `${bucket} is not a bucket name`],
  SlowDown: throttled,
  SlowDownRead: throttled,
  SlowDownWrite: throttled,
  Throttling: throttled,
  ThrottlingException: throttled,
  TooManyRequests: throttled,
  TooManyRequestsException: throttled,
  RequestLimitExceeded: throttled,
  RequestThrottled: throttled,
  BandwidthLimitExceeded: throttled,
  ConditionalRequestConflict: conflict,
  OperationAborted: conflict,
  RequestTimeout: ['timeout', () => 'the store waited too long for the body'],
  BadDigest: ['corrupt', () => 'the body did not arrive as it was sent'],
  XAmzContentChecksumMismatch: ['corrupt', () => 'the body did not arrive as it was sent'],
  XAmzContentSHA256Mismatch: ['corrupt', () => 'the body did not arrive as it was sent'],
  IncompleteBody: ['corrupt', () => 'the body did not arrive whole'],
  InsufficientStorage: full,
  QuotaExceeded: full,
  XMinioStorageFull: full,
  NotImplemented: [
    'denied',
    (_, { message }) =>
      `the store does not support this request (NotImplemented${message ? `: ${message}` : ''}); see the settings checksums and conditionalWrites`,
  ],
};

const BY_STATUS: Readonly<Record<number, StorageErrorKind>> = {
  404: 'not-found',
  408: 'timeout',
  409: 'unavailable',
  412: 'already-exists',
  416: 'range-not-satisfiable',
  429: 'throttled',
  501: 'denied',
  507: 'no-space',
};

function skew({ storeTimeMs, message }: S3Failure): string {
  if (storeTimeMs !== undefined) return `, which says ${new Date(storeTimeMs).toISOString()}`;
  return message ? ` (${message})` : '';
}

function kindOfStatus(status: number): StorageErrorKind {
  const kind = BY_STATUS[status];
  if (kind) return kind;
  // A redirect of a new bucket (307) heals by itself; every other 3xx and 4xx is about how we ask.
  return status >= 500 || status === 307 ? 'unavailable' : 'denied';
}

/** The error for an answer that is not the one asked for. @param what e.g. `get of object k in s3://bucket/prefix` */
export function fromS3Failure(failure: S3Failure, what: string, place: S3Place): StorageError {
  const { status, code, message } = failure;
  if (code.startsWith('KMS.')) return new StorageError(kms[0], `${what}: ${kms[1](place, failure)}`);
  if (status === 503 && code === '') return new StorageError('throttled', `${what}: ${throttled[1](place, failure)}`);
  if (status === 301) return new StorageError(wrongRegion[0], `${what}: ${wrongRegion[1](place, failure)}`);
  const verdict = Object.hasOwn(BY_CODE, code) ? BY_CODE[code] : undefined;
  if (verdict) return new StorageError(verdict[0], `${what}: ${verdict[1](place, failure)} (${status})`);
  const said = [code, message].filter(Boolean).join(': ');
  return new StorageError(kindOfStatus(status), `${what}: the store answered ${status}${said && ` ${said}`}`);
}

/** Reads `<Code>`, `<Message>` and `<Region>` of an error document, bounded, in one line each. */
export function parseErrorDocument(text: string): { code: string; message?: string; region?: string } {
  const element = (name: string): string | undefined => {
    const found = new RegExp(`<${name}>([^<]{1,300})</${name}>`).exec(text)?.[1];
    return found?.replace(/\s+/g, ' ').trim();
  };
  const code = element('Code') ?? '';
  const [message, region] = [element('Message'), element('Region')];
  return { code: /^[A-Za-z0-9.]+$/.test(code) ? code : '', ...(message && { message }), ...(region && { region }) };
}

const CONNECTION_ADVICE: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused; is the store running, and is the endpoint right?',
  ENOTFOUND: "the endpoint's name does not exist; correct it",
  EAI_AGAIN: "the endpoint's name cannot be looked up now",
  EHOSTUNREACH: 'the endpoint cannot be reached',
  ENETUNREACH: 'the endpoint cannot be reached',
};

const TLS_CODES = /^(CERT_|ERR_TLS|ERR_SSL|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_)/;

/** The error for a connection that failed or broke. @param midBody whether part of the answer's body had come */
export function fromNetworkError(error: unknown, midBody: boolean): StorageError {
  if (error instanceof StorageError) return error;
  const { code = '', message } = error as NodeJS.ErrnoException;
  if (code === 'ERR_SSL_WRONG_VERSION_NUMBER' || code === 'ERR_SSL_PACKET_LENGTH_TOO_LONG') {
    return new StorageError('denied', `the endpoint answers without TLS (${code}); is it http:// and not https://?`);
  }
  if (TLS_CODES.test(code)) {
    return new StorageError(
      'denied',
      `the endpoint's TLS certificate is not accepted (${code}); see NODE_EXTRA_CA_CERTS`,
    );
  }
  if (/TIMEOUT|ETIMEDOUT/.test(code)) return new StorageError('timeout', `no connection in time (${code})`);
  const advice = CONNECTION_ADVICE[code] ?? (midBody ? 'the connection broke in the middle of the answer' : message);
  return new StorageError('unavailable', code ? `${advice} (${code})` : advice, { cause: error });
}
