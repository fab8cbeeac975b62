/** Uploading a large object in parts: each repeated by itself, the upload aborted when it cannot be finished. */
import { StorageError } from '../object-storage.ts';
import type { RequestBody } from './request-body.ts';
import type { RetryPolicy } from './retry-policy.ts';
import type { MultipartSettings } from './s3-config.ts';
import type { S3Control } from './s3-control.ts';
import type { S3Transport } from './s3-transport.ts';

export interface MultipartTools {
  readonly control: S3Control;
  readonly transport: S3Transport;
  readonly retries: RetryPolicy;
  readonly settings: MultipartSettings;
}

export interface MultipartPut {
  /** The whole key, prefix included. */
  readonly key: string;
  readonly body: RequestBody;
  readonly contentId: string;
  readonly what: string;
  readonly ifNoneMatch: boolean;
  /** Whether the object at the key is this very put's. */
  isOwn(signal: AbortSignal): Promise<boolean>;
  readonly signal: AbortSignal;
}

/** S3 takes at most this many parts; parts grow where an object would need more. */
const MAX_PARTS = 10_000;

/** Resolves when the object is complete. After a failure no part is being sent any more. */
export async function uploadMultipart(tools: MultipartTools, put: MultipartPut): Promise<void> {
  const { control, retries } = tools;
  const call = { what: put.what, signal: put.signal };
  const uploadId = await retries.run(put.signal, () => control.createMultipart(put.key, put.contentId, call));
  try {
    const etags = await uploadParts(tools, put, uploadId);
    await retries.run(put.signal, () => complete(tools, put, uploadId, etags));
  } catch (error) {
    // Not under the caller's signal, which may be what ended the upload; a failure leaves parts to the lifecycle rule.
    await control.abortMultipart(put.key, uploadId, { what: put.what, signal: undefined }).catch(() => {});
    throw error;
  }
}

async function uploadParts(tools: MultipartTools, put: MultipartPut, uploadId: string): Promise<string[]> {
  const { settings } = tools;
  const partBytes = Math.max(settings.partBytes, Math.ceil(put.body.sizeBytes / MAX_PARTS));
  const count = Math.ceil(put.body.sizeBytes / partBytes);
  const etags: string[] = new Array(count);
  const stop = new AbortController();
  const signal = AbortSignal.any([put.signal, stop.signal]);
  let next = 0;
  const lane = async (): Promise<void> => {
    for (let index = next++; index < count; index = next++) {
      const part = put.body.slice(index * partBytes, partBytes);
      etags[index] = await uploadPart(tools, put, { uploadId, number: index + 1, part, signal });
    }
  };
  const lanes = Array.from({ length: Math.min(settings.concurrency, count) }, lane);
  try {
    await Promise.all(lanes);
    return etags;
  } catch (error) {
    stop.abort(error);
    await Promise.allSettled(lanes);
    throw error;
  }
}

interface Part {
  readonly uploadId: string;
  readonly number: number;
  readonly part: RequestBody;
  readonly signal: AbortSignal;
}

async function uploadPart(tools: MultipartTools, put: MultipartPut, part: Part): Promise<string> {
  const query = `partNumber=${part.number}&uploadId=${encodeQuery(part.uploadId)}`;
  const what = `part ${part.number} of ${put.what}`;
  const request = { what, method: 'PUT' as const, key: put.key, query, body: part.part };
  const { headers } = await tools.retries.run(part.signal, () => tools.transport.send(request, part.signal));
  if (typeof headers.etag !== 'string')
    throw new StorageError('corrupt', `${what}: the store answered without an ETag`);
  return headers.etag;
}

/** An upload that is gone, or an object in the way, may be what an earlier attempt to complete has left. */
async function complete(
  { control }: MultipartTools,
  put: MultipartPut,
  uploadId: string,
  etags: readonly string[],
): Promise<void> {
  const call = { what: put.what, signal: put.signal };
  try {
    await control.completeMultipart(put.key, uploadId, etags, put.ifNoneMatch, call);
  } catch (error) {
    if (!(error instanceof StorageError) || !MAYBE_COMPLETED.has(error.kind)) throw error;
    if (!(await put.isOwn(put.signal).catch(() => false))) throw error;
  }
}

const MAYBE_COMPLETED: ReadonlySet<string> = new Set(['already-exists', 'unavailable', 'not-found', 'timeout']);

/** RFC 3986 as SigV4 wants it. */
function encodeQuery(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
}
