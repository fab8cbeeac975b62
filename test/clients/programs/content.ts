/**
 * What a record of the traffic programs holds: a function of its topic's name, partition and sequence, the same in every
 * language. Keys, values and header values may be null or empty; text is not only ASCII, and values end in bytes that are
 * no UTF-8.
 */

/** A block's records have the same headers, and either nulls or empty strings. */
export const BLOCK_RECORDS = 1000;

export type Headers = readonly (readonly [key: string, value: Buffer | null])[];

const EMPTY = Buffer.alloc(0);

const BLOCK_HEADERS: readonly Headers[] = [
  [],
  [['plain', Buffer.from('value')]],
  [['empty', EMPTY]],
  [['null', null]],
  [
    ['twice', Buffer.from('1')],
    ['twice', Buffer.from('é漢')],
  ],
];

export interface Content {
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers: Headers;
  /** In ms. Undefined in topics named clock.…, whose producer has the time from its own clock. */
  readonly timestamp: number | undefined;
}

export interface ContentTopic {
  readonly name: string;
  readonly seed: number;
}

/** The seed is the FNV-1a hash of the name. */
export function contentTopic(name: string): ContentTopic {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(name)) hash = Math.imul(hash ^ byte, 0x01000193);
  return { name, seed: hash >>> 0 };
}

/** An invertible mix of 32 bits, unsigned. */
export function mixed(value: number): number {
  let x = value;
  x = Math.imul(x ^ (x >>> 16), 0x7feb352d);
  x = Math.imul(x ^ (x >>> 15), 0x846ca68b);
  return (x ^ (x >>> 16)) >>> 0;
}

const PADDING = Array.from({ length: 16 }, (_, times) => 'abcdefgh-'.repeat(times));
const NO_UTF8 = Buffer.of(0xff, 0xfe);

export const blockOf = (sequence: number): number => Math.floor(sequence / BLOCK_RECORDS);
/** Topics named nonull.… are written by a client that sends no null header values. */
const isWithoutNullHeaders = (topic: string): boolean => topic.startsWith('nonull.');

export function headersOf(topic: string, block: number): Headers {
  const headers = BLOCK_HEADERS[block % BLOCK_HEADERS.length]!;
  return isWithoutNullHeaders(topic) ? headers.map(([key, value]) => [key, value ?? EMPTY]) : headers;
}

export const hasNulls = (block: number): boolean => block % 2 === 0;

export function contentOf(topic: ContentTopic, partition: number, sequence: number, baseTimestamp: number): Content {
  const x = mixed(topic.seed + Math.imul(partition, 0x85ebca77) + Math.imul(sequence, 0xc2b2ae3d));
  const nothing = hasNulls(blockOf(sequence)) ? null : EMPTY;
  const text = `${topic.name}/${partition}/${sequence}/é漢🐟/${PADDING[(x >>> 12) & 15]}`;
  return {
    key: (x & 3) === 0 ? nothing : Buffer.from(`key-${x % 1000}`),
    value: ((x >>> 8) & 7) === 0 ? nothing : Buffer.concat([Buffer.from(text), NO_UTF8]),
    headers: headersOf(topic.name, blockOf(sequence)),
    timestamp: topic.name.startsWith('clock.') ? undefined : baseTimestamp + sequence * 3 + (x % 2000),
  };
}
