/**
 * Reads Kafka's wire primitives from one frame (big-endian; KIP-482's compact forms where asked for).
 *
 * The bytes are hostile. Every claim (string length, array count, tag size) is compared with the bytes that are left
 * before anything is allocated for it, and a frame may hold at most `MAX_ELEMENTS` array elements in all: an element of
 * three bytes on the wire becomes an object of a hundred, so that the frame limit alone would not bound memory.
 *
 * `bytes` and `records` come out as views of the frame; strings are copies. @throws MalformedError from every method.
 */
import { type Uuid, uuidFromBytes } from '../common/uuid.ts';
import { MalformedError } from './malformed-error.ts';

/**
 * Array elements in one frame, all arrays together: more than a request about every partition of a large cluster has.
 * At some 300 bytes each once read, a hostile frame becomes 60 MB at most.
 */
const MAX_ELEMENTS = 200_000;

/** Kafka's limit of a string in bytes, also of the compact form, whose length could say more. */
export const MAX_STRING_BYTES = 32_767;

export class Reader {
  readonly #bytes: Buffer;
  readonly #view: DataView;
  #position: number;
  #end: number;
  #elementsLeft = MAX_ELEMENTS;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#position = 0;
    this.#end = bytes.byteLength;
  }

  get remaining(): number {
    return this.#end - this.#position;
  }

  readBool(): boolean {
    return this.#bytes[this.#take(1)] !== 0;
  }

  readInt8(): number {
    return this.#view.getInt8(this.#take(1));
  }

  readInt16(): number {
    return this.#view.getInt16(this.#take(2));
  }

  readInt32(): number {
    return this.#view.getInt32(this.#take(4));
  }

  readInt64(): bigint {
    return this.#view.getBigInt64(this.#take(8));
  }

  readUuid(): Uuid {
    return uuidFromBytes(this.#bytes, this.#take(16));
  }

  /** An unsigned 32-bit number in one to five bytes, seven bits each, least significant first. */
  readUnsignedVarint(): number {
    let value = 0;
    for (let shift = 0; shift <= 28; shift += 7) {
      const byte = this.#bytes[this.#take(1)]!;
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
    throw new MalformedError('an unsigned varint takes more than 5 bytes');
  }

  readString(flexible: boolean): string | null {
    const length = flexible ? this.readUnsignedVarint() - 1 : this.readInt16();
    if (length === -1) return null;
    if (length < 0 || length > MAX_STRING_BYTES) {
      throw new MalformedError(`a string claims ${length} bytes; at most ${MAX_STRING_BYTES} are allowed`);
    }
    const start = this.#take(length);
    return this.#bytes.toString('utf8', start, start + length);
  }

  /** A view of the frame; null for a length of −1. Also what Kafka calls records. */
  readBytes(flexible: boolean): Uint8Array | null {
    const length = flexible ? this.readUnsignedVarint() - 1 : this.readInt32();
    if (length === -1) return null;
    if (length < 0) throw new MalformedError(`a byte field claims ${length} bytes`);
    const start = this.#take(length);
    return this.#bytes.subarray(start, start + length);
  }

  /** An array's count, −1 for null. `minElementBytes` is the least that one element takes on the wire, at least 1. */
  readArrayCount(flexible: boolean, minElementBytes: number): number {
    const count = flexible ? this.readUnsignedVarint() - 1 : this.readInt32();
    if (count === -1) return count;
    if (count < 0 || count * minElementBytes > this.remaining) {
      throw new MalformedError(`an array claims ${count} elements, but only ${this.remaining} bytes are left`);
    }
    if (count > this.#elementsLeft) {
      throw new MalformedError(`the request has more than ${MAX_ELEMENTS} array elements; split it`);
    }
    this.#elementsLeft -= count;
    return count;
  }

  /** KIP-482's tagged fields: calls `readTag` with the reader bounded to that tag, and skips what it left unread. */
  readTaggedFields(readTag?: (tag: number) => void): void {
    const count = this.readUnsignedVarint();
    if (count * 2 > this.remaining) {
      throw new MalformedError(`${count} tagged fields are claimed, but only ${this.remaining} bytes are left`);
    }
    for (let i = 0; i < count; i++) {
      const tag = this.readUnsignedVarint();
      const size = this.readUnsignedVarint();
      if (size > this.remaining) {
        throw new MalformedError(`tagged field ${tag} claims ${size} bytes, but only ${this.remaining} are left`);
      }
      if (readTag) this.#within(size, () => readTag(tag));
      else this.#position += size;
    }
  }

  /** Runs `read` so that it cannot see past the next `size` bytes, then stands after them. */
  #within(size: number, read: () => void): void {
    const outerEnd = this.#end;
    const end = this.#position + size;
    this.#end = end;
    read();
    this.#end = outerEnd;
    this.#position = end;
  }

  /** Moves on by `size` and returns where it stood. */
  #take(size: number): number {
    const start = this.#position;
    if (size > this.#end - start) {
      throw new MalformedError(`${size} bytes expected at byte ${start}, but only ${this.#end - start} are left`);
    }
    this.#position = start + size;
    return start;
  }
}
