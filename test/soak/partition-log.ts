/** What a reader has seen of one partition of one topic id: the record at each offset, from the first that it saw. */
import type { RecordName } from './journal.ts';

/** A record that is none of the soak's, or lies where it does not belong. */
export const FOREIGN = '?/0' satisfies RecordName;

export class PartitionLog {
  readonly topicId: string;
  readonly topic: string;
  readonly partition: number;
  /** Offset of names[0]. */
  readonly start: number;
  readonly #names: RecordName[] = [];

  constructor(topicId: string, topic: string, partition: number, start: number) {
    this.topicId = topicId;
    this.topic = topic;
    this.partition = partition;
    this.start = start;
  }

  /** The offset after the last record. */
  get end(): number {
    return this.start + this.#names.length;
  }

  /** Undefined where nothing was read. */
  at(offset: number): RecordName | undefined {
    return this.#names[offset - this.start];
  }

  /** Records come in order; what is left out stays undefined. */
  put(offset: number, name: RecordName): void {
    this.#names[offset - this.start] = name;
  }

  *entries(): Generator<readonly [offset: number, name: RecordName]> {
    for (const [index, name] of this.#names.entries()) if (name !== undefined) yield [this.start + index, name];
  }

  get place(): string {
    return `${this.topic}-${this.partition}`;
  }
}
