/**
 * One client's socket: cuts frames, keeps the order of requests, bounds what it holds, writes answers.
 *
 * Reading stops while the connection holds more request bytes or requests than its limits, or the broker as a whole does
 * (request-memory.ts); the kernel's window then holds the client back. Answers are written with one writev each, record
 * bytes as they are; what an answer borrowed is given back when the socket has taken it or is gone.
 *
 * Main thread. Made by the server for each accepted socket; closes itself when the socket does.
 */
import type { Socket } from 'node:net';
import type { Logger } from '../common/logger.ts';
import { MalformedError } from '../protocol/malformed-error.ts';
import { CloseConnectionError } from './api-handler.ts';
import type { ConnectionMetrics } from './connection-metrics.ts';
import type { FrameBuffers } from './frame-buffers.ts';
import { FrameDecoder } from './frame-decoder.ts';
import type { KafkaApis, ParsedRequest } from './kafka-apis.ts';
import type { MemoryHolder, RequestMemory } from './request-memory.ts';
import { type QueueEntry, RequestQueue } from './request-queue.ts';
import type { ServerLimits } from './server-limits.ts';

export interface ConnectionOptions {
  readonly socket: Socket;
  readonly id: string;
  readonly apis: KafkaApis;
  readonly memory: RequestMemory;
  readonly frames: FrameBuffers;
  readonly limits: ServerLimits;
  readonly metrics: ConnectionMetrics;
  readonly logger: Logger;
  readonly onClosed: (connection: Connection) => void;
}

/** What goes out for a request: a frame, nothing (`chunks` empty), or the end of the connection. */
type Answer = { readonly chunks: readonly Uint8Array[] } | { readonly closeReason: string };

interface Entry extends QueueEntry<Answer> {
  /** Undefined for what could not be read: its answer is there from the start. */
  readonly request: ParsedRequest | undefined;
  /** Held until the request was worked on; undefined when already its size was wrong. */
  readonly frame: Uint8Array | undefined;
  readonly afterWrite: (() => void)[];
}

const FRAME_SIZE_BYTES = 4;
/** How long a client may take to close its side after ours was; cut off then. */
const LINGER_MS = 1_000;

