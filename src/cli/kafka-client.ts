/**
 * A client of a running broker, for commands that ask it something: one connection, one request at a time, each with a
 * deadline, in the highest version that both sides speak. Whoever connects closes.
 */
import { connect, type Socket } from 'node:net';
import { type ErrorCode, Errors, errorName } from '../common/errors.ts';
import { type Deferred, deferred } from '../common/lifecycle.ts';
import type { Api, RequestToSend, ResponseRead } from '../protocol/api.ts';
import { decodeResponse, encodeRequest } from '../protocol/frames.ts';
import { apiVersions } from '../protocol/messages/api-versions.ts';
import type { Fields } from '../protocol/schema.ts';
import type { Endpoint } from '../server/broker.ts';
import { FrameDecoder } from '../server/frame-decoder.ts';
import { formatEndpoint } from '../server/listener.ts';
import { CliError } from './command.ts';

const TIMEOUT_MS = 15_000;
const MAX_ANSWER_BYTES = 256 * 1024 * 1024;
const CLIENT_ID = 'shoal';

export class KafkaClient {
  readonly #socket: Socket;
  readonly #address: string;
  readonly #decoder = new FrameDecoder(MAX_ANSWER_BYTES);
  #waiting: Deferred<Buffer> | undefined;
  #correlationId = 0;
  #versions: ReadonlyMap<number, { readonly minVersion: number; readonly maxVersion: number }> = new Map();

  private constructor(socket: Socket, address: string) {
    this.#socket = socket;
    this.#address = address;
    socket.setTimeout(TIMEOUT_MS);
    socket.on('data', (chunk) => this.#onData(chunk));
    socket.on('timeout', () => this.#fail(`no answer within ${TIMEOUT_MS / 1000} s`));
    socket.on('error', (error) => this.#fail(error.message));
    socket.on('close', () => this.#fail('it closed the connection'));
  }

  /** @throws CliError that says what to do when nobody answers there, or no Kafka broker does */
  static async connect(endpoint: Endpoint): Promise<KafkaClient> {
    const address = formatEndpoint(endpoint);
    const client = new KafkaClient(await connected(endpoint, address), address);
    try {
      const { apiKeys } = await client.#call(apiVersions, 0, { clientSoftwareName: '', clientSoftwareVersion: '' });
      client.#versions = new Map(apiKeys.map((one) => [one.apiKey, one]));
      return client;
    } catch (error) {
      client.close();
      throw error;
    }
  }

  /** @throws CliError when the broker does not serve the API, or does not answer */
  async call<A extends Api<Fields, Fields>>(api: A, body: RequestToSend<A>): Promise<ResponseRead<A>> {
    const theirs = this.#versions.get(api.key);
    const version = Math.min(api.versions.max, theirs?.maxVersion ?? -1);
    if (!theirs || version < Math.max(api.versions.min, theirs.minVersion)) {
      throw new CliError(`the broker at ${this.#address} does not serve ${api.name}; is it an older one?`);
    }
    return this.#call(api, version, body);
  }

  /**
   * Calls an API that no broker advertises; undefined when this one does not know it, which ends the connection.
   */
  async callUnadvertised<A extends Api<Fields, Fields>>(
    api: A,
    body: RequestToSend<A>,
  ): Promise<ResponseRead<A> | undefined> {
    try {
      return await this.#call(api, api.versions.max, body);
    } catch (error) {
      if (error instanceof CliError) return undefined;
      throw error;
    }
  }

  async #call<A extends Api<Fields, Fields>>(
    api: A,
    version: number,
    body: RequestToSend<A>,
  ): Promise<ResponseRead<A>> {
    this.#correlationId += 1;
    const header = { version, correlationId: this.#correlationId, clientId: CLIENT_ID };
    this.#waiting = deferred();
    const answered = this.#waiting.promise;
    if (this.#socket.destroyed) this.#fail('it closed the connection');
    else this.#socket.write(Buffer.concat(encodeRequest(api as Api, header, body as never)));
    const frame = await answered;
    try {
      return decodeResponse(api as Api, version, frame).body as ResponseRead<A>;
    } catch (error) {
      throw new CliError(`the broker at ${this.#address} answered ${api.name} with ${(error as Error).message}`);
    }
  }

  #onData(chunk: Buffer): void {
    try {
      this.#decoder.push(chunk);
      const frame = this.#decoder.next();
      if (!frame) return;
      this.#waiting?.resolve(frame);
      this.#waiting = undefined;
    } catch (error) {
      this.#fail(`what it sends is not Kafka's protocol (${(error as Error).message})`);
    }
  }

  #fail(reason: string): void {
    this.#socket.destroy();
    this.#waiting?.reject(new CliError(`the broker at ${this.#address} did not answer: ${reason}`));
    this.#waiting = undefined;
  }

  close(): void {
    this.#socket.destroy();
  }
}

function connected({ host, port }: Endpoint, address: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, noDelay: true, timeout: TIMEOUT_MS });
    const refuse = (reason: string): void => {
      socket.destroy();
      reject(new CliError(`no broker answers at ${address} (${reason}); name one with --bootstrap HOST:PORT`));
    };
    socket.once('error', ({ code, message }: NodeJS.ErrnoException) => refuse(code ?? message));
    socket.once('timeout', () => refuse('timed out'));
    socket.once('connect', () => {
      socket.removeAllListeners();
      resolve(socket);
    });
  });
}

/** @throws CliError with what the broker says of `what`, unless that is NONE */
export function requireNone(errorCode: ErrorCode, message: string | null, what: string): void {
  if (errorCode === Errors.NONE) return;
  throw new CliError(`${what}: ${message ? `${message} (${errorName(errorCode)})` : errorName(errorCode)}`);
}
