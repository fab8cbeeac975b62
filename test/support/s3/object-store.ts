/** The state behind the S3 double: objects and multipart uploads, and nothing about HTTP. */
import { createHash, randomUUID } from 'node:crypto';

export interface StoredObject {
  readonly body: Buffer;
  readonly etag: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly lastModified: Date;
}

interface Upload {
  readonly key: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly parts: Map<number, Buffer>;
}

export class ObjectStore {
  readonly objects = new Map<string, StoredObject>();
  readonly uploads = new Map<string, Upload>();
  /** Puts that replaced nothing, by key: more than one means that a conditional put was broken. */
  readonly creations = new Map<string, number>();

  put(key: string, body: Buffer, metadata: Readonly<Record<string, string>>): StoredObject {
    const etag = `"${createHash('md5').update(body).digest('hex')}"`;
    const object = { body, etag, metadata, lastModified: new Date() };
    if (!this.objects.has(key)) this.creations.set(key, (this.creations.get(key) ?? 0) + 1);
    this.objects.set(key, object);
    return object;
  }

  /** Keys in order, after `after`, that start with `prefix`; one page of them. */
  list(prefix: string, after: string, pageSize: number): { keys: string[]; truncated: boolean } {
    const keys = [...this.objects.keys()].filter((key) => key.startsWith(prefix) && key > after).sort();
    return { keys: keys.slice(0, pageSize), truncated: keys.length > pageSize };
  }

  createUpload(key: string, metadata: Readonly<Record<string, string>>): string {
    const id = `${randomUUID()}+/=`;
    this.uploads.set(id, { key, metadata, parts: new Map() });
    return id;
  }

  /** Joins the parts in order. @returns undefined when the upload is unknown */
  completeUpload(id: string): { key: string; body: Buffer; metadata: Readonly<Record<string, string>> } | undefined {
    const upload = this.uploads.get(id);
    if (!upload) return undefined;
    const numbers = [...upload.parts.keys()].sort((a, b) => a - b);
    const body = Buffer.concat(numbers.map((number) => upload.parts.get(number)!));
    this.uploads.delete(id);
    return { key: upload.key, body, metadata: upload.metadata };
  }
}
