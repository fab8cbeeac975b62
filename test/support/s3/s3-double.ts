/**
 * A double of S3 for tests: a real HTTP server that verifies signatures and checksums, keeps objects in memory, and goes
 * wrong on request: before, in the middle of and after the body, or by dropping only the answer (faults.ts).
 *
 * Path style only. It counts what it did, so that a test can insist that its faults happened.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { crc32c } from '@node-rs/crc32';
import type { S3StorageConfig } from '../../../src/s3.ts';
import { type Fault, type FaultSchedule, faultName } from './faults.ts';
import { ObjectStore } from './object-store.ts';
import { type Account, type Refusal, verifySigV4 } from './verify-sigv4.ts';

export interface S3DoubleOptions {
  readonly bucket?: string;
  readonly region?: string;
  readonly accounts?: readonly Account[];
  readonly schedule?: FaultSchedule;
  /** Answers NotImplemented to checksum headers, as some stores do. */
  readonly rejectChecksums?: boolean;
  /** Overwrites in spite of If-None-Match, as some stores do. */
  readonly ignoreIfNoneMatch?: boolean;
  /** Operations that the account may not do, e.g. `PutObject`. */
  readonly denied?: readonly string[];
  /** Added to the server's clock. */
  readonly clockOffsetMs?: number;
  readonly pageSize?: number;
}

const ACCOUNT: Account = { accessKeyId: 'DOUBLE', secretAccessKey: 'double-secret' };

interface Answer {
  readonly status: number;
  readonly headers?: Record<string, string>;
  readonly body?: Buffer | string;
}

/** A request that was read whole. */
interface Exchange {
  readonly request: IncomingMessage;
  readonly body: Buffer;
  readonly key: string;
  readonly query: URLSearchParams;
}

export class S3Double {
  readonly store = new ObjectStore();
  /** Requests by operation, and faults by name. */
  readonly requests = new Map<string, number>();
  readonly faults = new Map<string, number>();
  /** Asked for each request; may be changed at any time. */
  schedule: FaultSchedule;
  accounts: readonly Account[];
  readonly #options: S3DoubleOptions;
  readonly #bucket: string;
  readonly #region: string;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #mostSockets = 0;

