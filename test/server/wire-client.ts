/** A Kafka client made of the project's own codecs over a plain socket: for tests that need exact frames and their order. */
import { connect, type Socket } from 'node:net';
import type { Api, RequestToSend, ResponseRead } from '../../src/protocol/api.ts';
import { decodeResponse, encodeRequest } from '../../src/protocol/frames.ts';
import type { Fields } from '../../src/protocol/schema.ts';
import type { Endpoint } from '../../src/server/broker.ts';
import { FrameDecoder } from '../../src/server/frame-decoder.ts';

export class WireClient implements Disposable {
  readonly socket: Socket;
  /** Resolves with what had come when the server ended the connection. */
  readonly closed: Promise<void>;
  readonly #decoder = new FrameDecoder(2 ** 31 - 1);
  readonly #frames: Buffer[] = [];
  readonly #waiting: ((frame: Buffer | undefined) => void)[] = [];
  #nextCorrelationId = 1;
  #ended = false;

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.on('data', (chunk) => this.#onData(chunk));
    socket.on('error', () => {});
    this.closed = new Promise((resolve) => {
      socket.on('close', () => {
        this.#ended = true;
        for (const wake of this.#waiting.splice(0)) wake(undefined);
        resolve();
      });
    });
  }

  static connect({ host, port }: Endpoint, options: { allowHalfOpen?: boolean } = {}): Promise<WireClient> {
    return new Promise((resolve, reject) => {
      const socket = connect({ host, port, noDelay: true, ...options });
      socket.once('error', reject);
      socket.once('connect', () => {
        socket.off('error', reject);
        resolve(new WireClient(socket));
      });
    });
  }

  /** Sends a request and returns its correlation id without waiting for the answer. */
  send<A extends Api<Fields, Fields>>(api: A, version: number, body: RequestToSend<A>): number {
    const correlationId = this.#nextCorrelationId++;
    const chunks = encodeRequest(api as Api, { version, correlationId, clientId: 'wire' }, body as never);
    this.socket.write(Buffer.concat(chunks));
    return correlationId;
  }

  /** The next response frame, whatever it answers; undefined when the connection ended first. */
  nextFrame(): Promise<Buffer | undefined> {
    const frame = this.#frames.shift();
    if (frame || this.#ended) return Promise.resolve(frame);
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Sends a request and reads the next response, which must be its answer. */
  async call<A extends Api<Fields, Fields>>(api: A, version: number, body: RequestToSend<A>): Promise<ResponseRead<A>> {
    const correlationId = this.send(api, version, body);
    const frame = await this.nextFrame();
    if (!frame) throw new Error(`the connection ended before ${api.name} was answered`);
    const response = decodeResponse(api as Api, version, frame);
    if (response.correlationId !== correlationId) {
      throw new Error(`answer ${response.correlationId} came where ${correlationId} was due`);
    }
    return response.body as ResponseRead<A>;
  }

  [Symbol.dispose](): void {
    this.socket.destroy();
  }

  #onData(chunk: Buffer): void {
    this.#decoder.push(chunk);
    for (let frame = this.#decoder.next(); frame; frame = this.#decoder.next()) {
      const wake = this.#waiting.shift();
      if (wake) wake(frame);
      else this.#frames.push(frame);
    }
  }
}
