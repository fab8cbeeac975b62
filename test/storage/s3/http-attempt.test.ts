/** The deadlines of an attempt, in time that only the test moves; the dispatcher does what the test tells it. */
import { Dispatcher } from 'undici';
import { describe, expect, it } from 'vitest';
import type { Time, Timer } from '../../../src/common/time.ts';
import { type AttemptRequest, HttpAttempt } from '../../../src/storage/s3/http-attempt.ts';
import { RequestBody } from '../../../src/storage/s3/request-body.ts';
import { ManualTime } from '../../support/manual-time.ts';

class HeldDispatcher extends Dispatcher {
  handler: Dispatcher.DispatchHandler | undefined;
  body: AsyncIterable<Uint8Array> | undefined;
  aborted: Error | undefined;

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    this.handler = handler;
    this.body = options.body as unknown as AsyncIterable<Uint8Array>;
    return true;
  }

  readonly controller = {
    aborted: false,
    paused: false,
    reason: null,
    abort: (reason: Error): void => {
      this.aborted = reason;
    },
    pause: (): void => {},
    resume: (): void => {},
  };

  accept(): void {
    this.handler!.onRequestStart!(this.controller, {});
  }
}

const deadlines = { connectMs: 300, firstByteMs: 1000, betweenBytesMs: 500 };

function start(request: Partial<AttemptRequest> = {}, time: Time = new ManualTime()) {
  const dispatcher = new HeldDispatcher();
  const get = { what: 'get', method: 'GET' as const, path: '/k', headers: {}, target: () => new Uint8Array(4) };
  const attempt = new HttpAttempt(dispatcher, { ...get, ...request }, deadlines, time);
  const outcome = attempt.settled.then(
    ({ bytes }) => `ok ${bytes}`,
    (error) => `${error.kind}: ${error.message}`,
  );
  return { dispatcher, outcome, time: time as ManualTime, attempt };
}

const head = { 'content-length': '4' };

describe('HttpAttempt', () => {
  it('gives up without a connection, and does not send when it comes after all', async () => {
    const { dispatcher, outcome, time } = start();
    await time.advance(300);
    expect(await outcome).toBe('timeout: get: no connection for 300 ms');
    dispatcher.accept();
    expect(dispatcher.aborted).toBeInstanceOf(Error);
    expect(time.armedTimers).toBe(0);
  });

  it('gives up without an answer, and between two parts of one, and destroys the connection', async () => {
    const silent = start();
    silent.dispatcher.accept();
    await silent.time.advance(999);
    expect(silent.dispatcher.aborted).toBeUndefined();
    await silent.time.advance(300);
    expect(await silent.outcome).toBe('timeout: get: no answer for 1000 ms');
    expect(silent.dispatcher.aborted).toBeInstanceOf(Error);

    const stalled = start();
    stalled.dispatcher.accept();
    stalled.dispatcher.handler!.onResponseStart!(stalled.dispatcher.controller, 206, head);
    await stalled.time.advance(400);
    stalled.dispatcher.handler!.onResponseData!(stalled.dispatcher.controller, Buffer.from([1, 2]));
    await stalled.time.advance(499);
    expect(stalled.dispatcher.aborted).toBeUndefined();
    await stalled.time.advance(300);
    expect(await stalled.outcome).toBe('timeout: get: no further byte of the answer for 500 ms');
    stalled.dispatcher.handler!.onResponseData!(stalled.dispatcher.controller, Buffer.from([3, 4]));
    expect(stalled.time.armedTimers).toBe(0);
  });

  it('measures progress of a body that is sent, and then waits for the answer', async () => {
    const body = new RequestBody([new Uint8Array(600_000)]);
    const { dispatcher, outcome, time } = start({ method: 'PUT', body });
    dispatcher.accept();
    const sending = dispatcher.body![Symbol.asyncIterator]();
    for (let step = await sending.next(); !step.done; step = await sending.next()) await time.advance(400);
    await time.advance(900);
    expect(dispatcher.aborted).toBeUndefined();
    await time.advance(400);
    expect(await outcome).toBe('timeout: get: no answer for 1000 ms');
  });

  it('gives up when the store takes no more of the body, and hands out none of it afterwards', async () => {
    const body = new RequestBody([new Uint8Array(600_000)]);
    const { dispatcher, outcome, time } = start({ method: 'PUT', body });
    dispatcher.accept();
    const sending = dispatcher.body![Symbol.asyncIterator]();
    await sending.next();
    await time.advance(800);
    expect(await outcome).toBe('timeout: get: the store took no byte of the body for 500 ms');
    expect((await sending.next()).done).toBe(true);
  });

  it('does not take a standstill of its own process for silence of the store', async () => {
    const time = new StallingTime();
    const { dispatcher, outcome } = start({}, time);
    dispatcher.accept();
    time.stall(60_000);
    dispatcher.handler!.onResponseStart!(dispatcher.controller, 206, head);
    dispatcher.handler!.onResponseData!(dispatcher.controller, Buffer.from([1, 2, 3, 4]));
    dispatcher.handler!.onResponseEnd!(dispatcher.controller, {});
    expect(await outcome).toBe('ok 1,2,3,4');
  });
});

/** Stands still: the clock jumps, and only then the timers that fell due meanwhile fire, late. */
class StallingTime implements Time {
  #nowMs = 0;
  readonly #timers: (() => void)[] = [];

  nowMs(): number {
    return this.#nowMs;
  }

  monotonicMs(): number {
    return this.#nowMs;
  }

  setTimer(_: number, callback: () => void): Timer {
    this.#timers.push(callback);
    return { cancel: () => {} };
  }

  stall(ms: number): void {
    this.#nowMs += ms;
    for (const fire of this.#timers.splice(0)) fire();
  }
}
