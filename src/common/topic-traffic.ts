/**
 * What has passed through this process of each topic, since it was opened. Main thread; the engine constructs one, the append
 * and the fetch side count in it. Topics that are gone are forgotten, or a process that lives long would remember them all.
 */
import type { Uuid } from './uuid.ts';

/** Counts since the engine was opened; bytes are those of record batches, compressed as they are. */
export interface TopicCounts {
  readonly appendedRecords: number;
  readonly appendedBytes: number;
  readonly fetchedBytes: number;
}

type Counting = { -readonly [K in keyof TopicCounts]: number };

export class TopicTraffic {
  readonly #topics = new Map<Uuid, Counting>();

  appended(topicId: Uuid, records: number, bytes: number): void {
    const counts = this.#of(topicId);
    counts.appendedRecords += records;
    counts.appendedBytes += bytes;
  }

  fetched(topicId: Uuid, bytes: number): void {
    this.#of(topicId).fetchedBytes += bytes;
  }

  get all(): ReadonlyMap<Uuid, TopicCounts> {
    return this.#topics;
  }

  /** Forgets all topics but these. */
  keep(topics: ReadonlyMap<Uuid, unknown>): void {
    for (const topicId of this.#topics.keys()) if (!topics.has(topicId)) this.#topics.delete(topicId);
  }

  #of(topicId: Uuid): Counting {
    let counts = this.#topics.get(topicId);
    if (!counts) {
      counts = { appendedRecords: 0, appendedBytes: 0, fetchedBytes: 0 };
      this.#topics.set(topicId, counts);
    }
    return counts;
  }
}
