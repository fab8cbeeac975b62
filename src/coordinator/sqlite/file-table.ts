/** Objects in SQLite: what was committed or given up, and how far each is in its life. */
import {
  type AbandonFileResult,
  type CommitFileRequest,
  type CommitFileResult,
  CoordinatorError,
  type FileDescription,
  type FileState,
} from '../diskless-coordinator.ts';
import { decodeResults, encodeResults } from './blobs.ts';
import type { SqlDatabase, SqlRow } from './driver.ts';

/** As stored in `files.state`. */
const STATES: readonly FileState[] = ['uploaded', 'deleting', 'deleted', 'abandoned'];
const UPLOADED = 0;
const DELETING = 1;
const ABANDONED = 3;

/** Bytes and coordinates of a file that are, or are no longer, referred to. */
export interface Liveness {
  bytes: number;
  coordinates: number;
}

export class FileTable {
  readonly #database: SqlDatabase;

  constructor(database: SqlDatabase) {
    this.#database = database;
  }

  #row(objectKey: string): SqlRow | undefined {
    return this.#database.sql('SELECT * FROM files WHERE object_key = ?').get(objectKey);
  }

  /** The result of an earlier commit of the key. @throws CoordinatorError `abandoned`, `invalid` */
  earlierResult(request: CommitFileRequest): CommitFileResult | undefined {
    const row = this.#row(request.objectKey);
    if (!row) return undefined;
    if (row.state === BigInt(ABANDONED)) {
      throw new CoordinatorError('abandoned', `object ${request.objectKey} was given up`);
    }
    const same =
      Number(row.size) === request.sizeBytes &&
      Number(row.uploader_id) === request.uploaderId &&
      Number(row.uploader_epoch) === request.uploaderEpoch &&
      Number(row.segment_sequence) === request.segmentSequence;
    const result = this.#result(row);
    if (same && result.batches.length === request.batches.length) return result;
    throw new CoordinatorError('invalid', `object ${request.objectKey} was committed before with other content`);
  }

  #result(row: SqlRow): CommitFileResult {
    const stored = this.#database.sql('SELECT results FROM commit_results WHERE file_id = ?').get(row.file_id!);
    return { batches: decodeResults(stored!.results as Uint8Array) };
  }

  /** The new row's id; undefined, and nothing is written, when there is a row of that key. */
  addCommitted(
    request: CommitFileRequest,
    result: CommitFileResult,
    live: Liveness,
    nowMs: number,
  ): bigint | undefined {
    const useful = live.coordinates > 0;
    const { changes, lastInsertRowid } = this.#database
      .sql(
        `INSERT INTO files (object_key, state, size, live_bytes, live_coordinates, since_ms, useless_since_ms,
           format_version, uploader_id, uploader_epoch, segment_sequence)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (object_key) DO NOTHING`,
      )
      .run(
        request.objectKey,
        useful ? UPLOADED : DELETING,
        request.sizeBytes,
        live.bytes,
        live.coordinates,
        nowMs,
        useful ? null : nowMs,
        request.formatVersion,
        request.uploaderId,
        request.uploaderEpoch,
        request.segmentSequence,
      );
    if (Number(changes) === 0) return undefined;
    const fileId = BigInt(lastInsertRowid);
    this.#database
      .sql('INSERT INTO commit_results VALUES (?, ?, ?)')
      .run(fileId, result.batches.length, encodeResults(result.batches));
    return fileId;
  }

  abandon(objectKey: string, nowMs: number): AbandonFileResult {
    const row = this.#row(objectKey);
    if (row && row.state !== BigInt(ABANDONED)) return { outcome: 'committed', ...this.#result(row) };
    if (!row) {
      this.#database
        .sql(
          `INSERT INTO files (object_key, state, size, live_bytes, live_coordinates, since_ms, useless_since_ms,
             format_version, uploader_id, uploader_epoch, segment_sequence) VALUES (?, ?, 0, 0, 0, ?, ?, 0, 0, 0, 0)`,
        )
        .run(objectKey, ABANDONED, nowMs, nowMs);
    }
    return { outcome: 'abandoned' };
  }

  /** Coordinates of a file are gone; with the last one it becomes deletable. */
  drop(fileId: bigint, dropped: Liveness, nowMs: number): void {
    this.#database
      .sql(
        `UPDATE files SET live_bytes = live_bytes - ?2, live_coordinates = live_coordinates - ?3,
           state = CASE WHEN live_coordinates = ?3 THEN ${DELETING} ELSE state END,
           useless_since_ms = CASE WHEN live_coordinates = ?3 THEN ?4 ELSE useless_since_ms END
         WHERE file_id = ?1`,
      )
      .run(fileId, dropped.bytes, dropped.coordinates, nowMs);
  }

  toDelete(uselessSinceMs: number, limit: number): string[] {
    return this.#database
      .sql(
        `SELECT object_key FROM files WHERE useless_since_ms IS NOT NULL AND useless_since_ms <= ?
         ORDER BY useless_since_ms, file_id LIMIT ?`,
      )
      .all(uselessSinceMs, limit)
      .map((row) => row.object_key as string);
  }

  markDeleted(objectKeys: readonly string[], nowMs: number): void {
    for (const objectKey of objectKeys) {
      if (this.#row(objectKey)?.state !== BigInt(UPLOADED)) continue;
      throw new CoordinatorError('invalid', `object ${objectKey} is referenced by coordinates`);
    }
    const update = this.#database.sql(
      `UPDATE files SET useless_since_ms = NULL, deleted_ms = ?, state = CASE state WHEN ${DELETING} THEN 2 ELSE state END
       WHERE object_key = ?`,
    );
    for (const objectKey of objectKeys) update.run(nowMs, objectKey);
  }

  /** How many tombstones of objects that were gone by then it forgot. */
  forget(deletedMs: number, limit: number): number {
    const rows = this.#database
      .sql('SELECT file_id FROM files WHERE deleted_ms IS NOT NULL AND deleted_ms <= ? ORDER BY deleted_ms LIMIT ?')
      .all(deletedMs, limit);
    for (const row of rows) {
      this.#database.sql('DELETE FROM commit_results WHERE file_id = ?').run(row.file_id!);
      this.#database.sql('DELETE FROM files WHERE file_id = ?').run(row.file_id!);
    }
    return rows.length;
  }

  describe(objectKey: string): FileDescription | undefined {
    const row = this.#row(objectKey);
    if (!row) return undefined;
    return {
      objectKey,
      state: STATES[Number(row.state)]!,
      sizeBytes: Number(row.size),
      liveBytes: Number(row.live_bytes),
      sinceMs: Number(row.since_ms),
    };
  }
}
