/**
 * Partitions in SQLite: their heads, cached in memory from first use until a transaction fails, and the coordinates that
 * commits append. A head in the cache may be ahead of what is durable, never of what the open transaction holds; so
 * `forget` must be called whenever a transaction or a savepoint was rolled back.
 *
 * A partition's row is its head as of its high watermark in that row: coordinates from there on say the rest. So a commit
 * writes its coordinates and nothing else, and the row once in `TIME_INDEX_RUN` coordinates. Whoever deletes coordinates
 * saves the head in the same transaction.
 */
import { type PartitionKey, partitionKey, type TopicIdPartition } from '../../common/topic-id-partition.ts';
import { applyStaged, type LogHead, type NewCoordinate, type StagedLog } from '../assign-offsets.ts';
import { isExpired, type ProducerState, remember } from '../producer-state.ts';
import { decodeProducerAppends, decodeProducers, encodeProducerAppends, encodeProducers } from './blobs.ts';
import type { SqlDatabase, SqlRow } from './driver.ts';
import { TIME_INDEX_LEVELS, TIME_INDEX_RUN } from './time-index.ts';

/** Heads kept in memory; beyond it all are dropped and read again as needed. */
const MAX_CACHED_HEADS = 100_000;
/** Coordinates after a producer snapshot before the next is due; more for partitions with many producers. */
const SNAPSHOT_INTERVAL = 64;
const PRODUCERS_PER_INTERVAL = 256;

interface EndedRun {
  readonly level: number;
  readonly maxTimestamp: bigint;
}
const NO_RUN_ENDED: readonly EndedRun[] = [];

/** A partition's row, with its producers read when first asked for. */
export class SqliteLogHead implements LogHead {
  readonly logId: number;
  readonly topicIdPartition: TopicIdPartition;
  logStartOffset: bigint;
  highWatermark: bigint;
  leaderEpoch: number;
  lastAppendTimeMs: bigint;
  /** Of the coordinates that are stored, also those below the log start offset. */
  bytes: bigint;
  /** Coordinates ever appended, from an arbitrary start. */
  coordinates: number;
  /** The greatest timestamp of the unfinished run of each time index level. */
  readonly openMax: bigint[];
  /** Coordinates from this offset on may hold producer appends that no snapshot has. */
  producersFrom: bigint;
  coordinatesSinceSnapshot = 0;
  #producers: Map<bigint, ProducerState> | undefined;
  readonly #loadProducers: (head: SqliteLogHead) => Map<bigint, ProducerState>;

  constructor(row: SqlRow, loadProducers: (head: SqliteLogHead) => Map<bigint, ProducerState>) {
    this.logId = Number(row.log_id);
    this.topicIdPartition = { topicId: row.topic_id as string, partition: Number(row.partition) };
    this.logStartOffset = row.log_start_offset as bigint;
    this.highWatermark = row.high_watermark as bigint;
    this.leaderEpoch = Number(row.leader_epoch);
    this.lastAppendTimeMs = row.last_append_time_ms as bigint;
    this.bytes = row.bytes as bigint;
    this.coordinates = Number(row.coordinates);
    this.openMax = TIME_INDEX_LEVELS.map((level) => row[`open_max_${level}`] as bigint);
    this.producersFrom = row.producers_from as bigint;
    this.#loadProducers = loadProducers;
  }

  get producers(): Map<bigint, ProducerState> {
    this.#producers ??= this.#loadProducers(this);
    return this.#producers;
  }

  /** Takes in a coordinate that was appended after the row was saved. */
  replay(row: SqlRow): void {
    const appendTimeMs = row.append_time_ms as bigint;
    if (this.producersFrom === this.highWatermark && row.plain === 1n) {
      this.producersFrom = (row.last_offset as bigint) + 1n;
    }
    this.highWatermark = (row.last_offset as bigint) + 1n;
    if (appendTimeMs > this.lastAppendTimeMs) this.lastAppendTimeMs = appendTimeMs;
    this.bytes += row.size as bigint;
    this.countCoordinate(row.max_timestamp as bigint);
  }

