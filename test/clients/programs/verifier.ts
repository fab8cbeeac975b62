/** Checks what a consumer reads, record by record: each once, in order, as it was written. */
import { type TrafficArguments, totalRecords } from './arguments.ts';
import { type Content, type ContentTopic, contentOf, contentTopic, mixed } from './content.ts';

interface TopicRead {
  readonly topic: ContentTopic;
  /** A partition's next offset. */
  readonly next: number[];
  records: number;
  /** A sum over offsets and timestamps that does not depend on the order of partitions. */
  timestamps: number;
}

export interface ReadRecord extends Content {
  readonly timestamp: number;
}

const sameBytes = (a: Buffer | null, b: Buffer | null): boolean => (a === null || b === null ? a === b : a.equals(b));

function sameContent(read: ReadRecord, expected: Content): boolean {
  return (
    sameBytes(read.key, expected.key) &&
    sameBytes(read.value, expected.value) &&
    read.headers.length === expected.headers.length &&
    read.headers.every(
      ([key, value], i) => key === expected.headers[i]![0] && sameBytes(value, expected.headers[i]![1]),
    )
  );
}

export class Verifier {
  readonly total: number;
  records = 0;
  readonly #traffic: TrafficArguments;
  readonly #topics = new Map<string, TopicRead>();

  constructor(traffic: TrafficArguments) {
    this.#traffic = traffic;
    this.total = totalRecords(traffic);
    for (const { name } of traffic.topics) {
      const next = Array.from({ length: traffic.partitions }, () => 0);
      this.#topics.set(name, { topic: contentTopic(name), next, records: 0, timestamps: 0 });
    }
  }

  /** @throws Error that tells what is wrong with the record */
  check(topicName: string, partition: number, offset: number, read: ReadRecord): void {
    const state = this.#topics.get(topicName)!;
    const place = `${topicName}-${partition}@${offset}`;
    if (offset !== state.next[partition]) throw new Error(`${place} came where ${state.next[partition]} was due`);
    if (offset >= this.#traffic.recordsPerPartition) throw new Error(`${place} is one too many`);
    const expected = contentOf(state.topic, partition, offset, this.#traffic.baseTimestamp);
    if (!sameContent(read, expected) || !this.#isTime(read.timestamp, expected.timestamp))
      throw new Error(`${place} is ${JSON.stringify(read)} instead of ${JSON.stringify(expected)}`);
    state.next[partition] = offset + 1;
    state.records++;
    state.timestamps =
      (state.timestamps + mixed(mixed(partition * 1_000_003 + offset) + (read.timestamp % 2 ** 31))) >>> 0;
    this.records++;
  }

  #isTime(timestamp: number, expected: number | undefined): boolean {
    if (expected !== undefined) return timestamp === expected;
    return timestamp >= this.#traffic.baseTimestamp && timestamp <= Date.now();
  }

  report(version: string): string {
    const topics = [...this.#topics].map(([name, { records, timestamps }]) => [name, { records, timestamps }] as const);
    return JSON.stringify({ version, records: this.records, topics: Object.fromEntries(topics) });
  }
}
