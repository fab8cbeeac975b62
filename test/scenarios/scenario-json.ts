/** Between scenario files and what they are compared with: states, errors, batches, offset by offset. Pure. */
import { type ErrorName, Errors, errorName } from '../../src/common/errors.ts';
import type { InFlightBatch } from '../../src/share/in-flight-batch.ts';
import { RecordState, recordStateName } from '../../src/share/record-state.ts';
import type { StateBatch } from '../../src/share/share-window.ts';
import { fields, type Json } from './compare.ts';

/** A state batch as scenario files write it. */
export function stateBatchFromJson(json: Json): StateBatch {
  fields(json, ['firstOffset', 'lastOffset', 'state', 'deliveryCount']);
  if (!(json.state in RecordState)) throw new Error(`unknown state ${json.state}`);
  return { ...json, state: RecordState[json.state as keyof typeof RecordState] } as StateBatch;
}

/** The code of an error's name; null is none. */
export function errorCode(name: string | null): number {
  if (name === null) return Errors.NONE;
  if (!(name in Errors)) throw new Error(`unknown error ${name}`);
  return Errors[name as ErrorName];
}

export const nameOrNull = (code: number): string | null => (code === Errors.NONE ? null : errorName(code));

/** Ranges with equal attributes, offset by offset: the comparison that does not see how tracking is cut. */
export function flatten(ranges: readonly Json[], attributes: (range: Json) => Json): Map<number, Json> {
  const flat = new Map<number, Json>();
  for (const range of ranges)
    for (let offset = range.first; offset <= range.last; offset++) flat.set(offset, attributes(range));
  return flat;
}

function unitJson(unit: { state: RecordState; deliveryCount: number; memberId: string; pending: unknown }): Json {
  return {
    state: recordStateName(unit.state),
    deliveryCount: unit.deliveryCount,
    ...(unit.memberId ? { member: unit.memberId } : {}),
    ...(unit.pending ? { pending: true } : {}),
  };
}

/** A tracked batch as scenario files write it, per-offset states run-length coded. */
export function batchJson(batch: InFlightBatch): Json {
  const bounds = { first: batch.first, last: batch.last };
  if (batch.whole) return { ...bounds, ...unitJson(batch.whole) };
  const offsets: Json[] = [];
  for (let offset = batch.first; offset <= batch.last; offset++) {
    const unit = unitJson(batch.unitAt(offset));
    const before = offsets[offsets.length - 1];
    if (before && JSON.stringify({ ...before, first: 0, last: 0 }) === JSON.stringify({ first: 0, last: 0, ...unit }))
      before.last = offset;
    else offsets.push({ first: offset, last: offset, ...unit });
  }
  return { ...bounds, offsets };
}

/** Units of `batches` fields, whether tracked whole or per offset. */
export function units(batches: readonly Json[]): Json[] {
  return batches.flatMap((batch) => (batch.offsets as Json[] | undefined) ?? [batch]);
}
