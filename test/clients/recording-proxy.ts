/**
 * A TCP proxy between clients and a broker, on loopback, that notes which API versions every client sends (by client id),
 * and which requests are not answered yet.
 * It can refuse connections for a while, as a port does whose broker is down. The caller closes it.
 */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

const LENGTH_BYTES = 4;
/** API key, version, correlation id, length of the client id. */
const FIXED_HEADER_BYTES = 10;

/** Client id → API key → versions. */
export type ApiVersionsSent = ReadonlyMap<string, ReadonlyMap<number, ReadonlySet<number>>>;

/** Requests that were not answered when their connections ended. */
export interface Unanswered {
  readonly produce: number;
  readonly fetch: number;
}

const PRODUCE = 0;
const FETCH = 1;

/** Follows the frames of one direction of a connection, holding no more than the beginning of one. */
class FrameReader {
  readonly #beginBytes: (head: Buffer) => number;
  readonly #onFrame: (begin: Buffer) => void;
  #head: Buffer = Buffer.alloc(0);
  #skip = 0;

  /** `beginBytes` tells, from what there is of a frame, how much of it is wanted before `onFrame` is called with that. */
  constructor(beginBytes: (head: Buffer) => number, onFrame: (begin: Buffer) => void) {
    this.#beginBytes = beginBytes;
    this.#onFrame = onFrame;
  }

  read(chunk: Buffer): void {
    for (let at = 0; at < chunk.length; ) {
      const skipped = Math.min(this.#skip, chunk.length - at);
      this.#skip -= skipped;
      at += skipped;
      if (at === chunk.length) return;
      const before = this.#head.length;
      this.#head = Buffer.concat([this.#head, chunk.subarray(at)]);
      const wanted = this.#beginBytes(this.#head);
      if (this.#head.length < wanted) return;
      this.#onFrame(this.#head.subarray(0, wanted));
      this.#skip = LENGTH_BYTES + this.#head.readInt32BE(0) - wanted;
      this.#head = Buffer.alloc(0);
      at += wanted - before;
    }
  }
}

const headerBytes = (head: Buffer): number =>
  LENGTH_BYTES +
  FIXED_HEADER_BYTES +
  (head.length < LENGTH_BYTES + FIXED_HEADER_BYTES ? 0 : Math.max(0, head.readInt16BE(LENGTH_BYTES + 8)));

export class RecordingProxy {
  readonly sent = new Map<string, Map<number, Set<number>>>();
  readonly port: number;
  /** Of each open connection from a client, the keys of the APIs that it waits for. */
  readonly #waiting = new Map<Socket, number[]>();
  #server: Server;
  #targetPort = 0;

  private constructor(server: Server) {
    this.#server = server;
    this.port = (server.address() as AddressInfo).port;
  }

  /** Takes a free port; it accepts connections once it has a target. */
  static async open(): Promise<RecordingProxy> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const proxy = new RecordingProxy(server);
    await proxy.refuse();
    return proxy;
  }

  get address(): string {
    return `127.0.0.1:${this.port}`;
  }

  async accept(targetPort: number): Promise<void> {
    this.#targetPort = targetPort;
    this.#server = createServer((client) => this.#onConnection(client)).listen(this.port, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  /** Ends every connection and refuses new ones. */
  async refuse(): Promise<Unanswered> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    const unanswered = [...this.#waiting.values()].flat();
    for (const client of this.#waiting.keys()) client.destroy();
    await closed;
    const count = (apiKey: number): number => unanswered.filter((each) => each === apiKey).length;
    return { produce: count(PRODUCE), fetch: count(FETCH) };
  }

  #onConnection(client: Socket): void {
    const broker = connect({ host: '127.0.0.1', port: this.#targetPort, noDelay: true });
    client.setNoDelay(true);
    const waiting: number[] = [];
    this.#waiting.set(client, waiting);
    const requests = new FrameReader(headerBytes, (header) => waiting.push(this.#note(header)));
    const responses = new FrameReader(
      () => LENGTH_BYTES,
      () => waiting.shift(),
    );
    client.on('data', (chunk: Buffer) => requests.read(chunk)).pipe(broker);
    broker.on('data', (chunk: Buffer) => responses.read(chunk)).pipe(client);
    for (const socket of [client, broker]) socket.on('error', () => {});
    broker.on('close', () => client.destroy());
    client.on('close', () => {
      this.#waiting.delete(client);
      broker.destroy();
    });
  }

  /** @returns the API key */
  #note(header: Buffer): number {
    const apiKey = header.readInt16BE(LENGTH_BYTES);
    const clientId = header.toString('utf8', LENGTH_BYTES + FIXED_HEADER_BYTES);
    const apis = this.sent.get(clientId) ?? new Map<number, Set<number>>();
    this.sent.set(clientId, apis);
    apis.set(apiKey, (apis.get(apiKey) ?? new Set()).add(header.readInt16BE(LENGTH_BYTES + 2)));
    return apiKey;
  }
}
