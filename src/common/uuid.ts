/**
 * Kafka's Uuid: 16 bytes on the wire, 22 characters of unpadded base64url in text (topic ids, member ids, directories).
 * Everywhere in the engine a topic id is that text; only codecs and segment footers see bytes.
 */
import type { Random } from './random.ts';

/** 22 characters of base64url, e.g. `4Xy1bQFzQ6a3n5r1l2k3Jg`. */
export type Uuid = string;

/** Kafka's Uuid.ZERO_UUID: "no topic id". */
export const ZERO_UUID: Uuid = 'AAAAAAAAAAAAAAAAAAAAAA';

/** 16 bytes at `offset` → text. The caller checked that 16 bytes are there. */
export function uuidFromBytes(bytes: Uint8Array, offset = 0): Uuid {
  return Buffer.from(bytes.buffer, bytes.byteOffset + offset, 16).toString('base64url');
}

/** Text → 16 bytes. @throws RangeError when the text is no Uuid. */
export function uuidToBytes(uuid: Uuid): Uint8Array {
  const bytes = Buffer.from(uuid, 'base64url');
  if (bytes.length !== 16) throw new RangeError(`"${uuid}" is not a Uuid: 22 characters of base64url expected`);
  return bytes;
}

/** True for the 22-character form that decodes to 16 bytes and back. */
export function isUuid(text: string): boolean {
  return /^[A-Za-z0-9_-]{21}[AQgw]$/.test(text);
}

/** A fresh random Uuid (version 4 layout). Like Kafka's, it never starts with '-', which command lines take for a flag. */
export function randomUuid(random: Random): Uuid {
  for (;;) {
    const bytes = random.bytes(16);
    bytes[6] = (bytes[6]! & 0x0f) | 0x40;
    bytes[8] = (bytes[8]! & 0x3f) | 0x80;
    const uuid = uuidFromBytes(bytes);
    if (!uuid.startsWith('-')) return uuid;
  }
}

/** The dashed hexadecimal form, used for object keys. */
export function uuidToHex(uuid: Uuid): string {
  const hex = Buffer.from(uuidToBytes(uuid)).toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