  private constructor(options: S3DoubleOptions) {
    this.#options = options;
    this.#bucket = options.bucket ?? 'double';
    this.#region = options.region ?? 'us-east-1';
    this.accounts = options.accounts ?? [ACCOUNT];
    this.schedule = options.schedule ?? (() => undefined);
    this.#server = createServer((request, response) => {
      this.#serve(request, response).catch(() => request.socket.destroy());
    });
    this.#server.keepAliveTimeout = 60_000;
    this.#server.on('connection', (socket) => {
      this.#sockets.add(socket);
      this.#mostSockets = Math.max(this.#mostSockets, this.#sockets.size);
      socket.on('error', () => socket.destroy());
      socket.on('close', () => this.#sockets.delete(socket));
    });
  }

  static async start(options: S3DoubleOptions = {}): Promise<S3Double> {
    const double = new S3Double(options);
    await new Promise<void>((resolve) => double.#server.listen(0, '127.0.0.1', resolve));
    return double;
  }

  get endpoint(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** What a storage needs to know to use this double. */
  get config(): S3StorageConfig {
    const { accessKeyId, secretAccessKey, sessionToken } = this.accounts[0]!;
    const credentials = { accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }) };
    return { bucket: this.#bucket, region: this.#region, endpoint: this.endpoint, forcePathStyle: true, credentials };
  }

  get openSockets(): number {
    return this.#sockets.size;
  }

  /** The most sockets that were ever open together. */
  get mostSockets(): number {
    return this.#mostSockets;
  }

  /** Faults injected so far. */
  get faultCount(): number {
    return [...this.faults.values()].reduce((sum, count) => sum + count, 0);
  }

  /** The next requests get these faults, in order; then none. */
  failNext(...faults: (Fault | undefined)[]): void {
    const left = [...faults];
    this.schedule = () => left.shift();
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url!.split('?')[0]!;
    const fault = this.schedule(request.method!, path);
    if (fault) this.faults.set(faultName(fault), (this.faults.get(faultName(fault)) ?? 0) + 1);
    if (fault?.at === 'before') {
      await failBefore(fault, request, response);
      return;
    }
    const body = await readBody(request);
    if (fault?.at === 'delay') await new Promise((resolve) => setTimeout(resolve, fault.ms));
    const ranged = this.#answer(request, body, path);
    const whole = fault?.at === 'during' && fault.do === 'whole-object' && ranged.status === 206;
    const answer = whole ? this.#get(keyOf(path), undefined) : ranged;
    if (fault?.at === 'after') {
      if (fault.do === 'reset') request.socket.destroy();
      return;
    }
    await sendAnswer(response, answer, request.method!, fault?.at === 'during' ? fault.do : undefined);
  }

  #answer(request: IncomingMessage, body: Buffer, path: string): Answer {
    const query = new URLSearchParams(request.url!.split('?')[1] ?? '');
    const bucket = path.split('/')[1];
    const key = keyOf(path);
    const operation = operationOf(request.method!, key, query);
    this.requests.set(operation, (this.requests.get(operation) ?? 0) + 1);
    const nowMs = Date.now() + (this.#options.clockOffsetMs ?? 0);
    const refusal = verifySigV4(request, body, this.accounts, this.#region, nowMs);
    if (refusal) return errorAnswer(refusal, nowMs);
    if (bucket !== this.#bucket) return error(404, 'NoSuchBucket');
    if (this.#options.denied?.includes(operation)) return error(403, 'AccessDenied');
    const sum = request.headers['x-amz-checksum-crc32c'];
    if (sum !== undefined && this.#options.rejectChecksums) return error(501, 'NotImplemented');
    if (sum !== undefined && sum !== checksumOf(body)) return error(400, 'BadDigest');
    return this.#operate(operation, { request, body, key, query });
  }

  #operate(operation: string, exchange: Exchange): Answer {
    const { key, query, request, body } = exchange;
    switch (operation) {
      case 'GetObject':
        return this.#get(key, request.headers.range);
      case 'HeadObject':
        return this.#head(key);
      case 'PutObject':
        return this.#put(key, body, request.headers);
      case 'ListObjectsV2':
        return this.#list(query);
      case 'DeleteObjects':
        return this.#deleteObjects(body, request.headers);
      case 'CreateMultipartUpload':
        return xml(
          `<InitiateMultipartUploadResult><UploadId>${this.store.createUpload(key, metadataOf(request.headers))}</UploadId></InitiateMultipartUploadResult>`,
        );
      case 'UploadPart':
        return this.#uploadPart(query, body);
      case 'CompleteMultipartUpload':
        return this.#complete(query.get('uploadId')!, key, request.headers);
      case 'AbortMultipartUpload':
        return this.store.uploads.delete(query.get('uploadId')!) ? { status: 204 } : error(404, 'NoSuchUpload');
      default:
        return error(501, 'NotImplemented');
    }
  }

  #get(key: string, range: string | undefined): Answer {
    const object = this.store.objects.get(key);
    if (!object) return error(404, 'NoSuchKey');
    const match = /^bytes=(\d+)-(\d+)$/.exec(range ?? '');
    if (!match) return { status: 200, headers: { etag: object.etag }, body: object.body };
    const first = Number(match[1]);
    const last = Math.min(Number(match[2]), object.body.length - 1);
    if (first >= object.body.length) return error(416, 'InvalidRange');
    const headers = { etag: object.etag, 'content-range': `bytes ${first}-${last}/${object.body.length}` };
    return { status: 206, headers, body: object.body.subarray(first, last + 1) };
  }

  #head(key: string): Answer {
    const object = this.store.objects.get(key);
    if (!object) return { status: 404 };
    const { etag, lastModified, metadata, body } = object;
    return {
      status: 200,
      headers: {
        etag,
        'last-modified': lastModified.toUTCString(),
        'content-length': String(body.length),
        ...metadata,
      },
    };
  }

  #put(key: string, body: Buffer, headers: IncomingMessage['headers']): Answer {
    if (this.#exists(key, headers)) return error(412, 'PreconditionFailed');
    return { status: 200, headers: { etag: this.store.put(key, body, metadataOf(headers)).etag } };
  }

  #exists(key: string, headers: IncomingMessage['headers']): boolean {
    return headers['if-none-match'] === '*' && this.store.objects.has(key) && !this.#options.ignoreIfNoneMatch;
  }

  #list(query: URLSearchParams): Answer {
    const prefix = query.get('prefix') ?? '';
    const after = query.get('continuation-token') ?? query.get('start-after') ?? '';
    const { keys, truncated } = this.store.list(prefix, after, this.#options.pageSize ?? 1000);
    const contents = keys.map((key) => {
      const { body, lastModified, etag } = this.store.objects.get(key)!;
      return `<Contents><Key>${key}</Key><LastModified>${lastModified.toISOString()}</LastModified><ETag>${etag}</ETag><Size>${body.length}</Size></Contents>`;
    });
    const next = truncated ? `<NextContinuationToken>${keys.at(-1)}</NextContinuationToken>` : '';
    return xml(
      `<ListBucketResult><IsTruncated>${truncated}</IsTruncated>${next}${contents.join('')}</ListBucketResult>`,
    );
  }

  #deleteObjects(body: Buffer, headers: IncomingMessage['headers']): Answer {
    const checked =
      headers['content-md5'] !== undefined || Object.keys(headers).some((name) => name.startsWith('x-amz-checksum-'));
    if (!checked) return error(400, 'InvalidRequest');
    if (this.#options.rejectChecksums && headers['content-md5'] === undefined) return error(501, 'NotImplemented');
    for (const [, key] of body.toString().matchAll(/<Key>([^<]+)<\/Key>/g)) this.store.objects.delete(key!);
    return xml('<DeleteResult></DeleteResult>');
  }

  #uploadPart(query: URLSearchParams, body: Buffer): Answer {
    const upload = this.store.uploads.get(query.get('uploadId')!);
    if (!upload) return error(404, 'NoSuchUpload');
    upload.parts.set(Number(query.get('partNumber')), body);
    return { status: 200, headers: { etag: `"part-${query.get('partNumber')}"` } };
  }

  #complete(id: string, key: string, headers: IncomingMessage['headers']): Answer {
    if (this.#exists(key, headers)) return error(412, 'PreconditionFailed');
    const completed = this.store.completeUpload(id);
    if (!completed) return error(404, 'NoSuchUpload');
    const { etag } = this.store.put(completed.key, completed.body, completed.metadata);
    return xml(`<CompleteMultipartUploadResult><ETag>${etag}</ETag></CompleteMultipartUploadResult>`);
  }
}

