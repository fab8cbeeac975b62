/**
 * The body of a PUT as undici takes it: an async iterable over the caller's chunks, made so that when undici is done
 * with it, no byte of the caller's memory is still waiting in a socket.
 *
 * A slice of at least `DIRECT_BYTES` is above every socket's high-water mark, so undici waits for the drain, that is
 * until the kernel or TLS has it, before it asks for the next; smaller ones are copied together into private memory. An
 * attempt that is aborted, or answered early, has its socket destroyed first, which drops what was queued.
 */

/** Above the high-water mark of sockets in all Node versions (64 KiB). */
const DIRECT_BYTES = 128 * 1024;
/** What is handed over at a time; progress is seen, and deadlines are measured, in these steps. */
const SLICE_BYTES = 256 * 1024;

export class RequestBody {
  readonly chunks: readonly Uint8Array[];
  readonly sizeBytes: number;

  constructor(chunks: readonly Uint8Array[]) {
    this.chunks = chunks;
    this.sizeBytes = chunks.reduce((size, chunk) => size + chunk.byteLength, 0);
  }

  /** The part of the body that lies in [position, position + size), as views. */
  slice(position: number, size: number): RequestBody {
    const parts: Uint8Array[] = [];
    let chunkStart = 0;
    for (const chunk of this.chunks) {
      const from = Math.max(position - chunkStart, 0);
      const to = Math.min(position + size - chunkStart, chunk.byteLength);
      if (from < to) parts.push(chunk.subarray(from, to));
      chunkStart += chunk.byteLength;
    }
    return new RequestBody(parts);
  }

  /** @param next asked before each step; false ends the body early, for an attempt that is over */
  async *stream(next: () => boolean): AsyncGenerator<Uint8Array, void> {
    let staged: Uint8Array[] = [];
    let stagedBytes = 0;
    for (const piece of this.#pieces()) {
      const direct = piece.byteLength >= DIRECT_BYTES;
      if (!direct) {
        staged.push(piece);
        stagedBytes += piece.byteLength;
      }
      if (stagedBytes > 0 && (direct || stagedBytes >= DIRECT_BYTES)) {
        if (!next()) return;
        yield Buffer.concat(staged, stagedBytes);
        staged = [];
        stagedBytes = 0;
      }
      if (direct) {
        if (!next()) return;
        yield piece;
      }
    }
    if (stagedBytes > 0 && next()) yield Buffer.concat(staged, stagedBytes);
  }

  /** The chunks cut into slices; a remainder of a large chunk that would be copied is joined to the slice before it. */
  *#pieces(): Generator<Uint8Array, void> {
    for (const chunk of this.chunks) {
      let position = 0;
      while (chunk.byteLength - position >= SLICE_BYTES + DIRECT_BYTES) {
        yield chunk.subarray(position, position + SLICE_BYTES);
        position += SLICE_BYTES;
      }
      if (position < chunk.byteLength) yield chunk.subarray(position);
    }
  }
}
