/**
 * Dropping coordinates in bounded steps: those of deleted topics, those below a log start offset, then what breaches
 * retention. Each step is one transaction; a crash between two leaves work for the next, never a wrong state.
 */
import type { TopicIdPartition } from '../../common/topic-id-partition.ts';
import type { EnforceRetentionResult } from '../diskless-coordinator.ts';
import { breaches, PARTITIONS_PER_RETENTION_STEP, type RetentionLimits } from '../retention.ts';
import type { SqlDatabase, SqlRow } from './driver.ts';
import type { FileTable, Liveness } from './file-table.ts';
import type { LogTable, SqliteLogHead } from './log-table.ts';

const OLDEST = `SELECT last_offset, file_id, size, max_timestamp, append_time_ms FROM coordinates
  WHERE log_id = ? ORDER BY last_offset LIMIT ?`;
/** Oldest coordinates looked at in one read. */
const ROWS = 256;

export interface RetentionStepOptions {
  readonly maxCoordinates: number;
  readonly nowMs: number;
  readonly producerIdExpirationMs: number;
  readonly limitsOf: (topicId: string) => RetentionLimits;
  readonly onLogStart: (head: SqliteLogHead) => void;
}

export class RetentionSteps {
  readonly #database: SqlDatabase;
  readonly #logs: LogTable;
  readonly #files: FileTable;
  /** The pass over all partitions goes on after this log id. A restart begins a new pass, which does no harm. */
  #cursor = 0;

  constructor(database: SqlDatabase, logs: LogTable, files: FileTable) {
    this.#database = database;
    this.#logs = logs;
    this.#files = files;
  }

  step(options: RetentionStepOptions): EnforceRetentionResult {
    const step = new Step(this.#database, this.#logs, this.#files, options);
    const trimmed = this.#trim(step);
    const moved = trimmed ? this.#retain(step, options) : [];
    const more = !trimmed || step.left === 0 || this.#cursor !== 0;
    const { coordinatesDeleted, bytesDeleted } = step;
    return { coordinatesDeleted, bytesDeleted, partitions: moved, more };
  }

  /** Drops what is logically gone already; whether all of that is done. Logs without coordinates take their time too. */
  #trim(step: Step): boolean {
    for (let logs = 0; logs < PARTITIONS_PER_RETENTION_STEP && step.left > 0; logs += 1) {
      const row = this.#logToTrim(2) ?? this.#logToTrim(1);
      if (!row) return true;
      if (row.trim === 2n) this.#trimDeleted(step, row.log_id as bigint);
      else this.#trimBelowStart(step, row);
    }
    return false;
  }

  /** By the index, however many there are: `trim > 0` tells SQLite that it may use it. */
  #logToTrim(trim: 1 | 2): SqlRow | undefined {
    return this.#database.sql('SELECT * FROM logs WHERE trim > 0 AND trim = ? ORDER BY log_id LIMIT 1').get(trim);
  }

  #trimDeleted(step: Step, logId: bigint): void {
    step.drop(Number(logId), () => true);
    if (step.left === 0) return;
    for (const table of ['time_index', 'producer_snapshots', 'logs']) {
      this.#database.sql(`DELETE FROM ${table} WHERE log_id = ?`).run(logId);
    }
  }

  #trimBelowStart(step: Step, row: SqlRow): void {
    const head = this.#logs.head({ topicId: row.topic_id as string, partition: Number(row.partition) })!;
    step.dropFrom(head, ({ last_offset }) => (last_offset as bigint) < head.logStartOffset);
    if (step.left > 0) this.#database.sql('UPDATE logs SET trim = 0 WHERE log_id = ?').run(head.logId);
  }

  #retain(step: Step, options: RetentionStepOptions): TopicIdPartition[] {
    const rows = this.#database
      .sql(
        'SELECT log_id, topic_id, partition FROM logs WHERE log_id > ? AND topic_id IS NOT NULL ORDER BY log_id LIMIT ?',
      )
      .all(this.#cursor, PARTITIONS_PER_RETENTION_STEP);
    const moved: TopicIdPartition[] = [];
    for (const row of rows) {
      const head = this.#logs.head({ topicId: row.topic_id as string, partition: Number(row.partition) })!;
      if (this.#retainLog(step, head, options)) moved.push(head.topicIdPartition);
      if (step.left === 0) return moved;
      this.#cursor = head.logId;
    }
    if (rows.length < PARTITIONS_PER_RETENTION_STEP) this.#cursor = 0;
    return moved;
  }

  #retainLog(step: Step, head: SqliteLogHead, options: RetentionStepOptions): boolean {
    const limits = options.limitsOf(head.topicIdPartition.topicId);
    const nowMs = BigInt(options.nowMs);
    const lastDropped = step.dropFrom(head, (row) => {
      const oldest = {
        maxTimestamp: row.max_timestamp as bigint,
        appendTimeMs: row.append_time_ms as bigint,
        size: Number(row.size),
      };
      return breaches(oldest, head.bytes, limits, nowMs);
    });
    if (lastDropped === undefined || lastDropped < head.logStartOffset) return false;
    head.logStartOffset = lastDropped + 1n;
    this.#logs.save(head);
    options.onLogStart(head);
    return true;
  }
}