/** `/bucket/a/b` → `a/b` */
function keyOf(path: string): string {
  return path.split('/').slice(2).map(decodeURIComponent).join('/');
}

function operationOf(method: string, key: string, query: URLSearchParams): string {
  if (method === 'GET') return query.has('list-type') ? 'ListObjectsV2' : 'GetObject';
  if (method === 'HEAD') return 'HeadObject';
  if (method === 'PUT') return query.has('partNumber') ? 'UploadPart' : 'PutObject';
  if (method === 'DELETE') return query.has('uploadId') ? 'AbortMultipartUpload' : 'DeleteObject';
  if (query.has('delete')) return 'DeleteObjects';
  if (query.has('uploads')) return 'CreateMultipartUpload';
  return query.has('uploadId') ? 'CompleteMultipartUpload' : `${method} ${key}`;
}

function metadataOf(headers: IncomingMessage['headers']): Record<string, string> {
  const kept = /^x-amz-(meta-|server-side-encryption)/;
  return Object.fromEntries(Object.entries(headers).filter(([name]) => kept.test(name))) as Record<string, string>;
}

function checksumOf(body: Buffer): string {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(crc32c(body));
  return bytes.toString('base64');
}

function xml(body: string): Answer {
  return { status: 200, headers: { 'content-type': 'application/xml' }, body: `<?xml version="1.0"?>${body}` };
}

