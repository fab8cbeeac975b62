/** Kafka's producer-state rules, case by case. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Errors } from '../../src/common/errors.ts';
import {
  incrementSequence,
  isExpired,
  judge,
  type ProducerState,
  remember,
} from '../../src/coordinator/producer-state.ts';

const MAX = 2_147_483_647;

function appended(state: ProducerState | undefined, epoch: number, first: number, records: number, offset: bigint) {
  const lastSequence = incrementSequence(first, records - 1);
  const batch = { firstSequence: first, lastSequence, firstOffset: offset, timestamp: 0n, timestampType: 0 as const };
  return remember(state, epoch, batch, 0n);
}
const ask = (state: ProducerState | undefined, producerEpoch: number, baseSequence: number, records = 1) =>
  judge(state, { producerEpoch, baseSequence, lastOffsetDelta: records - 1 });

describe('producer state', () => {
  it('wraps sequences from 2147483647 to 0', () => {
    expect(incrementSequence(MAX, 1)).toBe(0);
    expect(incrementSequence(MAX - 2, 5)).toBe(2);
    expect(incrementSequence(0, MAX)).toBe(MAX);
    const state = appended(undefined, 0, MAX - 1, 4, 0n);
    expect(ask(state, 0, 2).kind).toBe('append');
    expect(ask(state, 0, MAX - 1, 4)).toMatchObject({ kind: 'duplicate', of: { firstOffset: 0n } });
    expect(ask(appended(undefined, 0, MAX, 1, 0n), 0, 0).kind).toBe('append');
  });

  it('accepts anything without state', () => {
    expect(ask(undefined, 9, 12_345).kind).toBe('append');
  });

  it('lets a newer epoch begin at 0 only, forgets the older one’s batches, and fences it', () => {
    const old = appended(undefined, 3, 0, 1, 0n);
    expect(ask(old, 4, 1)).toEqual({ kind: 'error', error: Errors.OUT_OF_ORDER_SEQUENCE_NUMBER });
    expect(ask(old, 4, 0).kind).toBe('append');
    const bumped = appended(old, 4, 0, 1, 1n);
    expect(bumped.batches).toHaveLength(1);
    expect(ask(bumped, 3, 0)).toEqual({ kind: 'error', error: Errors.INVALID_PRODUCER_EPOCH });
  });

  it('looks for duplicates first, in the last five batches, by exact range', () => {
    let state: ProducerState | undefined;
    for (let i = 0; i < 7; i += 1) state = appended(state, 0, 2 * i, 2, BigInt(10 * i));
    expect(state!.batches).toHaveLength(5);
    for (let i = 0; i < 7; i += 1) {
      const verdict = ask(state, 0, 2 * i, 2);
      if (i < 2) expect(verdict).toEqual({ kind: 'error', error: Errors.OUT_OF_ORDER_SEQUENCE_NUMBER });
      else expect(verdict).toMatchObject({ kind: 'duplicate', of: { firstOffset: BigInt(10 * i) } });
    }
    expect(ask(state, 0, 4, 1)).toEqual({ kind: 'error', error: Errors.OUT_OF_ORDER_SEQUENCE_NUMBER });
    expect(ask(state, 0, 14).kind).toBe('append');
    // A batch that goes once around all sequences is both the next one and a duplicate.
    expect(ask(appended(undefined, 0, 5, 2 ** 31, 0n), 0, 5, 2 ** 31).kind).toBe('duplicate');
  });

  it('expires after so long without an append', () => {
    const state = { ...appended(undefined, 0, 0, 1, 0n), lastAppendTimeMs: 1_000n };
    expect(isExpired(state, 1_099n, 100)).toBe(false);
    expect(isExpired(state, 1_100n, 100)).toBe(true);
    expect(isExpired(state, 900n, 100)).toBe(false);
  });

  it('accepts exactly the sequences that a producer with up to five in flight sends, whatever is repeated', () => {
    const run = fc.array(fc.record({ records: fc.integer({ min: 1, max: 2 ** 29 }), repeat: fc.nat(4) }), {
      maxLength: 40,
    });
    fc.assert(
      fc.property(fc.nat(MAX), run, (start, batches) => {
        let state: ProducerState | undefined;
        let next = start;
        const sent: [number, number][] = [];
        for (const [index, { records, repeat }] of batches.entries()) {
          expect(ask(state, 0, next, records).kind).toBe('append');
          state = appended(state, 0, next, records, BigInt(index));
          sent.push([next, records]);
          next = incrementSequence(next, records);
          const again = sent.at(-1 - repeat);
          if (again) expect(ask(state, 0, ...again).kind).toBe('duplicate');
        }
      }),
    );
  });
});
