/**
 * What an S3 storage makes of everything that can go wrong, each as a typed outcome: against a real HTTP server that
 * fails on request. Deadlines are short here; nothing asserts how long anything took.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { S3ObjectStorage, type S3StorageConfig } from '../../../src/s3.ts';
import { StorageError, type StorageErrorKind } from '../../../src/storage/object-storage.ts';
import { ManualTime } from '../../support/manual-time.ts';
import type { Fault } from '../../support/s3/faults.ts';
import { S3Double, type S3DoubleOptions } from '../../support/s3/s3-double.ts';

const QUICK: Partial<S3StorageConfig> = {
  deadlines: { connectMs: 5000, firstByteMs: 300, betweenBytesMs: 250 },
  retry: { baseDelayMs: 1, throttledDelayMs: 1, maxDelayMs: 5 },
  limits: { pauseMs: 1 },
  hedge: { budget: 0, burst: 0 },
};
/** With the deadlines of production: whatever does not need a short one gets one that a busy machine keeps. */
const ONE_ATTEMPT: Partial<S3StorageConfig> = { ...QUICK, deadlines: {}, retry: { maxAttempts: 1 } };

function oneAttemptAt(fault: Fault): Partial<S3StorageConfig> {
  const stalls = 'do' in fault && fault.do === 'stall';
  return stalls ? { ...ONE_ATTEMPT, ...(QUICK.deadlines && { deadlines: QUICK.deadlines }) } : ONE_ATTEMPT;
}

let double: S3Double;
let storage: S3ObjectStorage;

async function open(config: Partial<S3StorageConfig> = QUICK, options: S3DoubleOptions = {}): Promise<void> {
  await close();
  double = await S3Double.start(options);
  storage = await S3ObjectStorage.open({ ...double.config, ...config });
}

async function close(): Promise<void> {
  await storage?.close();
  await double?.stop();
}

afterEach(close);

const BYTES = new Uint8Array(200_000).map((_, index) => (index * 7 + (index >> 9)) & 255);
const RANGE = { position: 100, size: 150_000 };

async function failure(failing: Promise<unknown>): Promise<StorageError> {
  const error = await failing.then(
    () => expect.unreachable('it should have failed'),
    (reason) => reason,
  );
  expect(error).toBeInstanceOf(StorageError);
  expect(error.message).toMatch(/^[^\n]+$/);
  expect(error.message).not.toMatch(/double-secret|secret-looking|StringToSign/);
  return error;
}

const status = (code: number, name = ''): Fault => ({ at: 'before', do: 'status', status: code, code: name });