  /** Counts one more coordinate; the runs of the time index that it ends, each with its greatest timestamp. */
  countCoordinate(maxTimestamp: bigint): readonly EndedRun[] {
    this.coordinates += 1;
    let ended = NO_RUN_ENDED;
    let run = 1;
    for (const [index, level] of TIME_INDEX_LEVELS.entries()) {
      run *= TIME_INDEX_RUN;
      if (maxTimestamp > this.openMax[index]!) this.openMax[index] = maxTimestamp;
      if (this.coordinates % run !== 0) continue;
      ended = [...ended, { level, maxTimestamp: this.openMax[index]! }];
      this.openMax[index] = -1n;
    }
    return ended;
  }
}

export class LogTable {
  readonly #database: SqlDatabase;
  readonly #heads = new Map<PartitionKey, SqliteLogHead>();

  constructor(database: SqlDatabase) {
    this.#database = database;
  }

  /** Drops what is cached; the tables are the truth. */
  forget(): void {
    this.#heads.clear();
  }

  forgetOne(of: TopicIdPartition): void {
    this.#heads.delete(partitionKey(of));
  }

  head(of: TopicIdPartition): SqliteLogHead | undefined {
    const key = partitionKey(of);
    const cached = this.#heads.get(key);
    if (cached) return cached;
    const row = this.#database
      .sql('SELECT * FROM logs WHERE topic_id = ? AND partition = ?')
      .get(of.topicId, of.partition);
    if (!row) return undefined;
    if (this.#heads.size >= MAX_CACHED_HEADS) this.#heads.clear();
    const head = new SqliteLogHead(row, (log) => this.#loadProducers(log));
    for (const appended of this.#appendedSince(head)) head.replay(appended);
    this.#heads.set(key, head);
    return head;
  }

  #appendedSince({ logId, highWatermark }: SqliteLogHead): SqlRow[] {
    return this.#database
      .sql(
        `SELECT last_offset, append_time_ms, size, max_timestamp, producers IS NULL AS plain FROM coordinates
         WHERE log_id = ? AND last_offset >= ? ORDER BY last_offset`,
      )
      .all(logId, highWatermark);
  }

  create(topicId: string, fromPartition: number, toPartition: number): void {
    // Starting the count of coordinates at different points spreads the logs' snapshots and time index entries over time.
    const insert = this.#database.sql('INSERT INTO logs (topic_id, partition, coordinates) VALUES (?, ?, ?)');
    for (let partition = fromPartition; partition < toPartition; partition += 1) {
      insert.run(topicId, partition, (partition * 7) % TIME_INDEX_RUN);
    }
  }

  /** Bytes of each partition of a topic. */
  sizes(topicId: string): bigint[] {
    const rows = this.#database
      .sql(
        `SELECT bytes + (SELECT coalesce(sum(size), 0) FROM coordinates
           WHERE coordinates.log_id = logs.log_id AND last_offset >= high_watermark) AS bytes
         FROM logs WHERE topic_id = ? ORDER BY partition`,
      )
      .all(topicId);
    return rows.map(({ bytes }) => bytes as bigint);
  }

  /** Snapshot, then what the log's own coordinates say: what Kafka does when a broker starts. */
  #loadProducers(head: SqliteLogHead): Map<bigint, ProducerState> {
    const snapshot = this.#database.sql('SELECT producers FROM producer_snapshots WHERE log_id = ?').get(head.logId);
    const producers = snapshot ? decodeProducers(snapshot.producers as Uint8Array) : new Map<bigint, ProducerState>();
    const rows = this.#database
      .sql(
        'SELECT base_offset, append_time_ms, producers FROM coordinates WHERE log_id = ? AND last_offset >= ? ORDER BY last_offset',
      )
      .all(head.logId, head.producersFrom);
    for (const row of rows) {
      if (row.producers === null) continue;
      const appendTimeMs = row.append_time_ms as bigint;
      const coordinate = { baseOffset: row.base_offset as bigint, appendTimeMs };
      for (const { producerId, producerEpoch, batch } of decodeProducerAppends(
        row.producers as Uint8Array,
        coordinate,
      )) {
        producers.set(producerId, remember(producers.get(producerId), producerEpoch, batch, appendTimeMs));
      }
    }
    head.coordinatesSinceSnapshot = rows.length;
    return producers;
  }

  /** Writes a partition's part of a commit and makes it the head. `nowMs` is the clock, which its append time may be ahead of. */
  append(fileId: number | bigint, staged: StagedLog, producerIdExpirationMs: number, nowMs: bigint): void {
    const head = staged.head as SqliteLogHead;
    const journalWasEmpty = head.producersFrom === head.highWatermark;
    const begunAnew = beginsAnew(staged);
    let runEnded = false;
    for (const coordinate of staged.coordinates) runEnded = this.#insert(head, fileId, coordinate) || runEnded;
    applyStaged(staged);
    if (journalWasEmpty && staged.producers.size === 0) head.producersFrom = head.highWatermark;
    else head.coordinatesSinceSnapshot += staged.coordinates.length;
    const snapshot = begunAnew || snapshotDue(head);
    if (snapshot) this.writeSnapshot(head, producerIdExpirationMs, nowMs);
    if (snapshot || runEnded) this.save(head);
  }

  /** Whether the coordinate ended a run of the time index. */
  #insert(head: SqliteLogHead, fileId: number | bigint, coordinate: NewCoordinate): boolean {
    this.#database
      .sql('INSERT INTO coordinates VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)')
      .run(
        head.logId,
        coordinate.lastOffset,
        coordinate.baseOffset,
        fileId,
        coordinate.position,
        coordinate.size,
        coordinate.timestampType,
        coordinate.appendTimeMs,
        coordinate.maxTimestamp,
        coordinate.offsetOfMaxTimestamp,
        coordinate.leaderEpoch,
        encodeProducerAppends(coordinate),
      );
    head.bytes += BigInt(coordinate.size);
    const ended = head.countCoordinate(coordinate.maxTimestamp);
    for (const { level, maxTimestamp } of ended) {
      this.#database
        .sql('INSERT INTO time_index VALUES (?, ?, ?, ?)')
        .run(head.logId, level, coordinate.lastOffset, maxTimestamp);
    }
    return ended.length > 0;
  }

