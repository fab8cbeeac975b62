/**
 * From a request frame to its handler, and from its answer to a response frame. Knows nothing of sockets or order; a
 * connection (connection.ts) decides when a request starts and when its answer goes out.
 */
import { ApiError, type ErrorCode, Errors, errorName } from '../common/errors.ts';
import type { Logger } from '../common/logger.ts';
import type { Api } from '../protocol/api.ts';
import { apiName } from '../protocol/api-keys.ts';
import { encodeResponse, type RequestHeader, readRequestBody, readRequestHeader } from '../protocol/frames.ts';
import { MalformedError } from '../protocol/malformed-error.ts';
import { apiVersions } from '../protocol/messages/api-versions.ts';
import { Reader } from '../protocol/reader.ts';
import { type ApiHandler, CloseConnectionError, type RequestContext } from './api-handler.ts';
import type { ApiMetrics, RequestMeasure } from './api-metrics.ts';
import {
  apiVersionsHandler,
  apiVersionsResponse,
  type BrokerIdentity,
  type SupportedApi,
  supportedApis,
} from './apis/api-versions.ts';

/** A request that was read and found servable. */
export interface ParsedRequest {
  readonly header: RequestHeader;
  /** For logs, e.g. `Produce v9`. */
  readonly name: string;
  /** Whether it may run beside other requests of its connection that have this set too. */
  readonly overlaps: boolean;
  readonly measure: RequestMeasure;
  /**
   * Runs it: the response frame as chunks, or undefined when it gets no answer.
   * @throws CloseConnectionError
   */
  run(context: Omit<RequestContext, 'apiVersion' | 'clientId'>): Promise<Uint8Array[] | undefined>;
}

export interface KafkaApisOptions {
  readonly identity: BrokerIdentity;
  readonly logger: Logger;
  readonly metrics: ApiMetrics;
}

export class KafkaApis {
  readonly #handlers: ReadonlyMap<number, ApiHandler>;
  readonly #logger: Logger;
  readonly #metrics: ApiMetrics;
  /** What ApiVersions answers, by key. */
  readonly supported: readonly SupportedApi[];

  constructor(handlers: readonly ApiHandler[], { identity, logger, metrics }: KafkaApisOptions) {
    const all = [...handlers, apiVersionsHandler(() => this.supported, identity)];
    this.#handlers = new Map(all.map((handler) => [handler.api.key, handler]));
    this.#logger = logger;
    this.#metrics = metrics;
    this.supported = supportedApis(all.map((handler) => handler.api));
  }

  /** @throws MalformedError when the frame is no request; CloseConnectionError for an API or version that is not served. */
  parse(frame: Uint8Array): ParsedRequest {
    const reader = new Reader(frame);
    const header = readRequestHeader(reader);
    const handler = this.#handlers.get(header.apiKey);
    const name = `${apiName(header.apiKey)} v${header.apiVersion}`;
    if (!handler) throw new CloseConnectionError(`${name} is not served; ApiVersions lists what is`);
    const { versions } = handler.api;
    if (header.apiVersion < versions.min || header.apiVersion > versions.max) {
      if (header.apiKey === apiVersions.key) return this.#unsupportedApiVersions(header, name, frame.byteLength);
      throw new CloseConnectionError(`${name} is not served; versions ${versions.min} to ${versions.max} are`);
    }
    const body = readBody(handler, header, reader, name);
    const measure = this.#metrics.begin(handler.api, header.apiVersion, frame.byteLength);
    const request = { header, name, overlaps: handler.overlaps ?? false, measure };
    return { ...request, run: (context) => this.#run(handler, request, body, context) };
  }

  /** KIP-511: an ApiVersions of a version we don't know is answered in version 0, with our versions and the error. */
  #unsupportedApiVersions(header: RequestHeader, name: string, requestBytes: number): ParsedRequest {
    const body = apiVersionsResponse(this.supported, Errors.UNSUPPORTED_VERSION);
    const measure = this.#metrics.begin(apiVersions as unknown as Api, 0, requestBytes);
    const run = async (): Promise<Uint8Array[]> => {
      measure.errorsOf(body);
      return encodeResponse(apiVersions, 0, header.correlationId, body);
    };
    return { header, name, overlaps: false, measure, run };
  }

  async #run(
    handler: ApiHandler,
    { header, name, measure }: Omit<ParsedRequest, 'run'>,
    body: Readonly<Record<string, unknown>>,
    partialContext: Omit<RequestContext, 'apiVersion' | 'clientId'>,
  ): Promise<Uint8Array[] | undefined> {
    const { apiVersion, correlationId } = header;
    const context: RequestContext = { ...partialContext, apiVersion, clientId: header.clientId ?? '' };
    try {
      const response = await handler.handle(body, context);
      if (response) measure.errorsOf(response);
      return response && encodeResponse(handler.api, apiVersion, correlationId, response);
    } catch (error) {
      if (error instanceof CloseConnectionError) throw error;
      const response = handler.errorResponse(this.#codeOf(error, name, context), body, context);
      measure.errorsOf(response);
      return encodeResponse(handler.api, apiVersion, correlationId, response);
    }
  }

  /** A failure without a Kafka code is a bug of ours, or a store that broke: logged with its cause, answered with −1. */
  #codeOf(error: unknown, name: string, context: RequestContext): ErrorCode {
    const { clientId, clientHost, connectionId } = context;
    const fields = { err: error, request: name, clientId, clientHost, connectionId };
    if (error instanceof ApiError) {
      this.#logger.debug(fields, `${name} failed with ${errorName(error.errorCode)}`);
      return error.errorCode;
    }
    if (!context.signal.aborted) this.#logger.error(fields, `${name} failed unexpectedly`);
    return Errors.UNKNOWN_SERVER_ERROR;
  }
}

function readBody(handler: ApiHandler, header: RequestHeader, reader: Reader, name: string) {
  try {
    return readRequestBody(handler.api, header.apiVersion, reader);
  } catch (error) {
    if (error instanceof MalformedError) throw new MalformedError(`${name}: ${error.message}`, { cause: error });
    throw error;
  }
}
