/**
 * Whole messages as they cross a socket, without the int32 size before them on the way in and with it on the way out.
 *
 * Request header: api key int16, version int16, correlation id int32, client id (never compact, nullable), and tagged
 * fields in flexible versions. Response header: correlation id, and tagged fields where the API's header version is 1.
 */
import type { Api } from './api.ts';
import { Reader } from './reader.ts';
import type { Fields, ReadOf, WriteOf } from './schema.ts';
import { Writer } from './writer.ts';

export interface RequestHeader {
  readonly apiKey: number;
  readonly apiVersion: number;
  readonly correlationId: number;
  readonly clientId: string | null;
}

/** The part that every request has, whatever its API: readable before the API is known. @throws MalformedError */
export function readRequestHeader(reader: Reader): RequestHeader {
  return {
    apiKey: reader.readInt16(),
    apiVersion: reader.readInt16(),
    correlationId: reader.readInt32(),
    clientId: reader.readString(false),
  };
}

/** What follows `readRequestHeader`; bytes after the body are ignored, as Kafka does. @throws MalformedError */
export function readRequestBody<Req extends Fields>(api: Api<Req>, version: number, reader: Reader): ReadOf<Req> {
  if (api.isFlexible(version)) reader.readTaggedFields();
  return api.requestCodec(version).read(reader);
}

/** A response frame as chunks; record bytes are listed, not copied. */
export function encodeResponse<Res extends Fields>(
  api: Api<Fields, Res>,
  version: number,
  correlationId: number,
  body: WriteOf<Res>,
): Uint8Array[] {
  const writer = new Writer();
  writer.writeInt32(correlationId);
  if (api.responseHeaderVersion(version) === 1) writer.writeUnsignedVarint(0);
  api.responseCodec(version).write(writer, body);
  return writer.finishFrame();
}

/** A request frame as chunks, as a client sends it. */
export function encodeRequest<Req extends Fields>(
  api: Api<Req>,
  header: { readonly version: number; readonly correlationId: number; readonly clientId: string | null },
  body: WriteOf<Req>,
): Uint8Array[] {
  const writer = new Writer();
  writer.writeInt16(api.key);
  writer.writeInt16(header.version);
  writer.writeInt32(header.correlationId);
  writer.writeString(header.clientId, false);
  if (api.isFlexible(header.version)) writer.writeUnsignedVarint(0);
  api.requestCodec(header.version).write(writer, body);
  return writer.finishFrame();
}

/** What a client reads of a response frame without its size. @throws MalformedError */
export function decodeResponse<Res extends Fields>(
  api: Api<Fields, Res>,
  version: number,
  frame: Uint8Array,
): { readonly correlationId: number; readonly body: ReadOf<Res> } {
  const reader = new Reader(frame);
  const correlationId = reader.readInt32();
  if (api.responseHeaderVersion(version) === 1) reader.readTaggedFields();
  return { correlationId, body: api.responseCodec(version).read(reader) };
}