export class Connection implements MemoryHolder {
  readonly #options: ConnectionOptions;
  readonly #socket: Socket;
  readonly #decoder: FrameDecoder;
  readonly #queue = new RequestQueue<Answer, Entry>();
  readonly #gone = new AbortController();
  readonly #clientHost: string;
  #clientId = '';
  #heldBytes = 0;
  /** No further request is taken: something unreadable came, or the server drains. */
  #closing = false;
  #timeoutMs = 0;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#socket = options.socket;
    this.#decoder = new FrameDecoder(options.limits.socketRequestMaxBytes, (bytes) => options.frames.take(bytes));
    this.#clientHost = options.socket.remoteAddress ?? '';
    this.#listen();
  }

  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** Takes no further request, answers those that run, then closes. Whatever only waits is told to stop. */
  drain(): void {
    if (this.#gone.signal.aborted) return;
    this.#closing = true;
    for (const entry of this.#queue.dropWaiting()) this.#release(bytesOf(entry));
    this.#gone.abort(new CloseConnectionError('the broker is shutting down'));
    this.#pump();
  }

  /** Ends it at once; the reason is logged. */
  destroy(reason: string): void {
    if (!this.#socket.destroyed) this.#log('info', reason);
    this.#socket.destroy();
  }

  resumeReading(): void {
    this.#regulate();
  }

  #listen(): void {
    const socket = this.#socket;
    socket.setNoDelay(true);
    // Finds peers that vanished without a word, beside the idle limit that finds those that only fell silent.
    socket.setKeepAlive(true, 60_000);
    socket.on('data', (chunk) => this.#onData(chunk));
    socket.on('timeout', () => this.#onTimeout());
    socket.on('error', (error) => this.#log('debug', `the socket failed: ${error.message}`));
    socket.on('close', () => this.#onClose());
    this.#armTimeout();
  }

  #onData(chunk: Buffer): void {
    this.#heldBytes += chunk.byteLength;
    this.#options.memory.hold(chunk.byteLength);
    this.#options.metrics.incomingBytes.add(chunk.byteLength);
    if (this.#closing) this.#release(chunk.byteLength);
    else this.#decoder.push(chunk);
    this.#pump();
  }

  /** Does whatever can be done now; every event ends here. */
  #pump(): void {
    this.#startRequests();
    for (let entry = this.#queue.write(); entry; entry = this.#queue.write()) this.#write(entry);
    if (this.#isDone() && !this.#socket.destroyed) this.#socket.end();
    this.#regulate();
  }

  #startRequests(): void {
    this.#takeRequests();
    for (let entry = this.#queue.start(); entry; entry = this.#queue.start()) this.#start(entry);
  }

  #takeRequests(): void {
    while (!this.#closing && this.#queue.length < this.#options.limits.connectionMaxRequests) {
      const entry = this.#nextEntry();
      if (!entry) return;
      this.#queue.add(entry);
    }
  }

  /** The next request; or, for bytes that are none, an entry that ends the connection once those before it are answered. */
  #nextEntry(): Entry | undefined {
    let frame: Uint8Array | undefined;
    try {
      frame = this.#decoder.next();
      if (!frame) return undefined;
      const request = this.#options.apis.parse(frame);
      this.#clientId = request.header.clientId ?? '';
      return { overlaps: request.overlaps, answer: undefined, request, frame, afterWrite: [] };
    } catch (error) {
      this.#closing = true;
      const answer = { closeReason: this.#refusal(error) };
      return { overlaps: false, answer, request: undefined, frame, afterWrite: [] };
    }
  }

  #refusal(error: unknown): string {
    if (error instanceof MalformedError || error instanceof CloseConnectionError) return error.message;
    this.#options.logger.error({ err: error, ...this.#peer() }, 'reading a request failed');
    return 'a request could not be read';
  }

  #start(entry: Entry): void {
    const { request } = entry;
    if (!request) {
      this.#release(bytesOf(entry));
      return;
    }
    const bytes = bytesOf(entry);
    this.#options.memory.work(this, bytes);
    void this.#run(request, entry).then((answer) => {
      this.#heldBytes -= bytes;
      this.#options.memory.worked(bytes);
      // Produce alone brings large frames, and has copied their records by now. Other handlers may keep views of theirs.
      if (entry.overlaps) this.#options.frames.giveBack(entry.frame!);
      entry.answer = answer;
      if (this.#socket.destroyed) finish(entry);
      else this.#pump();
    });
  }

  async #run(request: ParsedRequest, entry: Entry): Promise<Answer> {
    try {
      const chunks = await request.run({
        clientHost: this.#clientHost,
        connectionId: this.#options.id,
        signal: this.#gone.signal,
        afterWrite: (callback) => entry.afterWrite.push(callback),
      });
      return { chunks: chunks ?? [] };
    } catch (error) {
      if (error instanceof CloseConnectionError) return { closeReason: `${request.name}: ${error.message}` };
      this.#options.logger.error({ err: error, ...this.#peer(), request: request.name }, 'answering failed');
      return { closeReason: `${request.name} could not be answered` };
    }
  }

  #write(entry: Entry): void {
    const answer = entry.answer!;
    if ('closeReason' in answer) {
      finish(entry);
      this.destroy(answer.closeReason);
    } else if (answer.chunks.length === 0) {
      entry.request?.measure.done(0);
      finish(entry);
      this.#queue.written(entry);
      // No write will end and pump again for a request that waited behind this one.
      this.#startRequests();
    } else {
      const bytes = answer.chunks.reduce((sum, { byteLength }) => sum + byteLength, 0);
      this.#options.metrics.outgoingBytes.add(bytes);
      this.#send(answer.chunks, () => {
        entry.request?.measure.done(bytes);
        finish(entry);
        if (this.#socket.destroyed) return;
        this.#queue.written(entry);
        this.#pump();
      });
    }
  }

  #send(chunks: readonly Uint8Array[], onTaken: () => void): void {
    this.#socket.cork();
    const last = chunks.length - 1;
    for (const chunk of chunks.slice(0, last)) this.#socket.write(chunk);
    this.#socket.write(chunks[last]!, onTaken);
    this.#socket.uncork();
  }

  #release(bytes: number): void {
    this.#heldBytes -= bytes;
    this.#options.memory.release(bytes);
  }

  /** Reads or not, and for how long silence is borne. */
  #regulate(): void {
    if (this.#socket.destroyed) return;
    if (this.#mayRead()) this.#socket.resume();
    else this.#socket.pause();
    this.#armTimeout();
  }

  #mayRead(): boolean {
    const { limits, memory } = this.#options;
    // What still comes is thrown away: bytes left unread would make the kernel cut off the last answers.
    if (this.#closing) return true;
    if (this.#queue.length >= limits.connectionMaxRequests) return false;
    if (this.#heldBytes >= limits.connectionMaxRequestBytes && this.#queue.length > 0) return false;
    return memory.mayRead(this, this.#heldBytes);
  }

  /** Silence is counted by the socket itself, which alone sees an answer leave bit by bit. */
  #armTimeout(): void {
    const { stalledConnectionMs, connectionsMaxIdleMs } = this.#options.limits;
    const open = this.#owesBytes() ? stalledConnectionMs : connectionsMaxIdleMs;
    const timeoutMs = this.#isDone() ? LINGER_MS : open;
    if (timeoutMs === this.#timeoutMs) return;
    this.#timeoutMs = timeoutMs;
    this.#socket.setTimeout(timeoutMs);
  }

  /** The client has to do something: take an answer, or send the rest of a frame that we are willing to read. */
  #owesBytes(): boolean {
    return this.#queue.isWriting || (this.#decoder.bufferedBytes > 0 && !this.#socket.isPaused());
  }

  /** Everything was answered and our side is closed. */
  #isDone(): boolean {
    return this.#closing && this.#queue.length === 0;
  }

  #onTimeout(): void {
    if (this.#isDone()) this.destroy('did not close its side');
    else if (this.#queue.isWriting)
      this.destroy(`took no byte of its answer${this.#written()} for ${this.#timeoutMs} ms`);
    else if (this.#owesBytes()) this.destroy(`sent no byte of a begun frame for ${this.#timeoutMs} ms`);
    else if (this.#queue.length === 0 && !this.#socket.isPaused()) this.destroy(`idle for ${this.#timeoutMs} ms`);
    else this.#socket.setTimeout(this.#timeoutMs);
  }

  /** What is being answered, for the log. */
  #written(): string {
    const name = this.#queue.unwritten[0]?.request?.name;
    return name ? ` to ${name}` : '';
  }

  #onClose(): void {
    this.#closing = true;
    this.#gone.abort(new CloseConnectionError('the client is gone'));
    this.#options.memory.leave(this);
    const unread = this.#queue.dropWaiting().reduce((sum, entry) => sum + bytesOf(entry), this.#decoder.bufferedBytes);
    this.#release(unread);
    // The socket is closed, so nothing reads these bytes any more. What still runs gives back when it is done.
    for (const entry of this.#queue.unwritten) if (entry.answer) finish(entry);
    this.#log('debug', 'closed');
    this.#options.onClosed(this);
  }

  #peer() {
    return { connectionId: this.#options.id, clientHost: this.#clientHost, clientId: this.#clientId };
  }

  #log(level: 'debug' | 'info', reason: string): void {
    this.#options.logger[level]({ ...this.#peer(), reason }, `connection ${this.#options.id}: ${reason}`);
  }
}

/** What a request holds of the broker's memory. */
function bytesOf({ frame }: Entry): number {
  return frame ? frame.byteLength + FRAME_SIZE_BYTES : 0;
}

/** Gives back what an answer borrowed, once. */
function finish(entry: Entry): void {
  for (const callback of entry.afterWrite.splice(0)) callback();
}
