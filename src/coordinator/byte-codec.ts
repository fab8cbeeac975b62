/**
 * Compact bytes for what is stored as a blob: variable-length integers, the sign in the lowest bit. Written and read by
 * this database only; a blob that ends early or has bytes left is damage and throws.
 */

/** Beyond it a value does not survive the way through a number, and BigInt arithmetic is needed. */
const SAFE = 2 ** 51;

export class ByteWriter {
  #bytes = new Uint8Array(256);
  #length = 0;

  #reserve(): void {
    if (this.#length + 10 <= this.#bytes.length) return;
    const grown = new Uint8Array(this.#bytes.length * 2);
    grown.set(this.#bytes);
    this.#bytes = grown;
  }

  number(value: number): void {
    this.#reserve();
    let rest = value < 0 ? -value * 2 - 1 : value * 2;
    while (rest >= 128) {
      this.#bytes[this.#length++] = (rest % 128) | 128;
      rest = Math.floor(rest / 128);
    }
    this.#bytes[this.#length++] = rest;
  }

  bigint(value: bigint): void {
    const number = Number(value);
    if (number > -SAFE && number < SAFE) {
      this.number(number);
      return;
    }
    this.#reserve();
    let rest = value < 0n ? -value * 2n - 1n : value * 2n;
    while (rest >= 128n) {
      this.#bytes[this.#length++] = Number(rest & 127n) | 128;
      rest >>= 7n;
    }
    this.#bytes[this.#length++] = Number(rest);
  }

  /** A copy of what was written; the writer starts over. */
  finish(): Uint8Array {
    const bytes = this.#bytes.slice(0, this.#length);
    this.#length = 0;
    return bytes;
  }
}

export class ByteReader {
  readonly #bytes: Uint8Array;
  #position = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get atEnd(): boolean {
    return this.#position === this.#bytes.length;
  }

  bigint(): bigint {
    const start = this.#position;
    let number = 0;
    let scale = 1;
    for (;;) {
      const byte = this.#next();
      number += (byte & 127) * scale;
      scale *= 128;
      if (byte < 128) break;
    }
    return number < SAFE ? BigInt(unsign(number)) : this.#large(start);
  }

  number(): number {
    return Number(this.bigint());
  }

  /** Reads again what is too large for a number. */
  #large(start: number): bigint {
    this.#position = start;
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = this.#next();
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) break;
    }
    return value & 1n ? -(value >> 1n) - 1n : value >> 1n;
  }

  #next(): number {
    const byte = this.#bytes[this.#position];
    if (byte === undefined) throw new RangeError('a stored blob ends early');
    this.#position += 1;
    return byte;
  }
}

function unsign(encoded: number): number {
  return encoded % 2 === 1 ? -Math.floor(encoded / 2) - 1 : encoded / 2;
}