/** Fault → what one attempt at a GET comes to. */
const GET_OUTCOMES: readonly (readonly [Fault, StorageErrorKind])[] = [
  [{ at: 'before', do: 'reset' }, 'unavailable'],
  [{ at: 'before', do: 'stall' }, 'timeout'],
  [{ at: 'before', do: 'garbage' }, 'unavailable'],
  [{ at: 'before', do: 'early-answer' }, 'throttled'],
  [{ at: 'during', do: 'reset' }, 'unavailable'],
  [{ at: 'during', do: 'stall' }, 'timeout'],
  [{ at: 'during', do: 'short' }, 'corrupt'],
  [{ at: 'during', do: 'long' }, 'corrupt'],
  [{ at: 'during', do: 'short-chunked' }, 'corrupt'],
  [{ at: 'during', do: 'long-chunked' }, 'corrupt'],
  [{ at: 'during', do: 'wrong-range' }, 'corrupt'],
  [{ at: 'during', do: 'no-range-header' }, 'corrupt'],
  [{ at: 'during', do: 'whole-object' }, 'corrupt'],
  [{ at: 'after', do: 'reset' }, 'unavailable'],
  [{ at: 'after', do: 'stall' }, 'timeout'],
  [status(500, 'InternalError'), 'unavailable'],
  [status(500), 'unavailable'],
  [status(502), 'unavailable'],
  [status(503, 'SlowDown'), 'throttled'],
  [status(503, 'ServiceUnavailable'), 'unavailable'],
  [status(503), 'throttled'],
  [status(504), 'unavailable'],
  [status(429), 'throttled'],
  [status(429, 'TooManyRequests'), 'throttled'],
  [status(408, 'RequestTimeout'), 'timeout'],
  [status(400, 'RequestTimeout'), 'timeout'],
  [status(307, 'TemporaryRedirect'), 'unavailable'],
  [status(301, 'PermanentRedirect'), 'denied'],
  [status(400, 'AuthorizationHeaderMalformed'), 'denied'],
  [status(400, 'InvalidArgument'), 'denied'],
  [status(401), 'denied'],
  [status(403), 'denied'],
  [status(403, 'AccessDenied'), 'denied'],
  [status(403, 'InvalidAccessKeyId'), 'denied'],
  [status(403, 'SignatureDoesNotMatch'), 'denied'],
  [status(403, 'RequestTimeTooSkewed'), 'denied'],
  [status(400, 'ExpiredToken'), 'denied'],
  [status(400, 'KMS.DisabledException'), 'denied'],
  [status(404, 'NoSuchKey'), 'not-found'],
  [status(404), 'not-found'],
  [status(404, 'NoSuchBucket'), 'denied'],
  [status(405, 'MethodNotAllowed'), 'denied'],
  [status(409, 'OperationAborted'), 'unavailable'],
  [status(409, 'ConditionalRequestConflict'), 'unavailable'],
  [status(416, 'InvalidRange'), 'range-not-satisfiable'],
  [status(416), 'range-not-satisfiable'],
  [status(501, 'NotImplemented'), 'denied'],
  [status(507, 'InsufficientStorage'), 'no-space'],
  [status(403, 'QuotaExceeded'), 'no-space'],
  [status(204), 'corrupt'],
];

describe('a GET whose one attempt fails', () => {
  it.each(GET_OUTCOMES)('%o → %s, and the next one works', async (fault, kind) => {
    await open(oneAttemptAt(fault));
    await storage.put('k', [BYTES]);
    double.failNext(fault);
    const into = new Uint8Array(RANGE.size);
    const error = await failure(storage.getRange('k', RANGE, { into }));
    expect([error.kind, error.message]).toEqual([kind, expect.stringContaining('get of object k in s3://double/')]);
    into.fill(0);
    await new Promise((resolve) => setImmediate(resolve));
    expect(into.every((byte) => byte === 0)).toBe(true);
    expect(Buffer.compare(await storage.getRange('k', RANGE, { into }), BYTES.subarray(100, 150_100))).toBe(0);
    expect(double.faultCount).toBe(1);
  });

  it('takes a body that trickles in, as long as every step is in time', async () => {
    await open(ONE_ATTEMPT);
    await storage.put('k', [BYTES]);
    double.failNext({ at: 'during', do: 'trickle' });
    expect(Buffer.compare(await storage.getRange('k', RANGE), BYTES.subarray(100, 150_100))).toBe(0);
  });

  it('names an endpoint that refuses connections', async () => {
    await open(ONE_ATTEMPT);
    await double.stop();
    const error = await failure(storage.getRange('k', RANGE));
    expect([error.kind, error.message]).toEqual(['unavailable', expect.stringContaining('connection refused')]);
  });
});

const RETRIED = GET_OUTCOMES.filter(([, kind]) => ['unavailable', 'timeout', 'throttled', 'corrupt'].includes(kind));

