/** findBatches, listOffsets, logSizes and describeProducers over PostgreSQL: one round trip each. */
import type { TopicIdPartition } from '../../common/topic-id-partition.ts';
import type { Uuid } from '../../common/uuid.ts';
import type {
  BatchCoordinate,
  FindBatchesRequest,
  FindBatchesResult,
  ListOffsetsRequest,
  ListOffsetsResult,
  ProducerStateDescription,
  TimestampType,
} from '../diskless-coordinator.ts';
import { findResult, MAX_COORDINATES_PER_FIND } from '../find-budget.ts';
import { answerListOffsets, UNKNOWN_LOG } from '../list-offsets.ts';
import type { Connections, Row } from './connections.ts';

function toCoordinate(row: Row): BatchCoordinate {
  const timestampType = row.timestamp_type as TimestampType;
  return {
    objectKey: row.object_key as string,
    position: Number(row.position),
    size: row.size as number,
    baseOffset: row.base_offset as bigint,
    lastOffset: row.last_offset as bigint,
    timestampType,
    logAppendTimeMs: timestampType === 1 ? (row.append_time_ms as bigint) : -1n,
    maxTimestamp: row.max_timestamp as bigint,
    leaderEpoch: row.leader_epoch as number,
  };
}

/** Two array parameters: topic ids and partition numbers. */
export function partitionArrays(partitions: readonly TopicIdPartition[]): [string[], number[]] {
  return [partitions.map(({ topicId }) => topicId), partitions.map(({ partition }) => partition)];
}

/** No server-side arithmetic overflows with it. */
function clampLimit(bytes: number): number {
  return Math.trunc(Math.min(Math.max(bytes, 0), Number.MAX_SAFE_INTEGER));
}

export async function findBatches(
  connections: Connections,
  { partitions, maxBytes, minOneBatch }: FindBatchesRequest,
): Promise<FindBatchesResult[]> {
  if (partitions.length === 0) return [];
  const rows = await connections.query({
    name: 'find_batches',
    text: 'SELECT * FROM find_batches($1, $2, $3, $4, $5, $6, $7)',
    values: [
      ...partitionArrays(partitions.map(({ topicIdPartition }) => topicIdPartition)),
      partitions.map(({ fetchOffset }) => fetchOffset),
      partitions.map((partition) => clampLimit(partition.maxBytes)),
      clampLimit(maxBytes),
      minOneBatch ?? true,
      MAX_COORDINATES_PER_FIND,
    ],
  });
  const results: (FindBatchesResult & { coordinates: BatchCoordinate[] })[] = [];
  for (const row of rows) {
    if (row.base_offset !== null) {
      results.at(-1)!.coordinates.push(toCoordinate(row));
      continue;
    }
    const log = { logStartOffset: row.log_start_offset as bigint, highWatermark: row.high_watermark as bigint };
    results.push({ ...findResult(row.error as number, log), coordinates: [] });
  }
  return results;
}

function toListResult(row: Row, request: ListOffsetsRequest): ListOffsetsResult {
  const coordinate = row.base_offset === null ? undefined : toCoordinate(row);
  const log = {
    logStartOffset: row.log_start_offset as bigint,
    highWatermark: row.high_watermark as bigint,
    leaderEpoch: row.log_leader_epoch as number,
    firstAtLeast: () => coordinate,
    greatest: () => coordinate && { coordinate, offset: row.max_timestamp_offset as bigint },
  };
  return answerListOffsets(log, request);
}

export async function listOffsets(
  connections: Connections,
  requests: readonly ListOffsetsRequest[],
): Promise<ListOffsetsResult[]> {
  if (requests.length === 0) return [];
  const rows = await connections.query({
    name: 'list_offsets',
    text: 'SELECT * FROM list_offsets($1, $2, $3, $4)',
    values: [
      ...partitionArrays(requests.map(({ topicIdPartition }) => topicIdPartition)),
      requests.map(({ timestamp }) => timestamp),
      requests.map(({ fromOffset }) => fromOffset ?? 0n),
    ],
  });
  const results = requests.map((): ListOffsetsResult => UNKNOWN_LOG);
  for (const row of rows) {
    const index = (row.ix as number) - 1;
    results[index] = toListResult(row, requests[index]!);
  }
  return results;
}

export async function logSizes(
  connections: Connections,
  topicIds: readonly Uuid[],
): Promise<(readonly bigint[] | undefined)[]> {
  if (topicIds.length === 0) return [];
  const rows = await connections.query({
    text: `SELECT topic_id, array_agg(bytes ORDER BY partition) AS bytes FROM logs
      WHERE topic_id = ANY($1::text[]) GROUP BY topic_id`,
    values: [topicIds],
  });
  const sizes = new Map(rows.map((row) => [row.topic_id as Uuid, row.bytes as bigint[]]));
  return topicIds.map((topicId) => sizes.get(topicId));
}

export async function describeProducers(
  connections: Connections,
  partitions: readonly TopicIdPartition[],
  nowMs: number | undefined,
  expirationMs: number,
): Promise<ProducerStateDescription[][]> {
  if (partitions.length === 0) return [];
  const rows = await connections.query({
    text: `SELECT x.ix::int, p.producer_id, p.producer_epoch, previous_sequence(p.next_sequence)::int AS last_sequence,
        p.batches[cardinality(p.batches)] >> 1 AS last_timestamp
      FROM unnest($1::text[], $2::int[]) WITH ORDINALITY x (topic_id, partition, ix)
      JOIN logs g ON g.topic_id = x.topic_id AND g.partition = x.partition JOIN producers p ON p.log_id = g.log_id
      WHERE coalesce($3::bigint, clock_ms()) - p.last_append_time_ms < $4::bigint ORDER BY x.ix, p.producer_id`,
    values: [...partitionArrays(partitions), nowMs ?? null, expirationMs],
  });
  const results = partitions.map((): ProducerStateDescription[] => []);
  for (const row of rows) {
    results[(row.ix as number) - 1]!.push({
      producerId: row.producer_id as bigint,
      producerEpoch: row.producer_epoch as number,
      lastSequence: row.last_sequence as number,
      lastTimestampMs: row.last_timestamp as bigint,
    });
  }
  return results;
}
