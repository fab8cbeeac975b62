/**
 * Retention over PostgreSQL: one log a transaction, so that a step never holds one log while it waits for another. Several
 * brokers may be at it at once; each keeps its own place in the pass.
 */
import { type PartitionKey, partitionKey, type TopicIdPartition } from '../../common/topic-id-partition.ts';
import type { EnforceRetentionResult } from '../diskless-coordinator.ts';
import {
  breaches,
  type Configs,
  PARTITIONS_PER_RETENTION_STEP,
  type RetentionLimits,
  retentionLimits,
} from '../retention.ts';
import type { Connections, Row } from './connections.ts';

export interface RetentionStepOptions {
  readonly maxCoordinates: number;
  /** undefined: the database's own clock. */
  readonly nowMs: number | undefined;
  readonly origin: string;
  readonly producerIdExpirationMs: number;
}

interface Progress {
  left: number;
  coordinatesDeleted: number;
  bytesDeleted: number;
  readonly partitions: TopicIdPartition[];
  readonly logStartOffsets: Map<PartitionKey, bigint>;
}

/** With where the log start offsets have moved to. */
export interface RetentionStep extends EnforceRetentionResult {
  readonly logStartOffsets: ReadonlyMap<PartitionKey, bigint>;
}

const NO_LIMITS: RetentionLimits = { retentionMs: undefined, retentionBytes: undefined };
/** Coordinates dropped in one transaction, at most. */
const MOST_AT_ONCE = 1_000;
/** Expired producers are looked for this often within the time that they take to expire. */
const PRODUCER_PASSES_PER_EXPIRATION = 24;

export class PostgresRetention {
  readonly #connections: Connections;
  #cursor = 0n;
  /** When a pass also forgets expired producers, and whether this one does. */
  #producersDueMs = 0;
  #forgetsProducers = false;

  constructor(connections: Connections) {
    this.#connections = connections;
  }

  async step(options: RetentionStepOptions): Promise<RetentionStep> {
    const progress: Progress = {
      left: options.maxCoordinates,
      coordinatesDeleted: 0,
      bytesDeleted: 0,
      partitions: [],
      logStartOffsets: new Map(),
    };
    const trimmed = await this.#trim(progress, options);
    if (trimmed) await this.#retain(progress, options);
    const { left, ...result } = progress;
    return { ...result, more: !trimmed || left === 0 || this.#cursor !== 0n };
  }

  /** Drops what is logically gone already; whether all of that is done. Logs without coordinates take their time too. */
  async #trim(progress: Progress, options: RetentionStepOptions): Promise<boolean> {
    for (let logs = 0; logs < PARTITIONS_PER_RETENTION_STEP && progress.left > 0; logs += 1) {
      const [row] = await this.#connections.query({
        name: 'log_to_trim',
        text: 'SELECT log_id FROM logs WHERE trim > 0 ORDER BY trim DESC, log_id LIMIT 1',
      });
      if (!row) return true;
      await this.#drop(progress, row.log_id as bigint, NO_LIMITS, options);
    }
    return false;
  }

  /**
   * Logs whose oldest coordinate breaches a limit are dropped from until it no longer does. The limits are asked for with
   * the logs: a topic that another broker has just made, to be kept for ever, must not be judged by what is known here.
   */
  async #retain(progress: Progress, options: RetentionStepOptions): Promise<void> {
    const rows = await this.#connections.query({
      name: 'logs_to_retain',
      text: `SELECT g.log_id, g.topic_id, g.partition, g.bytes, k.size, k.max_timestamp, k.append_time_ms, clock_ms() AS now,
          t.configs, (SELECT configs FROM configs WHERE scope = 'broker') AS broker_configs
        FROM logs g JOIN topics t ON t.topic_id = g.topic_id LEFT JOIN LATERAL (
          SELECT * FROM coordinates k WHERE k.log_id = g.log_id ORDER BY k.last_offset LIMIT 1
        ) k ON true WHERE g.log_id > $1 ORDER BY g.log_id LIMIT $2`,
      values: [this.#cursor, PARTITIONS_PER_RETENTION_STEP],
    });
    if (rows.length > 0) await this.#forgetProducers(rows, options);
    for (const row of rows) {
      await this.#retainLog(progress, row, options);
      if (progress.left === 0) return;
      this.#cursor = row.log_id as bigint;
    }
    if (rows.length < PARTITIONS_PER_RETENTION_STEP) this.#cursor = 0n;
  }

  /** A producer that has expired counts as never seen already. Who commits to a log meanwhile is not waited for. */
  async #forgetProducers(rows: readonly Row[], { nowMs, producerIdExpirationMs }: RetentionStepOptions): Promise<void> {
    const now = nowMs ?? Number(rows[0]!.now);
    if (this.#cursor === 0n) {
      this.#forgetsProducers = now >= this.#producersDueMs;
      if (this.#forgetsProducers) this.#producersDueMs = now + producerIdExpirationMs / PRODUCER_PASSES_PER_EXPIRATION;
    }
    if (!this.#forgetsProducers) return;
    await this.#connections.query({
      name: 'forget_producers',
      text: `WITH held AS MATERIALIZED (
          SELECT log_id FROM logs WHERE log_id = ANY ($1) ORDER BY log_id FOR UPDATE SKIP LOCKED
        )
        DELETE FROM producers p USING held
        WHERE p.log_id = held.log_id AND $2::bigint - p.last_append_time_ms >= $3::bigint`,
      values: [rows.map((row) => row.log_id), now, producerIdExpirationMs],
    });
  }

  async #retainLog(progress: Progress, row: Row, options: RetentionStepOptions): Promise<void> {
    if (row.size === null) return;
    const limits = retentionLimits(row.configs as Configs, (row.broker_configs ?? {}) as Configs);
    const oldest = {
      maxTimestamp: row.max_timestamp as bigint,
      appendTimeMs: row.append_time_ms as bigint,
      size: row.size as number,
    };
    const nowMs = options.nowMs === undefined ? (row.now as bigint) : BigInt(options.nowMs);
    if (!breaches(oldest, row.bytes as bigint, limits, nowMs)) return;
    const of = { topicId: row.topic_id as string, partition: row.partition as number };
    let movedTo: bigint | undefined;
    for (let more = true; more && progress.left > 0; ) {
      const dropped = await this.#drop(progress, row.log_id as bigint, limits, options);
      movedTo = dropped.movedTo ?? movedTo;
      more = dropped.full;
    }
    if (movedTo === undefined) return;
    progress.partitions.push(of);
    progress.logStartOffsets.set(partitionKey(of), movedTo);
  }

  async #drop(
    progress: Progress,
    logId: bigint,
    limits: RetentionLimits,
    { origin, nowMs }: RetentionStepOptions,
  ): Promise<{ readonly movedTo: bigint | undefined; readonly full: boolean }> {
    const atMost = Math.min(progress.left, MOST_AT_ONCE);
    const [row] = await this.#connections.query({
      name: 'drop_step',
      text: 'SELECT * FROM drop_step($1, $2, $3, $4, $5, $6)',
      values: [origin, logId, atMost, nowMs ?? null, limits.retentionMs ?? null, limits.retentionBytes ?? null],
    });
    const count = row!.o_count as number;
    progress.left -= count;
    progress.coordinatesDeleted += count;
    progress.bytesDeleted += Number(row!.o_bytes);
    return { movedTo: (row!.o_moved_to as bigint | null) ?? undefined, full: count === atMost };
  }
}
