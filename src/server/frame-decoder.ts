/**
 * Cuts a connection's bytes into frames: int32 size, then that many bytes. A size is only a claim: nothing is allocated
 * for it before its bytes have arrived, and one outside the bounds is refused from its four bytes alone.
 */
import { MalformedError } from '../protocol/malformed-error.ts';

const SIZE_BYTES = 4;

export class FrameDecoder {
  readonly #maxFrameBytes: number;
  readonly #allocate: (bytes: number) => Buffer;
  #chunks: Buffer[] = [];
  #bufferedBytes = 0;

  /** `allocate` gives the memory in which pieces are joined. */
  constructor(maxFrameBytes: number, allocate = (bytes: number): Buffer => Buffer.allocUnsafeSlow(bytes)) {
    this.#maxFrameBytes = maxFrameBytes;
    this.#allocate = allocate;
  }

  /** Bytes that arrived and are not part of a frame yet given out. */
  get bufferedBytes(): number {
    return this.#bufferedBytes;
  }

  push(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#bufferedBytes += chunk.byteLength;
  }

  /** The next whole frame without its size, or undefined until more arrived. @throws MalformedError for a bad size */
  next(): Buffer | undefined {
    if (this.#bufferedBytes < SIZE_BYTES) return undefined;
    const size = this.#peekSize();
    if (size <= 0 || size > this.#maxFrameBytes) {
      throw new MalformedError(`a frame claims ${size} bytes; 1 to ${this.#maxFrameBytes} are allowed`);
    }
    if (this.#bufferedBytes < SIZE_BYTES + size) return undefined;
    return this.#take(SIZE_BYTES + size).subarray(SIZE_BYTES);
  }

  #peekSize(): number {
    const first = this.#chunks[0]!;
    if (first.byteLength >= SIZE_BYTES) return first.readInt32BE(0);
    const size = Buffer.alloc(SIZE_BYTES);
    let filled = 0;
    for (const chunk of this.#chunks) {
      filled += chunk.copy(size, filled);
      if (filled === SIZE_BYTES) break;
    }
    return size.readInt32BE(0);
  }

  /** Exactly `count` bytes from the front: a view when one chunk holds them, joined otherwise. */
  #take(count: number): Buffer {
    this.#bufferedBytes -= count;
    const first = this.#chunks[0]!;
    if (first.byteLength >= count) {
      if (first.byteLength === count) this.#chunks.shift();
      else this.#chunks[0] = first.subarray(count);
      return first.subarray(0, count);
    }
    return this.#join(count);
  }

  #join(count: number): Buffer {
    const joined = this.#allocate(count);
    let filled = 0;
    let used = 0;
    while (filled < count) {
      const chunk = this.#chunks[used]!;
      const copied = chunk.copy(joined, filled, 0, count - filled);
      filled += copied;
      if (copied === chunk.byteLength) used++;
      else this.#chunks[used] = chunk.subarray(copied);
    }
    this.#chunks.splice(0, used);
    return joined;
  }
}
