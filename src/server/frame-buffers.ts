/**
 * Memory for frames that came in pieces, used again once their requests were worked on. A producer's frame of a megabyte
 * would otherwise be a megabyte of garbage in pages that the kernel has to clear first.
 *
 * Main thread; one for all connections of a server. What is not given back is left to garbage collection.
 */

/** Smaller frames are cheap, and too many to look through. */
const SMALLEST_BYTES = 64 * 1024;
/** Unused memory that is kept. Beyond it the one unused longest goes. */
const KEPT_BYTES = 32 * 1024 * 1024;
/** A frame may lie in a buffer so many times its size, and no more: held bytes are counted by frame. */
const MOST_WASTE = 1.25;

export class FrameBuffers {
  /** The one given back last is the last. */
  #unused: ArrayBuffer[] = [];
  #unusedBytes = 0;
  readonly #taken = new WeakSet<ArrayBufferLike>();

  get unusedBytes(): number {
    return this.#unusedBytes;
  }

  /** Bytes of any content. */
  take(bytes: number): Buffer {
    if (bytes < SMALLEST_BYTES) return Buffer.allocUnsafeSlow(bytes);
    const buffer = this.#fitting(bytes) ?? Buffer.allocUnsafeSlow(bytes).buffer;
    this.#taken.add(buffer);
    return Buffer.from(buffer, 0, bytes);
  }

  /** Ends the use of a frame, whichever memory it lies in; nothing may look at it afterwards. */
  giveBack(frame: Uint8Array): void {
    const { buffer } = frame;
    if (!this.#taken.delete(buffer)) return;
    this.#unused.push(buffer as ArrayBuffer);
    this.#unusedBytes += buffer.byteLength;
    while (this.#unusedBytes > KEPT_BYTES) this.#unusedBytes -= this.#unused.shift()!.byteLength;
  }

  #fitting(bytes: number): ArrayBuffer | undefined {
    const at = this.#unused.findLastIndex(({ byteLength }) => bytes <= byteLength && byteLength <= bytes * MOST_WASTE);
    if (at < 0) return undefined;
    const [buffer] = this.#unused.splice(at, 1);
    this.#unusedBytes -= buffer!.byteLength;
    return buffer;
  }
}
