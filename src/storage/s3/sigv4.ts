/**
 * AWS Signature Version 4 for the hot requests, with the derived key cached: one SHA-256 and one HMAC a request.
 * (AWS: "Authenticating Requests: Using the Authorization Header".) Bodies go as UNSIGNED-PAYLOAD unless the caller
 * hashes them: over TLS the transport protects them, and the CRC-32C header, which is signed, is checked by the store.
 * Main thread, no state but the caches. Nothing of the secret leaves this file but through HMAC.
 */
import { createHmac, hash } from 'node:crypto';

export const UNSIGNED_PAYLOAD = 'UNSIGNED-PAYLOAD';

export interface S3Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
  /** When they end; undefined for those that do not. */
  readonly expiration?: Date | undefined;
}

export interface UnsignedRequest {
  readonly method: string;
  /** Path with its slash, percent-encoded once. */
  readonly path: string;
  /** `a=b&c=`: sorted and percent-encoded; empty for none. */
  readonly query: string;
  /** Lower-case names. `host`, the date and the token are added here. */
  readonly headers: Readonly<Record<string, string>>;
  /** Lower-case hex SHA-256 of the body, or UNSIGNED_PAYLOAD. */
  readonly payloadHash: string;
}

interface CachedKey {
  readonly credentials: S3Credentials;
  readonly day: string;
  readonly key: Buffer;
}

export class SigV4Signer {
  readonly #host: string;
  readonly #region: string;
  #cachedKey: CachedKey | undefined;
  #cachedSecond = -1;
  #cachedDate = '';

  /** @param host as it goes into the Host header, with a port that is not the default one */
  constructor(host: string, region: string) {
    this.#host = host;
    this.#region = region;
  }

  /** The request's headers with the signature's added; `host` itself is left to the HTTP client. */
  sign(request: UnsignedRequest, credentials: S3Credentials, nowMs: number): Record<string, string> {
    const date = this.#amzDate(nowMs);
    const day = date.slice(0, 8);
    const signed: Record<string, string> = { ...request.headers, 'x-amz-content-sha256': request.payloadHash };
    signed['x-amz-date'] = date;
    if (credentials.sessionToken !== undefined) signed['x-amz-security-token'] = credentials.sessionToken;
    const names = [...Object.keys(signed), 'host'].sort();
    const canonicalHeaders = names.map((name) => `${name}:${name === 'host' ? this.#host : signed[name]}\n`).join('');
    const signedHeaders = names.join(';');
    const canonical = `${request.method}\n${request.path}\n${request.query}\n${canonicalHeaders}\n${signedHeaders}\n${request.payloadHash}`;
    const scope = `${day}/${this.#region}/s3/aws4_request`;
    const toSign = `AWS4-HMAC-SHA256\n${date}\n${scope}\n${hash('sha256', canonical)}`;
    const signature = createHmac('sha256', this.#key(credentials, day)).update(toSign).digest('hex');
    signed.authorization = `AWS4-HMAC-SHA256 Credential=${credentials.accessKeyId}/${scope}, SignedHeaders=${signedHeaders}, Signature=${signature}`;
    return signed;
  }

  /** `20261129T152200Z`; the same text for a whole second. */
  #amzDate(nowMs: number): string {
    const second = Math.floor(nowMs / 1000);
    if (second !== this.#cachedSecond) {
      this.#cachedSecond = second;
      this.#cachedDate = new Date(second * 1000).toISOString().replace(/[-:]|\.\d{3}/g, '');
    }
    return this.#cachedDate;
  }

  #key(credentials: S3Credentials, day: string): Buffer {
    const cached = this.#cachedKey;
    if (cached && cached.day === day && cached.credentials === credentials) return cached.key;
    const key = ['s3', 'aws4_request'].reduce(
      hmac,
      [day, this.#region].reduce(hmac, `AWS4${credentials.secretAccessKey}`),
    );
    this.#cachedKey = { credentials, day, key: key as Buffer };
    return key as Buffer;
  }
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}