describe('a GET that is repeated', () => {
  beforeEach(() => open());

  it('gets its bytes in spite of every fault that may pass', async () => {
    await storage.put('k', [BYTES]);
    for (const [fault] of RETRIED) {
      double.failNext(fault);
      expect(Buffer.compare(await storage.getRange('k', RANGE), BYTES.subarray(100, 150_100))).toBe(0);
    }
    expect(double.faultCount).toBe(RETRIED.length);
    expect(storage.stats.retries).toBeGreaterThanOrEqual(RETRIED.length);
    expect(storage.stats.inFlight).toBe(0);
  });

  it('fails after its attempts, saying how many', async () => {
    await storage.put('k', [BYTES]);
    double.schedule = () => status(500, 'InternalError');
    const error = await failure(storage.getRange('k', RANGE));
    expect(error.message).toMatch(/InternalError.*, after 5 attempts$/);
    expect(double.faultCount).toBe(5);
  });

  it('does not repeat what will not change', async () => {
    double.schedule = () => status(403, 'AccessDenied');
    await failure(storage.getRange('k', RANGE));
    expect(double.faultCount).toBe(1);
  });

  it('reads for a hedge into memory of its own, and takes it when the first is silent', async () => {
    const hedge = { budget: 1, burst: 1, minDelayMs: 10, maxDelayMs: 20 };
    await open({ ...QUICK, hedge, deadlines: { ...QUICK.deadlines, firstByteMs: 5_000 } });
    await storage.put('k', [BYTES]);
    double.failNext({ at: 'delay', ms: 2_000 });
    const into = new Uint8Array(RANGE.size);
    expect(await storage.getRange('k', RANGE, { into })).toBe(into);
    expect(Buffer.compare(into, BYTES.subarray(100, 150_100))).toBe(0);
    expect(storage.stats).toMatchObject({ hedges: 1, hedgeWins: 1, retries: 0, inFlight: 0 });
  });
});

const PUT_OUTCOMES: readonly (readonly [Fault, StorageErrorKind])[] = [
  [{ at: 'before', do: 'reset' }, 'unavailable'],
  [{ at: 'before', do: 'stall' }, 'timeout'],
  [{ at: 'before', do: 'garbage' }, 'unavailable'],
  [{ at: 'before', do: 'early-answer' }, 'throttled'],
  [{ at: 'after', do: 'reset' }, 'unavailable'],
  [{ at: 'after', do: 'stall' }, 'timeout'],
  [status(500, 'InternalError'), 'unavailable'],
  [status(503, 'SlowDown'), 'throttled'],
  [status(409, 'ConditionalRequestConflict'), 'unavailable'],
  [status(400, 'BadDigest'), 'corrupt'],
  [status(400, 'RequestTimeout'), 'timeout'],
  [status(403, 'AccessDenied'), 'denied'],
  [status(400, 'EntityTooLarge'), 'denied'],
  [status(507), 'no-space'],
];

describe('a PUT whose one attempt fails', () => {
  it.each(PUT_OUTCOMES)(
    '%o → %s; repeated with the same bytes it succeeds, with others it does not',
    async (fault, kind) => {
      await open(oneAttemptAt(fault));
      const body = Buffer.from(BYTES);
      double.failNext(fault);
      const error = await failure(storage.put('k', [body]));
      expect([error.kind, error.message]).toEqual([kind, expect.stringContaining('put of object k in s3://double/')]);
      await storage.put('k', [body]);
      expect(Buffer.compare(double.store.objects.get('k')!.body, BYTES)).toBe(0);
      expect(double.store.creations.get('k')).toBe(1);
      expect((await failure(storage.put('k', [body.subarray(1)]))).kind).toBe('already-exists');
      expect((await failure(storage.put('k', [body]))).kind).toBe('already-exists');
    },
  );

  it('knows its object by the checksum too, and not another writer’s', async () => {
    await open(ONE_ATTEMPT);
    double.failNext({ at: 'after', do: 'reset' });
    await failure(storage.put('sum', [Buffer.from('123456789')], { crc32c: 0xe3069283 }));
    const other = await S3ObjectStorage.open({ ...double.config, ...ONE_ATTEMPT });
    const foreign = other.put('sum', [Buffer.from('123456789')], { crc32c: 0xe3069283 });
    expect((await failure(foreign)).kind).toBe('already-exists');
    await other.close();
    await storage.put('sum', [Buffer.from('123456789')], { crc32c: 0xe3069283 });
  });
});

