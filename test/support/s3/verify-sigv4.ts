/**
 * The server's half of AWS Signature Version 4, written from AWS's description and not from src/: reads what came over
 * the wire and says which S3 error it deserves.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

export interface Account {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Set for temporary credentials. */
  readonly sessionToken?: string;
  readonly expired?: boolean;
}

export interface Refusal {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly region?: string;
}

const AUTHORIZATION =
  /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, ?SignedHeaders=([a-z0-9;-]+), ?Signature=([0-9a-f]{64})$/;
const MAX_SKEW_MS = 15 * 60_000;

const sha256 = (data: string | Uint8Array): string => createHash('sha256').update(data).digest('hex');
const hmac = (key: string | Buffer, data: string): Buffer => createHmac('sha256', key).update(data).digest();
const refuse = (status: number, code: string, message = code): Refusal => ({ status, code, message });

/** Checks a request whose body was read whole. @returns undefined when it is properly signed */
export function verifySigV4(
  request: IncomingMessage,
  body: Uint8Array | undefined,
  accounts: readonly Account[],
  region: string,
  nowMs: number,
): Refusal | undefined {
  const parts = AUTHORIZATION.exec(request.headers.authorization ?? '');
  if (!parts) return refuse(403, 'AccessDenied', 'no signature of version 4');
  const [, accessKeyId, day, signedRegion, signedHeaders, signature] = parts as unknown as string[];
  const account = accounts.find((each) => each.accessKeyId === accessKeyId);
  if (!account) return refuse(403, 'InvalidAccessKeyId');
  if (signedRegion !== region) {
    return { ...refuse(400, 'AuthorizationHeaderMalformed', `the region ${signedRegion} is wrong`), region };
  }
  const refusal = checkDate(request, day!, nowMs) ?? checkHeaders(request, signedHeaders!.split(';'), body);
  if (refusal) return refusal;
  const expected = signatureOf(request, { account, day: day!, region, signedHeaders: signedHeaders! });
  if (!timingSafeEqual(Buffer.from(expected), Buffer.from(signature!))) return refuse(403, 'SignatureDoesNotMatch');
  return checkToken(request, account);
}

function checkDate(request: IncomingMessage, day: string, nowMs: number): Refusal | undefined {
  const date = String(request.headers['x-amz-date'] ?? '');
  const fields = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(date);
  if (!fields || !date.startsWith(day)) return refuse(403, 'AccessDenied', 'the date is malformed');
  const [year, month, date_, hour, minute, second] = fields.slice(1).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const sentMs = Date.UTC(year, month - 1, date_, hour, minute, second);
  return Math.abs(sentMs - nowMs) > MAX_SKEW_MS ? refuse(403, 'RequestTimeTooSkewed') : undefined;
}

/** `host` and every x-amz header must be signed, and a hashed payload must be what came. */
function checkHeaders(request: IncomingMessage, signed: string[], body: Uint8Array | undefined): Refusal | undefined {
  const required = Object.keys(request.headers).filter((name) => name === 'host' || name.startsWith('x-amz-'));
  const unsigned = required.filter((name) => !signed.includes(name));
  if (unsigned.length > 0) return refuse(403, 'AccessDenied', `unsigned headers ${unsigned.join(', ')}`);
  const sortedAsGiven = [...signed].sort().join() === signed.join();
  if (!sortedAsGiven) return refuse(403, 'SignatureDoesNotMatch', 'signed headers are not sorted');
  const hash = request.headers['x-amz-content-sha256'];
  if (hash === undefined) return refuse(400, 'MissingContentSHA256');
  if (hash === 'UNSIGNED-PAYLOAD' || body === undefined) return undefined;
  return hash === sha256(body) ? undefined : refuse(400, 'XAmzContentSHA256Mismatch');
}

interface Scope {
  readonly account: Account;
  readonly day: string;
  readonly region: string;
  readonly signedHeaders: string;
}

function signatureOf(request: IncomingMessage, { account, day, region, signedHeaders }: Scope): string {
  const [path, query = ''] = request.url!.split('?') as [string, string?];
  const pairs = query.split('&').filter(Boolean);
  const canonicalQuery = pairs
    .map((pair) => (pair.includes('=') ? pair : `${pair}=`))
    .sort()
    .join('&');
  const headers = signedHeaders.split(';').map((name) => `${name}:${trimmed(request.headers[name])}\n`);
  const canonical = [
    request.method,
    path,
    canonicalQuery,
    headers.join(''),
    signedHeaders,
    request.headers['x-amz-content-sha256'],
  ].join('\n');
  const scope = `${day}/${region}/s3/aws4_request`;
  const toSign = ['AWS4-HMAC-SHA256', request.headers['x-amz-date'], scope, sha256(canonical)].join('\n');
  let key: Buffer = hmac(`AWS4${account.secretAccessKey}`, day);
  for (const step of [region, 's3', 'aws4_request']) key = hmac(key, step);
  return hmac(key, toSign).toString('hex');
}

function trimmed(value: string | string[] | undefined): string {
  return String(value).trim().replace(/ +/g, ' ');
}

function checkToken(request: IncomingMessage, account: Account): Refusal | undefined {
  if (account.expired) return refuse(400, 'ExpiredToken', 'The provided token has expired.');
  if (request.headers['x-amz-security-token'] !== account.sessionToken) return refuse(400, 'InvalidToken');
  return undefined;
}
