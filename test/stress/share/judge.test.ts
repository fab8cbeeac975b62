/** The judgement over a stress of share consumers, on evidence made by hand: it must not let anything pass. */
import { describe, expect, it } from 'vitest';
import type { JournalKind, JournalLine } from './journal.ts';
import { type Evidence, judge } from './judge.ts';

const line = (kind: JournalKind, first: number, last: number, count: number, atMs: number): JournalLine => {
  return { kind, partition: 0, first, last, count, atMs };
};

/** Two records accepted, one given up at the limit, one in doubt. */
const good: Evidence = {
  ends: [4],
  limit: 10,
  lines: [
    line('delivered', 0, 3, 1, 100),
    line('sent', 0, 1, 1, 110),
    line('accepted', 0, 1, 1, 120),
    line('sent', 3, 3, 1, 130),
  ],
  deadLetters: [{ partition: 0, offset: 2, deliveryCount: 10 }],
};

const problems = (more: readonly JournalLine[], changes: Partial<Evidence> = {}): readonly string[] =>
  judge({ ...good, ...changes, lines: [...good.lines, ...more] }).problems;

describe('the judgement over share consumers', () => {
  it('passes what went well', () => {
    expect(judge(good)).toEqual({
      records: 4,
      accepted: 2,
      deadLetters: 1,
      inDoubt: 1,
      deliveries: 4,
      redeliveries: 0,
      problems: [],
    });
  });

  it('finds a record that was delivered after its acceptance', () => {
    expect(problems([line('delivered', 1, 1, 1, 121)])).toEqual([expect.stringContaining('delivered again')]);
    expect(problems([line('delivered', 1, 1, 2, 90)])).toEqual([expect.stringContaining('delivered again')]);
    // Asked for before, with a count that is not greater: an answer that came late.
    expect(problems([line('delivered', 1, 1, 1, 119)])).toEqual([]);
  });

  it('finds a record that is lost, and one that is both accepted and given up', () => {
    expect(problems([line('refused', 3, 3, 1, 140)])).toEqual([expect.stringContaining('0@3 is lost')]);
    expect(problems([], { deadLetters: [] })).toEqual([expect.stringContaining('0@2 is lost')]);
    expect(problems([line('accepted', 2, 2, 10, 150)])).toEqual([expect.stringContaining('accepted and given up')]);
  });

  it('finds a delivery count beyond the limit, and a record given up before it', () => {
    expect(problems([line('delivered', 3, 3, 11, 100)])).toEqual([expect.stringContaining('with count 11')]);
    expect(problems([], { deadLetters: [{ partition: 0, offset: 2, deliveryCount: 9 }] })).toEqual([
      expect.stringContaining('given up at delivery 9'),
    ]);
  });
});
