/** A TCP proxy in front of the database that can fall silent, or cut or delay a connection when it sees certain bytes. */
import { createConnection, createServer, type Server, type Socket } from 'node:net';

export class TcpProxy {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #silent = false;
  /** Cuts both sides when a client sends this text: before it is passed on, or right after. */
  cutOn: { readonly text: string; readonly when: 'before' | 'after' } | undefined;
  cuts = 0;
  /** Keeps back what the server answers on the connection on which a client sends this text next, until `release`. */
  holdOn: string | undefined;
  #held: { readonly client: Socket; readonly answers: Buffer[] } | undefined;
  port = 0;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async listen(targetPort: number): Promise<TcpProxy> {
    const server = createServer();
    const proxy = new TcpProxy(server);
    server.on('connection', (client) => proxy.#onConnection(client, targetPort));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    proxy.port = (server.address() as { port: number }).port;
    return proxy;
  }

  #onConnection(client: Socket, targetPort: number): void {
    const target = createConnection(targetPort, '127.0.0.1');
    for (const socket of [client, target]) {
      this.#sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => this.#sockets.delete(socket));
    }
    client.on('data', (bytes) => this.#onRequest(client, target, bytes));
    target.on('data', (bytes) => {
      if (this.#held?.client === client) this.#held.answers.push(bytes);
      else if (!this.#silent) client.write(bytes);
    });
    client.on('close', () => target.destroy());
    target.on('close', () => client.destroy());
  }

  #onRequest(client: Socket, target: Socket, bytes: Buffer): void {
    if (this.#silent) return;
    if (this.holdOn !== undefined && bytes.includes(this.holdOn)) {
      this.holdOn = undefined;
      this.#held = { client, answers: [] };
    }
    const { cutOn } = this;
    if (!cutOn || !bytes.includes(cutOn.text)) {
      target.write(bytes);
      return;
    }
    this.cuts += 1;
    this.cutOn = undefined;
    if (cutOn.when === 'before') target.destroy();
    // The request reaches the server whole; the answer reaches nobody.
    else target.end(bytes);
    client.destroy();
  }

  /** Passes nothing on in either direction; connections stay open, as behind a dead router. */
  set silent(silent: boolean) {
    this.#silent = silent;
    // What was swallowed cannot be given back: a stream with a hole in it must end.
    if (!silent) for (const socket of this.#sockets) socket.destroy();
  }

  /** Whether an answer is kept back. */
  get holds(): boolean {
    return (this.#held?.answers.length ?? 0) > 0;
  }

  release(): void {
    const held = this.#held;
    this.#held = undefined;
    for (const bytes of held?.answers ?? []) held?.client.write(bytes);
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
