/**
 * Whether what is stored of idempotent producers makes sense, for `shoal doctor`: snapshots, and the batches that the
 * coordinates behind them tell of. Runs in the SQLite worker, without a coordinator.
 */
import { incrementSequence, type ProducerBatch, type ProducerState, remember } from '../producer-state.ts';
import { decodeProducerAppends, decodeProducers } from './blobs.ts';
import type { SqlDatabase, SqlRow } from './driver.ts';

const LOGS_AT_ONCE = 1_000;

/** The first faults, one sentence each, at most `limit`. */
export function producerFaults(database: SqlDatabase, limit: number): string[] {
  const faults: string[] = [];
  let after = -1n;
  while (faults.length < limit) {
    const logs = database
      .sql(
        `SELECT g.*, t.name, s.producers FROM logs g JOIN topics t ON t.topic_id = g.topic_id
         LEFT JOIN producer_snapshots s ON s.log_id = g.log_id WHERE g.log_id > ? ORDER BY g.log_id LIMIT ?`,
      )
      .all(after, LOGS_AT_ONCE);
    for (const log of logs) faults.push(...faultsOf(database, log));
    if (logs.length < LOGS_AT_ONCE) break;
    after = logs.at(-1)!.log_id as bigint;
  }
  return faults.slice(0, limit);
}

/** At most one fault for each part of a log. */
function faultsOf(database: SqlDatabase, log: SqlRow): string[] {
  const name = `${log.name}-${log.partition}`;
  try {
    const known = log.producers === null ? new Map() : decodeProducers(log.producers as Uint8Array);
    return [snapshotFault(known, log.producers_from as bigint), appendFault(database, log, known)]
      .filter((fault) => fault !== undefined)
      .map((fault) => `${name}: ${fault}`);
  } catch (error) {
    if (error instanceof RangeError) return [`${name}: what is known of its producers cannot be read`];
    throw error;
  }
}

/** A snapshot tells of batches below the offset that it was made at. */
function snapshotFault(producers: ReadonlyMap<bigint, ProducerState>, madeAt: bigint): string | undefined {
  for (const [producerId, { batches }] of producers) {
    const wrong = batches.find((batch, i) => {
      const before = batches[i - 1];
      return endOf(batch) >= madeAt || (before && (!follows(before, batch) || batch.firstOffset <= endOf(before)));
    });
    if (wrong || batches.length === 0) return brokenBy(producerId, wrong?.firstSequence ?? -1);
  }
  return undefined;
}

/** Behind a snapshot, a producer's batches follow each other and those in it for as long as its epoch is the same. */
function appendFault(database: SqlDatabase, log: SqlRow, known: Map<bigint, ProducerState>): string | undefined {
  const rows = database
    .sql(
      `SELECT base_offset, last_offset, append_time_ms, producers FROM coordinates
       WHERE log_id = ? AND last_offset >= ? AND producers IS NOT NULL ORDER BY last_offset`,
    )
    .all(log.log_id!, log.producers_from!);
  for (const row of rows) {
    const [baseOffset, lastOffset] = [row.base_offset as bigint, row.last_offset as bigint];
    const appendTimeMs = row.append_time_ms as bigint;
    for (const append of decodeProducerAppends(row.producers as Uint8Array, { baseOffset, appendTimeMs })) {
      const { producerId, producerEpoch, batch } = append;
      const state = known.get(producerId);
      const outside = batch.firstOffset < baseOffset || endOf(batch) > lastOffset;
      const last = state?.producerEpoch === producerEpoch ? state.batches.at(-1) : undefined;
      if (outside || (last && !follows(last, batch))) return brokenBy(producerId, batch.firstSequence);
      known.set(producerId, remember(state, producerEpoch, batch, appendTimeMs));
    }
  }
  return undefined;
}

function follows(before: ProducerBatch, batch: ProducerBatch): boolean {
  return batch.firstSequence === incrementSequence(before.lastSequence, 1);
}

/** Its last offset; a batch has as many offsets as sequences. */
function endOf({ firstOffset, firstSequence, lastSequence }: ProducerBatch): bigint {
  const records = lastSequence - firstSequence;
  return firstOffset + BigInt(records < 0 ? records + 2 ** 31 : records);
}

function brokenBy(producerId: bigint, sequence: number): string {
  return `the batches of producer ${producerId} do not follow each other at sequence ${sequence}, or lie elsewhere`;
}
