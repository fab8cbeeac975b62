/**
 * What the clients have got so far, by reading their journals as they grow: the live line on the terminal, and whether every
 * kind of client is back after a disturbance.
 */
import { JournalReader, kindOf, laneOf } from './journal.ts';

export class Progress {
  readonly #readers = new Map<string, JournalReader>();
  readonly #journals: () => readonly string[];
  readonly #topic: string;
  readonly acknowledged = new Map<string, number>();
  readonly consumed = new Map<string, number>();
  /** When a kind's producer had its last acknowledgement. */
  readonly #acknowledgedMs = new Map<string, number>();
  /** Greatest acknowledged offset of the followed topic, by `TOPIC-PARTITION`. */
  readonly #acknowledgedTo = new Map<string, number>();
  /** Greatest consumed offset, by `KIND TOPIC-PARTITION`. */
  readonly #consumedTo = new Map<string, number>();

  /** @param topic whose partitions must be read to the end for a recovery; one that only grows */
  constructor(journals: () => readonly string[], topic: string) {
    this.#journals = journals;
    this.#topic = topic;
  }

  /** Takes in what was written since the last call. */
  update(): void {
    for (const path of this.#journals()) {
      const reader = this.#readers.get(path) ?? new JournalReader(path);
      this.#readers.set(path, reader);
      for (const fields of reader.next()) this.#take(fields);
    }
  }

  close(): void {
    for (const reader of this.#readers.values()) reader.close();
  }

  /** Where the log of the followed topic stands, for `missing` later. */
  mark(): ReadonlyMap<string, number> {
    this.update();
    return new Map(this.#acknowledgedTo);
  }

  /**
   * What has not come back since: producers that got no acknowledgement, and groups that have not read, in every partition,
   * something that was written after the mark.
   */
  missing(kinds: readonly string[], sinceMs: number, mark: ReadonlyMap<string, number>): string[] {
    this.update();
    const producers = kinds.filter((kind) => (this.#acknowledgedMs.get(kind) ?? 0) <= sinceMs);
    const groups = kinds.filter((kind) => !this.#hasRead(kind, mark, 1));
    return [...producers.map((kind) => `the producer of ${kind}`), ...groups.map((kind) => `the group of ${kind}`)];
  }

  /** Groups that have not read up to `ends`: the offset after the last record, by `TOPIC-PARTITION`. */
  behind(kinds: readonly string[], ends: ReadonlyMap<string, number>): string[] {
    this.update();
    return kinds.filter((kind) => !this.#hasRead(kind, ends, -1));
  }

  #hasRead(kind: string, to: ReadonlyMap<string, number>, beyond: number): boolean {
    return [...to].every(([place, offset]) => (this.#consumedTo.get(`${kind} ${place}`) ?? -1) >= offset + beyond);
  }

  #take([letter, ms, name, topic, partition, third, fourth]: string[]): void {
    const kind = kindOf(name!);
    const place = `${topic}-${partition}`;
    if (letter === 'A' && laneOf(name!) !== 'refused') {
      this.acknowledged.set(kind, (this.acknowledged.get(kind) ?? 0) + 1);
      this.#acknowledgedMs.set(kind, Number(ms));
      if (topic === this.#topic) raise(this.#acknowledgedTo, place, Number(fourth));
    } else if (letter === 'C') {
      this.consumed.set(kind, (this.consumed.get(kind) ?? 0) + 1);
      raise(this.#consumedTo, `${kind} ${place}`, Number(third));
    }
  }
}

function raise(values: Map<string, number>, key: string, value: number): void {
  if (value > (values.get(key) ?? -1)) values.set(key, value);
}
