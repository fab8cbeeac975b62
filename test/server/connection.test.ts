/** A connection over real sockets, with handlers that the test lets finish when it likes. */
import { createServer, type Server } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { type Deferred, deferred } from '../../src/common/lifecycle.ts';
import type { Logger } from '../../src/common/logger.ts';
import { MetricsRegistry } from '../../src/common/metrics-registry.ts';
import { systemTime } from '../../src/common/time.ts';
import { decodeResponse } from '../../src/protocol/frames.ts';
import { apiVersions } from '../../src/protocol/messages/api-versions.ts';
import { fetch } from '../../src/protocol/messages/fetch.ts';
import { heartbeat } from '../../src/protocol/messages/heartbeat.ts';
import { produce } from '../../src/protocol/messages/produce.ts';
import { type ApiHandler, apiHandler, type RequestContext } from '../../src/server/api-handler.ts';
import { ApiMetrics } from '../../src/server/api-metrics.ts';
import { Connection } from '../../src/server/connection.ts';
import { ConnectionMetrics } from '../../src/server/connection-metrics.ts';
import { FrameBuffers } from '../../src/server/frame-buffers.ts';
import { KafkaApis } from '../../src/server/kafka-apis.ts';
import { RequestMemory } from '../../src/server/request-memory.ts';
import { type ServerLimits, serverLimits } from '../../src/server/server-limits.ts';
import { WireClient } from './wire-client.ts';

/** A request that a handler got, and the promise that the test settles to answer it. */
interface Call {
  readonly name: string;
  readonly context: RequestContext;
  readonly finish: Deferred<void>;
}

class Host {
  readonly calls: Call[] = [];
  readonly reasons: string[] = [];
  readonly connections = new Set<Connection>();
  readonly memory: RequestMemory;
  readonly #server: Server;
  readonly #clients: WireClient[] = [];
  /** Records that every Fetch answers with; counted until given back. */
  records: Buffer = Buffer.from('records');
  borrowed = 0;
  /** Handlers answer by themselves. */
  answersAtOnce = false;
  #onCall: (() => void) | undefined;

  constructor(limits: Partial<ServerLimits> = {}) {
    const all = serverLimits(limits);
    this.memory = new RequestMemory({
      limitBytes: all.queuedMaxRequestBytes,
      reserveBytes: all.connectionReserveBytes,
    });
    const log = (_fields: object, message: string): number => this.reasons.push(message);
    const logger: Logger = { debug: log, info: log, warn: log, error: log };
    const registry = new MetricsRegistry();
    const apis = new KafkaApis(this.#handlers(), {
      identity: { clusterId: 'cluster', nodeId: 0 },
      logger,
      metrics: new ApiMetrics(registry, systemTime),
    });
    const metrics = new ConnectionMetrics(registry);
    this.#server = createServer((socket) => {
      const connection = new Connection({
        socket,
        id: String(this.connections.size),
        apis,
        memory: this.memory,
        frames: new FrameBuffers(),
        limits: all,
        metrics,
        logger,
        onClosed: (closed) => this.connections.delete(closed),
      });
      this.connections.add(connection);
    });
  }

  async open(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return this;
  }

  async client(options: { allowHalfOpen?: boolean } = {}): Promise<WireClient> {
    const address = this.#server.address() as { port: number };
    const client = await WireClient.connect({ host: '127.0.0.1', port: address.port }, options);
    this.#clients.push(client);
    return client;
  }

  async close(): Promise<void> {
    for (const client of this.#clients) client.socket.destroy();
    this.#server.close();
    for (const connection of this.connections) connection.destroy('the test ends');
    await this.until(() => this.connections.size === 0);
  }

  /** Waits for as long as it takes; vitest's own timeout is the judge. */
  async until(condition: () => boolean): Promise<void> {
    while (!condition()) await new Promise((resolve) => setTimeout(resolve, 2));
  }

  async called(count: number): Promise<readonly Call[]> {
    await this.until(() => this.calls.length >= count);
    return this.calls;
  }

  async #call(name: string, context: RequestContext): Promise<void> {
    const finish = deferred<void>();
    this.calls.push({ name, context, finish });
    this.#onCall?.();
    if (!this.answersAtOnce) await finish.promise;
  }

  #handlers(): ApiHandler[] {
    return [
      apiHandler<typeof produce>({
        api: produce,
        overlaps: true,
        handle: async ({ acks }, context) => {
          await this.#call('Produce', context);
          return acks === 0 ? undefined : { responses: [] };
        },
        errorResponse: () => ({ responses: [] }),
      }),
      apiHandler<typeof heartbeat>({
        api: heartbeat,
        handle: async (_request, context) => {
          await this.#call('Heartbeat', context);
          return { errorCode: 0 };
        },
        errorResponse: (errorCode) => ({ errorCode }),
      }),
      apiHandler<typeof fetch>({
        api: fetch,
        handle: async (_request, context) => {
          await this.#call('Fetch', context);
          this.borrowed++;
          context.afterWrite(() => {
            this.borrowed--;
          });
          const partition = { partitionIndex: 0, errorCode: 0, highWatermark: 0n, records: [this.records] };
          return { responses: [{ topic: 't', partitions: [partition] }] };
        },
        errorResponse: (errorCode) => ({ errorCode, responses: [] }),
      }),
    ];
  }
}

