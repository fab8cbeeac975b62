/**
 * The bytes of requests that all connections of a broker hold together: received and not answered yet. Past the limit,
 * connections that hold more than their reserve stop reading until there is room; those that hold little (consumers,
 * heartbeats, a new connection) go on. Main thread; owned by the server.
 *
 * Progress: when most of the limit lies in frames that are only half here, no answer would ever make room. Then the
 * connection that waited longest may finish its frame, one at a time. Memory is therefore bounded by the limit, one
 * frame, and the reserves.
 */
export interface MemoryHolder {
  /** Called when it may read again. */
  resumeReading(): void;
}

export interface RequestMemoryLimits {
  readonly limitBytes: number;
  /** What a connection may always hold. */
  readonly reserveBytes: number;
}

export class RequestMemory {
  readonly #limits: RequestMemoryLimits;
  readonly #waiting = new Set<MemoryHolder>();
  #heldBytes = 0;
  /** Of those, bytes of whole requests that are being worked on: they will be given back without any reading. */
  #workedBytes = 0;
  #finishing: MemoryHolder | undefined;

  constructor(limits: RequestMemoryLimits) {
    this.#limits = limits;
  }

  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** Connections that would read, but may not. */
  get waiting(): number {
    return this.#waiting.size;
  }

  hold(bytes: number): void {
    this.#heldBytes += bytes;
  }

  /** Whether a holder of `ownBytes` may read on; otherwise it is called back when it may. */
  mayRead(holder: MemoryHolder, ownBytes: number): boolean {
    const room = this.#heldBytes < this.#limits.limitBytes || ownBytes < this.#limits.reserveBytes;
    if (room || holder === this.#finishing) {
      this.#waiting.delete(holder);
      return true;
    }
    this.#waiting.add(holder);
    if (!this.#mayFinish() || this.#oldest() !== holder) return false;
    this.#waiting.delete(holder);
    this.#finishing = holder;
    return true;
  }

  /** A whole request of a holder is being worked on; `worked` ends it. */
  work(holder: MemoryHolder, bytes: number): void {
    this.#workedBytes += bytes;
    if (holder === this.#finishing) this.#finishing = undefined;
  }

  worked(bytes: number): void {
    this.#workedBytes -= bytes;
    this.release(bytes);
  }

  release(bytes: number): void {
    this.#heldBytes -= bytes;
    if (this.#heldBytes < this.#limits.limitBytes) for (const holder of [...this.#waiting]) holder.resumeReading();
    else if (this.#mayFinish()) this.#oldest()?.resumeReading();
  }

  /** Forgets a holder whose connection is gone; what it holds it must release as well. */
  leave(holder: MemoryHolder): void {
    this.#waiting.delete(holder);
    if (this.#finishing === holder) this.#finishing = undefined;
  }

  #mayFinish(): boolean {
    return this.#finishing === undefined && this.#workedBytes < this.#limits.limitBytes / 2;
  }

  #oldest(): MemoryHolder | undefined {
    const [first] = this.#waiting;
    return first;
  }
}
