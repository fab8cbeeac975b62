/**
 * One HTTP request and its response on undici: sent once, watched by deadlines, settled exactly once.
 *
 * Owns one deadline timer while in flight. Whatever ends an attempt early (deadline, abort, an answer that cannot be
 * right) destroys its socket before the promise settles; so once settled, nothing reads the request's body and nothing
 * writes the response's target any more, and no socket waits for a body that nobody drains. Main thread.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import { type Deferred, deferred } from '../../common/lifecycle.ts';
import type { Time, Timer } from '../../common/time.ts';
import { StorageError, type StorageErrorKind } from '../object-storage.ts';
import type { RequestBody } from './request-body.ts';
import { fromNetworkError } from './s3-errors.ts';

/** The longest silence, in milliseconds, of each phase of an attempt. */
export interface AttemptDeadlines {
  /** From the start to a connection. */
  readonly connectMs: number;
  /** From the request's last byte to the response's head. */
  readonly firstByteMs: number;
  /** Between two steps of a body, in either direction. */
  readonly betweenBytesMs: number;
}

export interface ResponseHead {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
}

export interface AttemptResponse extends ResponseHead {
  /** The target that was filled, or undefined when the answer had none. */
  readonly bytes: Uint8Array | undefined;
  /** The body of an answer without a target, at most `MAX_TEXT_BYTES` of it. */
  readonly text: string;
}

export interface AttemptRequest {
  /** Begins every error's message: `get of object k in s3://bucket/prefix`. */
  readonly what: string;
  readonly method: 'GET' | 'HEAD' | 'PUT';
  /** Path and query. */
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body?: RequestBody;
  /**
   * Where the response's body goes, which must fill it exactly; undefined for an answer that is read as a short text.
   * @throws StorageError when the head is wrong; it becomes the attempt's failure
   */
  readonly target?: (head: ResponseHead) => Uint8Array | undefined;
}

/** Error documents are some hundred bytes; of a longer answer nothing but the status is of use. */
const MAX_TEXT_BYTES = 64 * 1024;

/** A timer that fires later than this met a stalled event loop. */
const STALL_MS = 20;

type Phase = 'connect' | 'send' | 'wait' | 'receive' | 'settled';

export class HttpAttempt implements Dispatcher.DispatchHandler {
  readonly #request: AttemptRequest;
  readonly #deadlines: AttemptDeadlines;
  readonly #time: Time;
  readonly #outcome: Deferred<AttemptResponse> = deferred();
  readonly #shortestMs: number;
  #phase: Phase = 'connect';
  #lastActivityMs: number;
  #timer: Timer;
  #controller: Dispatcher.DispatchController | undefined;
  #head: ResponseHead | undefined;
  #target: Uint8Array | undefined;
  #received = 0;
  #texts: Buffer[] = [];

  constructor(dispatcher: Dispatcher, request: AttemptRequest, deadlines: AttemptDeadlines, time: Time) {
    this.#request = request;
    this.#deadlines = deadlines;
    this.#time = time;
    this.#lastActivityMs = time.monotonicMs();
    this.#shortestMs = Math.min(deadlines.connectMs, deadlines.firstByteMs, deadlines.betweenBytesMs);
    this.#timer = this.#arm(this.#shortestMs);
    const { method, path, headers, body } = request;
    const stream = body && body.sizeBytes > 0 ? this.#stream(body) : null;
    // undici's types know only Node's streams as bodies; it takes any async iterable.
    dispatcher.dispatch({ method, path, headers, body: stream as unknown as Readable | null }, this);
  }

  /** Settles when the response was read whole; rejects with a StorageError or with what `abort` was given. */
  get settled(): Promise<AttemptResponse> {
    return this.#outcome.promise;
  }

  /** Whether the response has begun. */
  get answered(): boolean {
    return this.#head !== undefined;
  }

