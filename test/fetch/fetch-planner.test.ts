/** The planner against an oracle that tries every range at every byte, and against its contract. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ObjectRange, planRangedGets, type RangeCostModel } from '../../src/fetch/fetch-planner.ts';

interface Cost {
  readonly bytes: number;
  readonly gets: number;
}

const total = (cost: Cost, model: RangeCostModel): number => cost.bytes + cost.gets * model.requestCostBytes;

function costOf(plan: readonly ObjectRange[]): Cost {
  return { bytes: plan.reduce((sum, range) => sum + range.size, 0), gets: plan.length };
}

/** The cheapest cost for one object of a few bytes: from every byte, skip it if nobody wants it, or read any length. */
function bruteForce(wanted: readonly ObjectRange[], model: RangeCostModel): Cost {
  const end = Math.max(0, ...wanted.map((range) => range.position + range.size));
  const isWanted = new Array<boolean>(end).fill(false);
  for (const range of wanted) isWanted.fill(true, range.position, range.position + range.size);
  const best: Cost[] = [];
  best[end] = { bytes: 0, gets: 0 };
  for (let at = end - 1; at >= 0; at--) {
    const choices = isWanted[at] ? [] : [best[at + 1]!];
    for (let size = 1; size <= Math.min(model.maxRangeBytes, end - at); size++) {
      choices.push({ bytes: best[at + size]!.bytes + size, gets: best[at + size]!.gets + 1 });
    }
    best[at] = choices.reduce((a, b) => {
      const difference = total(a, model) - total(b, model);
      return difference < 0 || (difference === 0 && a.gets <= b.gets) ? a : b;
    });
  }
  return best[0]!;
}

function bruteForceAll(wanted: readonly ObjectRange[], model: RangeCostModel): Cost {
  const keys = [...new Set(wanted.map((range) => range.objectKey))];
  const costs = keys.map((key) =>
    bruteForce(
      wanted.filter((range) => range.objectKey === key),
      model,
    ),
  );
  return { bytes: costs.reduce((s, c) => s + c.bytes, 0), gets: costs.reduce((s, c) => s + c.gets, 0) };
}

/** Every byte wanted lies in a range; ranges are ordered, apart and no longer than allowed. */
function expectSound(plan: readonly ObjectRange[], wanted: readonly ObjectRange[], model: RangeCostModel): void {
  for (const [i, range] of plan.entries()) {
    expect(range.size).toBeGreaterThanOrEqual(1);
    expect(range.size).toBeLessThanOrEqual(model.maxRangeBytes);
    const before = plan[i - 1];
    if (!before) continue;
    const inOrder =
      before.objectKey < range.objectKey ||
      (before.objectKey === range.objectKey && before.position + before.size <= range.position);
    expect(inOrder).toBe(true);
  }
  for (const range of wanted) {
    let at = range.position;
    for (const read of plan) {
      if (read.objectKey === range.objectKey && read.position <= at) at = Math.max(at, read.position + read.size);
    }
    expect(at).toBeGreaterThanOrEqual(range.size === 0 ? 0 : range.position + range.size);
  }
}

const wantedArbitrary = (objectKeys: string[], lastPosition: number, largest: number) =>
  fc.array(
    fc.record({
      objectKey: fc.constantFrom(...objectKeys),
      position: fc.integer({ min: 0, max: lastPosition }),
      size: fc.integer({ min: 0, max: largest }),
    }),
    { maxLength: 12 },
  );

const modelArbitrary = fc.record({
  requestCostBytes: fc.integer({ min: 0, max: 12 }),
  maxRangeBytes: fc.oneof(fc.integer({ min: 1, max: 30 }), fc.constant(Infinity)),
});

const a = (position: number, size: number): ObjectRange => ({ objectKey: 'a', position, size });

