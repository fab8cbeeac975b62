/** What a share fetch makes of the bytes of a read: where its record batches are, and which of their bytes go out. */
import { describe, expect, it } from 'vitest';
import { bytesOfLogBatches, readLogBatches } from '../../src/share/log-batches.ts';
import { plainBatch } from '../support/record-batches.ts';

const batches = [0n, 3n, 5n, 6n, 10n].map((baseOffset, index, all) => {
  const count = Number((all[index + 1] ?? 12n) - baseOffset);
  return plainBatch(count, 10 + index, { baseOffset });
});
/** The same batches in runs of two, one and two. */
const runs = [Buffer.concat(batches.slice(0, 2)), batches[2]!, Buffer.concat(batches.slice(3))];

const ALL = { from: 0, reach: 100 };

describe('the log batches of a read', () => {
  it('are found by their offsets, whatever run they lie in', () => {
    const { logBatches } = readLogBatches(runs, ALL);
    expect(logBatches).toEqual([
      { first: 0, last: 2 },
      { first: 3, last: 4 },
      { first: 5, last: 5 },
      { first: 6, last: 9 },
      { first: 10, last: 11 },
    ]);
  });

  it.each([
    [0, 0, 1],
    [0, 3, 2],
    [0, 5, 3],
    [5, 0, 3],
    [5, 1, 4],
    [9, 1, 5],
  ])('from %i on are needed up to %i offsets further: %i of them', (from, reach, count) => {
    const read = readLogBatches(runs, { from, reach });
    expect(read.logBatches).toEqual(readLogBatches(runs, ALL).logBatches.slice(0, count));
    expect(Buffer.concat(bytesOfLogBatches(runs, read, 0, count - 1))).toEqual(Buffer.concat(batches.slice(0, count)));
  });

  it('go out as one view of each run that has some of them', () => {
    const read = readLogBatches(runs, ALL);
    for (let first = 0; first < batches.length; first++) {
      for (let last = first; last < batches.length; last++) {
        const views = bytesOfLogBatches(runs, read, first, last);
        expect(Buffer.concat(views)).toEqual(Buffer.concat(batches.slice(first, last + 1)));
        expect(views.length).toBeLessThanOrEqual(3);
      }
    }
  });
});
