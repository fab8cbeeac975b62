/**
 * A TCP proxy between clients and a broker, on loopback, that notes which API versions every client sends (by client id).
 * It can refuse connections for a while, as a port does whose broker is down. The caller closes it.
 */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

const LENGTH_BYTES = 4;
/** API key, version, correlation id, length of the client id. */
const FIXED_HEADER_BYTES = 10;

/** Client id → API key → versions. */
export type ApiVersionsSent = ReadonlyMap<string, ReadonlyMap<number, ReadonlySet<number>>>;

type Note = (clientId: string, apiKey: number, version: number) => void;

/** Follows the frames of one connection's requests, holding no more than a header. */
class RequestReader {
  readonly #note: Note;
  #head: Buffer = Buffer.alloc(0);
  #skip = 0;

  constructor(note: Note) {
    this.#note = note;
  }

  read(chunk: Buffer): void {
    for (let at = 0; at < chunk.length; ) {
      if (this.#skip > 0) {
        const skipped = Math.min(this.#skip, chunk.length - at);
        this.#skip -= skipped;
        at += skipped;
        continue;
      }
      const before = this.#head.length;
      this.#head = Buffer.concat([this.#head, chunk.subarray(at)]);
      const headerBytes = this.#headerBytes();
      if (headerBytes === undefined || this.#head.length < headerBytes) return;
      this.#noteHeader(headerBytes);
      this.#skip = LENGTH_BYTES + this.#head.readInt32BE(0) - headerBytes;
      this.#head = Buffer.alloc(0);
      at += headerBytes - before;
    }
  }

  #headerBytes(): number | undefined {
    if (this.#head.length < LENGTH_BYTES + FIXED_HEADER_BYTES) return undefined;
    return LENGTH_BYTES + FIXED_HEADER_BYTES + Math.max(0, this.#head.readInt16BE(LENGTH_BYTES + 8));
  }

  #noteHeader(headerBytes: number): void {
    const clientId = this.#head.toString('utf8', LENGTH_BYTES + FIXED_HEADER_BYTES, headerBytes);
    this.#note(clientId, this.#head.readInt16BE(LENGTH_BYTES), this.#head.readInt16BE(LENGTH_BYTES + 2));
  }
}

export class RecordingProxy {
  readonly sent = new Map<string, Map<number, Set<number>>>();
  readonly port: number;
  readonly #sockets = new Set<Socket>();
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
  async refuse(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  #onConnection(client: Socket): void {
    const broker = connect({ host: '127.0.0.1', port: this.#targetPort, noDelay: true });
    client.setNoDelay(true);
    const requests = new RequestReader((...header) => this.#note(...header));
    client.on('data', (chunk: Buffer) => requests.read(chunk));
    for (const [socket, other] of [
      [client, broker],
      [broker, client],
    ] as const) {
      this.#sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        this.#sockets.delete(socket);
        other.destroy();
      });
      socket.pipe(other);
    }
  }

  #note(clientId: string, apiKey: number, version: number): void {
    const apis = this.sent.get(clientId) ?? new Map<number, Set<number>>();
    this.sent.set(clientId, apis);
    apis.set(apiKey, (apis.get(apiKey) ?? new Set()).add(version));
  }
}
