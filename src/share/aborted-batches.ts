/** Which log batches a read_committed reader must not see: those of producers whose transaction was aborted. Pure. */
import type { LogBatch } from './acquire.ts';

/** What the header of a transactional log batch says. */
export interface TransactionalBatch {
  /** Index among the log batches of the read. */
  readonly index: number;
  readonly producerId: bigint;
  /** Set for an end marker. */
  readonly control?: 'commit' | 'abort' | undefined;
}

export interface AbortedTransaction {
  readonly producerId: bigint;
  readonly firstOffset: number;
}

/**
 * The aborted batches among `logBatches`. A producer's batches count as aborted from the transaction's first offset until
 * its abort marker; markers themselves are not data and stay.
 */
export function abortedBatches(
  logBatches: readonly LogBatch[],
  transactional: readonly TransactionalBatch[],
  aborted: readonly AbortedTransaction[],
): LogBatch[] {
  const open = new Set<bigint>();
  const byOffset = [...aborted].sort((a, b) => a.firstOffset - b.firstOffset);
  const byIndex = new Map(transactional.map((batch) => [batch.index, batch]));
  let next = 0;
  return logBatches.filter((batch, index) => {
    while (next < byOffset.length && byOffset[next]!.firstOffset <= batch.last) open.add(byOffset[next++]!.producerId);
    const header = byIndex.get(index);
    if (!header) return false;
    if (header.control === 'abort') open.delete(header.producerId);
    return header.control === undefined && open.has(header.producerId);
  });
}