describe('planRangedGets', () => {
  it('is as cheap as brute force, with as few GETs, and sound', () => {
    fc.assert(
      fc.property(wantedArbitrary(['a', 'b'], 60, 12), modelArbitrary, (wanted, model) => {
        const plan = planRangedGets(wanted, model);
        expectSound(plan, wanted, model);
        expect(costOf(plan)).toEqual(bruteForceAll(wanted, model));
      }),
      { numRuns: 1500 },
    );
  });

  it('is as cheap as brute force for every small cost model', () => {
    const layouts = fc.sample(wantedArbitrary(['a'], 40, 7), { numRuns: 20, seed: 5 });
    let compared = 0;
    for (const wanted of layouts) {
      for (let requestCostBytes = 0; requestCostBytes <= 8; requestCostBytes++) {
        for (const maxRangeBytes of [...Array.from({ length: 16 }, (_, i) => i + 1), Infinity]) {
          const model = { requestCostBytes, maxRangeBytes };
          expect(costOf(planRangedGets(wanted, model))).toEqual(bruteForceAll(wanted, model));
          compared++;
        }
      }
    }
    expect(compared).toBe(20 * 9 * 17);
  });

  it('cuts long clusters as cheaply as brute force', () => {
    const runs = fc.array(fc.tuple(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 9 })), {
      minLength: 8,
      maxLength: 30,
    });
    fc.assert(
      fc.property(runs, fc.integer({ min: 1, max: 25 }), fc.integer({ min: 0, max: 9 }), (gapsAndSizes, max, cost) => {
        let at = 0;
        const wanted = gapsAndSizes.map(([gap, size]) => {
          const position = at + gap;
          at = position + size;
          return a(position, size);
        });
        const model = { requestCostBytes: cost, maxRangeBytes: max };
        const plan = planRangedGets(wanted, model);
        expectSound(plan, wanted, model);
        expect(costOf(plan)).toEqual(bruteForceAll(wanted, model));
      }),
      { numRuns: 700 },
    );
  });

  it('plans the same for every order of the input, and leaves the input alone', () => {
    const wantedAndShuffled = wantedArbitrary(['a', 'b', 'ä', '\u{1f41f}', '\uffee'], 50, 9).chain((wanted) =>
      fc.tuple(fc.constant(wanted), fc.shuffledSubarray(wanted, { minLength: wanted.length })),
    );
    fc.assert(
      fc.property(wantedAndShuffled, modelArbitrary, ([wanted, shuffled], model) => {
        const before = structuredClone(shuffled);
        expect(planRangedGets(shuffled.map(Object.freeze) as ObjectRange[], Object.freeze(model))).toEqual(
          planRangedGets(wanted, model),
        );
        expect(shuffled).toEqual(before);
      }),
      { numRuns: 500 },
    );
  });

  it('does better than merging first and splitting afterwards', () => {
    const model = { requestCostBytes: 5, maxRangeBytes: 10 };
    const plan = planRangedGets([a(0, 8), a(12, 8)], model);
    expect(plan).toEqual([a(0, 8), a(12, 8)]);
    expect(total(costOf(plan), model)).toBe(26);
  });

  it('prefers one GET where a gap costs exactly as much as a request', () => {
    expect(planRangedGets([a(0, 4), a(9, 4)], { requestCostBytes: 5, maxRangeBytes: Infinity })).toEqual([a(0, 13)]);
    expect(planRangedGets([a(0, 4), a(10, 4)], { requestCostBytes: 5, maxRangeBytes: Infinity })).toHaveLength(2);
  });

  it('orders objects by UTF-16 code units, as an astral character comes before U+FFEE', () => {
    const keys = ['\uffee', '\u{1f41f}', 'b', 'a', 'B'];
    const plan = planRangedGets(
      keys.map((objectKey) => ({ objectKey, position: 0, size: 1 })),
      { requestCostBytes: 0, maxRangeBytes: 1 },
    );
    expect(plan.map((range) => range.objectKey)).toEqual(['B', 'a', 'b', '\u{1f41f}', '\uffee']);
  });

  it('stays exact at the top of the safe integers', () => {
    const top = Number.MAX_SAFE_INTEGER;
    const model = { requestCostBytes: top, maxRangeBytes: 10 };
    expect(planRangedGets([a(top - 8, 3), a(top - 20, 8)], model)).toEqual([a(top - 20, 8), a(top - 8, 3)]);
    expect(planRangedGets([a(top - 12, 12)], model)).toEqual([a(top - 12, 10), a(top - 2, 2)]);
    expect(planRangedGets([a(top, 0)], model)).toEqual([]);
    expect(planRangedGets([a(-0, 3)], model)[0]!.position).toBe(0);
  });

  it('returns nothing for nothing', () => {
    expect(planRangedGets([], { requestCostBytes: 0, maxRangeBytes: 1 })).toEqual([]);
    expect(planRangedGets([a(7, 0)], { requestCostBytes: 0, maxRangeBytes: 1 })).toEqual([]);
  });

  it.each<[string, ObjectRange[], RangeCostModel]>([
    ['a negative request cost', [], { requestCostBytes: -1, maxRangeBytes: 1 }],
    ['a request cost of NaN', [], { requestCostBytes: Number.NaN, maxRangeBytes: 1 }],
    ['an infinite request cost', [], { requestCostBytes: Infinity, maxRangeBytes: 1 }],
    ['a fractional request cost', [], { requestCostBytes: 0.5, maxRangeBytes: 1 }],
    ['no range at all', [], { requestCostBytes: 0, maxRangeBytes: 0 }],
    ['a fractional range', [], { requestCostBytes: 0, maxRangeBytes: 1.5 }],
    ['an unsafe range', [], { requestCostBytes: 0, maxRangeBytes: 2 ** 53 }],
    ['a negative position', [a(-1, 1)], { requestCostBytes: 0, maxRangeBytes: 1 }],
    ['a negative size', [a(1, -1)], { requestCostBytes: 0, maxRangeBytes: 1 }],
    ['a fractional size', [a(1, 0.5)], { requestCostBytes: 0, maxRangeBytes: 1 }],
    ['an unsafe position', [a(2 ** 53, 0)], { requestCostBytes: 0, maxRangeBytes: 1 }],
    ['an unsafe end', [a(Number.MAX_SAFE_INTEGER, 1)], { requestCostBytes: 0, maxRangeBytes: Infinity }],
    ['a plan beyond all memory', [a(0, 2 ** 50)], { requestCostBytes: 0, maxRangeBytes: 1 }],
  ])('refuses %s', (_name, wanted, model) => {
    expect(() => planRangedGets(wanted, model)).toThrow(RangeError);
  });

  it('takes a long log of touching runs in one object without slowing down', () => {
    const wanted = Array.from({ length: 20_000 }, (_, i) => a(i * 1001, 1000));
    const plan = planRangedGets(wanted, { requestCostBytes: 500, maxRangeBytes: 1_000_000 });
    expectSound(plan.slice(0, 50), wanted.slice(0, 20), { requestCostBytes: 500, maxRangeBytes: 1_000_000 });
    expect(plan.length).toBeLessThanOrEqual(Math.ceil((20_000 * 1001) / 998_000) + 1);
  });
});
