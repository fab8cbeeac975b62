/**
 * What the soak's clients write down, one line an event, in files of their own: a line about a record to be sent is there
 * before it is sent, a line about an answer after the answer came. Fields are separated by spaces, times are milliseconds
 * since 1970 of this machine's one clock. A line is written by one call, so that kill −9 leaves whole lines.
 *
 *     S ms producer topic partition number                    is going to be sent
 *     A ms producer topic partition number offset sentMs      acknowledged
 *     F ms producer topic partition number error              not acknowledged: may or may not be in the log
 *     R ms producer topic partition number error              one that must be refused, and what came of it
 *     M ms member                                             started
 *     + ms member topic partition                             assigned
 *     - ms member topic partition                             revoked or lost
 *     C ms member topic partition offset producer number      consumed
 *     K ms member topic partition offset                      committed: the offset to go on with
 *     E ms member text                                        what else happened to it
 *
 * A producer is called KIND.INCARNATION.LANE: the lanes are the five codecs, all idempotent, then `plain`, which is not, and
 * `refused`, whose records lie two hours ahead of the clock. Its numbers are consecutive in each partition from 0. A member
 * is called KIND.INCARNATION. The value of a record is PRODUCER|TOPIC|PARTITION|NUMBER|xxx…
 */
import { closeSync, openSync, readSync, writeSync } from 'node:fs';

export const CODECS = ['none', 'gzip', 'snappy', 'lz4', 'zstd'] as const;
export type Codec = (typeof CODECS)[number];
export const LANES = [...CODECS, 'plain', 'refused'] as const;
export type Lane = (typeof LANES)[number];

/** `KIND.INCARNATION…` → KIND */
export const kindOf = (name: string): string => name.slice(0, name.indexOf('.'));
export const laneOf = (producer: string): string => producer.slice(producer.lastIndexOf('.') + 1);

/** A record by who sent it; unique in a partition. */
export type RecordName = `${string}/${number}`;

export function recordValue(
  producer: string,
  topic: string,
  partition: number,
  number: number,
  padding: number,
): string {
  return `${producer}|${topic}|${partition}|${number}|${'x'.repeat(padding)}`;
}

/** @returns what a value says it is; undefined when it is none of a soak's values or does not belong where it was found */
export function recordName(value: string, topic: string, partition: number): RecordName | undefined {
  const [producer, inTopic, inPartition, number, padding] = value.split('|');
  const belongs = inTopic === topic && Number(inPartition) === partition && /^x*$/.test(padding ?? '-');
  return belongs ? `${producer}/${Number(number)}` : undefined;
}

export class JournalWriter {
  readonly #file: number;

  constructor(path: string) {
    this.#file = openSync(path, 'a');
  }

  write(...lines: readonly (readonly (string | number)[])[]): void {
    if (lines.length > 0) writeSync(this.#file, lines.map((fields) => `${fields.join(' ')}\n`).join(''));
  }
}

/** Reads a journal as it grows. The caller closes it. */
export class JournalReader {
  readonly #file: number;
  readonly #chunk = Buffer.alloc(1 << 20);
  #position = 0;
  #begun = '';

  constructor(path: string) {
    this.#file = openSync(path, 'a+');
  }

  /** The lines that have come whole since the last call, split into fields. */
  *next(): Generator<string[]> {
    for (;;) {
      const count = readSync(this.#file, this.#chunk, 0, this.#chunk.length, this.#position);
      if (count === 0) return;
      this.#position += count;
      const lines = (this.#begun + this.#chunk.toString('latin1', 0, count)).split('\n');
      this.#begun = lines.pop()!;
      for (const line of lines) yield line.split(' ');
    }
  }

  close(): void {
    closeSync(this.#file);
  }
}