describe('a PUT that is repeated', () => {
  beforeEach(() => open());

  it('takes its own object, whose answer was lost, for success', async () => {
    for (const fault of [
      { at: 'after', do: 'reset' },
      { at: 'after', do: 'stall' },
    ] as const) {
      const key = `lost-${fault.do}`;
      double.failNext(fault);
      await storage.put(key, [BYTES]);
      expect(double.store.creations.get(key)).toBe(1);
    }
    expect(double.requests.get('HeadObject')).toBeGreaterThanOrEqual(2);
  });

  it('is stored once, whole and unmixed, in spite of every fault that may pass', async () => {
    const faults = PUT_OUTCOMES.filter(([, kind]) => kind !== 'denied' && kind !== 'no-space');
    for (const [index, [fault]] of faults.entries()) {
      double.failNext(fault);
      await storage.put(`k${index}`, [BYTES.subarray(index)]);
      expect(Buffer.compare(double.store.objects.get(`k${index}`)!.body, BYTES.subarray(index))).toBe(0);
    }
    expect(double.faultCount).toBe(faults.length);
  });

  it('gives its body back as soon as it has settled: what is written there later reaches no store', async () => {
    const big = 3_000_000;
    for (const fault of [
      { at: 'before', do: 'early-answer' },
      { at: 'before', do: 'stall' },
      { at: 'after', do: 'stall' },
    ] as const) {
      await open(oneAttemptAt(fault));
      const body = new Uint8Array(big).fill(1);
      double.failNext(fault);
      await failure(storage.put('k', [body]));
      body.fill(2);
      await new Promise((resolve) => setTimeout(resolve, 30));
      const stored = double.store.objects.get('k')?.body;
      expect(stored === undefined || stored.every((byte) => byte === 1)).toBe(true);
    }
  });

  it('ends with the caller’s reason when it is aborted on its way, its body given back', async () => {
    const abort = new AbortController();
    double.failNext({ at: 'delay', ms: 50 });
    const put = storage.put('k', [new Uint8Array(2_000_000)], { signal: abort.signal });
    setTimeout(() => abort.abort(new Error('changed my mind')), 20);
    await expect(put).rejects.toThrow('changed my mind');
    expect(storage.stats.inFlight).toBe(0);
  });
});

describe('control operations', () => {
  beforeEach(() => open());

  const passing: readonly Fault[] = [
    { at: 'before', do: 'reset' },
    { at: 'before', do: 'stall' },
    { at: 'before', do: 'garbage' },
    { at: 'during', do: 'reset' },
    { at: 'during', do: 'stall' },
    { at: 'after', do: 'reset' },
    status(500, 'InternalError'),
    status(503, 'SlowDown'),
    status(429),
  ];

  it('are repeated through faults, each with the right answer', async () => {
    await storage.put('k', [BYTES]);
    for (const fault of passing) {
      double.failNext(fault);
      expect(await storage.head('k')).toMatchObject({ sizeBytes: BYTES.length });
      double.failNext(fault);
      const keys: string[] = [];
      for await (const { key } of storage.list()) keys.push(key);
      expect(keys).toEqual(['k']);
      double.failNext(fault);
      expect((await storage.delete(['gone'])).deleted).toEqual(['gone']);
    }
  });

  it('say why they failed', async () => {
    double.schedule = () => status(403, 'AccessDenied');
    expect((await failure(storage.head('k'))).kind).toBe('denied');
    const { deleted, failed } = await storage.delete(['a', 'b']);
    expect([deleted, failed.map(({ key, error }) => [key, error.kind])]).toEqual([
      [],
      [
        ['a', 'denied'],
        ['b', 'denied'],
      ],
    ]);
  });
});

describe('a multipart upload', () => {
  const MiB = 1024 * 1024;
  const parts = { thresholdBytes: MiB, partBytes: 5 * MiB, concurrency: 2 };
  const large = new Uint8Array(6 * MiB).map((_, index) => (index >> 8) & 255);
  // Nothing stalls here, and the abort of an upload is tried once.
  beforeEach(() => open({ ...QUICK, deadlines: {}, multipart: parts }));

  it('survives faults of every request', async () => {
    for (const position of [0, 1, 2, 3]) {
      for (const fault of [{ at: 'before', do: 'reset' }, { at: 'after', do: 'reset' }, status(500)] as const) {
        const key = `k-${position}-${'do' in fault ? fault.do : ''}-${fault.at}`;
        double.failNext(...new Array(position).fill(undefined), fault);
        await storage.put(key, [large]);
        expect(Buffer.compare(double.store.objects.get(key)!.body, large)).toBe(0);
      }
    }
    expect(double.faultCount).toBe(12);
  });

  it('is aborted on failure, and leaves no parts', async () => {
    double.schedule = (method, path) =>
      method === 'PUT' && path.endsWith('/k') ? status(403, 'AccessDenied') : undefined;
    expect((await failure(storage.put('k', [large]))).kind).toBe('denied');
    const abort = new AbortController();
    double.schedule = (method) => {
      if (method === 'PUT') abort.abort(new Error('enough'));
      return undefined;
    };
    await expect(storage.put('k2', [large], { signal: abort.signal })).rejects.toThrow('enough');
    expect([double.store.uploads.size, double.store.objects.size]).toEqual([0, 0]);
    expect(double.requests.get('AbortMultipartUpload')).toBe(2);
  });

  it('refuses to replace another object', async () => {
    await storage.put('k', [large.subarray(0, 100)]);
    expect((await failure(storage.put('k', [large]))).kind).toBe('already-exists');
    expect(double.store.uploads.size).toBe(0);
  });
});

