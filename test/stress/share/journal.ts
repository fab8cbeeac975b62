/**
 * What a share consumer of the stress notes, as it happens: a line a range of offsets, written before the next step, so
 * that a consumer killed with SIGKILL has noted all that it knew. Times are of the machine's monotonic clock, which all
 * processes share.
 */
import { openSync, readFileSync, writeSync } from 'node:fs';

/**
 * `delivered`: a response brought it; the time is when its request was sent. `sent`: it is about to be accepted.
 * `accepted`: the broker said so. `refused`: the broker said no, so that it was not.
 */
export type JournalKind = 'delivered' | 'sent' | 'accepted' | 'refused';

export interface JournalLine {
  readonly kind: JournalKind;
  readonly partition: number;
  readonly first: number;
  readonly last: number;
  /** Its delivery count. */
  readonly count: number;
  readonly atMs: number;
}

const LETTERS: Readonly<Record<JournalKind, string>> = { delivered: 'd', sent: 's', accepted: 'a', refused: 'x' };
const KINDS = new Map(Object.entries(LETTERS).map(([kind, letter]) => [letter, kind as JournalKind]));

export function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

export class Journal {
  readonly #file: number;

  constructor(path: string) {
    this.#file = openSync(path, 'a');
  }

  write(lines: readonly JournalLine[]): void {
    if (lines.length === 0) return;
    const text = lines.map(({ kind, partition, first, last, count, atMs }) => {
      return `${LETTERS[kind]} ${partition} ${first} ${last} ${count} ${atMs.toFixed(3)}\n`;
    });
    writeSync(this.#file, text.join(''));
  }
}

/** The lines of a journal; a last one that was cut off by the process's end is none. */
export function readJournal(path: string): JournalLine[] {
  const whole = readFileSync(path, 'utf8').split('\n').slice(0, -1);
  return whole.map((line) => {
    const [letter, ...numbers] = line.split(' ');
    const [partition, first, last, count, atMs] = numbers.map(Number) as [number, number, number, number, number];
    return { kind: KINDS.get(letter!)!, partition, first, last, count, atMs };
  });
}