  /** Ends the attempt; without effect once it has settled. */
  abort(reason: unknown): void {
    this.#fail(reason);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // The attempt may have ended while it waited for its connection; aborted here, the request is never written.
    if (this.#phase === 'settled') controller.abort(new Error('ended before it was sent'));
    else this.#enter(this.#request.body ? 'send' : 'wait');
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    if (status < 200 || this.#phase === 'settled') return;
    this.#enter('receive');
    this.#head = { status, headers };
    try {
      this.#target = this.#request.target?.(this.#head);
    } catch (error) {
      this.#fail(error);
    }
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#phase === 'settled') return;
    this.#lastActivityMs = this.#time.monotonicMs();
    const position = this.#received;
    this.#received += chunk.byteLength;
    if (this.#target) this.#fill(this.#target, chunk, position);
    else if (this.#received <= MAX_TEXT_BYTES) this.#texts.push(chunk);
    else this.#succeed(true);
  }

  onResponseEnd(): void {
    if (this.#phase === 'settled') return;
    const missing = (this.#target?.byteLength ?? 0) - this.#received;
    if (this.#target && missing > 0) this.#failWith('corrupt', `the body is ${missing} bytes short`);
    else this.#succeed(false);
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    const { kind, message } = fromNetworkError(error, this.#received > 0);
    this.#failWith(kind, message, error);
  }

  #fill(target: Uint8Array, chunk: Buffer, position: number): void {
    if (position + chunk.byteLength <= target.byteLength) target.set(chunk, position);
    else this.#failWith('corrupt', `the body is longer than the ${target.byteLength} bytes asked for`);
  }

  async *#stream(body: RequestBody): AsyncGenerator<Uint8Array, void> {
    yield* body.stream(() => {
      this.#lastActivityMs = this.#time.monotonicMs();
      return this.#phase !== 'settled';
    });
    if (this.#phase === 'send') this.#enter('wait');
  }

  #enter(phase: Phase): void {
    this.#phase = phase;
    this.#lastActivityMs = this.#time.monotonicMs();
  }

  /**
   * Fires at the shortest deadline and looks what is left; so activity costs a clock reading and no timer. A timer that
   * is late says that this process stood still, with answers perhaps waiting in its sockets: that time does not count.
   */
  #arm(delayMs: number): Timer {
    const dueMs = this.#time.monotonicMs() + delayMs;
    return this.#time.setTimer(delayMs, () => {
      const lateMs = this.#time.monotonicMs() - dueMs;
      if (lateMs > STALL_MS) this.#lastActivityMs += lateMs;
      this.#checkDeadline();
    });
  }

  #checkDeadline(): void {
    if (this.#phase === 'settled') return;
    const limitMs = this.#limitMs(this.#phase);
    const leftMs = this.#lastActivityMs + limitMs - this.#time.monotonicMs();
    if (leftMs > 0) this.#timer = this.#arm(Math.min(leftMs, this.#shortestMs));
    else this.#failWith('timeout', `${SILENCE[this.#phase]} for ${limitMs} ms`);
  }

  #limitMs(phase: Phase): number {
    if (phase === 'connect') return this.#deadlines.connectMs;
    return phase === 'wait' ? this.#deadlines.firstByteMs : this.#deadlines.betweenBytesMs;
  }

  #succeed(abandonRest: boolean): void {
    const { status, headers } = this.#head!;
    const text = Buffer.concat(this.#texts).toString('utf8');
    this.#end(abandonRest);
    this.#outcome.resolve({ status, headers, bytes: this.#target, text });
  }

  #failWith(kind: StorageErrorKind, message: string, cause?: unknown): void {
    this.#fail(new StorageError(kind, `${this.#request.what}: ${message}`, { cause }));
  }

  #fail(error: unknown): void {
    if (this.#phase === 'settled') return;
    this.#end(true);
    this.#outcome.reject(error);
  }

  #end(destroySocket: boolean): void {
    this.#phase = 'settled';
    this.#timer.cancel();
    this.#texts = [];
    if (destroySocket) this.#controller?.abort(new Error('this attempt is over'));
  }
}

const SILENCE: Readonly<Record<Phase, string>> = {
  connect: 'no connection',
  send: 'the store took no byte of the body',
  wait: 'no answer',
  receive: 'no further byte of the answer',
  settled: '',
};
