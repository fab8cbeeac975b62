/**
 * Merging persisted state batches with newly written ones (KIP-932, share coordinator). Pure.
 *
 * Per offset the higher delivery count wins, ties go to the higher state id; what lies below the start offset vanishes;
 * touching ranges with equal state and count become one; holes stay holes.
 */
import type { StateBatch } from './share-window.ts';

function wins(a: StateBatch, b: StateBatch): boolean {
  return a.deliveryCount > b.deliveryCount || (a.deliveryCount === b.deliveryCount && a.state > b.state);
}

/** Adds a range behind all others; it becomes part of the last one when the two touch and say the same. */
function append(batches: StateBatch[], { firstOffset, lastOffset, state, deliveryCount }: StateBatch): void {
  const before = batches[batches.length - 1];
  if (before?.lastOffset === firstOffset - 1 && before.state === state && before.deliveryCount === deliveryCount) {
    batches[batches.length - 1] = { firstOffset: before.firstOffset, lastOffset, state, deliveryCount };
  } else {
    batches.push({ firstOffset, lastOffset, state, deliveryCount });
  }
}

/** By rising first offset. A write of thousands of single records is mostly a few ranges that say the same. */
function joined(batches: readonly StateBatch[]): StateBatch[] {
  const result: StateBatch[] = [];
  for (const batch of [...batches].sort((a, b) => a.firstOffset - b.firstOffset)) append(result, batch);
  return result;
}

/** Cuts at every bound, so that each elementary range is either wholly inside a batch or outside of it. */
function elementaryRanges(batches: readonly StateBatch[], startOffset: number): [first: number, last: number][] {
  const cuts = new Set<number>([startOffset]);
  for (const { firstOffset, lastOffset } of batches) {
    cuts.add(firstOffset);
    cuts.add(lastOffset + 1);
  }
  const sorted = [...cuts].filter((cut) => cut >= startOffset).sort((a, b) => a - b);
  return sorted.slice(1).map((end, index) => [sorted[index]!, end - 1]);
}

/** `startOffset` −1 clips nothing. The result rises without overlapping. */
export function combineStateBatches(
  stored: readonly StateBatch[],
  written: readonly StateBatch[],
  startOffset: number,
): StateBatch[] {
  const all = [...stored, ...joined(written)].sort((a, b) => a.firstOffset - b.firstOffset);
  const combined: StateBatch[] = [];
  let next = 0;
  let open: StateBatch[] = [];
  for (const [firstOffset, lastOffset] of elementaryRanges(all, Math.max(startOffset, 0))) {
    while (next < all.length && all[next]!.firstOffset <= firstOffset) open.push(all[next++]!);
    open = open.filter((batch) => batch.lastOffset >= firstOffset);
    if (open.length === 0) continue;
    const { state, deliveryCount } = open.reduce((best, batch) => (wins(batch, best) ? batch : best));
    append(combined, { firstOffset, lastOffset, state, deliveryCount });
  }
  return combined;
}
