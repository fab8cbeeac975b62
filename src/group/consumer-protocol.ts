/**
 * The embedded protocol "consumer" of classic groups: what members put into a subscription and an assignment. The group
 * protocol itself carries them as opaque bytes; the coordinator looks inside to know what a group is subscribed to, and
 * when a group changes between the classic and the consumer protocol. Hostile bytes: every length is checked.
 */

export interface TopicPartitions {
  readonly topic: string;
  readonly partitions: readonly number[];
}

export interface ConsumerSubscription {
  readonly version: number;
  readonly topics: readonly string[];
  readonly userData: Uint8Array | null;
  /** What the member says it owns (v1 and up). */
  readonly ownedPartitions: readonly TopicPartitions[];
  /** Of which generation it says so (v2 and up); −1 when it does not. */
  readonly generationId: number;
  /** v3 and up. */
  readonly rackId: string | null;
}

export interface ConsumerAssignment {
  readonly partitions: readonly TopicPartitions[];
  /** An assignor's own; those that Kafka brings along have none. */
  readonly userData: Uint8Array | null;
}

/** Kafka's consumers of classic groups; other protocol types (connect, sr) are none of ours. */
export const CONSUMER_PROTOCOL_TYPE = 'consumer';

const HIGHEST_VERSION = 3;

class Reader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get left(): number {
    return this.#bytes.length - this.#at;
  }

  int16(): number {
    this.#at += 2;
    return this.#bytes.readInt16BE(this.#at - 2);
  }

  int32(): number {
    this.#at += 4;
    return this.#bytes.readInt32BE(this.#at - 4);
  }

  string(): string {
    return this.nullableString() ?? fail('a null string');
  }

  nullableString(): string | null {
    const length = this.int16();
    return length < 0 ? null : this.#take(length).toString('utf8');
  }

  nullableBytes(): Uint8Array | null {
    const length = this.int32();
    return length < 0 ? null : new Uint8Array(this.#take(length));
  }

  /** Elements are read one by one, so a count that lies ends at the end of the bytes, with nothing allocated for it. */
  array<T>(element: () => T): T[] {
    const count = this.int32();
    const elements: T[] = [];
    for (let index = 0; index < count; index += 1) elements.push(element());
    return elements;
  }

  topicPartitions(): TopicPartitions {
    return { topic: this.string(), partitions: this.array(() => this.int32()) };
  }

  #take(length: number): Buffer {
    if (length > this.left) fail(`${length} bytes where ${this.left} are left`);
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }
}

function fail(what: string): never {
  throw new RangeError(`consumer protocol: ${what}`);
}

function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** undefined when the bytes are no subscription. A version that is not known yet is read as the highest known one. */
export function readSubscription(bytes: Uint8Array): ConsumerSubscription | undefined {
  return attempt(() => {
    const reader = new Reader(bytes);
    const version = reader.int16();
    if (version < 0) fail(`version ${version}`);
    return {
      version: Math.min(version, HIGHEST_VERSION),
      topics: reader.array(() => reader.string()),
      userData: reader.nullableBytes(),
      ownedPartitions: version >= 1 ? reader.array(() => reader.topicPartitions()) : [],
      generationId: version >= 2 ? reader.int32() : -1,
      rackId: version >= 3 ? reader.nullableString() : null,
    };
  });
}

/** undefined when the bytes are no assignment. Empty ones assign nothing. */
export function readAssignment(bytes: Uint8Array): ConsumerAssignment | undefined {
  if (bytes.length === 0) return { partitions: [], userData: null };
  return attempt(() => {
    const reader = new Reader(bytes);
    if (reader.int16() < 0) fail('a negative version');
    return { partitions: reader.array(() => reader.topicPartitions()), userData: reader.nullableBytes() };
  });
}

/** An assignment in the version of the member's subscription, which it can surely read. */
export function writeAssignment(partitions: readonly TopicPartitions[], version: number): Uint8Array {
  const parts: Buffer[] = [int16(version), int32(partitions.length)];
  for (const { topic, partitions: indexes } of partitions) parts.push(string(topic), int32Array(indexes));
  parts.push(int32(-1));
  return new Uint8Array(Buffer.concat(parts));
}

function int16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeInt16BE(value);
  return bytes;
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}

function int32Array(values: readonly number[]): Buffer {
  return Buffer.concat([int32(values.length), ...values.map(int32)]);
}

function string(text: string): Buffer {
  const bytes = Buffer.from(text, 'utf8');
  return Buffer.concat([int16(bytes.length), bytes]);
}
