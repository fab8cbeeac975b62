/**
 * Searching a log by timestamp when timestamps are in no order: the coordinates are covered, from the start offset to the
 * end, by a few stretches of finished runs as long as possible, so that every stretch is one short range scan.
 */
import type { SqlDatabase } from './driver.ts';

/** Runs of 64, 64², 64³ coordinates. */
export const TIME_INDEX_RUN = 64;
export const TIME_INDEX_LEVELS = [1, 2, 3] as const;

const TOP_LEVEL = TIME_INDEX_LEVELS.length;
const MAX_INT64 = 2n ** 63n - 1n;

/** Entries of one level (0: the coordinates themselves) whose last offset is above `after` and at most `upTo`. */
interface Stretch {
  readonly level: number;
  readonly after: bigint;
  readonly upTo: bigint;
}

export class TimeIndex {
  readonly #database: SqlDatabase;

  constructor(database: SqlDatabase) {
    this.#database = database;
  }

  /** The last offset of the first coordinate from `fromOffset` on whose max timestamp is at least `timestamp`. */
  firstAtLeast(logId: number, timestamp: bigint, fromOffset: bigint): bigint | undefined {
    for (const stretch of this.#cover(logId, fromOffset)) {
      const found = this.#firstInStretch(logId, stretch, timestamp);
      if (found !== undefined) return this.#descend(logId, stretch, found, timestamp);
    }
    return undefined;
  }

  /** The greatest max timestamp from `fromOffset` on; −1 when there is none. */
  greatest(logId: number, fromOffset: bigint): bigint {
    let greatest = -1n;
    for (const { level, after, upTo } of this.#cover(logId, fromOffset)) {
      const found =
        level === 0
          ? this.#database
              .sql(
                'SELECT max(max_timestamp) AS m FROM coordinates WHERE log_id = ? AND last_offset > ? AND last_offset <= ?',
              )
              .get(logId, after, upTo)
          : this.#database
              .sql(
                'SELECT max(max_timestamp) AS m FROM time_index WHERE log_id = ? AND level = ? AND last_offset > ? AND last_offset <= ?',
              )
              .get(logId, level, after, upTo);
      const timestamp = (found?.m ?? -1n) as bigint;
      if (timestamp > greatest) greatest = timestamp;
    }
    return greatest;
  }

  /** Up through the levels from the start offset to the first longest run, along those, and down to the end. */
  #cover(logId: number, fromOffset: bigint): Stretch[] {
    const stretches: Stretch[] = [];
    let after = fromOffset - 1n;
    const add = (level: number, upTo: bigint | undefined): void => {
      if (upTo === undefined || upTo <= after) return;
      stretches.push({ level, after, upTo });
      after = upTo;
    };
    for (let level = 1; level <= TOP_LEVEL; level += 1) add(level - 1, this.#firstEnd(logId, level, after));
    for (let level = TOP_LEVEL; level >= 1; level -= 1) add(level, this.#lastEnd(logId, level));
    add(0, MAX_INT64);
    return stretches;
  }

  /** Where the run of a level ends that holds the offset after `after`. */
  #firstEnd(logId: number, level: number, after: bigint): bigint | undefined {
    const row = this.#database
      .sql(
        'SELECT last_offset FROM time_index WHERE log_id = ? AND level = ? AND last_offset > ? ORDER BY last_offset LIMIT 1',
      )
      .get(logId, level, after);
    return row?.last_offset as bigint | undefined;
  }

  #lastEnd(logId: number, level: number): bigint | undefined {
    const row = this.#database
      .sql('SELECT last_offset FROM time_index WHERE log_id = ? AND level = ? ORDER BY last_offset DESC LIMIT 1')
      .get(logId, level);
    return row?.last_offset as bigint | undefined;
  }

  #firstInStretch(logId: number, { level, after, upTo }: Stretch, timestamp: bigint): bigint | undefined {
    const row =
      level === 0
        ? this.#database
            .sql(
              `SELECT last_offset FROM coordinates WHERE log_id = ? AND last_offset > ? AND last_offset <= ?
               AND max_timestamp >= ? ORDER BY last_offset LIMIT 1`,
            )
            .get(logId, after, upTo, timestamp)
        : this.#database
            .sql(
              `SELECT last_offset FROM time_index WHERE log_id = ? AND level = ? AND last_offset > ? AND last_offset <= ?
               AND max_timestamp >= ? ORDER BY last_offset LIMIT 1`,
            )
            .get(logId, level, after, upTo, timestamp);
    return row?.last_offset as bigint | undefined;
  }

  /** From the run that ends at `end` to the coordinate inside it. */
  #descend(logId: number, stretch: Stretch, end: bigint, timestamp: bigint): bigint {
    let { level, after } = stretch;
    let upTo = end;
    while (level > 0) {
      const previous = this.#database
        .sql(
          'SELECT last_offset FROM time_index WHERE log_id = ? AND level = ? AND last_offset < ? ORDER BY last_offset DESC LIMIT 1',
        )
        .get(logId, level, upTo)?.last_offset as bigint | undefined;
      if (previous !== undefined && previous > after) after = previous;
      level -= 1;
      upTo = this.#firstInStretch(logId, { level, after, upTo }, timestamp)!;
    }
    return upTo;
  }
}
