/**
 * The record batches of a read, by their headers (magic 2, big-endian): what acquisition needs and nothing else. The bytes
 * were verified by the fetch path; records are not parsed, but for the type of an end marker.
 */
import type { TransactionalBatch } from './aborted-batches.ts';
import type { LogBatch } from './acquire.ts';

const LENGTH_AT = 8;
const ATTRIBUTES_AT = 21;
const LAST_OFFSET_DELTA_AT = 23;
const PRODUCER_ID_AT = 43;
const RECORDS_AT = 61;
const TRANSACTIONAL_BIT = 0x10;
const CONTROL_BIT = 0x20;

export interface ReadBatches {
  readonly logBatches: readonly LogBatch[];
  /** Where each log batch begins in the runs laid end to end, and, last, where the last of them ends. */
  readonly positions: readonly number[];
  readonly transactional: readonly TransactionalBatch[];
}

/** The length of a zigzag varint at `at`; its value does not matter here. */
function varintLength(view: DataView, at: number): number {
  let length = 1;
  while (view.getUint8(at + length - 1) & 0x80) length++;
  return length;
}

/** Key of a control record: int16 version, int16 type (0 abort, 1 commit). Control batches are never compressed. */
function markerType(view: DataView, batchAt: number): 'commit' | 'abort' {
  let at = batchAt + RECORDS_AT;
  at += varintLength(view, at) + 1;
  for (let field = 0; field < 3; field++) at += varintLength(view, at);
  return view.getInt16(at + 2) === 0 ? 'abort' : 'commit';
}

/**
 * @param reach how many offsets past the first batch's base, or past `from` where that is greater, are of any use; batches
 *   that begin behind them are left out, since a read may hold thousands of small ones
 */
export function readLogBatches(
  runs: readonly Uint8Array[],
  { from, reach }: { readonly from: number; readonly reach: number },
): ReadBatches {
  const logBatches: LogBatch[] = [];
  const positions: number[] = [];
  const transactional: TransactionalBatch[] = [];
  let before = 0;
  for (const run of runs) {
    const view = new DataView(run.buffer, run.byteOffset, run.byteLength);
    for (let at = 0; at + RECORDS_AT <= run.length; at += 12 + view.getInt32(at + LENGTH_AT)) {
      const first = Number(view.getBigInt64(at));
      if (first > Math.max(logBatches[0]?.first ?? first, from) + reach) {
        positions.push(before + at);
        return { logBatches, positions, transactional };
      }
      const attributes = view.getInt16(at + ATTRIBUTES_AT);
      if (attributes & TRANSACTIONAL_BIT) {
        const producerId = view.getBigInt64(at + PRODUCER_ID_AT);
        const control = attributes & CONTROL_BIT ? markerType(view, at) : undefined;
        transactional.push({ index: logBatches.length, producerId, control });
      }
      logBatches.push({ first, last: first + view.getInt32(at + LAST_OFFSET_DELTA_AT) });
      positions.push(before + at);
    }
    before += run.length;
  }
  positions.push(before);
  return { logBatches, positions, transactional };
}

/** The bytes from one log batch to another, both included: a view of each run that has some of them. */
export function bytesOfLogBatches(
  runs: readonly Uint8Array[],
  { positions }: ReadBatches,
  firstBatch: number,
  lastBatch: number,
): Uint8Array[] {
  const from = positions[firstBatch]!;
  const to = positions[lastBatch + 1]!;
  const views: Uint8Array[] = [];
  let before = 0;
  for (const run of runs) {
    const view = run.subarray(Math.max(0, from - before), Math.max(0, to - before));
    if (view.length > 0) views.push(view);
    before += run.length;
  }
  return views;
}
