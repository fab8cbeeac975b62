/** commitFile and abandonFile: a request as the arrays that the database function takes, and its answer as a result. */
import type { TopicIdPartition } from '../../common/topic-id-partition.ts';
import { partitionKey } from '../../common/topic-id-partition.ts';
import {
  type AbandonFileResult,
  type CommitBatchResult,
  type CommitFileRequest,
  type CommitFileResult,
  CoordinatorError,
} from '../diskless-coordinator.ts';
import type { Query, Row } from './connections.ts';

export interface CommitParameters {
  /** undefined: the database's own clock. */
  readonly nowMs: number | undefined;
  readonly maxCoordinateBytes: number;
  readonly producerIdExpirationMs: number;
  readonly origin: string;
}

/** Numbers things from 1, as PostgreSQL's arrays do. */
class Numbering<T> {
  readonly all: T[] = [];
  readonly #numbers = new Map<string, number>();

  of(key: string, thing: () => T): number {
    let number = this.#numbers.get(key);
    if (number === undefined) {
      number = this.all.push(thing());
      this.#numbers.set(key, number);
    }
    return number;
  }
}

/** A PostgreSQL array literal; numbers and bigints need no quoting. */
function array(values: readonly (number | bigint)[]): string {
  return `{${values.join(',')}}`;
}

export function commitQuery(request: CommitFileRequest, parameters: CommitParameters): Query {
  const { batches } = request;
  const logs = new Numbering<TopicIdPartition>();
  const chains = new Numbering<{ log: number; producerId: bigint }>();
  const logOf = batches.map(({ topicIdPartition }) => logs.of(partitionKey(topicIdPartition), () => topicIdPartition));
  const chainOf = batches.map(({ producerId }, index) => {
    const log = logOf[index]!;
    return producerId < 0n ? 0 : chains.of(`${log} ${producerId}`, () => ({ log, producerId }));
  });
  return {
    name: 'commit_file',
    text: `SELECT * FROM commit_file($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18,
      $19, $20, $21, $22, $23, $24)`,
    values: [
      request.objectKey,
      request.formatVersion,
      request.sizeBytes,
      request.uploaderId,
      request.uploaderEpoch,
      request.segmentSequence,
      parameters.nowMs ?? null,
      parameters.maxCoordinateBytes,
      parameters.producerIdExpirationMs,
      parameters.origin,
      logs.all.map(({ topicId }) => topicId),
      array(logs.all.map(({ partition }) => partition)),
      array(chains.all.map(({ log }) => log)),
      array(chains.all.map(({ producerId }) => producerId)),
      array(logOf),
      array(chainOf),
      array(batches.map(({ position }) => position)),
      array(batches.map(({ size }) => size)),
      array(batches.map(({ lastOffsetDelta }) => lastOffsetDelta)),
      array(batches.map(({ maxTimestamp }) => maxTimestamp)),
      array(batches.map(({ offsetOfMaxTimestampDelta }) => offsetOfMaxTimestampDelta)),
      array(batches.map(({ timestampType }) => timestampType)),
      array(batches.map(({ producerEpoch }) => producerEpoch)),
      array(batches.map(({ baseSequence }) => baseSequence)),
    ],
  };
}

function toResult(row: Row): CommitFileResult {
  const [errors, duplicates] = [row.o_errors as number[], row.o_duplicate as boolean[]];
  const [bases, appends, starts] = [row.o_base as bigint[], row.o_append as bigint[], row.o_start as bigint[]];
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
  row: Row,
): { readonly result: CommitFileResult; readonly changeNumber: bigint | undefined } {
  switch (row.status) {
    case 'abandoned':
      throw new CoordinatorError('abandoned', `object ${objectKey} was given up`);
    case 'invalid':
      throw new CoordinatorError('invalid', `object ${objectKey} was committed before with other content`);
    case 'committed':
      return { result: toResult(row), changeNumber: (row.o_change as bigint | null) ?? undefined };
    default:
      return { result: toResult(row), changeNumber: undefined };
  }
}

export function abandonAnswer(row: Row): AbandonFileResult {
  return row.status === 'abandoned' ? { outcome: 'abandoned' } : { outcome: 'committed', ...toResult(row) };
}

/** The high watermarks after a commit that was carried out now. */
export function highWatermarks(request: CommitFileRequest, { batches }: CommitFileResult): Map<string, bigint> {
  const found = new Map<string, bigint>();
  for (const [index, { topicIdPartition, lastOffsetDelta }] of request.batches.entries()) {
    const { error, duplicate, baseOffset } = batches[index]!;
    if (error !== 0 || duplicate) continue;
    found.set(partitionKey(topicIdPartition), baseOffset + BigInt(lastOffsetDelta) + 1n);
  }
  return found;
}
