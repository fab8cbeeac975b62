/**
 * What the dispatch asks of an API (src/server/apis/, one file each) and what it gives to it.
 */
import type { ErrorCode } from '../common/errors.ts';
import type { Api, RequestOf, ResponseOf } from '../protocol/api.ts';

export interface RequestContext {
  readonly apiVersion: number;
  /** "" when the client named none. Given by the client: fit for logs and metrics, not for trust. */
  readonly clientId: string;
  /** The peer's address, e.g. `127.0.0.1`. */
  readonly clientHost: string;
  /** Unique in the life of the process. */
  readonly connectionId: string;
  /** Aborts when the connection is gone: whatever only waits for this answer may stop. */
  readonly signal: AbortSignal;
  /**
   * Calls back once, when the answer's bytes are not needed any more: they were written, or never will be. For giving
   * borrowed record bytes back.
   */
  afterWrite(callback: () => void): void;
}

export interface ApiHandler<A extends Api = Api> {
  readonly api: A;
  /** Set for Produce: requests of one connection overlap with each other. All others start one after the other. */
  readonly overlaps?: true;

  /**
   * Answers a request; undefined for one that gets no answer (Produce with acks=0). Per-partition failures are values in
   * the answer. `request` and what it views are valid until the promise settles.
   * @throws ApiError for a failure of the whole request, answered by `errorResponse`
   * @throws CloseConnectionError to close the connection instead of answering
   */
  handle(request: RequestOf<A>, context: RequestContext): Promise<ResponseOf<A> | undefined>;

  /** The answer to a request that failed as a whole: the code wherever the API has a place for one. */
  errorResponse(error: ErrorCode, request: RequestOf<A>, context: RequestContext): ResponseOf<A>;
}

/** Handlers that belong together, and what frees what they hold. */
export interface ApiModule {
  readonly handlers: readonly ApiHandler[];
  /** Answers whoever still waits. The server calls it once, when it takes no more requests. */
  close?(): Promise<void>;
}

/** Ends the connection without an answer; the message is logged as the reason. */
export class CloseConnectionError extends Error {
  override readonly name = 'CloseConnectionError';
}

/** Drops the API's own types, after they were checked, so that handlers fit into one list. */
export function apiHandler<A extends Api>(handler: ApiHandler<A>): ApiHandler {
  return handler as unknown as ApiHandler;
}