/** What one step may still drop and has dropped. */
class Step {
  readonly #database: SqlDatabase;
  readonly #logs: LogTable;
  readonly #files: FileTable;
  readonly #options: RetentionStepOptions;
  left: number;
  coordinatesDeleted = 0;
  bytesDeleted = 0;

  constructor(database: SqlDatabase, logs: LogTable, files: FileTable, options: RetentionStepOptions) {
    this.#database = database;
    this.#logs = logs;
    this.#files = files;
    this.#options = options;
    this.left = options.maxCoordinates;
  }

  /** Drops a living log's oldest coordinates while `goes` says so; returns the last offset of the last one dropped. */
  dropFrom(head: SqliteLogHead, goes: (row: SqlRow) => boolean): bigint | undefined {
    // Producers must not be forgotten with the coordinates that hold them.
    const beforeDelete = (lastOffset: bigint): void => {
      if (lastOffset < head.producersFrom) return;
      const { producerIdExpirationMs, nowMs } = this.#options;
      this.#logs.writeSnapshot(head, producerIdExpirationMs, BigInt(nowMs));
    };
    const dropped = this.drop(
      head.logId,
      (row) => {
        if (!goes(row)) return false;
        head.bytes -= row.size as bigint;
        return true;
      },
      beforeDelete,
    );
    if (dropped !== undefined) this.#logs.save(head);
    return dropped;
  }

  drop(logId: number, goes: (row: SqlRow) => boolean, beforeDelete?: (lastOffset: bigint) => void): bigint | undefined {
    let lastDropped: bigint | undefined;
    for (;;) {
      const limit = Math.min(this.left, ROWS);
      const rows = limit === 0 ? [] : this.#database.sql(OLDEST).all(logId, limit);
      const keepFrom = rows.findIndex((row) => !goes(row));
      const dropped = keepFrom < 0 ? rows : rows.slice(0, keepFrom);
      if (dropped.length > 0) {
        lastDropped = dropped.at(-1)!.last_offset as bigint;
        beforeDelete?.(lastDropped);
        this.#delete(logId, dropped, lastDropped);
      }
      if (dropped.length < limit || limit === 0) return lastDropped;
    }
  }

  #delete(logId: number, rows: readonly SqlRow[], upTo: bigint): void {
    this.#database.sql('DELETE FROM coordinates WHERE log_id = ? AND last_offset <= ?').run(logId, upTo);
    this.#database
      .sql('DELETE FROM time_index WHERE log_id = ? AND level IN (1, 2, 3) AND last_offset <= ?')
      .run(logId, upTo);
    const byFile = new Map<bigint, Liveness>();
    for (const row of rows) {
      const size = Number(row.size);
      const file = byFile.get(row.file_id as bigint) ?? { bytes: 0, coordinates: 0 };
      byFile.set(row.file_id as bigint, { bytes: file.bytes + size, coordinates: file.coordinates + 1 });
      this.bytesDeleted += size;
    }
    for (const [fileId, dropped] of byFile) this.#files.drop(fileId, dropped, this.#options.nowMs);
    this.coordinatesDeleted += rows.length;
    this.left -= rows.length;
  }
}
