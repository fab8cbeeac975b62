/** Writes that are joined on their way to the store come to the same as one after the other. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type CoordinatorShareState, joinUpdates, writeState } from '../../src/share/share-coordinator-state.ts';
import type { StateBatch } from '../../src/share/share-window.ts';

const range = fc.record({
  first: fc.nat(30),
  size: fc.integer({ min: 1, max: 6 }),
  state: fc.constantFrom(0, 2, 3, 4) as fc.Arbitrary<StateBatch['state']>,
  deliveryCount: fc.integer({ min: 1, max: 3 }),
});

/** Ranges that rise without overlapping, as a share partition writes them. */
const stateBatches = fc.array(range, { maxLength: 5 }).map((ranges) => {
  let next = 0;
  return ranges.map(({ first, size, state, deliveryCount }): StateBatch => {
    const firstOffset = next + (first % 4);
    next = firstOffset + size;
    return { firstOffset, lastOffset: next - 1, state, deliveryCount };
  });
});

const update = fc.record({
  stateEpoch: fc.constant(1),
  leaderEpoch: fc.constant(1),
  startOffset: fc.integer({ min: -1, max: 20 }),
  deliveryCompleteCount: fc.nat(10),
  stateBatches,
});

describe('joined updates', () => {
  it('come to what they come to one after the other', () => {
    fc.assert(
      fc.property(fc.array(update, { minLength: 1, maxLength: 6 }), (updates) => {
        const stored: CoordinatorShareState = {
          stateEpoch: 1,
          leaderEpoch: 1,
          startOffset: 3,
          deliveryCompleteCount: 2,
          stateBatches: [{ firstOffset: 4, lastOffset: 9, state: 0, deliveryCount: 2 }],
          snapshotEpoch: 0,
          updatesSinceSnapshot: 0,
        };
        let after: CoordinatorShareState | undefined = stored;
        for (const one of updates) after = writeState(after, one, 1000).state;
        const { startOffset, deliveryCompleteCount, stateBatches } = writeState(stored, joinUpdates(updates), 1000)
          .state!;
        expect({ startOffset, deliveryCompleteCount, stateBatches }).toEqual({
          startOffset: after!.startOffset,
          deliveryCompleteCount: after!.deliveryCompleteCount,
          stateBatches: after!.stateBatches,
        });
      }),
    );
  });
});
