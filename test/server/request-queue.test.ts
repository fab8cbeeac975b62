import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type QueueEntry, RequestQueue } from '../../src/server/request-queue.ts';

interface Entry extends QueueEntry<string> {
  readonly id: number;
}

const entry = (id: number, overlaps: boolean): Entry => ({ id, overlaps, answer: undefined });

function startAll(queue: RequestQueue<string, Entry>): Entry[] {
  const started: Entry[] = [];
  for (let next = queue.start(); next; next = queue.start()) started.push(next);
  return started;
}

describe('RequestQueue', () => {
  it('lets overlapping requests run together and others only alone', () => {
    const queue = new RequestQueue<string, Entry>();
    const [a, b, fetch, c] = [entry(0, true), entry(1, true), entry(2, false), entry(3, true)];
    for (const one of [a, b, fetch, c]) queue.add(one);
    expect(startAll(queue)).toEqual([a, b]);
    b.answer = 'b';
    expect(queue.write()).toBeUndefined();
    a.answer = 'a';
    expect([queue.write(), queue.write(), queue.write()]).toEqual([a, b, undefined]);
    queue.written(a);
    expect(startAll(queue)).toEqual([]);
    queue.written(b);
    expect(startAll(queue)).toEqual([fetch]);
    fetch.answer = 'fetch';
    expect(queue.write()).toBe(fetch);
    expect(startAll(queue)).toEqual([]);
    queue.written(fetch);
    expect(startAll(queue)).toEqual([c]);
  });

  /** Random histories against the rule as the design states it. */
  it('keeps the order of answers and never starts a request too early', () => {
    const steps = fc.array(
      fc.tuple(fc.constantFrom('add', 'start', 'answer', 'write', 'written'), fc.nat(9), fc.boolean()),
      { maxLength: 80 },
    );
    fc.assert(
      fc.property(steps, (history) => {
        const queue = new RequestQueue<string, Entry>();
        const all: Entry[] = [];
        const running = new Set<Entry>();
        const writing: Entry[] = [];
        const done = new Set<Entry>();
        const out: number[] = [];
        for (const [step, pick, overlaps] of history) {
          if (step === 'add') {
            all.push(entry(all.length, overlaps));
            queue.add(all.at(-1)!);
          } else if (step === 'start') {
            for (const started of startAll(queue)) {
              const before = all.slice(0, started.id).filter((one) => !done.has(one));
              expect(before.length === 0 || (started.overlaps && before.every((one) => one.overlaps))).toBe(true);
              running.add(started);
            }
          } else if (step === 'answer' && running.size > 0) {
            const answered = [...running][pick % running.size]!;
            answered.answer = 'x';
            running.delete(answered);
          } else if (step === 'write') {
            const next = queue.write();
            if (next) {
              writing.push(next);
              out.push(next.id);
            }
          } else if (step === 'written' && writing.length > 0) {
            const [written] = writing.splice(pick % writing.length, 1);
            queue.written(written!);
            done.add(written!);
          }
        }
        expect(out).toEqual(out.map((_, index) => index));
        const undone = all.filter((one) => !done.has(one));
        if (running.size + writing.length === 0 && undone.length > 0 && undone.every((one) => !one.answer)) {
          expect(startAll(queue).length).toBeGreaterThan(0);
        }
      }),
      { numRuns: 500 },
    );
  });

  it('drops what has not started, and tells what is still out', () => {
    const queue = new RequestQueue<string, Entry>();
    const [a, b] = [entry(0, false), entry(1, true)];
    queue.add(a);
    queue.add(b);
    queue.start();
    expect(queue.dropWaiting()).toEqual([b]);
    expect(queue.unwritten).toEqual([a]);
    expect(queue.length).toBe(1);
  });
});