function error(status: number, code: string): Answer {
  return errorAnswer({ status, code, message: `${code}.` }, Date.now());
}

function errorAnswer({ status, code, message, region }: Refusal, nowMs: number): Answer {
  const place = region ? `<Region>${region}</Region>` : '';
  const secretsAsAwsShows =
    '<AWSAccessKeyId>DOUBLE</AWSAccessKeyId><StringToSign>AWS4-HMAC-SHA256 secret-looking</StringToSign>';
  const body = `<?xml version="1.0"?><Error><Code>${code}</Code><Message>${message}</Message>${place}${secretsAsAwsShows}</Error>`;
  return { status, headers: { 'content-type': 'application/xml', date: new Date(nowMs).toUTCString() }, body };
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

async function failBefore(
  fault: Extract<Fault, { at: 'before' }>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  switch (fault.do) {
    case 'reset':
      request.socket.resetAndDestroy();
      return;
    case 'stall':
      request.resume();
      return;
    case 'garbage':
      request.socket.end('this is no HTTP\r\n\r\n');
      return;
    case 'early-answer':
      response.writeHead(503, { 'content-length': '0' }).end();
      request.resume();
      return;
    case 'status': {
      await readBody(request);
      const { status, code, retryAfter } = fault;
      const answer = code ? error(status, code) : { status };
      const headers = { ...answer.headers, ...(retryAfter && { 'retry-after': retryAfter }) };
      await sendAnswer(response, { ...answer, headers }, request.method!, undefined);
    }
  }
}

type During = Extract<Fault, { at: 'during' }>['do'];

async function sendAnswer(
  response: ServerResponse,
  answer: Answer,
  method: string,
  fault: During | undefined,
): Promise<void> {
  const body = Buffer.from(answer.body ?? '');
  const { head, sent, ending } = spoil(answer, body, fault);
  const chunked = fault === 'short-chunked' || fault === 'long-chunked';
  const length = method === 'HEAD' || chunked ? {} : { 'content-length': String(body.length) };
  response.writeHead(answer.status, { ...length, ...head });
  if (fault === 'trickle') await trickle(response, sent);
  else response.write(sent);
  if (ending === 'reset') response.socket?.destroy();
  else if (ending === 'end') response.end();
}

interface Spoiled {
  readonly head: Record<string, string>;
  readonly sent: Buffer;
  readonly ending: 'end' | 'reset' | 'stall';
}

function spoil(answer: Answer, body: Buffer, fault: During | undefined): Spoiled {
  const head = { ...answer.headers };
  const whole = (changed: Record<string, string>, sent = body): Spoiled => ({
    head: { ...head, 'content-length': String(sent.length), ...changed },
    sent,
    ending: 'end',
  });
  const half = body.subarray(0, body.length >> 1);
  switch (fault) {
    case 'reset':
    case 'stall':
      return { head, sent: half, ending: fault };
    case 'short-chunked':
      return { head, sent: half, ending: 'end' };
    case 'long-chunked':
      return { head, sent: Buffer.concat([body, Buffer.from('more than asked for')]), ending: 'end' };
    case 'short':
      return whole({}, half);
    case 'long':
      return whole({}, Buffer.concat([body, Buffer.from('more than asked for')]));
    case 'wrong-range':
      return whole({ 'content-range': `bytes 1-${body.length}/${body.length + 1}` });
    case 'no-range-header': {
      const { 'content-range': _, ...rest } = head;
      return { head: rest, sent: body, ending: 'end' };
    }
    default:
      return { head, sent: body, ending: 'end' };
  }
}

async function trickle(response: ServerResponse, body: Buffer): Promise<void> {
  const step = Math.ceil(body.length / 8);
  for (let position = 0; position < body.length; position += step) {
    response.write(body.subarray(position, position + step));
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
