/** Walking the record batches of a rewritten run by their headers. Pure; the run was verified when it was rewritten. */
import { assert } from '../common/assert.ts';
import type { RewrittenRun } from '../worker/rewritten-run.ts';

/** Field positions in a v2 record batch (Kafka's DefaultRecordBatch), big-endian. */
const BATCH_LENGTH_AT = 8;
const LAST_OFFSET_DELTA_AT = 23;
/** Base offset and batch length, which the batch length does not count. */
const LOG_OVERHEAD_BYTES = 12;

/** Some whole batches of a run. */
export interface BatchSlice {
  readonly bytes: Uint8Array;
  /** The offset after the last of them; equals the run's end when all of it was taken. */
  readonly nextOffset: bigint;
}

/**
 * The batches of `run` from the one that holds `fetchOffset` on, as many as fit into `maxBytes`; the first one even when it
 * does not, if `atLeastOne`. Undefined when none.
 */
export function sliceBatches(
  run: RewrittenRun,
  fetchOffset: bigint,
  maxBytes: number,
  atLeastOne: boolean,
): BatchSlice | undefined {
  if (fetchOffset <= run.baseOffset && run.bytes.length <= maxBytes) {
    return { bytes: run.bytes, nextOffset: run.lastOffset + 1n };
  }
  const view = new DataView(run.bytes.buffer, run.bytes.byteOffset, run.bytes.length);
  // Offsets inside a run are dense, so counting deltas from its base avoids a bigint per batch.
  const wanted = fetchOffset <= run.baseOffset ? 0 : Number(fetchOffset - run.baseOffset);
  let records = 0;
  let start = 0;
  for (;;) {
    assert(start < run.bytes.length, 'a run holds every offset up to its last');
    const next = records + view.getInt32(start + LAST_OFFSET_DELTA_AT) + 1;
    if (next > wanted) break;
    records = next;
    start += sizeAt(view, start);
  }
  let end = start;
  while (end < run.bytes.length) {
    const size = sizeAt(view, end);
    if (end + size - start > maxBytes && !(atLeastOne && end === start)) break;
    records += view.getInt32(end + LAST_OFFSET_DELTA_AT) + 1;
    end += size;
  }
  if (end === start) return undefined;
  return { bytes: run.bytes.subarray(start, end), nextOffset: run.baseOffset + BigInt(records) };
}

/** The bytes of a run's batches from the one that begins at `baseOffset` to the one that ends at `lastOffset`. */
export function batchesBetween(run: RewrittenRun, baseOffset: bigint, lastOffset: bigint): Uint8Array {
  if (baseOffset <= run.baseOffset && lastOffset >= run.lastOffset) return run.bytes;
  const view = new DataView(run.bytes.buffer, run.bytes.byteOffset, run.bytes.length);
  let start = 0;
  let end = 0;
  for (let offset = run.baseOffset; end < run.bytes.length && offset <= lastOffset; ) {
    offset += BigInt(view.getInt32(end + LAST_OFFSET_DELTA_AT) + 1);
    end += sizeAt(view, end);
    if (offset <= baseOffset) start = end;
  }
  return run.bytes.subarray(start, end);
}

function sizeAt(view: DataView, position: number): number {
  return LOG_OVERHEAD_BYTES + view.getInt32(position + BATCH_LENGTH_AT);
}
