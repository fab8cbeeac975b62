import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CommitOrder } from '../../src/produce/commit-order.ts';
import { settle } from '../support/manual-time.ts';
import { tellsSeed } from '../support/tells-seed.ts';

describe('the order of commits', () => {
  it('waits only for earlier segments that share a partition', async () => {
    const order = new CommitOrder();
    const ready: string[] = [];
    const enter = (name: string, ...partitions: string[]) => {
      const turn = order.enter(new Set(partitions));
      void turn.ready.then(() => ready.push(name));
      return turn;
    };
    const a = enter('a', 'p0', 'p1');
    const b = enter('b', 'p2');
    const c = enter('c', 'p1', 'p2');
    const d = enter('d', 'p3');
    await settle();
    expect(ready).toEqual(['a', 'b', 'd']);
    b.leave();
    await settle();
    expect(ready).toEqual(['a', 'b', 'd']);
    a.leave();
    await settle();
    expect(ready).toEqual(['a', 'b', 'd', 'c']);
    c.leave();
    d.leave();
    await settle();
    expect(order.size).toBe(0);
  });

  it('does not let anyone past a segment that gave up before its turn', async () => {
    const order = new CommitOrder();
    const p = new Set(['p']);
    const first = order.enter(p);
    order.enter(p).leave();
    let ready = false;
    void order.enter(p).ready.then(() => {
      ready = true;
    });
    await settle();
    expect(ready).toBe(false);
    first.leave();
    await settle();
    expect(ready).toBe(true);
  });

  it('holds for any overlap and any order of leaving', async () => {
    const partitions = fc.uniqueArray(fc.nat({ max: 3 }), { minLength: 1, maxLength: 3 });
    await fc.assert(
      fc.asyncProperty(fc.array(partitions, { minLength: 1, maxLength: 8 }), fc.nat(), async (segments, seed) => {
        const order = new CommitOrder();
        const left = new Set<number>();
        const turns = segments.map((keys) => order.enter(new Set(keys.map((key) => `p${key}`))));
        const done = turns.map((turn, index) =>
          turn.ready.then(() => {
            for (let earlier = 0; earlier < index; earlier++) {
              const shared = segments[earlier]!.some((key) => segments[index]!.includes(key));
              expect(shared && !left.has(earlier), `${index} before ${earlier}`).toBe(false);
            }
            left.add(index);
          }),
        );
        const leaving = turns.map((_, index) => index).sort((a, b) => ((a * 7 + seed) % 5) - ((b * 7 + seed) % 5));
        for (const index of leaving) turns[index]!.leave();
        await Promise.all(done);
      }),
      { ...tellsSeed(), numRuns: 100 },
    );
  });
});
