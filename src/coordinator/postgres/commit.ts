/** commitFile and abandonFile: a request as the arrays that the database function takes, and its answer as a result. */
import type { PartitionKey } from '../../common/topic-id-partition.ts';
import {
  type AbandonFileResult,
  type CommitBatch,
  type CommitBatchResult,
  type CommitFileRequest,
  type CommitFileResult,
  CoordinatorError,
} from '../diskless-coordinator.ts';
import { MAX_SEGMENT_AGE_MS, tooOld } from '../tombstones.ts';
import { int4Array, int8Array } from './binary-array.ts';
import { type CommitPlan, decodeLayout, resultsOf } from './commit-plan.ts';
import type { Query, Row } from './connections.ts';

export interface CommitParameters {
  /** undefined: the database's own clock. */
  readonly nowMs: number | undefined;
  readonly maxCoordinateBytes: number;
  readonly producerIdExpirationMs: number;
  readonly origin: string;
}

/** Read only where a batch may not be accepted, so they cross as text: PostgreSQL's array literals, one behind the other. */
function literal<T>(items: readonly T[], value: (item: T) => number | bigint): string {
  return `{${items.map(value).join(',')}}`;
}

function logColumns({ logs }: CommitPlan): unknown[] {
  return [
    logs.map(({ topicIdPartition }) => topicIdPartition.topicId),
    int4Array(logs, ({ topicIdPartition }) => topicIdPartition.partition),
    int8Array(logs, ({ span }) => span),
    int4Array(logs, ({ coordinates }) => coordinates),
    int8Array(logs, ({ bytes }) => bytes),
    int8Array(logs, ({ maxTimestamp }) => maxTimestamp),
    int4Array(logs, ({ hasLogAppendTime }) => (hasLogAppendTime ? 1 : 0)),
  ];
}

function coordinateColumns({ coordinates }: CommitPlan): Buffer[] {
  return [
    int4Array(coordinates, ({ log }) => log),
    int8Array(coordinates, ({ position }) => position),
    int4Array(coordinates, ({ size }) => size),
    int8Array(coordinates, ({ base }) => base),
    int8Array(coordinates, ({ lastOffset }) => lastOffset),
    int4Array(coordinates, ({ timestampType }) => timestampType),
    int8Array(coordinates, ({ maxTimestamp }) => maxTimestamp),
    int8Array(coordinates, ({ maxTimestampOffset }) => maxTimestampOffset),
  ];
}

/** For a chain of one batch that batch; of the others the recent ones stand in columns of their own. */
function chainColumns({ chains }: CommitPlan): Buffer[] {
  const several = chains.filter(({ count }) => count > 1);
  const recent = several.flatMap((chain) => chain.recent.map((batch) => ({ chain: chain.number, ...batch })));
  return [
    int4Array(chains, ({ log }) => log),
    int8Array(chains, ({ producerId }) => producerId),
    int4Array(chains, ({ producerEpoch }) => producerEpoch),
    int4Array(chains, ({ firstSequence }) => firstSequence),
    int4Array(chains, ({ last }) => last.lastSequence),
    int8Array(chains, ({ last }) => last.offset),
    int8Array(chains, ({ last }) => last.stamp),
    int4Array(chains, ({ count }) => count),
    int4Array(recent, ({ chain }) => chain),
    int4Array(recent, ({ firstSequence }) => firstSequence),
    int4Array(recent, ({ lastSequence }) => lastSequence),
    int8Array(recent, ({ offset }) => offset),
    int8Array(recent, ({ stamp }) => stamp),
  ];
}