const aProduce = { acks: -1, timeoutMs: 1, topicData: [] };
const aHeartbeat = { groupId: 'g', generationId: 1, memberId: 'm' };
const aFetch = { maxWaitMs: 0, minBytes: 0, topics: [] };
const correlationIdOf = (frame: Buffer | undefined): number | undefined => frame?.readInt32BE(0);

let host: Host;
afterEach(() => host.close());

describe('the order of requests', () => {
  it('overlaps Produce requests and answers them in the order in which they came', async () => {
    host = await new Host().open();
    const client = await host.client();
    const ids = [0, 1, 2].map(() => client.send(produce, 9, aProduce));
    const calls = await host.called(3);
    calls[2]!.finish.resolve();
    calls[1]!.finish.resolve();
    const beat = client.send(heartbeat, 4, aHeartbeat);
    calls[0]!.finish.resolve();
    const answered = [await client.nextFrame(), await client.nextFrame(), await client.nextFrame()];
    expect(answered.map(correlationIdOf)).toEqual(ids);
    (await host.called(4))[3]!.finish.resolve();
    expect(correlationIdOf(await client.nextFrame())).toBe(beat);
  });

  it('starts any other request only when those before it are answered', async () => {
    host = await new Host().open();
    const client = await host.client();
    client.send(produce, 9, aProduce);
    client.send(heartbeat, 4, aHeartbeat);
    client.send(produce, 9, aProduce);
    const other = await host.client();
    other.send(heartbeat, 4, aHeartbeat);
    await host.called(2);
    expect(host.calls.map(({ name }) => name)).toEqual(['Produce', 'Heartbeat']);
    host.calls[1]!.finish.resolve();
    await other.nextFrame();
    expect(host.calls).toHaveLength(2);
    host.calls[0]!.finish.resolve();
    await client.nextFrame();
    expect((await host.called(3))[2]!.name).toBe('Heartbeat');
    expect(host.calls).toHaveLength(3);
    host.calls[2]!.finish.resolve();
    await client.nextFrame();
    expect((await host.called(4))[3]!.name).toBe('Produce');
  });

  it('answers nothing to acks=0 and goes on with what follows', async () => {
    host = await new Host().open();
    host.answersAtOnce = true;
    const client = await host.client();
    client.send(produce, 9, { ...aProduce, acks: 0 });
    const second = client.send(produce, 9, aProduce);
    expect(correlationIdOf(await client.nextFrame())).toBe(second);
    expect(host.calls).toHaveLength(2);
  });

  it('answers a request that came with acks=0 before it and waited for that', async () => {
    host = await new Host().open();
    host.answersAtOnce = true;
    const client = await host.client();
    client.socket.cork();
    for (let i = 0; i < 3; i++) client.send(produce, 9, { ...aProduce, acks: 0 });
    const beat = client.send(heartbeat, 4, aHeartbeat);
    client.socket.uncork();
    expect(correlationIdOf(await client.nextFrame())).toBe(beat);
    expect(host.calls).toHaveLength(4);
  });
});

