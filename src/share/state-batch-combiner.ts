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
  const all = [...stored, ...written].sort((a, b) => a.firstOffset - b.firstOffset);
  const combined: StateBatch[] = [];
  let next = 0;
  let open: StateBatch[] = [];
  for (const [firstOffset, lastOffset] of elementaryRanges(all, Math.max(startOffset, 0))) {
    while (next < all.length && all[next]!.firstOffset <= firstOffset) open.push(all[next++]!);
    open = open.filter((batch) => batch.lastOffset >= firstOffset);
    if (open.length === 0) continue;
    const { state, deliveryCount } = open.reduce((best, batch) => (wins(batch, best) ? batch : best));
    const before = combined[combined.length - 1];
    const joins =
      before?.lastOffset === firstOffset - 1 && before.state === state && before.deliveryCount === deliveryCount;
    if (joins) combined[combined.length - 1] = { ...before, lastOffset };
    else combined.push({ firstOffset, lastOffset, state, deliveryCount });
  }
  return combined;
}
