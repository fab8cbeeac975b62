/**
 * Searching a log by timestamp when timestamps are in no order: down from the longest runs to the coordinate, and, where no
 * finished run reaches, on from the end of the last one with shorter runs. Every step is one short range scan.
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

function later(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}

export class TimeIndex {
  readonly #database: SqlDatabase;

  constructor(database: SqlDatabase) {
    this.#database = database;
  }

  /** The last offset of the first coordinate from `fromOffset` on whose max timestamp is at least `timestamp`. */
  firstAtLeast(logId: number, timestamp: bigint, fromOffset: bigint): bigint | undefined {
    let after = fromOffset - 1n;
    for (let level = TOP_LEVEL; level >= 0; level -= 1) {
      const found = this.#search(logId, { level, after, upTo: MAX_INT64 }, timestamp);
      if (found !== undefined) return found;
      const end = level > 0 ? this.#lastEnd(logId, level) : undefined;
      if (end !== undefined && end > after) after = end;
    }
    return undefined;
  }

  /**
   * The first coordinate under a stretch. The run in which the stretch begins may owe its timestamp to a coordinate before
   * it, or to one that is gone; the search goes on behind it then. That can happen once a level.
   */
  #search(logId: number, stretch: Stretch, timestamp: bigint): bigint | undefined {
    const { level, upTo } = stretch;
    let { after } = stretch;
    for (;;) {
      const run = this.#firstInStretch(logId, { level, after, upTo }, timestamp);
      if (run === undefined || level === 0) return run?.end;
      const inRun = { level: level - 1, after: later(run.previousEnd, after), upTo: run.end };
      const found = this.#search(logId, inRun, timestamp);
      if (found !== undefined) return found;
      after = run.end;
    }
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

  /** What covers the log from an offset on: up through the levels to the first longest run, along those, and down to the end. */
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

  /** Where the first entry with such a timestamp ends, and where the run before it did, or −1. */
  #firstInStretch(
    logId: number,
    { level, after, upTo }: Stretch,
    timestamp: bigint,
  ): { readonly end: bigint; readonly previousEnd: bigint } | undefined {
    const row =
      level === 0
        ? this.#database
            .sql(
              `SELECT last_offset, -1 AS previous FROM coordinates WHERE log_id = ? AND last_offset > ? AND last_offset <= ?
               AND max_timestamp >= ? ORDER BY last_offset LIMIT 1`,
            )
            .get(logId, after, upTo, timestamp)
        : this.#database
            .sql(
              `SELECT last_offset, (SELECT coalesce(max(p.last_offset), -1) FROM time_index p
                 WHERE p.log_id = t.log_id AND p.level = t.level AND p.last_offset < t.last_offset) AS previous
               FROM time_index t WHERE log_id = ? AND level = ? AND last_offset > ? AND last_offset <= ?
               AND max_timestamp >= ? ORDER BY last_offset LIMIT 1`,
            )
            .get(logId, level, after, upTo, timestamp);
    return row && { end: row.last_offset as bigint, previousEnd: row.previous as bigint };
  }
}
