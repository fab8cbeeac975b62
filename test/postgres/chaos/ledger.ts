/** What was answered about one partition, and what readers have seen of it. */
import { partitionKey, type TopicIdPartition } from '../../../src/common/topic-id-partition.ts';

/** What was answered about one partition. */
export class Ledger {
  readonly of: TopicIdPartition;
  readonly acknowledged = new Map<bigint, string>();
  readonly refused = new Set<string>();
  /** What any reader has seen; the same for ever. */
  readonly seen = new Map<bigint, string>();
  deletedBelow = 0n;
  lastAcknowledged = -1n;

  readonly #fault: (text: string) => void;

  constructor(of: TopicIdPartition, fault: (text: string) => void) {
    this.of = of;
    this.#fault = fault;
  }

  acknowledge(baseOffset: bigint, values: readonly string[]): void {
    for (const [i, value] of values.entries()) {
      const offset = baseOffset + BigInt(i);
      const before = this.acknowledged.get(offset);
      if (before !== undefined && before !== value)
        this.#fault(`${this.name} ${offset} given to ${before} and ${value}`);
      this.acknowledged.set(offset, value);
      if (offset > this.lastAcknowledged) this.lastAcknowledged = offset;
    }
  }

  see(offset: bigint, value: string): void {
    const before = this.seen.get(offset);
    if (before !== undefined && before !== value) this.#fault(`${this.name} ${offset} read as ${before} and ${value}`);
    this.seen.set(offset, value);
  }

  get name(): string {
    return partitionKey(this.of);
  }
}