describe('bytes that are no request', () => {
  const size = (value: number): string => {
    const bytes = Buffer.alloc(4);
    bytes.writeInt32BE(value);
    return bytes.toString('hex');
  };
  const framed = (hex: string): string => size(hex.length / 2) + hex;
  /** Header of a request: key, version, correlation id 7, client id "x". */
  const header = (key: number, version: number): string =>
    `${key.toString(16).padStart(4, '0')}${version.toString(16).padStart(4, '0')}00000007000178`;

  it.each([
    ['a negative frame size', size(-5), 'a frame claims -5 bytes'],
    ['a frame size of zero', size(0), 'a frame claims 0 bytes'],
    ['a frame size above the limit', size(104_857_601), 'a frame claims 104857601 bytes; 1 to 104857600 are allowed'],
    [
      'something that is not Kafka at all',
      Buffer.from('GET / HTTP/1.1\r\n\r\n').toString('hex'),
      'a frame claims 1195725856 bytes',
    ],
    ['a frame too short for a header', framed('0003'), '2 bytes expected'],
    ['an unknown API key', framed(header(1234, 0)), 'unknown API 1234 v0 is not served'],
    ['an API that is not built', framed(header(24, 3)), 'AddPartitionsToTxn v3 is not served'],
    ['a version that was dropped', framed(header(0, 2)), 'Produce v2 is not served; versions 3 to 13 are'],
    ['a version from the future', framed(header(12, 5)), 'Heartbeat v5 is not served; versions 0 to 4 are'],
    ['a truncated body', framed(`${header(12, 0)}0001`), 'Heartbeat v0: 1 bytes expected'],
    [
      'an array count beyond the frame',
      framed(`${header(1, 4)}ffffffff0000000000000000000000ff007fffffff`),
      'Fetch v4: an array claims 2147483647 elements',
    ],
    ['null where a string must be', framed(`${header(12, 0)}ffff`), 'HeartbeatRequest.groupId is null'],
    [
      'a tagged-field count beyond the frame',
      framed(`${header(12, 4)}ffffffff07`),
      '2147483647 tagged fields are claimed',
    ],
    ['a tag beyond the frame', framed(`${header(12, 4)}0105ffff03`), 'tagged field 5 claims 65535 bytes'],
    ['a client id beyond the frame', framed('000c000000000007 7fff 78'.replaceAll(' ', '')), '32767 bytes expected'],
  ])('%s closes that connection alone, with a reason in the log', async (_name, hex, reason) => {
    host = await new Host().open();
    host.answersAtOnce = true;
    const [hostile, other] = [await host.client(), await host.client()];
    const before = hostile.send(heartbeat, 4, aHeartbeat);
    hostile.socket.write(Buffer.from(hex, 'hex'));
    hostile.send(heartbeat, 4, aHeartbeat);
    expect(correlationIdOf(await hostile.nextFrame())).toBe(before);
    expect(await hostile.nextFrame()).toBeUndefined();
    expect(host.reasons.join('\n')).toContain(reason);
    expect(await other.call(heartbeat, 4, aHeartbeat)).toMatchObject({ errorCode: 0 });
    expect(host.calls).toHaveLength(2);
    await host.until(() => host.connections.size === 1);
    expect(host.memory.heldBytes).toBe(0);
  });

  it('ignores bytes after the body, as Kafka does', async () => {
    host = await new Host().open();
    host.answersAtOnce = true;
    const client = await host.client();
    client.socket.write(Buffer.from(framed(`${header(12, 0)}000167 00000001 00016d cafe`.replaceAll(' ', '')), 'hex'));
    expect(correlationIdOf(await client.nextFrame())).toBe(7);
  });

  it('answers an unknown ApiVersions version in version 0, with the versions it knows and code 35', async () => {
    host = await new Host().open();
    const client = await host.client();
    client.socket.write(Buffer.from(framed(`${header(18, 99)}deadbeef`), 'hex'));
    const { correlationId, body } = decodeResponse(apiVersions, 0, (await client.nextFrame())!);
    expect(correlationId).toBe(7);
    expect(body.errorCode).toBe(35);
    expect(body.apiKeys).toContainEqual({ apiKey: 0, minVersion: 0, maxVersion: 13 });
    expect(body.apiKeys).toContainEqual({ apiKey: 18, minVersion: 0, maxVersion: 5 });
    expect(
      await client.call(apiVersions, 3, { clientSoftwareName: 'wire', clientSoftwareVersion: '1.0' }),
    ).toMatchObject({ errorCode: 0 });
    const named = { clientSoftwareName: 'wire', clientSoftwareVersion: '1' };
    for (const [clusterId, nodeId, code] of [
      ['cluster', 0, 0],
      [null, -1, 0],
      ['other', 0, 129],
      ['cluster', 3, 129],
    ] as const) {
      expect((await client.call(apiVersions, 5, { ...named, clusterId, nodeId })).errorCode).toBe(code);
    }
    expect(
      await client.call(apiVersions, 3, { clientSoftwareName: 'no spaces', clientSoftwareVersion: '1' }),
    ).toMatchObject({ errorCode: 42 });
  });
});

