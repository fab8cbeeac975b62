/** Looking coordinates up: by offset for fetches, by time for ListOffsets. */
import type { BatchCoordinate, TimestampType } from '../diskless-coordinator.ts';
import type { ListOffsetsLog } from '../list-offsets.ts';
import type { SqlDatabase, SqlRow } from './driver.ts';
import type { SqliteLogHead } from './log-table.ts';
import { TimeIndex } from './time-index.ts';

/** Rows read at first and at most per statement; in between it doubles, so that the cost follows what is taken. */
const FIRST_ROWS = 8;
const MOST_ROWS = 512;

const SELECT = `SELECT c.*, f.object_key FROM coordinates c JOIN files f ON f.file_id = c.file_id
  WHERE c.log_id = ? AND c.last_offset >= ? ORDER BY c.last_offset LIMIT ?`;

function toCoordinate(row: SqlRow): BatchCoordinate {
  const timestampType = Number(row.timestamp_type) as TimestampType;
  return {
    objectKey: row.object_key as string,
    position: Number(row.position),
    size: Number(row.size),
    baseOffset: row.base_offset as bigint,
    lastOffset: row.last_offset as bigint,
    timestampType,
    logAppendTimeMs: timestampType === 1 ? (row.append_time_ms as bigint) : -1n,
    maxTimestamp: row.max_timestamp as bigint,
    leaderEpoch: Number(row.leader_epoch),
  };
}

export class CoordinateTable {
  readonly #database: SqlDatabase;
  readonly #timeIndex: TimeIndex;

  constructor(database: SqlDatabase) {
    this.#database = database;
    this.#timeIndex = new TimeIndex(database);
  }

  /** The coordinates of a log from the one that holds `offset`. */
  *from(logId: number, offset: bigint): Generator<BatchCoordinate> {
    let next = offset;
    for (let limit = FIRST_ROWS; ; limit = Math.min(limit * 2, MOST_ROWS)) {
      const rows = this.#database.sql(SELECT).all(logId, next, limit);
      for (const row of rows) yield toCoordinate(row);
      if (rows.length < limit) return;
      next = (rows.at(-1)!.last_offset as bigint) + 1n;
    }
  }

  /** What ListOffsets needs to know of a log. */
  forListOffsets(head: SqliteLogHead): ListOffsetsLog {
    const { logStartOffset, highWatermark, leaderEpoch, logId } = head;
    return {
      logStartOffset,
      highWatermark,
      leaderEpoch,
      firstAtLeast: (timestamp, fromOffset) => {
        const lastOffset = this.#timeIndex.firstAtLeast(logId, timestamp, fromOffset);
        const row = lastOffset === undefined ? undefined : this.#database.sql(SELECT).get(logId, lastOffset, 1);
        return row && toCoordinate(row);
      },
      greatest: (fromOffset) => {
        const timestamp = this.#timeIndex.greatest(logId, fromOffset);
        if (timestamp < 0n) return undefined;
        const lastOffset = this.#timeIndex.firstAtLeast(logId, timestamp, fromOffset)!;
        const row = this.#database.sql(SELECT).get(logId, lastOffset, 1)!;
        return { coordinate: toCoordinate(row), offset: row.max_timestamp_offset as bigint };
      },
    };
  }
}
