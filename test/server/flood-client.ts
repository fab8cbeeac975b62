/** A client that costs almost nothing, for measuring a host: sends frames made beforehand and only counts what comes back. */
import { connect, type Socket } from 'node:net';
import type { Endpoint } from '../../src/server/broker.ts';

export class FloodClient implements AsyncDisposable {
  readonly #socket: Socket;
  #missing = 0;
  #bytes = 0;
  /** How the sizes of responses are found: bytes of the next one that have not come, or a begun size. */
  #left = 0;
  #size: Buffer = Buffer.alloc(0);
  #onDone: (() => void) | undefined;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (chunk) => this.#count(chunk));
  }

  static connect({ host, port }: Endpoint): Promise<FloodClient> {
    return new Promise((resolve, reject) => {
      const socket = connect({ host, port, noDelay: true });
      socket.once('error', reject);
      socket.once('connect', () => resolve(new FloodClient(socket)));
    });
  }

  /** Sends requests and resolves with the bytes of their `responses` answers. */
  async send(requests: readonly Uint8Array[], responses: number): Promise<number> {
    this.#missing = responses;
    this.#bytes = 0;
    const done = new Promise<void>((resolve) => {
      this.#onDone = resolve;
    });
    this.#socket.cork();
    for (const request of requests) this.#socket.write(request);
    this.#socket.uncork();
    await done;
    return this.#bytes;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#socket.destroy();
  }

  #count(chunk: Buffer): void {
    this.#bytes += chunk.length;
    for (let at = 0; at < chunk.length; ) {
      if (this.#left === 0) {
        const wanted = 4 - this.#size.length;
        this.#size = Buffer.concat([this.#size, chunk.subarray(at, at + wanted)]);
        at += wanted;
        if (this.#size.length < 4) return;
        this.#left = this.#size.readInt32BE(0);
        this.#size = Buffer.alloc(0);
      }
      const taken = Math.min(this.#left, chunk.length - at);
      this.#left -= taken;
      at += taken;
      if (this.#left === 0 && --this.#missing === 0) this.#onDone?.();
    }
  }
}