describe('bounds', () => {
  it('holds one answer for a client that does not read, and gives its bytes back when it is closed', async () => {
    host = await new Host({ stalledConnectionMs: 100 }).open();
    host.answersAtOnce = true;
    host.records = Buffer.alloc(32 * 1024 * 1024, 1);
    const client = await host.client();
    client.socket.pause();
    for (let i = 0; i < 10; i++) client.send(fetch, 11, aFetch);
    await host.called(1);
    await host.until(() => host.connections.size === 0);
    expect(host.calls).toHaveLength(1);
    expect(host.borrowed).toBe(0);
    expect(host.reasons.join('\n')).toContain('took no byte of its answer to Fetch v11 for 100 ms');
  });

  it('stops reading a connection that holds too much, and goes on when there is room', async () => {
    host = await new Host({ connectionMaxRequestBytes: 256 * 1024 }).open();
    const client = await host.client();
    const topicData = [{ name: 't', partitionData: [{ index: 0, records: [Buffer.alloc(64 * 1024)] }] }];
    for (let i = 0; i < 200; i++) client.send(produce, 9, { ...aProduce, topicData });
    await host.until(() => host.memory.heldBytes >= 256 * 1024);
    const other = await host.client();
    other.send(heartbeat, 4, aHeartbeat);
    await host.until(() => host.calls.some(({ name }) => name === 'Heartbeat'));
    expect(host.memory.heldBytes).toBeLessThan(512 * 1024);
    expect(client.socket.writableLength).toBeGreaterThan(0);
    host.answersAtOnce = true;
    for (const { finish } of host.calls) finish.resolve();
    for (let i = 0; i < 200; i++) expect(await client.nextFrame()).toBeDefined();
    expect(host.memory.heldBytes).toBe(0);
  });

  it('bounds the requests of one connection, however small they are', async () => {
    host = await new Host({ connectionMaxRequests: 5 }).open();
    const client = await host.client();
    for (let i = 0; i < 50; i++) client.send(produce, 9, aProduce);
    await host.called(5);
    const other = await host.client();
    other.send(heartbeat, 4, aHeartbeat);
    await host.called(6);
    expect(host.calls.filter(({ name }) => name === 'Produce')).toHaveLength(5);
    host.answersAtOnce = true;
    for (const { finish } of host.calls) finish.resolve();
    for (let i = 0; i < 50; i++) expect(await client.nextFrame()).toBeDefined();
  });

  it('takes a frame that is larger than a connection may otherwise hold', async () => {
    host = await new Host({ connectionMaxRequestBytes: 1024 }).open();
    host.answersAtOnce = true;
    const client = await host.client();
    const topicData = [{ name: 't', partitionData: [{ index: 0, records: [Buffer.alloc(300_000)] }] }];
    expect(await client.call(produce, 9, { ...aProduce, topicData })).toMatchObject({ responses: [] });
  });

  it.each([
    ['an idle connection', { connectionsMaxIdleMs: 30 }, '', 'idle for 30 ms'],
    [
      'a frame that was begun and left',
      { stalledConnectionMs: 30 },
      '00000010000c',
      'sent no byte of a begun frame for 30 ms',
    ],
  ])('closes %s', async (_name, limits, hex, reason) => {
    host = await new Host(limits).open();
    const client = await host.client();
    if (hex) client.socket.write(Buffer.from(hex, 'hex'));
    await client.closed;
    expect(host.reasons.join('\n')).toContain(reason);
  });

  it('does not call a connection idle that waits for an answer', async () => {
    host = await new Host({ connectionsMaxIdleMs: 20 }).open();
    let client: WireClient;
    let id: number;
    // A busy machine may leave one idle for as long before it reads the request.
    do {
      client = await host.client();
      id = client.send(heartbeat, 4, aHeartbeat);
      await Promise.race([host.called(1), client.closed]);
    } while (host.calls.length === 0);
    const [call] = host.calls;
    const other = await host.client();
    await other.closed;
    call!.finish.resolve();
    expect(correlationIdOf(await client.nextFrame())).toBe(id);
  });
});