  /**
   * Writes the whole producer state of a partition, less what has expired, so that no coordinate is needed for it. The head
   * is to be saved in the same transaction, or the coordinates would be taken in a second time.
   */
  writeSnapshot(head: SqliteLogHead, producerIdExpirationMs: number, nowMs: bigint): void {
    for (const [producerId, state] of head.producers) {
      if (isExpired(state, nowMs, producerIdExpirationMs)) head.producers.delete(producerId);
    }
    this.#database
      .sql('INSERT OR REPLACE INTO producer_snapshots VALUES (?, ?)')
      .run(head.logId, encodeProducers(head.producers));
    head.producersFrom = head.highWatermark;
    head.coordinatesSinceSnapshot = 0;
  }

  save(head: SqliteLogHead): void {
    this.#database
      .sql(
        `UPDATE logs SET log_start_offset = ?, high_watermark = ?, last_append_time_ms = ?, bytes = ?, coordinates = ?,
         open_max_1 = ?, open_max_2 = ?, open_max_3 = ?, producers_from = ? WHERE log_id = ?`,
      )
      .run(
        head.logStartOffset,
        head.highWatermark,
        head.lastAppendTimeMs,
        head.bytes,
        head.coordinates,
        head.openMax[0]!,
        head.openMax[1]!,
        head.openMax[2]!,
        head.producersFrom,
        head.logId,
      );
  }
}

/**
 * Whether a producer that had expired goes on under the same epoch: its window begins anew, which the coordinates do not
 * tell, so that a window rebuilt from them would hold what was forgotten.
 */
function beginsAnew({ head, producers }: StagedLog): boolean {
  for (const [producerId, { producerEpoch, batches }] of producers) {
    const before = head.producers.get(producerId);
    if (before?.producerEpoch === producerEpoch && !batches.includes(before.batches.at(-1)!)) return true;
  }
  return false;
}

function snapshotDue(head: SqliteLogHead): boolean {
  const { coordinatesSinceSnapshot } = head;
  if (coordinatesSinceSnapshot < SNAPSHOT_INTERVAL) return false;
  return coordinatesSinceSnapshot >= SNAPSHOT_INTERVAL * Math.ceil(head.producers.size / PRODUCERS_PER_INTERVAL);
}
