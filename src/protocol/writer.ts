/**
 * Writes Kafka's wire primitives into a list of chunks. Small things go into a growing buffer; record bytes are listed as
 * they are, so that a fetch response costs no copy on its way to the socket. Whoever owns listed bytes keeps them
 * unchanged until the chunks were written.
 */
import { assert } from '../common/assert.ts';
import { type Uuid, uuidToBytes } from '../common/uuid.ts';
import { MAX_STRING_BYTES } from './reader.ts';

/** Below it, copying costs less than one more entry in a writev. */
const LIST_FROM_BYTES = 1024;
const FIRST_BUFFER_BYTES = 512;

export class Writer {
  readonly #chunks: Uint8Array[] = [];
  #listedBytes = 0;
  #bytes = Buffer.allocUnsafeSlow(FIRST_BUFFER_BYTES);
  #view = new DataView(this.#bytes.buffer);
  /** What lies before it in the buffer is in `#chunks` already. */
  #start = 0;
  #position = 0;

  writeBool(value: boolean): void {
    this.writeByte(value ? 1 : 0);
  }

  /** An unsigned byte. */
  writeByte(value: number): void {
    const at = this.#make(1);
    this.#bytes[at] = value;
  }

  writeInt8(value: number): void {
    const at = this.#make(1);
    this.#view.setInt8(at, value);
  }

  writeInt16(value: number): void {
    const at = this.#make(2);
    this.#view.setInt16(at, value);
  }

  writeInt32(value: number): void {
    const at = this.#make(4);
    this.#view.setInt32(at, value);
  }

  writeInt64(value: bigint): void {
    const at = this.#make(8);
    this.#view.setBigInt64(at, value);
  }

  writeUuid(value: Uuid): void {
    const at = this.#make(16);
    this.#bytes.set(uuidToBytes(value), at);
  }

  writeUnsignedVarint(value: number): void {
    let rest = value;
    while (rest >= 0x80) {
      this.writeByte((rest % 0x80) | 0x80);
      rest = Math.floor(rest / 0x80);
    }
    this.writeByte(rest);
  }

  writeString(value: string | null, flexible: boolean): void {
    const size = value === null ? -1 : Buffer.byteLength(value);
    assert(size <= MAX_STRING_BYTES, 'a string on the wire has at most 32767 bytes');
    if (flexible) this.writeUnsignedVarint(size + 1);
    else this.writeInt16(size);
    if (value === null) return;
    const at = this.#make(size);
    this.#bytes.write(value, at);
  }

  writeBytes(value: Uint8Array | null, flexible: boolean): void {
    this.writeRecords(value === null ? null : [value], flexible);
  }

  /** One byte field made of several runs. */
  writeRecords(runs: readonly Uint8Array[] | null, flexible: boolean): void {
    const size = runs === null ? -1 : runs.reduce((sum, run) => sum + run.byteLength, 0);
    if (flexible) this.writeUnsignedVarint(size + 1);
    else this.writeInt32(size);
    for (const run of runs ?? []) this.writeRaw(run);
  }

  writeArrayCount(count: number, flexible: boolean): void {
    if (flexible) this.writeUnsignedVarint(count + 1);
    else this.writeInt32(count);
  }

  /** Bytes without a length before them. */
  writeRaw(bytes: Uint8Array): void {
    if (bytes.byteLength < LIST_FROM_BYTES) {
      const at = this.#make(bytes.byteLength);
      this.#bytes.set(bytes, at);
      return;
    }
    this.#flush();
    this.#chunks.push(bytes);
    this.#listedBytes += bytes.byteLength;
  }

  /** Everything written, in order. The writer is used up. */
  finish(): Uint8Array[] {
    this.#flush();
    return this.#chunks;
  }

  /** Everything written, behind an int32 that holds its size: a frame. The writer is used up. */
  finishFrame(): Uint8Array[] {
    const body = this.finish();
    const size = Buffer.allocUnsafe(4);
    size.writeInt32BE(body.reduce((sum, chunk) => sum + chunk.byteLength, 0));
    return [size, ...body];
  }

  /** Bytes written so far. */
  get size(): number {
    return this.#listedBytes + this.#position - this.#start;
  }

  #flush(): void {
    if (this.#position === this.#start) return;
    this.#chunks.push(this.#bytes.subarray(this.#start, this.#position));
    this.#listedBytes += this.#position - this.#start;
    this.#start = this.#position;
  }

  /** Makes room for `size` more bytes, moves on and returns where they go. May replace `#bytes` and `#view`: call it first. */
  #make(size: number): number {
    if (this.#position + size > this.#bytes.byteLength) this.#grow(size);
    const start = this.#position;
    this.#position = start + size;
    return start;
  }

  /** A larger buffer, with what is not listed yet at its front; the old one stays behind the chunks that show it. */
  #grow(size: number): void {
    const pending = this.#bytes.subarray(this.#start, this.#position);
    const grown = Buffer.allocUnsafeSlow(Math.max((pending.byteLength + size) * 2, FIRST_BUFFER_BYTES));
    grown.set(pending);
    this.#bytes = grown;
    this.#view = new DataView(grown.buffer);
    this.#start = 0;
    this.#position = pending.byteLength;
  }
}