describe('the end of a connection', () => {
  it('tells handlers that the client is gone, and holds nothing afterwards', async () => {
    host = await new Host().open();
    const client = await host.client();
    client.send(fetch, 11, aFetch);
    client.send(fetch, 11, aFetch);
    const [call] = await host.called(1);
    expect(call!.context.signal.aborted).toBe(false);
    client.socket.destroy();
    await host.until(() => host.connections.size === 0);
    expect(call!.context.signal.aborted).toBe(true);
    call!.finish.resolve();
    await host.until(() => host.memory.heldBytes === 0);
    await host.until(() => host.borrowed === 0);
    expect(host.calls).toHaveLength(1);
  });

  it('drains: answers what runs, takes nothing new, then closes', async () => {
    host = await new Host().open();
    const client = await host.client();
    const ids = [client.send(produce, 9, aProduce), client.send(produce, 9, aProduce)];
    client.send(heartbeat, 4, aHeartbeat);
    const calls = await host.called(2);
    for (const connection of host.connections) connection.drain();
    client.send(produce, 9, aProduce);
    for (const { finish } of calls) finish.resolve();
    expect([await client.nextFrame(), await client.nextFrame()].map(correlationIdOf)).toEqual(ids);
    expect(await client.nextFrame()).toBeUndefined();
    await host.until(() => host.connections.size === 0);
    expect(host.calls).toHaveLength(2);
    expect(host.memory.heldBytes).toBe(0);
  });

  it('drains past a client that does not close its side', async () => {
    host = await new Host().open();
    const client = await host.client({ allowHalfOpen: true });
    await host.until(() => host.connections.size === 1);
    for (const connection of host.connections) connection.drain();
    await host.until(() => host.connections.size === 0);
    expect(host.reasons.join('\n')).toContain('did not close its side');
    client.socket.destroy();
  });

  it('closes without an answer when the answer cannot be made', async () => {
    host = await new Host().open();
    host.answersAtOnce = true;
    host.records = undefined as unknown as Buffer;
    const client = await host.client();
    client.send(fetch, 11, aFetch);
    expect(await client.nextFrame()).toBeDefined();
    await host.until(() => host.borrowed === 0);
    expect(host.reasons.join('\n')).toContain('Fetch v11 failed unexpectedly');
  });
});