function batchColumns(batches: readonly CommitBatch[], { places, chainOf }: CommitPlan): string {
  const columns = [
    literal(places, ({ log }) => log),
    literal(chainOf, (chain) => chain),
    literal(batches, ({ position }) => position),
    literal(batches, ({ size }) => size),
    literal(batches, ({ lastOffsetDelta }) => lastOffsetDelta),
    literal(batches, ({ maxTimestamp }) => maxTimestamp),
    literal(batches, ({ offsetOfMaxTimestampDelta }) => offsetOfMaxTimestampDelta),
    literal(batches, ({ timestampType }) => timestampType),
    literal(batches, ({ producerEpoch }) => producerEpoch),
    literal(batches, ({ baseSequence }) => baseSequence),
  ];
  return columns.join(' ');
}

const COMMIT_PARAMETERS = 44;
const COMMIT = `SELECT * FROM commit_file(${Array.from({ length: COMMIT_PARAMETERS }, (_, i) => `$${i + 1}`).join(', ')})`;

export function commitQuery(request: CommitFileRequest, plan: CommitPlan, parameters: CommitParameters): Query {
  return {
    name: 'commit_file',
    text: COMMIT,
    values: [
      request.objectKey,
      request.formatVersion,
      request.sizeBytes,
      request.uploaderId,
      request.uploaderEpoch,
      request.segmentSequence,
      request.createdMs,
      MAX_SEGMENT_AGE_MS,
      parameters.nowMs ?? null,
      parameters.maxCoordinateBytes,
      parameters.producerIdExpirationMs,
      parameters.origin,
      ...logColumns(plan),
      ...coordinateColumns(plan),
      ...chainColumns(plan),
      plan.isPlain,
      request.batches.length,
      Buffer.from(plan.layout()),
      batchColumns(request.batches, plan),
    ],
  };
}

/** From the columns by batch, or by log where every batch was accepted. */
function toResult(row: Row, plan: CommitPlan | undefined): CommitFileResult {
  const [bases, appends, starts] = [row.o_base as bigint[], row.o_append as bigint[], row.o_start as bigint[]];
  const errors = row.o_errors as number[] | null;
  if (!errors) {
    const places = plan?.places ?? decodeLayout(row.o_layout as Buffer);
    return { batches: resultsOf(places, { bases, appendTimesMs: appends, logStartOffsets: starts }) };
  }
  const duplicates = row.o_duplicate as boolean[];
  const batches = errors.map((error, index): CommitBatchResult => {
    return {
      error,
      baseOffset: bases[index]!,
      logAppendTimeMs: appends[index]!,
      logStartOffset: starts[index]!,
      duplicate: duplicates[index]!,
    };
  });
  return { batches };
}

/** The result and, for a new commit that changed something, its change number. @throws CoordinatorError */
export function commitAnswer(
  objectKey: string,
  plan: CommitPlan,
  row: Row,
): { readonly result: CommitFileResult; readonly changeNumber: bigint | undefined } {
  switch (row.status) {
    case 'abandoned':
      throw new CoordinatorError('abandoned', `object ${objectKey} was given up`);
    case 'too-old':
      throw tooOld(objectKey);
    case 'invalid':
      throw new CoordinatorError('invalid', `object ${objectKey} was committed before with other content`);
    case 'plain':
    case 'committed':
      return { result: toResult(row, plan), changeNumber: (row.o_change as bigint | null) ?? undefined };
    default:
      return { result: toResult(row, undefined), changeNumber: undefined };
  }
}

export function abandonAnswer(row: Row): AbandonFileResult {
  return row.status === 'abandoned' ? { outcome: 'abandoned' } : { outcome: 'committed', ...toResult(row, undefined) };
}

/** The high watermarks after a commit that was carried out now. */
export function highWatermarks(
  request: CommitFileRequest,
  plan: CommitPlan,
  { batches }: CommitFileResult,
): Map<PartitionKey, bigint> {
  const found = new Map<PartitionKey, bigint>();
  for (const [index, { lastOffsetDelta }] of request.batches.entries()) {
    const { error, duplicate, baseOffset } = batches[index]!;
    if (error !== 0 || duplicate) continue;
    found.set(plan.logs[plan.places[index]!.log - 1]!.key, baseOffset + BigInt(lastOffsetDelta) + 1n);
  }
  return found;
}