describe('under pressure', () => {
  beforeEach(() => open());

  it('slows down instead of multiplying requests when everything is throttled', async () => {
    await open({ ...QUICK, deadlines: {} });
    await storage.put('k', [BYTES]);
    double.schedule = () => status(503, 'SlowDown');
    const gets = Array.from({ length: 200 }, () => storage.getRange('k', RANGE).catch((error) => error.kind));
    expect(new Set(await Promise.all(gets))).toEqual(new Set(['throttled']));
    // 200 first attempts, and no more retries than the budget of 100.
    expect(double.faultCount).toBeLessThanOrEqual(301);
    expect(storage.stats.limit).toBeLessThan(64);
    double.schedule = () => undefined;
    await storage.getRange('k', RANGE);
  });

  it('sends nothing until the time that Retry-After asks for has passed', async () => {
    const time = new ManualTime(Date.now());
    await open({ ...QUICK, deadlines: {}, limits: { maxPauseMs: 5_000 }, time });
    await storage.put('k', [BYTES]);
    double.failNext({ at: 'before', do: 'status', status: 503, code: 'SlowDown', retryAfter: '3' });
    const get = storage.getRange('k', RANGE);
    await expect.poll(() => storage.stats.throttled).toBe(1);
    await time.advance(2_999);
    expect(storage.stats).toMatchObject({ attempts: 2, inFlight: 0 });
    await time.advance(2);
    await get;
    expect(storage.stats.attempts).toBe(3);
  });

  it('closes at once while everything is being repeated, with what is on its way answered', async () => {
    await open({ ...QUICK, retry: { baseDelayMs: 3_600_000, maxDelayMs: 3_600_000 }, deadlines: {} });
    await storage.put('k', [BYTES]);
    double.schedule = () => status(500, 'InternalError');
    const pending = [
      storage.getRange('k', RANGE),
      storage.put('k2', [BYTES]),
      storage.head('k'),
      storage.delete(['k']),
    ];
    const outcomes = Promise.allSettled(pending);
    await expect.poll(() => double.faultCount).toBe(4);
    await storage.close();
    const kinds = (await outcomes).map((outcome) => outcome.status === 'rejected' && outcome.reason.kind);
    expect(kinds).toEqual(['closed', 'closed', 'closed', 'closed']);
  });

  it('stays healthy after a thousand gets that were aborted in the middle', async () => {
    await open({ ...QUICK, deadlines: {} });
    await storage.put('k', [BYTES]);
    const get = async (index: number): Promise<void> => {
      const abort = new AbortController();
      const pending = storage.getRange('k', RANGE, { signal: abort.signal });
      setTimeout(() => abort.abort(new Error('aborted')), index % 4);
      await pending.catch((error) => expect(error.message).toBe('aborted'));
    };
    for (let round = 0; round < 50; round++) await Promise.all(Array.from({ length: 20 }, (_, i) => get(i)));
    expect(storage.stats.inFlight).toBe(0);
    const all = Array.from({ length: 100 }, () => storage.getRange('k', RANGE));
    for (const bytes of await Promise.all(all)) expect(bytes.length).toBe(RANGE.size);
    expect(double.openSockets).toBeLessThanOrEqual(128);
  });
});
